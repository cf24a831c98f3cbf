/* SPDX-License-Identifier: MIT */
/*
 * counting.h - one run of counting, from its beginning to its end: starts CMD
 * or finds the threads, counts while it runs, hands out what was counted.
 * What to do with signals, intervals and the end is decided here; counting
 * itself is kernel/counters.h. Prints nothing.
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
	const struct wm_tracefs *tracefs; /* this and filters: as in struct wm_counters_plan */
	const char *const *filters;
	/*
	 * Programs' events, counted beside the kernel's: rules of wm_tally_rules_options(),
	 * whose processes, what CMD finds; NULL: none.
	 */
	const struct wm_recorder_plan *programs;
	/*
	 * What is counted: these threads (and with `pids` all of those processes),
	 * or the whole machine, or else CMD and its children.
	 */
	const pid_t *pids, *tids;
	size_t nr_pids, nr_tids;
	bool all;
	const int *cpus; /* only there, and apart; none: all together */
	size_t nr_cpus;
	bool no_inherit;
	bool threads_apart;   /* wm_tally_count() is asked for each of the threads */
	const char *by;       /* fields that tracepoints are counted apart by; NULL: none */
	char **command;       /* NULL: until the threads end or a signal comes */
	uint64_t interval_ns; /* 0: none */
	uint64_t timeout_ns;  /* then it ends, and CMD gets SIGTERM; 0: never */
	uint64_t delay_ns;    /* counts, and both times above, begin so long after all runs */
};

#define WM_COUNTING_NEVER UINT64_MAX /* as delay_ns: nothing is counted; times begin at once */

struct wm_counting {
	struct wm_counters *counters; /* read for the last time; close them */
	struct wm_tally *tally;       /* likewise; NULL: no events of programs */
	pid_t *tids;                  /* whom they count, free() them; none: -1 */
	size_t nr_tids;
	uint64_t elapsed_ns;         /* since it counts */
	bool cut_short;              /* it ended before delay_ns were over: nothing is counted */
	uint64_t user_ns, system_ns; /* of CMD and its children; 0 without CMD */
	int status;                  /* of CMD as waitpid(2) has it; -1: there was none */
	/* With `by`: for each event of the counters; NULL: it is not counted. */
	struct wm_count_by **by;
	size_t nr_by;
	struct wm_by_threads *threads;
	uint32_t nr_refused; /* processes that are not counted, of those the words tell some */
	int signo;           /* the signal that ended the run; 0: none */
};

/*
 * Once everything is open and before anything runs: returns 0 to go on, or
 * what wm_counting_run() shall return.
 */
typedef int wm_counting_ready(const struct wm_counting *c, void *data);
/* At each interval, after the counters were read. */
typedef void wm_counting_tick(const struct wm_counting *c, uint64_t elapsed_ns, void *data);

/* Whether filters fit and processes can be reached, before anything is made. 0, or with a sentence.
 */
int wm_counting_check(const struct wm_counting_plan *plan, struct wm_diag *diag);

/*
 * 0 and the result, or a negative errno with a sentence; -ENOEXEC and -ENOENT
 * of a command that cannot be run come as they are, diag->where is WM_RECORDER_IN_COMMAND.
 */
int wm_counting_run(const struct wm_counting_plan *plan, wm_counting_ready *ready,
		    wm_counting_tick *tick, void *data, struct wm_counting *ret,
		    struct wm_diag *diag);
void wm_counting_done(struct wm_counting *c);

#endif
