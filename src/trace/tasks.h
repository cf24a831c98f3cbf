/* SPDX-License-Identifier: MIT */
/*
 * tasks.h - a table of a trace's threads, with their state at the current read position. There is
 * one entry per thread id; a new thread with the same id reuses the entry, so that memory is
 * bounded by the number of ids and independent of the trace's length.
 *
 * task_state.h updates the table from events about threads.
 */
#ifndef WM_TRACE_TASKS_H
#define WM_TRACE_TASKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"

#define WM_TASKS_MAX (1u << 22)

struct wm_task {
	int32_t tid;    /* -1: `others`, shared by invalid ids and those beyond WM_TASKS_MAX */
	int32_t pid;    /* the process; -1: unknown */
	int32_t parent; /* parent process; -1: unknown */
	int32_t cpu;    /* processor it runs on; -1: not running, or unknown */
	uint32_t comm;  /* id in the state's names; 0: unknown */
	bool asked;     /* the trace's format was already asked for the name */
	bool is_named;  /* the trace's format or a context has the name */
	bool gone;      /* the thread exited; its id may be reused */
	/*
	 * 0, 1, 2... in order of appearance; callers may use it as an index into their own arrays
	 */
	uint32_t index;
	int64_t since_ns; /* when it last began or stopped running */
};

struct wm_tasks {
	struct wm_task **chunks; /* entries never move */
	uint32_t nr;
	struct wm_table by_tid;
	struct wm_task *last; /* result of the last lookup, or NULL */
	struct wm_task others;
};

/* 0 or -ENOMEM. */
int wm_tasks_init(struct wm_tasks *t);
void wm_tasks_done(struct wm_tasks *t);

/* NULL: no such thread. */
struct wm_task *wm_tasks_find(const struct wm_tasks *t, int32_t tid);

/*
 * Returns the thread's entry, created if needed; &t->others for a negative id or one beyond the
 * limit; NULL when out of memory.
 */
struct wm_task *wm_tasks_get(struct wm_tasks *t, int32_t tid);

/* Returns the entry with that index, which must be below t->nr. */
struct wm_task *wm_tasks_at(const struct wm_tasks *t, uint32_t index);

#endif
