/* SPDX-License-Identifier: MIT */
/*
 * sampler.h - sampling: events of perf_event_open(2) that write a record every
 * so often (where the CPU is, who runs, the call chain), and beside them what
 * the tasks do meanwhile (mapped, forked, renamed, ended). All of a CPU's
 * records are in one ring.
 *
 * Everything vanishes with the descriptors. Not thread safe.
 */
#ifndef WM_KERNEL_SAMPLER_H
#define WM_KERNEL_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/diag.h"
#include "kernel/event_def.h"
#include "kernel/sampling/perf_ring.h"

enum wm_sample_chain {
	WM_CHAIN_NONE,
	WM_CHAIN_FRAMES, /* of kernel and user, by frame pointers */
	WM_CHAIN_STACK,  /* the user's stack and registers, to be unwound later; the kernel's frames
			  */
};

/* User stacks: a multiple of 8, and the record has room for the rest. */
#define WM_SAMPLE_STACK_DEFAULT 8192u
#define WM_SAMPLE_STACK_MAX     65528u

struct wm_sampler_event {
	const struct wm_event_def *def;
	const char *filter; /* in the kernel's language; NULL: none */
	uint64_t period;    /* each so many of them, or */
	uint64_t frequency; /* as often as gives so many samples a second; one of both is 0 */
	enum wm_sample_chain chain;
	uint32_t stack_bytes; /* WM_CHAIN_STACK */
};

struct wm_sampler_plan {
	const struct wm_sampler_event *events;
	size_t nr_events;
	int clockid;       /* CLOCK_*: of the records' times */
	const pid_t *tids; /* and what they fork, unless `alone`; none: every task */
	size_t nr_tids;
	bool alone;
	const int *cpus; /* where */
	size_t nr_cpus;
	bool on_exec; /* begins when the thread calls execve(2), else at wm_sampler_start() */
	uint64_t buffer_bytes; /* of all rings, at most */
};

/* The registers a sample of WM_CHAIN_STACK has: bits of <asm/perf_regs.h>. */
uint64_t wm_sampler_regs(void);

/* The attr an event is opened with; for what records look like (kdata/perf_attr_int.h). */
void wm_sampler_attr(const struct wm_sampler_event *e, int clockid, struct perf_event_attr *ret);
/* The same of what tasks do. */
void wm_sampler_tasks_attr(int clockid, struct perf_event_attr *ret);

/* Asks for less: what happens outside the kernel. */
static inline void wm_sampler_narrow(struct perf_event_attr *a)
{
	a->exclude_kernel = a->exclude_hv = 1;
	a->exclude_callchain_kernel = 1;
}

/*
 * Whether such an event can be sampled here, asked of the kernel: 0, 1: only
 * outside the kernel, or the error of wm_perf_open() with the sentence.
 * `everywhere`: of every task of a CPU.
 */
int wm_sampler_try(const struct wm_sampler_event *e, int clockid, bool everywhere,
		   struct wm_diag *diag);

struct wm_sampler;

/* -ESRCH: none of the threads is there any more. Else as wm_perf_open(). */
int wm_sampler_open(const struct wm_sampler_plan *plan, struct wm_sampler **ret,
		    struct wm_diag *diag);
void wm_sampler_close(struct wm_sampler *s); /* accepts NULL */

int wm_sampler_start(struct wm_sampler *s);
void wm_sampler_stop(struct wm_sampler *s); /* the rings stay to be read */

size_t wm_sampler_nr_cpus(const struct wm_sampler *s);
int wm_sampler_cpu(const struct wm_sampler *s, size_t i); /* which it is */
int wm_sampler_fd(const struct wm_sampler *s, size_t i);  /* readable when its ring is */
struct wm_perf_ring *wm_sampler_ring(struct wm_sampler *s, size_t i);
uint64_t wm_sampler_buffer_bytes(const struct wm_sampler *s);
/*
 * Records that found no room in that ring so far, 0 on kernels before 6.0. The
 * ring tells of them when there is room again; of the last of them, never.
 */
uint64_t wm_sampler_lost(const struct wm_sampler *s, size_t i);

#define WM_SAMPLER_TASKS SIZE_MAX /* what tasks do */
#define WM_SAMPLER_NONE  (SIZE_MAX - 1)

/* Which of the plan's events a record's id means; WM_SAMPLER_TASKS, WM_SAMPLER_NONE. */
size_t wm_sampler_event_of(const struct wm_sampler *s, uint64_t id);

#endif
