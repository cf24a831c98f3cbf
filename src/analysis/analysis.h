/* SPDX-License-Identifier: MIT */
/*
 * analysis.h - what an analysis is: one const struct, one line in the table of
 * analyses.c, one file.
 *
 *   open trace(s) --pass.h--> events in order, with who they are of
 *                       feed(), feed()...   one pass for all analyses asked for
 *                       finish()            ->  struct wm_result (result.h)
 *                                               ->  view/ makes text or JSON of it
 *
 * An analysis keeps what it counts and nothing else: threads, names and
 * processors are the pass's (task_state.h). It prints nothing and knows no file.
 */
#ifndef WM_ANALYSIS_ANALYSIS_H
#define WM_ANALYSIS_ANALYSIS_H

#include "analysis/result.h"
#include "base/diag.h"
#include "base/option.h"
#include "trace/task_state.h"

struct wm_pass;
struct wm_module;

/* Numbers of a part that lies behind, as they are in the part before it. */
struct wm_join {
	const uint32_t *names;            /* by id of the state's names */
	struct wm_module *const *modules; /* by index */
};

/* An event as an analysis gets it. Valid during the call. */
struct wm_sight {
	const struct wm_event *event;
	uint32_t trace;             /* index of the pass's traces */
	const struct wm_task *task; /* whose it is, before the event; NULL: nobody knows */
};

struct wm_analysis {
	const char *name;    /* of the verb, or of `waymark report`'s ways */
	const char *summary; /* one line, lower case, no full stop */

	/*
	 * Events it cannot do without, as people name them ("sched:sched_switch");
	 * NULL ends the list. When none of one name is in the traces, the result
	 * says which -e would have recorded it.
	 */
	const char *const *needs;

	/* Traces are open and bound. `values` outlives it. 0 or -errno with `diag`. */
	int (*create)(struct wm_pass *pass, const void *values, void **ret, struct wm_diag *diag);
	int (*feed)(void *own, const struct wm_sight *s); /* 0 or -errno, which ends the pass */
	int (*finish)(void *own, struct wm_result *r);    /* fills the result; 0 or -ENOMEM */
	void (*destroy)(void *own);                       /* accepts NULL */

	/*
	 * For passes whose threads have a part of the time each: is what this one
	 * finds the same when it is found in parts and joined? NULL: never.
	 */
	bool (*divides)(const void *own);
	/* Adds what the part behind found, which is left as it is. 0 or -errno. */
	int (*join)(void *own, const void *later, const struct wm_join *j);

	/*
	 * For views that people move in, when the values asked for it: makes what
	 * is below a row that has `more`, and clears that. NULL: finish() makes
	 * all. 0 or -ENOMEM.
	 */
	int (*expand)(void *own, struct wm_result *r, struct wm_result_row *row);
};

extern const struct wm_analysis *const wm_analyses[]; /* NULL ends it */

const struct wm_analysis *wm_analysis_find(const char *name); /* NULL: none */

#endif
