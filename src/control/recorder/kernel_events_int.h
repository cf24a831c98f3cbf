/* SPDX-License-Identifier: MIT */
/* kernel_events_int.h - shared by the files of kernel_events.h only. */
#ifndef WM_CONTROL_RECORDER_KERNEL_EVENTS_INT_H
#define WM_CONTROL_RECORDER_KERNEL_EVENTS_INT_H

#include "control/kernel_events.h"
#include "kernel/event_filter.h"
#include "kernel/probe_events.h"

/* A synthetic event: the user's name of it, and its unique name in the kernel. */
struct wm_kernel_synthetic {
	const char *name, *event;
};

/* How an event is switched; all zero for events that cannot be switched. */
struct wm_kernel_switch {
	const char *system, *event; /* tracefs names */
	const char *called; /* for messages, and to find a probe again; NULL: system and event */
	const char *path;   /* of a probe's file; else NULL */
	bool on;
	struct wm_event_filter filter; /* now in force */
	/* For a change in progress (kernel_events_change.c). */
	bool staged, wanted;
	struct wm_event_filter next;
	unsigned char *whole; /* `next` completely as waymark bytecode; NULL: no filter */
	size_t whole_bytes;
};

struct wm_kernel_events {
	struct wm_arena arena;
	struct wm_tracefs *tracefs;
	struct wm_instance *instance;
	struct wm_instance *top;    /* the system's own buffer; NULL: not needed */
	struct wm_dynamic *dynamic; /* NULL: waymark made no probes */
	enum wm_clock_kind clock;
	uint64_t most_bytes;
	struct wm_kernel_source_event *events;
	struct wm_kernel_switch *switches; /* parallel to `events` */
	uint32_t nr_events;
	bool changing;        /* added events are staged, not switched on */
	uint32_t nr_declared; /* during a change: events already declared to the source */
	struct wm_kernel_synthetic *synthetics;
	uint32_t nr_synthetics;
	const char **histograms; /* files such as "events/sched/sched_switch/hist" */
	uint32_t nr_histograms;
	bool has_snapshot; /* a trigger may take one */
};

/*
 * Takes the system's own buffer for `what`, once; shares the memory for events with it. -EBUSY: it
 * is in use.
 */
int wm_kernel_events_take_top(struct wm_kernel_events *k, const char *what, struct wm_diag *diag);

/* Creates k->dynamic if it does not exist. */
int wm_kernel_events_dynamic(struct wm_kernel_events *k, struct wm_diag *diag);

/* Stores an event's names and format for the pump. */
int wm_kernel_events_keep(struct wm_kernel_events *k, const char *system, const char *name,
			  const char *format, size_t bytes);

/*
 * Stores a format file under another name; arguments in the list `floats` (NULL: none) are the
 * bytes of floating-point numbers.
 */
int wm_kernel_events_keep_as(struct wm_kernel_events *k, const char *system, const char *name,
			     const char *format, const char *floats);

/* NULL: not stored. */
struct wm_kernel_source_event *wm_kernel_events_find(const struct wm_kernel_events *k,
						     const char *system, const char *event);
/* Stores its format file unchanged, unless it is stored already. */
int wm_kernel_events_remember(struct wm_kernel_events *k, const char *system, const char *event,
			      struct wm_diag *diag);

/*
 * Stages the event for the change in progress; the first request for an event in a change wins. 0,
 * or as wm_event_filter_make().
 */
int wm_kernel_events_stage(struct wm_kernel_events *k, uint32_t event, const char *filter,
			   struct wm_diag *diag);
/* Stages all events of an existing probe of that name. Returns their number; 0: no such probe. */
int wm_kernel_events_stage_probe(struct wm_kernel_events *k, const struct wm_event_def *def,
				 const char *filter, struct wm_diag *diag);
void wm_kernel_switch_done(struct wm_kernel_switch *s);

#endif
