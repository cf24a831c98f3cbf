/* SPDX-License-Identifier: MIT */
/*
 * task_filter.h - the threads that a recording follows, at the pass's current
 * time: some are named, one may be followed from its execve(2) on, children are
 * added, exited threads are removed. The source is the kernel's own records of
 * tasks (perf:fork, perf:comm, perf:exit), which start and stop where perf's
 * counters do. A recording also has events of other tasks if they name one of
 * these.
 */
#ifndef WM_ANALYSIS_TASK_FILTER_H
#define WM_ANALYSIS_TASK_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "trace/task_state.h"

struct wm_followed {
	struct wm_tasks *tasks; /* the pass's; NULL: not bound yet */
	bool children;          /* children are followed */
	pid_t command;          /* followed from its execve(2) on; 0: none */
	pid_t *named;           /* our copy; followed from the beginning */
	size_t nr_named;
	bool told; /* the trace has records of tasks */
	struct wm_field_ref tid, parent, renamed, misc, ended;
	const struct wm_event_type *fork, *comm, *exit; /* NULL: not in the trace */
	uint8_t *members;                               /* by task index */
	uint32_t nr_members;
};

void wm_followed_init(struct wm_followed *f, bool children);
void wm_followed_done(struct wm_followed *f);

/* Adds threads that are followed from the beginning, in addition to earlier ones. 0 or -ENOMEM. */
int wm_followed_name(struct wm_followed *f, const pid_t *tids, size_t nr);

/* Binds the trace as it is now, and its table of tasks. 0 or -ENOMEM. */
int wm_followed_bind(struct wm_followed *f, const struct wm_trace *t, struct wm_tasks *tasks);

/* Updates the set from an event about tasks. 0 or -ENOMEM. */
int wm_followed_feed(struct wm_followed *f, const struct wm_event *e);

/*
 * Returns whether the event happened in one of the threads; true if the trace
 * has no records of tasks.
 */
bool wm_followed_has(const struct wm_followed *f, const struct wm_event *e);

#endif
