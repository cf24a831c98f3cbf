/* SPDX-License-Identifier: MIT */
/*
 * tasks.h - the threads of a trace at the current time of a pass. One entry per thread id, reused
 * when the id is: memory is bounded by the number of ids, independent of the trace's length.
 *
 * task_state.h fills it from the events about threads.
 */
#ifndef WM_TRACE_TASKS_H
#define WM_TRACE_TASKS_H

#include <stdbool.h>
#include <stdint.h>

#define WM_TASKS_MAX (1u << 22)

struct wm_task {
	int32_t tid;      /* -1: `others`, shared by invalid ids and those beyond WM_TASKS_MAX */
	int32_t pid;      /* the process; -1: unknown */
	int32_t parent;   /* process; -1: unknown */
	int32_t cpu;      /* where it runs; -1: not running, or unknown */
	uint32_t comm;    /* id in the state's names; 0: unknown */
	bool asked;       /* the trace's format was queried for its name, too */
	bool gone;        /* it exited; its id may be reused */
	uint32_t index;   /* 0, 1, 2... in order of appearance: for parallel arrays */
	int64_t since_ns; /* when it got on the processor or left it */
};

struct wm_tasks {
	struct wm_task **chunks; /* entries never move */
	uint32_t nr;
	uint32_t *slots; /* index + 1; 0: empty */
	uint32_t nr_slots;
	struct wm_task *last; /* result of the last lookup, or NULL */
	struct wm_task others;
};

/* 0 or -ENOMEM. */
int wm_tasks_init(struct wm_tasks *t);
void wm_tasks_done(struct wm_tasks *t);

/* NULL: no such thread. */
struct wm_task *wm_tasks_find(const struct wm_tasks *t, int32_t tid);

/*
 * Creates the entry when it is new. Beyond the limit, or for ids below 0: &t->others. NULL: out of
 * memory.
 */
struct wm_task *wm_tasks_get(struct wm_tasks *t, int32_t tid);

/* By index, below t->nr. */
struct wm_task *wm_tasks_at(const struct wm_tasks *t, uint32_t index);

#endif
