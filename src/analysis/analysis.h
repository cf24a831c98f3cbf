/* SPDX-License-Identifier: MIT */
/*
 * analysis.h - an analysis is one const struct in one file, and one line in the table WM_ANALYSES
 * below.
 *
 *   open trace(s) --pass.h--> events in time order, with their threads
 *                       feed(), feed()...   one pass for all requested analyses
 *                       finish()            ->  struct wm_result (result.h)
 *                                               ->  view/ turns it into text or JSON
 *
 * An analysis keeps only its own counts: the pass tracks threads, names and CPUs (task_state.h). It
 * prints nothing and opens no files.
 */
#ifndef WM_ANALYSIS_ANALYSIS_H
#define WM_ANALYSIS_ANALYSIS_H

#include "analysis/result.h"
#include "base/diag.h"
#include "base/option.h"
#include "trace/task_state.h"

struct wm_pass;
struct wm_module;

/* Maps ids and indices of a later part of the traces to those of the part before it. */
struct wm_join {
	const uint32_t *names;            /* indexed by name id */
	struct wm_module *const *modules; /* indexed by module */
};

/* An event as an analysis receives it. Valid during the call. */
struct wm_sight {
	const struct wm_event *event;
	uint32_t trace; /* index into the pass's traces */
	/* the event's thread, in its state before the event; NULL: unknown */
	const struct wm_task *task;
};

struct wm_analysis {
	const char *name;    /* name of the verb, or of the mode of `waymark report` */
	const char *summary; /* one line, lower case, no full stop */

	/*
	 * Full names of the events that the analysis requires
	 * ("sched:sched_switch"), terminated by NULL. If the traces lack
	 * one, the result names the -e option that records it.
	 */
	const char *const *needs;

	/*
	 * Called when traces are open and bound. `values` outlives the analysis. Returns 0 or
	 * -errno with `diag`.
	 */
	int (*create)(struct wm_pass *pass, const void *values, void **ret, struct wm_diag *diag);
	int (*feed)(void *own, const struct wm_sight *s); /* 0 or -errno, which ends the pass */
	/*
	 * Receives the events about threads within the time window that were not passed to feed(),
	 * for analyses that follow threads. NULL: not needed. Returns 0 or -errno.
	 */
	int (*told)(void *own, const struct wm_sight *s);
	int (*finish)(void *own, struct wm_result *r); /* fills the result; 0 or -ENOMEM */
	void (*destroy)(void *own);                    /* accepts NULL */

	/*
	 * Returns whether the events may be divided by time among several threads and the parts
	 * joined with the same result. NULL: never.
	 */
	bool (*divides)(const void *own);
	/*
	 * Adds the counts of the part that follows in time, which is unchanged. Returns 0 or
	 * -errno.
	 */
	int (*join)(void *own, const void *later, const struct wm_join *j);

	/*
	 * Creates the rows below a row marked `more`, and clears the mark, for interactive views
	 * that request rows on demand. NULL: finish() creates all rows. Returns 0 or -ENOMEM.
	 */
	int (*expand)(void *own, struct wm_result *r, struct wm_result_row *row);
};

/* The table of all analyses: one line each, which also declares it. */
#define WM_ANALYSES(ANALYSIS)                                                                      \
	ANALYSIS(wm_analysis_profile)                                                              \
	ANALYSIS(wm_analysis_off_cpu)                                                              \
	ANALYSIS(wm_analysis_wakeups)                                                              \
	ANALYSIS(wm_analysis_annotate)

#define WM_ANALYSIS_DECLARE_(analysis) extern const struct wm_analysis analysis;
WM_ANALYSES(WM_ANALYSIS_DECLARE_)

const struct wm_analysis *wm_analysis_find(const char *name); /* NULL: there is none */

#endif
