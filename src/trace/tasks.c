/* SPDX-License-Identifier: MIT */
/* tasks.c - see tasks.h. Open addressing over chunks of entries that never move. */
#include "trace/tasks.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mix.h"

#define FIRST_SLOTS 256u
#define CHUNK       1024u

int wm_tasks_init(struct wm_tasks *t)
{
	*t = (struct wm_tasks){.nr_slots = FIRST_SLOTS,
			       .others = {.tid = -1, .pid = -1, .parent = -1, .cpu = -1}};
	t->slots = calloc(FIRST_SLOTS, sizeof(*t->slots));
	t->chunks = calloc(WM_TASKS_MAX / CHUNK, sizeof(struct wm_task *));
	if (t->slots && t->chunks)
		return 0;
	wm_tasks_done(t);
	return -ENOMEM;
}

void wm_tasks_done(struct wm_tasks *t)
{
	for (uint32_t i = 0; t->chunks && i < t->nr; i += CHUNK)
		free(t->chunks[i / CHUNK]);
	free(t->chunks);
	free(t->slots);
	*t = (struct wm_tasks){0};
}

struct wm_task *wm_tasks_at(const struct wm_tasks *t, uint32_t index)
{
	return &t->chunks[index / CHUNK][index % CHUNK];
}

static uint32_t find_slot(const struct wm_tasks *t, int32_t tid)
{
	uint32_t mask = t->nr_slots - 1, i = (uint32_t)wm_mix((uint32_t)tid, 0) & mask;

	while (t->slots[i] && wm_tasks_at(t, t->slots[i] - 1)->tid != tid)
		i = (i + 1) & mask;
	return i;
}

struct wm_task *wm_tasks_find(const struct wm_tasks *t, int32_t tid)
{
	uint32_t taken = t->slots[find_slot(t, tid)];

	return taken ? wm_tasks_at(t, taken - 1) : NULL;
}

static bool grow_slots(struct wm_tasks *t)
{
	uint32_t nr = t->nr_slots * 2, *slots = calloc(nr, sizeof(*slots));

	if (!slots)
		return false;
	free(t->slots);
	t->slots = slots;
	t->nr_slots = nr;
	for (uint32_t i = 0; i < t->nr; i++)
		slots[find_slot(t, wm_tasks_at(t, i)->tid)] = i + 1;
	return true;
}

static struct wm_task *add(struct wm_tasks *t, int32_t tid)
{
	struct wm_task **chunk = &t->chunks[t->nr / CHUNK], *task;

	if (!*chunk)
		*chunk = calloc(CHUNK, sizeof(**chunk));
	if (!*chunk || ((t->nr + 1) * 2 > t->nr_slots && !grow_slots(t)))
		return NULL;
	t->slots[find_slot(t, tid)] = t->nr + 1;
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
		task = t->nr == WM_TASKS_MAX ? &t->others : add(t, tid);
	if (task)
		t->last = task;
	return task;
}
