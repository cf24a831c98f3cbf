/* SPDX-License-Identifier: MIT */
/*
 * task_filter.h - the set of threads that a recording follows, at the current time of a pass. It
 * contains threads given by id, and possibly one from its execve(2) on; children are added, exited
 * threads are removed. It is computed from the kernel's task records (perf:fork, perf:comm,
 * perf:exit), so that it agrees with perf's counters. This is needed because a recording also
 * contains other tasks' events that refer to the followed ones.
 */
#ifndef WM_ANALYSIS_TASK_FILTER_H
#define WM_ANALYSIS_TASK_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "trace/task_state.h"

struct wm_followed {
	struct wm_tasks *tasks; /* tasks of the pass; NULL: not bound yet */
	bool children;          /* children are followed, too */
	pid_t command;          /* process that is followed from its execve(2) on; 0: none */
	pid_t *named;           /* threads that are followed from the beginning; copied */
	size_t nr_named;
	bool told; /* the trace has task records */
	struct wm_field_ref tid, parent, renamed, misc, ended;
	const struct wm_event_type *fork, *comm, *exit; /* NULL: not in the trace */
	uint8_t *members;                               /* indexed by task */
	uint32_t nr_members;
};

void wm_followed_init(struct wm_followed *f, bool children);
void wm_followed_done(struct wm_followed *f);

/*
 * Adds threads that are followed from the beginning to those from earlier calls. Returns 0 or
 * -ENOMEM.
 */
int wm_followed_name(struct wm_followed *f, const pid_t *tids, size_t nr);

/* Binds the trace's current event types and its task table. Returns 0 or -ENOMEM. */
int wm_followed_bind(struct wm_followed *f, const struct wm_trace *t, struct wm_tasks *tasks);

/* Updates the set from an event about tasks. Returns 0 or -ENOMEM. */
int wm_followed_feed(struct wm_followed *f, const struct wm_event *e);

/*
 * Returns whether the event happened in one of the threads; also true if the trace has no task
 * records.
 */
bool wm_followed_has(const struct wm_followed *f, const struct wm_event *e);

#endif
