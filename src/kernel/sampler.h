/* SPDX-License-Identifier: MIT */
/*
 * sampler.h - sampling: perf_event_open(2) events that write a record at intervals (the CPU's
 * instruction pointer, the task, the call chain), together with records of task activity (mappings,
 * forks, renames, exits). All of a CPU's records are in one ring.
 *
 * Everything is removed with the descriptors. Not thread-safe.
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
	WM_CHAIN_FRAMES, /* kernel and user call chains, by frame pointers */
	/* The user stack and registers, to be unwound later; and the kernel's call chain. */
	WM_CHAIN_STACK,
};

/* Size of user stacks: a multiple of 8; the maximum leaves room for the rest of the record. */
#define WM_SAMPLE_STACK_DEFAULT 8192u
#define WM_SAMPLE_STACK_MAX     65528u

struct wm_sampler_event {
	const struct wm_event_def *def;
	const char *filter; /* in the kernel's filter language; NULL: none */
	uint64_t period;    /* one sample per this many events; 0: use `frequency` */
	uint64_t frequency; /* samples per second; 0: use `period` */
	enum wm_sample_chain chain;
	uint32_t stack_bytes; /* for WM_CHAIN_STACK */
};

struct wm_sampler_plan {
	const struct wm_sampler_event *events;
	size_t nr_events;
	int clockid; /* CLOCK_* for the records' times */
	/* These threads and, unless `alone`, the tasks they fork; empty: every task. */
	const pid_t *tids;
	size_t nr_tids;
	bool alone;
	/*
	 * Also record when a thread runs again. Only the thread that stops is in the context of a
	 * sched_switch, so samples of single threads do not show it, nor do those of all threads
	 * but the recorder's.
	 */
	bool switches;
	const int *cpus; /* the CPUs to sample on */
	size_t nr_cpus;
	/* Sampling begins when the thread calls execve(2), else at wm_sampler_start() */
	bool on_exec;
	uint64_t buffer_bytes; /* limit for all rings together */
};

/* The registers in WM_CHAIN_STACK samples, as bits from <asm/perf_regs.h>. */
uint64_t wm_sampler_regs(void);

/*
 * The attr with which an event is opened. It also describes the layout of the records
 * (kdata/perf_attr_int.h).
 */
void wm_sampler_attr(const struct wm_sampler_event *e, int clockid, struct perf_event_attr *ret);
/* Sets the attr for task activity records. */
void wm_sampler_tasks_attr(int clockid, struct perf_event_attr *ret);

/* Restricts an attr to user mode, which needs less privilege. */
static inline void wm_sampler_narrow(struct perf_event_attr *a)
{
	a->exclude_kernel = a->exclude_hv = 1;
	a->exclude_callchain_kernel = 1;
}

/*
 * Asks the kernel whether such an event can be sampled. Returns 0; 1 if only outside the kernel; or
 * wm_perf_open()'s error and message. `everywhere`: for every task on a CPU.
 */
int wm_sampler_try(const struct wm_sampler_event *e, int clockid, bool everywhere,
		   struct wm_diag *diag);

struct wm_sampler;

/* Returns -ESRCH if all of the threads have exited. Other errors as for wm_perf_open(). */
int wm_sampler_open(const struct wm_sampler_plan *plan, struct wm_sampler **ret,
		    struct wm_diag *diag);
void wm_sampler_close(struct wm_sampler *s); /* accepts NULL */

int wm_sampler_start(struct wm_sampler *s);
void wm_sampler_stop(struct wm_sampler *s); /* stops sampling; the rings can still be read */

size_t wm_sampler_nr_cpus(const struct wm_sampler *s);
int wm_sampler_cpu(const struct wm_sampler *s, size_t i); /* number of the i-th CPU */
/* A descriptor that is readable when the CPU's ring is. */
int wm_sampler_fd(const struct wm_sampler *s, size_t i);
struct wm_perf_ring *wm_sampler_ring(struct wm_sampler *s, size_t i);
uint64_t wm_sampler_buffer_bytes(const struct wm_sampler *s);
/*
 * Number of records lost in that ring so far because it was full; 0 on kernels before 6.0. The ring
 * itself reports losses only once it has room again, and never the last ones.
 */
uint64_t wm_sampler_lost(const struct wm_sampler *s, size_t i);

#define WM_SAMPLER_TASKS SIZE_MAX /* the id of task activity records */
#define WM_SAMPLER_NONE  (SIZE_MAX - 1)

/*
 * Returns the index in the plan of the event with this id, or WM_SAMPLER_TASKS or WM_SAMPLER_NONE.
 */
size_t wm_sampler_event_of(const struct wm_sampler *s, uint64_t id);

#endif
