/* SPDX-License-Identifier: MIT */
/* kernel_events_int.h - shared by the files of kernel_events.h, and by nobody else. */
#ifndef WM_CONTROL_KERNEL_EVENTS_INT_H
#define WM_CONTROL_KERNEL_EVENTS_INT_H

#include "control/kernel_events.h"
#include "kernel/dynamic.h"

/* A synthetic event: what people call it, and its name in the kernel, which is ours alone. */
struct wm_kernel_synthetic {
	const char *name, *event;
};

struct wm_kernel_events {
	struct wm_arena arena;
	struct wm_tracefs *tracefs;
	struct wm_instance *instance;
	struct wm_dynamic *dynamic; /* NULL: no probes of ours */
	enum wm_clock_kind clock;
	uint64_t most_bytes;
	struct wm_kernel_source_event *events;
	uint32_t nr_events;
	struct wm_kernel_synthetic *synthetics;
	uint32_t nr_synthetics;
	const char **histograms; /* files of the instance, "events/sched/sched_switch/hist" */
	uint32_t nr_histograms;
	bool has_snapshot; /* a trigger may take one */
	bool has_functions;
};

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

/* Its format file as it is, unless that is kept already. */
int wm_kernel_events_remember(struct wm_kernel_events *k, const char *system, const char *event,
			      struct wm_diag *diag);

#endif
