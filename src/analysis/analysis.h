/* SPDX-License-Identifier: MIT */
/*
 * analysis.h - an analysis is one const struct, one line in the table of
 * analyses.c, and one file.
 *
 *   open trace(s) --pass.h--> events in time order, with their threads
 *                       feed(), feed()...   one pass for all requested analyses
 *                       finish()            ->  struct wm_result (result.h)
 *                                               ->  view/ makes text or JSON of it
 *
 * An analysis keeps only its own counts: threads, names and processors are the
 * pass's (task_state.h). It prints nothing and opens no files.
 */
#ifndef WM_ANALYSIS_ANALYSIS_H
#define WM_ANALYSIS_ANALYSIS_H

#include "analysis/result.h"
#include "base/diag.h"
#include "base/option.h"
#include "trace/task_state.h"

struct wm_pass;
struct wm_module;

/* Maps numbers of a later part to those of the part before it. */
struct wm_join {
	const uint32_t *names;            /* by id in the state's names */
	struct wm_module *const *modules; /* by index */
};

/* An event as an analysis receives it. Valid during the call. */
struct wm_sight {
	const struct wm_event *event;
	uint32_t trace; /* index into the pass's traces */
	/* the event's thread, in its state before the event; NULL: unknown */
	const struct wm_task *task;
};

struct wm_analysis {
	const char *name;    /* of the verb, or of the mode of `waymark report` */
	const char *summary; /* one line, lower case, no full stop */

	/*
	 * Events the analysis requires, by their full names
	 * ("sched:sched_switch"); NULL ends the list. If the traces have no
	 * event of a name, the result names the -e option that records it.
	 */
	const char *const *needs;

	/*
	 * Called when traces are open and bound. `values` outlives the
	 * analysis. 0 or -errno with `diag`.
	 */
	int (*create)(struct wm_pass *pass, const void *values, void **ret, struct wm_diag *diag);
	int (*feed)(void *own, const struct wm_sight *s); /* 0 or -errno, which ends the pass */
	int (*finish)(void *own, struct wm_result *r);    /* fills the result; 0 or -ENOMEM */
	void (*destroy)(void *own);                       /* accepts NULL */

	/*
	 * For passes divided by time over several threads: returns whether
	 * joined parts give the same result as one walk. NULL: never.
	 */
	bool (*divides)(const void *own);
	/* Adds the counts of the following part, which is not changed. 0 or -errno. */
	int (*join)(void *own, const void *later, const struct wm_join *j);

	/*
	 * For interactive views, when the values request it: creates the rows
	 * below a row marked `more`, and clears the mark. NULL: finish()
	 * creates all rows. 0 or -ENOMEM.
	 */
	int (*expand)(void *own, struct wm_result *r, struct wm_result_row *row);
};

extern const struct wm_analysis *const wm_analyses[]; /* NULL-terminated */

const struct wm_analysis *wm_analysis_find(const char *name); /* NULL: none */

#endif
