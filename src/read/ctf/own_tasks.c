/* SPDX-License-Identifier: MIT */
/*
 * own_tasks.c - finds the process or thread that had an id at a given time, in waymark's own
 * traces; see own.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"

#include "read/ctf/trace.h"

static int by_pid_and_begin(const void *a, const void *b)
{
	const struct wm_trace_process *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->begin_ns < y->begin_ns ? -1 : x->begin_ns > y->begin_ns;
}

static int by_tid_and_time(const void *a, const void *b)
{
	const struct wm_ctf_thread *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->ns < y->ns ? -1 : x->ns > y->ns;
}

static int own_tasks_by_time(const void *a, const void *b)
{
	const struct wm_ctf_thread *const *x = a, *const *y = b;

	if ((*x)->ns != (*y)->ns)
		return (*x)->ns < (*y)->ns ? -1 : 1;
	return (*x)->tid < (*y)->tid ? -1 : (*x)->tid > (*y)->tid;
}

static bool begins_by(const struct wm_trace_process *p, uint32_t pid, int64_t ns)
{
	return p->pid < pid || (p->pid == pid && p->begin_ns <= ns);
}

static bool is_known_by(const struct wm_ctf_thread *t, int32_t tid, int64_t ns)
{
	return t->tid < tid || (t->tid == tid && t->ns <= ns);
}

/* Returns the index after the last entry at or before (pid, ns). */
static uint32_t own_tasks_place(const struct wm_trace *t, uint32_t pid, int64_t ns)
{
	return WM_SEARCH(0, t->nr_processes, i, begins_by(&t->processes[i], pid, ns));
}

/*
 * Prefers a record that the kernel wrote at the time over one that the recorder queried.
 */
static const struct wm_ctf_thread *prefer_told(const struct wm_ctf_trace *c, uint32_t at)
{
	const struct wm_ctf_thread *heard = &c->threads[at], *one = heard;

	while (one->asked && one > c->threads && one[-1].tid == heard->tid)
		one--;
	return !one->asked && one->comm && *one->comm ? one : heard;
}

/*
 * Returns the thread's record valid at that time; its first record when all are later; NULL when
 * there is none.
 */
static const struct wm_ctf_thread *thread_of(const struct wm_trace *t, int32_t tid, int64_t ns)
{
	const struct wm_ctf_trace *c = t->own;
	uint32_t low = WM_SEARCH(0, c->nr_threads, i, is_known_by(&c->threads[i], tid, ns));
	if (low && c->threads[low - 1].tid == tid)
		return prefer_told(c, low - 1);
	return low < c->nr_threads && c->threads[low].tid == tid ? &c->threads[low] : NULL;
}

/*
 * Names forked threads after their parents, oldest first, so that a parent that was itself forked
 * already has its name.
 */
static int own_tasks_name_forks(struct wm_trace *t)
{
	struct wm_ctf_trace *c = t->own;
	struct wm_ctf_thread **forks = malloc((c->nr_threads + 1) * sizeof(*forks));
	uint32_t n = 0;

	if (!forks)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->nr_threads; i++)
		if (!c->threads[i].comm)
			forks[n++] = &c->threads[i];
	qsort(forks, n, sizeof(*forks), own_tasks_by_time);
	for (uint32_t i = 0; i < n; i++) {
		const struct wm_ctf_thread *parent = thread_of(t, forks[i]->parent, forks[i]->ns);

		forks[i]->comm = parent && parent->comm ? parent->comm : "";
	}
	free(forks);
	return 0;
}

int wm_ctf_own_sort(struct wm_trace *t)
{
	struct wm_ctf_trace *c = t->own;

	if (c->nr_threads)
		qsort(c->threads, c->nr_threads, sizeof(*c->threads), by_tid_and_time);
	if (t->nr_processes)
		qsort(t->processes, t->nr_processes, sizeof(*t->processes), by_pid_and_begin);
	return own_tasks_name_forks(t);
}

struct wm_trace_process *wm_ctf_own_process(const struct wm_trace *t, uint32_t pid, int64_t ns)
{
	uint32_t at = own_tasks_place(t, pid, ns);

	return at && t->processes[at - 1].pid == pid ? &t->processes[at - 1] : NULL;
}

/* --- names -------------------------------------------------------------------------------- */

/*
 * Returns the name of the process that had the pid at that time. Before the first process joined,
 * this is the first one, because its first chunk can be older.
 */
static const char *process_comm(const struct wm_trace *t, uint32_t pid, int64_t ns)
{
	uint32_t at = own_tasks_place(t, pid, ns);

	if (at && t->processes[at - 1].pid == pid)
		return t->processes[at - 1].comm;
	return at < t->nr_processes && t->processes[at].pid == pid ? t->processes[at].comm : "";
}

int32_t wm_ctf_own_pid(const struct wm_trace *t, int32_t tid, int64_t ns)
{
	const struct wm_ctf_thread *one = thread_of(t, tid, ns);

	return one ? one->pid : tid;
}

/*
 * Returns the name of a thread of a program that joined, or "" if the thread has its process's name
 * or the process is in another pid namespace, where the kernel's records have another thread.
 */
static const char *own_thread_comm(const struct wm_trace *t, const struct wm_event *e)
{
	const struct wm_ctf_trace *c = t->own;
	const struct wm_ctf_thread *one = c->nr_threads ? thread_of(t, e->tid, e->ns) : NULL;

	return one && one->pid == e->pid && one->ns <= e->ns && one->comm ? one->comm : "";
}

static const char *thread_comm(const struct wm_trace *t, int32_t tid, int64_t ns)
{
	const struct wm_ctf_thread *thread = thread_of(t, tid, ns);

	return thread && thread->comm ? thread->comm : "";
}

const char *wm_ctf_own_comm(const struct wm_trace *t, const struct wm_event *e)
{
	const struct wm_ctf_file *f = (const struct wm_ctf_file *)e->stream;
	const char *comm;
	int64_t ns = e->ns;

	if (!t->is_own || e->pid < 0)
		return "";
	if (f->plan->is_of_cpu)
		return thread_comm(t, e->tid, ns);
	comm = own_thread_comm(t, e);
	if (comm[0])
		return comm;
	/* A packet may begin before its process joined, but never end before it. */
	if (!f->plan->ids_in_events && e->packet->end_ns != INT64_MAX)
		ns = e->packet->end_ns;
	comm = process_comm(t, (uint32_t)e->pid, ns);
	/* Per-process counters may be about processes that never joined. */
	return comm[0] || !f->plan->ids_in_events ? comm : thread_comm(t, e->tid, e->ns);
}

/*
 * --- state that a new opening of the trace takes over -------------------------------------------
 */

/*
 * Returns whether the record is not needed from `ns` on, because a later record up to `ns` replaces
 * it.
 */
static bool is_superseded(const struct wm_ctf_trace *c, uint32_t at, int64_t ns)
{
	const struct wm_ctf_thread *one = &c->threads[at];

	for (uint32_t i = at + 1; i < c->nr_threads; i++) {
		const struct wm_ctf_thread *next = &c->threads[i];

		if (next->tid != one->tid || next->ns > ns)
			return false;
		if (one->asked || !next->asked)
			return true;
	}
	return false;
}

/* Copies the last record of each thread up to `ns`, and all later ones. */
static int inherit_threads(struct wm_trace *t, const struct wm_trace *from, int64_t ns)
{
	const struct wm_ctf_trace *old = from->own;
	struct wm_ctf_trace *c = t->own;

	for (uint32_t i = 0; i < old->nr_threads; i++) {
		const struct wm_ctf_thread *one = &old->threads[i];
		struct wm_ctf_thread *list;

		if (is_superseded(old, i, ns))
			continue;
		list = wm_arena_grow(&t->arena, c->threads, c->nr_threads, sizeof(*list));
		if (!list)
			return -ENOMEM;
		c->threads = list;
		list[c->nr_threads] = *one;
		list[c->nr_threads].comm = wm_arena_copy(&t->arena, one->comm, strlen(one->comm));
		if (!list[c->nr_threads++].comm)
			return -ENOMEM;
	}
	return 0;
}

/* Copies the processes that had not ended at `ns`. */
static int inherit_processes(struct wm_trace *t, const struct wm_trace *from, int64_t ns)
{
	for (uint32_t i = 0; i < from->nr_processes; i++) {
		const struct wm_trace_process *one = &from->processes[i];
		struct wm_trace_process *list;

		if (one->end_ns < ns)
			continue;
		list = wm_arena_grow(&t->arena, t->processes, t->nr_processes, sizeof(*list));
		if (!list)
			return -ENOMEM;
		t->processes = list;
		list[t->nr_processes] = *one;
		list[t->nr_processes].comm = wm_arena_copy(&t->arena, one->comm, strlen(one->comm));
		list[t->nr_processes].path = wm_arena_copy(&t->arena, one->path, strlen(one->path));
		if (!list[t->nr_processes].comm || !list[t->nr_processes].path)
			return -ENOMEM;
		t->nr_processes++;
	}
	return 0;
}

int wm_ctf_own_inherit(struct wm_trace *t, const struct wm_trace *from, int64_t ns)
{
	int err = inherit_threads(t, from, ns);

	for (uint32_t i = 0; i < t->nr_causes; i++)
		for (uint32_t k = 0; k < from->nr_causes; k++)
			if (!strcmp(t->causes[i].name, from->causes[k].name))
				t->causes[i].count = from->causes[k].count;
	return err ? err : inherit_processes(t, from, ns);
}
