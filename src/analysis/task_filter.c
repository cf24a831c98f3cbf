/* SPDX-License-Identifier: MIT */
/* task_filter.c - see task_filter.h. */
#include "analysis/task_filter.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void wm_followed_init(struct wm_followed *f, bool children)
{
	*f = (struct wm_followed){.children = children};
}

void wm_followed_done(struct wm_followed *f)
{
	free(f->named);
	free(f->members);
	*f = (struct wm_followed){0};
}

/* ---- members -------------------------------------------------------------------- */

static int task_filter_put(struct wm_followed *f, int64_t tid, bool follow)
{
	const struct wm_task *task = wm_tasks_get(f->tasks, (int32_t)tid);

	if (!task)
		return -ENOMEM;
	if (task == &f->tasks->others)
		return 0; /* not a thread, or beyond the limit of tasks: not followed */
	if (WM_ARRAY_GROW_ZEROED(f->members, f->nr_members, (size_t)task->index + 1))
		return -ENOMEM;
	f->members[task->index] = follow;
	return 0;
}

static bool task_filter_is_member(const struct wm_followed *f, int64_t tid)
{
	const struct wm_task *task = wm_tasks_find(f->tasks, (int32_t)tid);

	return task && task->index < f->nr_members && f->members[task->index];
}

static bool task_filter_is_named(const struct wm_followed *f, pid_t tid)
{
	for (size_t i = 0; i < f->nr_named; i++) {
		if (f->named[i] == tid)
			return true;
	}
	return tid == f->command;
}

int wm_followed_name(struct wm_followed *f, const pid_t *tids, size_t nr)
{
	pid_t *grown = reallocarray(f->named, f->nr_named + nr + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	memcpy(grown + f->nr_named, tids, nr * sizeof(*tids));
	f->named = grown;
	f->nr_named += nr;
	return 0;
}

/* ---- events of tasks --------------------------------------------------------------- */

int wm_followed_bind(struct wm_followed *f, const struct wm_trace *t, struct wm_tasks *tasks)
{
	bool first = !f->tasks;
	int err = 0;

	f->tasks = tasks;
	f->fork = f->comm = f->exit = NULL;
	for (uint32_t i = 0; i < t->nr_types; i++) {
		const struct wm_event_type *type = t->types[i];

		if (wm_role_is_named(type, "perf:fork") &&
		    wm_field_ref_find(type, "tid", &f->tid) &&
		    wm_field_ref_find(type, "ptid", &f->parent))
			f->fork = type;
		else if (wm_role_is_named(type, "perf:comm") &&
			 wm_field_ref_find(type, "tid", &f->renamed) &&
			 wm_field_ref_find(type, "misc", &f->misc))
			f->comm = type;
		else if (wm_role_is_named(type, "perf:exit") &&
			 wm_field_ref_find(type, "tid", &f->ended))
			f->exit = type;
	}
	f->told = f->fork && f->comm && f->exit;
	for (size_t i = 0; first && i < f->nr_named && !err; i++)
		err = task_filter_put(f, f->named[i], true);
	return err;
}

/*
 * Called after execve(2): the command begins. A caller that was not its process's main thread
 * becomes the main thread, whose exit was reported just before.
 */
static int on_comm(struct wm_followed *f, const struct wm_event *e)
{
	int64_t tid = wm_field_ref_integer(&f->renamed, e, -1);

	if (!(wm_field_ref_integer(&f->misc, e, 0) & PERF_RECORD_MISC_COMM_EXEC))
		return 0;
	return f->children || task_filter_is_named(f, (pid_t)tid) ? task_filter_put(f, tid, true)
								  : 0;
}

int wm_followed_feed(struct wm_followed *f, const struct wm_event *e)
{
	if (e->type == f->comm)
		return on_comm(f, e);
	if (e->type == f->exit)
		return task_filter_put(f, wm_field_ref_integer(&f->ended, e, -1), false);
	if (e->type != f->fork)
		return 0;
	return task_filter_put(
	    f, wm_field_ref_integer(&f->tid, e, -1),
	    f->children && task_filter_is_member(f, wm_field_ref_integer(&f->parent, e, -1)));
}

bool wm_followed_has(const struct wm_followed *f, const struct wm_event *e)
{
	return !f->told || task_filter_is_member(f, e->tid);
}
