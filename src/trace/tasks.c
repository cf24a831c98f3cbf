/* SPDX-License-Identifier: MIT */
/* tasks.c - see tasks.h. A hash table over chunks of entries that never move. */
#include "trace/tasks.h"

#include <errno.h>
#include <stdlib.h>

#define CHUNK 1024u

int wm_tasks_init(struct wm_tasks *t)
{
	*t = (struct wm_tasks){.others = {.tid = -1, .pid = -1, .parent = -1, .cpu = -1}};
	wm_table_init(&t->by_tid);
	t->chunks = calloc(WM_TASKS_MAX / CHUNK, sizeof(struct wm_task *));
	return t->chunks ? 0 : -ENOMEM;
}

void wm_tasks_done(struct wm_tasks *t)
{
	for (uint32_t i = 0; t->chunks && i < t->nr; i += CHUNK)
		free(t->chunks[i / CHUNK]);
	free(t->chunks);
	wm_table_done(&t->by_tid);
	*t = (struct wm_tasks){0};
}

struct wm_task *wm_tasks_at(const struct wm_tasks *t, uint32_t index)
{
	return &t->chunks[index / CHUNK][index % CHUNK];
}

struct wm_task *wm_tasks_find(const struct wm_tasks *t, int32_t tid)
{
	struct wm_table_walk w = wm_table_walk(wm_table_hash(&t->by_tid, (uint32_t)tid));

	while (wm_table_next(&t->by_tid, &w)) {
		struct wm_task *task = wm_tasks_at(t, w.index);

		if (task->tid == tid)
			return task;
	}
	return NULL;
}

static struct wm_task *tasks_add(struct wm_tasks *t, int32_t tid)
{
	struct wm_task **chunk = &t->chunks[t->nr / CHUNK], *task;

	if (!*chunk)
		*chunk = calloc(CHUNK, sizeof(**chunk));
	if (!*chunk || wm_table_add(&t->by_tid, wm_table_hash(&t->by_tid, (uint32_t)tid), t->nr))
		return NULL;
	task = wm_tasks_at(t, t->nr);
	*task = (struct wm_task){
	    .tid = tid, .pid = -1, .parent = -1, .cpu = -1, .index = t->nr, .since_ns = INT64_MIN};
	t->nr++;
	return task;
}

struct wm_task *wm_tasks_get(struct wm_tasks *t, int32_t tid)
{
	struct wm_task *task = t->last;

	if (task && task->tid == tid)
		return task;
	task = tid < 0 ? &t->others : wm_tasks_find(t, tid);
	if (!task)
		task = t->nr == WM_TASKS_MAX ? &t->others : tasks_add(t, tid);
	if (task)
		t->last = task;
	return task;
}
