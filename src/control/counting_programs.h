/* SPDX-License-Identifier: MIT */
/*
 * counting_programs.h - counts program events together with a run's counters: the tally, CMD's
 * environment, processes that are already running. The caller owns and steps the loop and calls
 * each function at the right time; without a plan, none of the functions does anything.
 */
#ifndef WM_CONTROL_COUNTING_PROGRAMS_H
#define WM_CONTROL_COUNTING_PROGRAMS_H

#include "base/child.h"
#include "control/counting/program_counts.h"
#include "control/recorder.h"
#include "kernel/event_space.h"

struct wm_recorder_targets;

struct wm_counting_programs {
	const struct wm_recorder_plan *plan; /* NULL: no program events are counted */
	struct wm_loop *loop;
	struct wm_tally *tally;
	struct wm_recorder_targets *targets; /* processes that are already running; NULL: none */
	/* Number of processes not counted; messages name only some of them. */
	uint32_t nr_refused;
};

/*
 * Whether a name selects program events. `err` is the error with which the lookup in the kernel
 * failed; 0: it was not looked up. If the kernel's names cannot be read, only the events found in
 * the plan's program or processes decide. *ret_name is the name without "user:".
 */
bool wm_counting_means_programs(const struct wm_recorder_plan *plan,
				const struct wm_event_space *space, const char *name, int err,
				const char **ret_name);

/*
 * Checks, before anything is created, that filters fit and processes can be attached to. Returns 0,
 * or -errno with diag.
 */
int wm_counting_programs_check(const struct wm_recorder_plan *plan, struct wm_diag *diag);

/* Lets processes join from now on. Returns 0, or -errno with diag. */
int wm_counting_programs_open(struct wm_counting_programs *p, const struct wm_recorder_plan *plan,
			      struct wm_loop *loop, struct wm_diag *diag);

/*
 * Starts CMD and holds it; with `counted`, its environment contains the session. Returns 0, or
 * -errno with diag.
 */
int wm_counting_programs_hold(const struct wm_counting_programs *p, char *const *command,
			      bool counted, const sigset_t *mask, struct wm_child *ret,
			      struct wm_diag *diag);

/*
 * Call it once the tasks to count are known: counts these threads separately and, with `only`, no
 * others. Returns 0 or -errno.
 */
int wm_counting_programs_serve(struct wm_counting_programs *p, const pid_t *tids, size_t nr_tids,
			       bool only);

/* Attaches to processes that are already running. Returns 0, or -errno with diag. */
int wm_counting_programs_attach(struct wm_counting_programs *p, struct wm_diag *diag);

/*
 * Reads the final sums and reports processes that never joined. Must be called before the loop is
 * destroyed. The tally remains.
 */
void wm_counting_programs_leave(struct wm_counting_programs *p);

/* Reports the events that could not be counted, with reasons. */
void wm_counting_programs_say(const struct wm_words *words, const struct wm_tally_totals *t);

#endif
