/* SPDX-License-Identifier: MIT */
/* kernel_events_int.h - shared by the files that implement kernel_events.h, and private to them. */
#ifndef WM_CONTROL_RECORDER_KERNEL_EVENTS_INT_H
#define WM_CONTROL_RECORDER_KERNEL_EVENTS_INT_H

#include "control/kernel_events.h"
#include "kernel/event_filter.h"
#include "kernel/probe_events.h"

/* A synthetic event: the name that the user gave it, and its unique name in the kernel. */
struct wm_kernel_synthetic {
	const char *name, *event;
};

/* How to enable and disable an event; zeroed for events that cannot be switched. */
struct wm_kernel_switch {
	const char *system, *event; /* tracefs names */
	/* Name used in messages, and to find a probe again; NULL: system and event. */
	const char *called;
	const char *path; /* path of a probe's file, else NULL */
	bool on;
	struct wm_event_filter filter; /* the filter in effect */
	/* Used during a change (kernel_events_change.c). */
	bool staged, wanted;
	struct wm_event_filter next;
	unsigned char *whole; /* the complete filter `next` as waymark bytecode; NULL: no filter */
	size_t whole_bytes;
};

struct wm_recorder_kernel {
	struct wm_arena arena;
	struct wm_tracefs *tracefs;
	struct wm_instance *instance;
	struct wm_instance *top;    /* the system's own buffer; NULL if not needed */
	struct wm_dynamic *dynamic; /* NULL: waymark created no probes */
	enum wm_clock_kind clock;
	struct wm_child_exec *exec; /* when CMD began; NULL: no CMD, or it is not recorded */
	struct wm_kernel_source_event *events;
	struct wm_kernel_switch *switches; /* parallel to `events` */
	uint32_t nr_events;
	bool changing;        /* added events are staged, not enabled */
	uint32_t nr_declared; /* during a change: number of events already declared to the source */
	struct wm_kernel_synthetic *synthetics;
	uint32_t nr_synthetics;
	const char **histograms; /* file names such as "events/sched/sched_switch/hist" */
	uint32_t nr_histograms;
	bool has_snapshot; /* a trigger may take a snapshot */
};

/*
 * Takes the system's own buffer, once, for the purpose `what`; it shares the memory for events.
 * Returns -EBUSY if it is in use.
 */
int wm_recorder_kernel_take_top(struct wm_recorder_kernel *k, const char *what,
				struct wm_diag *diag);

/* Whether the kernel's event is a synthetic one that was created here. */
bool wm_recorder_kernel_made(const struct wm_recorder_kernel *k, const struct wm_event_def *def);

/* Creates k->dynamic if it does not exist. */
int wm_recorder_kernel_dynamic(struct wm_recorder_kernel *k, struct wm_diag *diag);

/* Stores an event's names and format for the pump. */
int wm_recorder_kernel_keep(struct wm_recorder_kernel *k, const char *system, const char *name,
			    const char *format, size_t bytes);

/*
 * Stores a format file under another name. The arguments in the list `recast` (NULL: none) get
 * other types (struct wm_event_def).
 */
int wm_recorder_kernel_keep_as(struct wm_recorder_kernel *k, const char *system, const char *name,
			       const char *format, const char *recast);

/* returns NULL if the event is not stored */
struct wm_kernel_source_event *wm_recorder_kernel_find(const struct wm_recorder_kernel *k,
						       const char *system, const char *event);
/* Stores an event's unchanged format file, unless it is already stored. */
int wm_recorder_kernel_remember(struct wm_recorder_kernel *k, const char *system, const char *event,
				struct wm_diag *diag);

/*
 * Stages an event for the change in progress. The first request for an event in a change wins.
 * Returns 0, or an error as wm_event_filter_make() does.
 */
int wm_recorder_kernel_stage(struct wm_recorder_kernel *k, uint32_t event, const char *filter,
			     struct wm_diag *diag);
/*
 * Stages all events of an existing probe with that name. Returns the number staged; 0: no probe has
 * that name.
 */
int wm_recorder_kernel_stage_probe(struct wm_recorder_kernel *k, const struct wm_event_def *def,
				   const char *filter, struct wm_diag *diag);
void wm_recorder_switch_done(struct wm_kernel_switch *s);

#endif
