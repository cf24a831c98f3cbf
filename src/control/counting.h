/* SPDX-License-Identifier: MIT */
/*
 * counting.h - one run of counting, from its beginning to its end: starts CMD or finds the threads,
 * counts while it runs, returns the counts. Signals, intervals and the end are handled here;
 * counting itself is in kernel/counters.h. Prints nothing.
 */
#ifndef WM_CONTROL_COUNTING_H
#define WM_CONTROL_COUNTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/diag.h"
#include "control/counting/program_counts.h"
#include "control/recorder.h"
#include "kernel/count_by.h"
#include "kernel/counters.h"
#include "kernel/event_def.h"

struct wm_counting_plan {
	const struct wm_event_defs *defs;
	const struct wm_tracefs *tracefs; /* this and filters: see wm_counters_plan */
	const char *const *filters;
	/*
	 * Programs' events, counted along with the kernel's: rules of wm_tally_rules_options(),
	 * processes, CMD's environment; NULL: none.
	 */
	const struct wm_recorder_plan *programs;
	/*
	 * The tasks to count: these threads (with `pids`, all threads of those processes), or the
	 * whole machine, or else CMD and its children.
	 */
	const pid_t *pids, *tids;
	size_t nr_pids, nr_tids;
	bool all;
	const int *cpus; /* count only on these CPUs, separately; NULL: all together */
	size_t nr_cpus;
	bool no_inherit;
	bool threads_apart;   /* wm_tally_count() is called per thread */
	const char *by;       /* fields by which tracepoints are counted separately; NULL: none */
	char **command;       /* NULL: until the threads end or a signal arrives */
	uint64_t interval_ns; /* 0: none */
	uint64_t timeout_ns;  /* then the run ends, and CMD gets SIGTERM; 0: never */
	uint64_t delay_ns;    /* from start-up until counts, interval and timeout begin */
};

#define WM_COUNTING_NEVER UINT64_MAX /* as delay_ns: counts nothing; times start at once */

struct wm_counting {
	struct wm_counters *counters; /* read for the last time; the caller closes them */
	struct wm_tally *tally;       /* likewise; NULL: no programs' events */
	pid_t *tids;                  /* the counted threads, malloc'ed; -1: none */
	size_t nr_tids;
	uint64_t elapsed_ns;         /* since counting started */
	bool cut_short;              /* it ended before delay_ns were over: nothing was counted */
	uint64_t user_ns, system_ns; /* of CMD and its children; 0 without CMD */
	int status;                  /* of CMD as from waitpid(2); -1: no CMD */
	/* With `by`: one per event of the counters; NULL: it is not counted. */
	struct wm_count_by **by;
	size_t nr_by;
	struct wm_by_threads *threads;
	uint32_t nr_refused; /* processes that are not counted; messages name only some */
	int signo;           /* the signal that ended the run; 0: none */
};

/*
 * Called when everything is open and before anything runs: returns 0 to continue, or the value that
 * wm_counting_run() returns.
 */
typedef int wm_counting_ready(const struct wm_counting *c, void *data);
/* Called at each interval, after the counters were read. */
typedef void wm_counting_tick(const struct wm_counting *c, uint64_t elapsed_ns, void *data);

/*
 * Checks, before anything is created, that filters fit and processes can be attached to. 0, or
 * -errno with diag.
 */
int wm_counting_check(const struct wm_counting_plan *plan, struct wm_diag *diag);

/*
 * 0 and the result, or a negative errno with diag; if CMD cannot be run, -ENOEXEC and -ENOENT are
 * returned unchanged and diag->where is WM_RECORDER_IN_COMMAND.
 */
int wm_counting_run(const struct wm_counting_plan *plan, wm_counting_ready *ready,
		    wm_counting_tick *tick, void *data, struct wm_counting *ret,
		    struct wm_diag *diag);
void wm_counting_done(struct wm_counting *c);

#endif
