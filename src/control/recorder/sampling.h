/* SPDX-License-Identifier: MIT */
/*
 * sampling.h - the events that a recording samples, and the tasks.
 *
 * The command adds the events and checks with the kernel that each is available. The pump process,
 * which inherits this across the fork, declares them in the trace and opens them when it is told
 * which tasks to sample. All kernel objects belong to the pump process alone and disappear with it.
 */
#ifndef WM_CONTROL_RECORDER_SAMPLING_H
#define WM_CONTROL_RECORDER_SAMPLING_H

#include "collect/sample_source.h"
#include "kernel/event_def.h"
#include "kernel/synthesize.h"

struct wm_sampling;

/* `cpus`: sample only on these; NULL: on all that are online. The list is copied. */
int wm_sampling_create(enum wm_clock_kind clock, const int *cpus, size_t nr_cpus,
		       struct wm_sampling **ret);
void wm_sampling_destroy(struct wm_sampling *s); /* accepts NULL */
/* Changes the clock for the samples' times; call it before the pump is forked. */
void wm_sampling_set_clock(struct wm_sampling *s, enum wm_clock_kind clock);

/* Sets the size of the rings of all CPUs together; 0: the default. Task records need less. */
void wm_sampling_set_buffer(struct wm_sampling *s, uint64_t bytes);

/* How an event is sampled: either `period` or `frequency` is set, and the other is 0. */
struct wm_sampling_how {
	uint64_t period, frequency;
	enum wm_sample_chain chain;
	uint32_t stack_bytes;
};

/*
 * Adds an event. Returns 0; 1 if it is sampled only in user space, because more is not permitted;
 * or an error from wm_sampler_try() with diag. `everywhere`: for every task on the machine.
 */
int wm_sampling_add(struct wm_sampling *s, const struct wm_event_def *def, const char *filter,
		    const struct wm_sampling_how *how, bool everywhere, struct wm_diag *diag);
/*
 * Removes the events with that name, as wm_recorder_kernel_off() finds them. Returns their number.
 */
uint32_t wm_sampling_exclude(struct wm_sampling *s, const char *glob);
size_t wm_sampling_count(const struct wm_sampling *s);

/* The tasks to sample. */
#define WM_SAMPLING_TIDS_MAX 32768u
struct wm_sampling_whom {
	const pid_t *tids; /* these threads and, unless `alone`, their children; NULL: every task */
	size_t nr_tids;
	bool alone;
	bool on_exec; /* sampling starts when the thread calls execve(2) */
};

/* For the pump process. */
int wm_sampling_source(const struct wm_sampling *s, struct wm_trace_writer *w,
		       struct wm_calibrate *clock, struct wm_sample_source **ret,
		       struct wm_diag *diag);
/*
 * Opens the events, writes the tasks' existing mappings to the trace, and starts. `text` is NULL if
 * the address of the kernel's code is not available.
 */
int wm_sampling_begin(const struct wm_sampling *s, struct wm_sample_source *source,
		      const struct wm_sampling_whom *whom, const struct wm_kernel_text *text,
		      struct wm_diag *diag);

#endif
