/* SPDX-License-Identifier: MIT */
/*
 * counting.h - one counting run from beginning to end: starts CMD or finds the threads, counts
 * while they run, and returns the counts. Signals, intervals and the end are handled here; the
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
	const struct wm_tracefs *tracefs; /* tracefs and filters: see wm_counters_plan */
	const char *const *filters;
	/*
	 * For counting program events together with kernel events: rules with
	 * wm_tally_rules_options(), processes, CMD's environment. NULL: no program events.
	 */
	const struct wm_recorder_plan *programs;
	/*
	 * The tasks to count: these threads (with `pids`, all threads of those processes), or the
	 * whole machine, or else CMD and its children.
	 */
	const pid_t *pids, *tids;
	size_t nr_pids, nr_tids;
	bool all;
	const int *cpus; /* count only on these CPUs, each separately; NULL: on all CPUs together */
	size_t nr_cpus;
	bool no_inherit;
	bool threads_apart; /* wm_tally_count() returns counts per thread */
	/* Fields by whose values tracepoints are counted separately; NULL: none. */
	const char *by;
	char **command;       /* NULL: count until the threads end or a signal arrives */
	uint64_t interval_ns; /* 0: none */
	uint64_t timeout_ns;  /* the run ends after this time and CMD gets SIGTERM; 0: never */
	uint64_t delay_ns;    /* delay before counts, interval and timeout begin */
};

#define WM_COUNTING_NEVER UINT64_MAX /* As delay_ns: never counts; times start at once. */

struct wm_counting {
	struct wm_counters *counters; /* already read for the last time; the caller closes them */
	struct wm_tally *tally;       /* likewise; NULL: no program events are counted */
	pid_t *tids;                  /* the threads that were counted, malloc'ed; -1: none */
	size_t nr_tids;
	/*
	 * With threads_apart, one for each of `tids`: its name when the counting began, as a thread
	 * that has ended has none. "?": it had ended before.
	 */
	struct wm_counting_name {
		char text[16];
	} * names;
	uint64_t elapsed_ns; /* time since counting started */
	/* The run ended before delay_ns had passed, so nothing was counted. */
	bool cut_short;
	uint64_t user_ns, system_ns; /* CPU time of CMD and its children; 0 without CMD */
	int status;                  /* CMD's status as from waitpid(2); -1: no CMD */
	/* With `by`: one for each of the counters' events; NULL if the event is not counted. */
	struct wm_count_by **by;
	size_t nr_by;
	struct wm_by_threads *threads;
	/* Number of processes not counted; messages name only some of them. */
	uint32_t nr_refused;
	int signo; /* the signal that ended the run; 0: none */
};

/*
 * Called when everything is open and before anything runs. Returns 0 to continue, or the value that
 * wm_counting_run() should return.
 */
typedef int wm_counting_ready(const struct wm_counting *c, void *data);
/* Called at each interval, after the counters have been read. */
typedef void wm_counting_tick(const struct wm_counting *c, uint64_t elapsed_ns, void *data);

/*
 * Checks, before anything is created, that filters fit and processes can be attached to. Returns 0,
 * or -errno with diag.
 */
int wm_counting_check(const struct wm_counting_plan *plan, struct wm_diag *diag);

/*
 * Runs. Returns 0 and the result, or -errno with diag. If CMD cannot be run, -ENOEXEC and -ENOENT
 * are returned unchanged and diag->where is WM_RECORDER_IN_COMMAND.
 */
int wm_counting_run(const struct wm_counting_plan *plan, wm_counting_ready *ready,
		    wm_counting_tick *tick, void *data, struct wm_counting *ret,
		    struct wm_diag *diag);
void wm_counting_done(struct wm_counting *c);

#endif
