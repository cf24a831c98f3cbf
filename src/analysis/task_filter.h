/* SPDX-License-Identifier: MIT */
/*
 * task_filter.h - which threads a recording is about, at the moment a pass has
 * come to: some are named, one may be waited for until it calls execve(2),
 * children join, ends leave. Told by the kernel's own records of tasks
 * (perf:fork, perf:comm, perf:exit), which begin and end where perf's counters
 * do. A recording has other tasks' events, too, where they name one of these.
 */
#ifndef WM_ANALYSIS_TASK_FILTER_H
#define WM_ANALYSIS_TASK_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "trace/task_state.h"

struct wm_followed {
	struct wm_tasks *tasks; /* of the pass; NULL: not bound yet */
	bool children;          /* are followed */
	pid_t command;          /* followed from its execve(2) on; 0: none */
	pid_t *named;           /* ours; from the beginning */
	size_t nr_named;
	bool told; /* the trace has records of tasks */
	struct wm_field_ref tid, parent, renamed, misc, ended;
	const struct wm_event_type *fork, *comm, *exit; /* NULL: not in the trace */
	uint8_t *members;                               /* by the task's index */
	uint32_t nr_members;
};

void wm_followed_init(struct wm_followed *f, bool children);
void wm_followed_done(struct wm_followed *f);

/* Followed from the beginning, those of before as well. 0 or -ENOMEM. */
int wm_followed_name(struct wm_followed *f, const pid_t *tids, size_t nr);

/* The trace as it is now, and whose tasks are to be asked. 0 or -ENOMEM. */
int wm_followed_bind(struct wm_followed *f, const struct wm_trace *t, struct wm_tasks *tasks);

/* What the event tells of tasks. 0 or -ENOMEM. */
int wm_followed_feed(struct wm_followed *f, const struct wm_event *e);

/* Whether the event happened in one of them; without records of tasks: true. */
bool wm_followed_has(const struct wm_followed *f, const struct wm_event *e);

#endif
