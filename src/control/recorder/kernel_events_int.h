/* SPDX-License-Identifier: MIT */
/* kernel_events_int.h - shared by the files of kernel_events.h, and by nobody else. */
#ifndef WM_CONTROL_RECORDER_KERNEL_EVENTS_INT_H
#define WM_CONTROL_RECORDER_KERNEL_EVENTS_INT_H

#include "control/kernel_events.h"
#include "kernel/event_filter.h"
#include "kernel/probe_events.h"

/* A synthetic event: what people call it, and its name in the kernel, which is ours alone. */
struct wm_kernel_synthetic {
	const char *name, *event;
};

/* How an event is switched; of those that cannot be, all of it is 0. */
struct wm_kernel_switch {
	const char *system, *event; /* as tracefs calls it */
	const char *called;         /* in sentences, and to find a probe again; NULL: by these */
	const char *path;           /* of a probe's file; NULL */
	bool on;
	struct wm_event_filter filter; /* as it is */
	/* Of a change that is being made (kernel_events_change.c). */
	bool staged, wanted;
	struct wm_event_filter next;
	unsigned char *whole; /* all of that, in our bytecode; NULL: no filter */
	size_t whole_bytes;
};

struct wm_kernel_events {
	struct wm_arena arena;
	struct wm_tracefs *tracefs;
	struct wm_instance *instance;
	struct wm_instance *top;    /* the system's own buffer; NULL: nothing of ours needs it */
	struct wm_dynamic *dynamic; /* NULL: no probes of ours */
	enum wm_clock_kind clock;
	uint64_t most_bytes;
	struct wm_kernel_source_event *events;
	struct wm_kernel_switch *switches; /* by event */
	uint32_t nr_events;
	bool changing;        /* what is added is staged, not switched on */
	uint32_t nr_declared; /* then: events the source knows */
	struct wm_kernel_synthetic *synthetics;
	uint32_t nr_synthetics;
	const char **histograms; /* files of the instance, "events/sched/sched_switch/hist" */
	uint32_t nr_histograms;
	bool has_snapshot; /* a trigger may take one */
};

/*
 * Takes the system's own buffer for `what`, once; the memory for events is shared
 * with it. -EBUSY: somebody uses it.
 */
int wm_kernel_events_take_top(struct wm_kernel_events *k, const char *what, struct wm_diag *diag);

/* Makes k->dynamic when there is none. */
int wm_kernel_events_dynamic(struct wm_kernel_events *k, struct wm_diag *diag);

/* Keeps an event's names and format for the pump. */
int wm_kernel_events_keep(struct wm_kernel_events *k, const char *system, const char *name,
			  const char *format, size_t bytes);

/*
 * A format file under another name; arguments on the list `floats` (NULL:
 * none) are the bytes of floating-point numbers.
 */
int wm_kernel_events_keep_as(struct wm_kernel_events *k, const char *system, const char *name,
			     const char *format, const char *floats);

/* NULL: it is not kept. */
struct wm_kernel_source_event *wm_kernel_events_find(const struct wm_kernel_events *k,
						     const char *system, const char *event);
/* Its format file as it is, unless that is kept already. */
int wm_kernel_events_remember(struct wm_kernel_events *k, const char *system, const char *event,
			      struct wm_diag *diag);

/*
 * The event as it shall be in the change that is being made; what was said first
 * of it in this change stays. 0, or as of wm_event_filter_make().
 */
int wm_kernel_events_stage(struct wm_kernel_events *k, uint32_t event, const char *filter,
			   struct wm_diag *diag);
/* A probe of that name that was made before: staged, all of it. How many events; 0: there is none.
 */
int wm_kernel_events_stage_probe(struct wm_kernel_events *k, const struct wm_event_def *def,
				 const char *filter, struct wm_diag *diag);
void wm_kernel_switch_done(struct wm_kernel_switch *s);

#endif
