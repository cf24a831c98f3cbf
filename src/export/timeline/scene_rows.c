/* SPDX-License-Identifier: MIT */
/* scene_rows.c - the rows of a scene: finds an event's row, and announces new row names. */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "export/timeline/scene.h"
#include "trace/event_comm.h"

struct wm_scene_row wm_scene_cpu_row(int32_t cpu, enum wm_scene_row_kind kind)
{
	if (cpu < 0 || (uint32_t)cpu >= WM_STATE_CPUS_MAX)
		return (struct wm_scene_row){.kind = WM_ROW_NOBODY};
	return (struct wm_scene_row){.kind = kind, .index = (uint32_t)cpu};
}

/* --- arrays beside threads and processors -------------------------------------------- */

static bool room_for_thread(struct wm_scene *s, uint32_t index)
{
	uint32_t lanes = s->room, told = s->room;

	if (WM_ARRAY_GROW_ZEROED(s->lanes, lanes, (size_t)index + 1) ||
	    WM_ARRAY_GROW_ZEROED(s->told, told, lanes))
		return false;
	s->room = lanes;
	return true;
}

static bool room_for_cpu(struct wm_scene *s, uint32_t cpu)
{
	uint32_t stops = s->nr_cpus, told = s->nr_cpus;

	if (WM_ARRAY_GROW_ZEROED(s->stops, stops, (size_t)cpu + 1) ||
	    WM_ARRAY_GROW_ZEROED(s->told_cpus, told, stops))
		return false;
	s->nr_cpus = stops;
	return true;
}

struct wm_lanes *wm_scene_lanes(struct wm_scene *s, const struct wm_scene_row *row)
{
	switch (row->kind) {
	case WM_ROW_THREAD:
		return room_for_thread(s, row->index) ? &s->lanes[row->index] : NULL;
	case WM_ROW_CPU_STOPS:
		return room_for_cpu(s, row->index) ? &s->stops[row->index] : NULL;
	case WM_ROW_LOSSES:
		return &s->losses;
	case WM_ROW_NOBODY:
		return &s->nobodys;
	default:
		return NULL;
	}
}

/* --- announcing ------------------------------------------------------------------------ */

/* Makes row() be called again for a thread whose name or process has changed. */
static void forget_if_news(struct wm_scene_told *told, const struct wm_task *t)
{
	if (told->lanes & 1 && told->pid == t->pid && told->comm == t->comm)
		return;
	/* All idle threads have tid 0, each with its own name: do not rename the row. */
	if (told->lanes & 1 && !t->tid)
		return;
	told->lanes &= ~(uint64_t)1;
	told->pid = t->pid;
	told->comm = t->comm;
}

/* Returns the set of lanes for which row() was called; NULL: out of memory. */
static uint64_t *told_of(struct wm_scene *s, const struct wm_scene_row *row)
{
	if (row->kind == WM_ROW_NOBODY || row->kind >= WM_ROW_LOSSES)
		return &s->told_rows[row->kind];
	if (row->kind != WM_ROW_THREAD)
		return room_for_cpu(s, row->index)
			   ? &s->told_cpus[row->index].lanes[row->kind - WM_ROW_CPU]
			   : NULL;
	if (!room_for_thread(s, row->index))
		return NULL;
	forget_if_news(&s->told[row->index], row->task);
	return &s->told[row->index].lanes;
}

int wm_scene_tell(struct wm_scene *s, const struct wm_scene_row *row, uint32_t lane)
{
	uint64_t *told = told_of(s, row);
	const char *name = row->kind == WM_ROW_THREAD ? wm_state_comm(&s->state, row->task) : "";
	int err = 0;

	if (!told)
		return -ENOMEM;
	if (!(*told & 1)) {
		*told |= 1;
		err = s->ops->row(s->own, row, 0, name);
	}
	if (!err && !(*told & (uint64_t)1 << lane)) {
		*told |= (uint64_t)1 << lane;
		err = s->ops->row(s->own, row, lane, name);
	}
	return err;
}

void wm_scene_forget_rows(struct wm_scene *s)
{
	if (s->told)
		memset(s->told, 0, s->room * sizeof(*s->told));
	if (s->told_cpus)
		memset(s->told_cpus, 0, s->nr_cpus * sizeof(*s->told_cpus));
	memset(s->told_rows, 0, sizeof(s->told_rows));
}

/* --- learning ----------------------------------------------------------------------------- */

static void name_task(struct wm_scene *s, struct wm_task *t, const char *comm, size_t bytes)
{
	const char *now = wm_state_comm(&s->state, t);
	uint32_t id;

	if (!bytes || (strlen(now) == bytes && !memcmp(now, comm, bytes)))
		return;
	id = wm_names_id(&s->state.names, comm, bytes);
	if (id != WM_NAMES_NONE)
		t->comm = id;
}

/* Takes the thread's name from a context of the event or, once per thread, from the trace. */
static void scene_rows_find_name(struct wm_scene *s, uint32_t trace, const struct wm_event *e,
				 struct wm_task *t, bool is_new)
{
	const struct wm_field_ref *f = &s->traces[trace].comms[e->type->index];
	const char *comm = "";
	size_t bytes = 0;

	if (e->tid < 0)
		return;
	if (f->type)
		comm = wm_field_ref_string(f, e, &bytes);
	else if (is_new && !t->comm) {
		comm = wm_comm_of_thread(s->export->traces[trace], e);
		bytes = strlen(comm);
	}
	name_task(s, t, comm, bytes);
}

int wm_scene_learn(struct wm_scene *s, uint32_t trace, const struct wm_event *e,
		   struct wm_scene_row *ret)
{
	uint32_t nr = s->state.tasks.nr;
	struct wm_task *t = wm_state_who(&s->state, trace, e);
	int err;

	*ret = wm_scene_cpu_row(e->cpu, WM_ROW_CPU);
	if (t && t->tid >= 0) {
		scene_rows_find_name(s, trace, e, t, s->state.tasks.nr > nr);
		*ret = (struct wm_scene_row){WM_ROW_THREAD, t->index, t};
	}
	err = wm_state_apply(&s->state, trace, e);
	/* Readings without a thread have their own row. */
	if (err || (s->traces[trace].types[e->type->index].act == WM_ACT_READINGS &&
		    ret->kind != WM_ROW_THREAD))
		return err;
	return wm_scene_tell(s, ret, 0);
}
