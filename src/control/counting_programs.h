/* SPDX-License-Identifier: MIT */
/*
 * counting_programs.h - programs' events beside the counters of a run: the tally,
 * what CMD finds in its environment, processes that run already. The caller has
 * the loop, steps it, and says when; without a plan all of it does nothing.
 */
#ifndef WM_CONTROL_COUNTING_PROGRAMS_H
#define WM_CONTROL_COUNTING_PROGRAMS_H

#include "base/child.h"
#include "control/counting/program_counts.h"
#include "control/recorder.h"
#include "kernel/event_space.h"

struct wm_recorder_targets;

struct wm_counting_programs {
	const struct wm_recorder_plan *plan; /* NULL: none are counted */
	struct wm_loop *loop;
	struct wm_tally *tally;
	struct wm_recorder_targets *targets; /* processes that run already; NULL: none */
	uint32_t nr_refused; /* processes that are not counted, of those the words tell some */
};

/*
 * Whether a name means programs' events. `err` is why the kernel has none so
 * called, 0: it was not asked. What the kernel has may not be seen: then only
 * what is there in the plan's program or processes tells. *ret_name is it
 * without "user:".
 */
bool wm_counting_means_programs(const struct wm_recorder_plan *plan,
				const struct wm_event_space *space, const char *name, int err,
				const char **ret_name);

/* Whether filters fit and processes can be reached, before anything is made. 0, or with a sentence.
 */
int wm_counting_programs_check(const struct wm_recorder_plan *plan, struct wm_diag *diag);

/* Processes may join from now on. 0, or with a sentence. */
int wm_counting_programs_open(struct wm_counting_programs *p, const struct wm_recorder_plan *plan,
			      struct wm_loop *loop, struct wm_diag *diag);

/* Holds CMD; `counted`: it finds the session in its environment. 0, or with a sentence. */
int wm_counting_programs_hold(const struct wm_counting_programs *p, char *const *command,
			      bool counted, const sigset_t *mask, struct wm_child *ret,
			      struct wm_diag *diag);

/* Once it is known whose events are counted: these threads apart, and `only` they. 0 or -errno. */
int wm_counting_programs_serve(struct wm_counting_programs *p, const pid_t *tids, size_t nr_tids,
			       bool only);

/* Reaches processes that run. 0, or with a sentence. */
int wm_counting_programs_attach(struct wm_counting_programs *p, struct wm_diag *diag);

/* The last sums, and words about who never joined; before the loop goes. The tally stays. */
void wm_counting_programs_leave(struct wm_counting_programs *p);

/* What could not be counted, and why. */
void wm_counting_programs_say(const struct wm_words *words, const struct wm_tally_totals *t);

#endif
