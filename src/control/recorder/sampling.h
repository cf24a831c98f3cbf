/* SPDX-License-Identifier: MIT */
/*
 * sampling.h - what a recording samples, and of whom.
 *
 * The command says which events and asks the kernel for each whether it can be
 * had; the pump, which inherits this over the fork, declares them in the trace,
 * and opens them when it is told whose samples are wanted. Everything of the
 * kernel's is the pump's alone and vanishes with it.
 */
#ifndef WM_CONTROL_RECORDER_SAMPLING_H
#define WM_CONTROL_RECORDER_SAMPLING_H

#include "collect/sample_source.h"
#include "kernel/event_def.h"
#include "kernel/synthesize.h"

struct wm_sampling;

/* `cpus`: only those; none: all that are online. Copied. */
int wm_sampling_create(enum wm_clock_kind clock, const int *cpus, size_t nr_cpus,
		       struct wm_sampling **ret);
void wm_sampling_destroy(struct wm_sampling *s); /* accepts NULL */

/* How an event is sampled: `period` or `frequency`, the other is 0. */
struct wm_sampling_how {
	uint64_t period, frequency;
	enum wm_sample_chain chain;
	uint32_t stack_bytes;
};

/*
 * Adds an event. 0; 1: it will be sampled outside the kernel only, for more is
 * not permitted; an error of wm_sampler_try() with its sentence. `everywhere`:
 * of every task of the machine.
 */
int wm_sampling_add(struct wm_sampling *s, const struct wm_event_def *def, const char *filter,
		    const struct wm_sampling_how *how, bool everywhere, struct wm_diag *diag);
size_t wm_sampling_count(const struct wm_sampling *s);

/* Whose. */
#define WM_SAMPLING_TIDS_MAX 32768u
struct wm_sampling_whom {
	const pid_t *tids; /* and what they fork, unless `alone`; none: every task */
	size_t nr_tids;
	bool alone;
	bool on_exec; /* begins when the thread calls execve(2) */
};

/* For the pump. */
int wm_sampling_source(const struct wm_sampling *s, struct wm_trace_writer *w,
		       struct wm_calibrate *clock, struct wm_sample_source **ret,
		       struct wm_diag *diag);
/*
 * Opens them, tells the trace what the tasks have mapped already, and begins.
 * `text` NULL: the kernel's address may not be known.
 */
int wm_sampling_begin(const struct wm_sampling *s, struct wm_sample_source *source,
		      const struct wm_sampling_whom *whom, const struct wm_kernel_text *text,
		      struct wm_diag *diag);

#endif
