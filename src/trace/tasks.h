/* SPDX-License-Identifier: MIT */
/*
 * tasks.h - the threads of a trace as they are at the moment the pass has come
 * to. One entry a thread id, used again when the id comes back: memory is
 * bounded by the number of ids there were, whatever the length of the trace.
 *
 * Who fills it: task_state.h, from the events that tell of threads.
 */
#ifndef WM_TRACE_TASKS_H
#define WM_TRACE_TASKS_H

#include <stdbool.h>
#include <stdint.h>

#define WM_TASKS_MAX (1u << 22)

struct wm_task {
	int32_t tid;      /* -1: nobody's; also of all that are beyond WM_TASKS_MAX */
	int32_t pid;      /* the process; -1: not known */
	int32_t parent;   /* process; -1: not known */
	int32_t cpu;      /* it runs there; -1: it does not, or nobody knows */
	uint32_t comm;    /* id in the state's names; 0: not known */
	bool asked;       /* the trace's format was asked for its name, too */
	bool gone;        /* it ended; its id may come back */
	uint32_t index;   /* 0, 1, 2... in the order they were met: for arrays beside */
	int64_t since_ns; /* when it got on the processor or left it */
};

struct wm_tasks {
	struct wm_task **chunks; /* entries never move */
	uint32_t nr;
	uint32_t *slots; /* index + 1; 0: empty */
	uint32_t nr_slots;
	struct wm_task *last; /* asked for; NULL: none yet */
	struct wm_task others;
};

/* 0 or -ENOMEM. */
int wm_tasks_init(struct wm_tasks *t);
void wm_tasks_done(struct wm_tasks *t);

/* NULL: never met. */
struct wm_task *wm_tasks_find(const struct wm_tasks *t, int32_t tid);

/* Makes it when it is new. Beyond the limit, or below 0: &t->others; NULL: out of memory. */
struct wm_task *wm_tasks_get(struct wm_tasks *t, int32_t tid);

/* By index, below t->nr. */
struct wm_task *wm_tasks_at(const struct wm_tasks *t, uint32_t index);

#endif
