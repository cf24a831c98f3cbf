/* SPDX-License-Identifier: MIT */
/* residual_filter.c - see residual_filter_int.h. */
#include "collect/residual_filter_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "collect/task_names.h"

#define PROGRAMS_BYTES_MAX ((size_t)64 << 20)
/* Number of tasks remembered; others are read each time. */
#define TASKS   4096u
#define KEPT_NS 100000000u

struct task {
	uint32_t tid, pid; /* tid 0: a free entry, or the idle task */
	uint64_t asked_ns; /* 0: never */
	bool told;         /* the values come from a kernel record, so /proc is not read */
	char comm[sizeof(((struct wm_filter_contexts *)0)->comm)];
};

struct moment {
	uint64_t clock, ns;
};

struct wm_sieve {
	enum wm_clock_kind clock;
	const struct wm_instance *instance;
	struct wm_arena arena;
	struct task *tasks; /* indexed by tid % TASKS */
	char *saved;        /* the kernel's list of names; NULL: not read yet */
	uint64_t saved_ns;
	struct moment first, last; /* two moments on both clocks, from which $time is computed */
};

static struct moment residual_now(const struct wm_sieve *s)
{
	return (struct moment){wm_clock_read(s->clock), wm_clock_monotonic_ns()};
}

struct wm_sieve *wm_sieve_create(enum wm_clock_kind clock, const struct wm_instance *instance)
{
	struct wm_sieve *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->clock = clock;
	s->instance = instance;
	wm_arena_init(&s->arena, PROGRAMS_BYTES_MAX);
	s->tasks = wm_arena_array(&s->arena, TASKS, sizeof(*s->tasks));
	s->first = s->last = residual_now(s);
	if (!s->tasks) {
		wm_sieve_destroy(s);
		return NULL;
	}
	return s;
}

void wm_sieve_destroy(struct wm_sieve *s)
{
	if (!s)
		return;
	free(s->saved);
	wm_arena_done(&s->arena);
	free(s);
}

/* Links bytecode into a malloc'ed program. Returns its size, or -errno. */
static int64_t link_program(const unsigned char *code, size_t bytes, const unsigned char *desc,
			    size_t desc_bytes, struct wm_filter **ret)
{
	void *storage = malloc(WM_FILTER_STORAGE_MAX), *fitting;
	int64_t used =
	    storage ? wm_filter_link(code, bytes, desc, desc_bytes, storage, WM_FILTER_STORAGE_MAX)
		    : -ENOMEM;

	if (used < 0) {
		free(storage);
		return used;
	}
	fitting = realloc(storage, (size_t)used);
	*ret = fitting ? fitting : storage;
	return used;
}

int wm_sieve_make(const unsigned char *code, size_t bytes, const unsigned char *desc,
		  size_t desc_bytes, struct wm_filter **ret)
{
	int64_t used = link_program(code, bytes, desc, desc_bytes, ret);

	return used < 0 ? (int)used : 0;
}

int wm_sieve_link(struct wm_sieve *s, const unsigned char *code, size_t bytes,
		  const unsigned char *desc, size_t desc_bytes, const struct wm_filter **ret)
{
	struct wm_filter *made, *kept;
	int64_t used = link_program(code, bytes, desc, desc_bytes, &made);

	if (used < 0)
		return (int)used;
	kept = wm_arena_copy(&s->arena, made, (size_t)used);
	free(made);
	*ret = kept;
	return kept ? 0 : -ENOMEM;
}

/* --- pid and name of a task ------------------------------------------------------------------ */

/*
 * Handles a task that has exited: takes its name from the kernel's list, if there, else keeps the
 * last values.
 */
static void ask_saved(struct wm_sieve *s, struct task *t, uint64_t ns)
{
	char comm[WM_TASK_COMM_BYTES];

	if (!s->instance)
		return;
	if (!s->saved || ns - s->saved_ns >= KEPT_NS) {
		free(s->saved);
		s->saved = wm_task_saved_read(s->instance);
		s->saved_ns = ns;
	}
	if (s->saved && wm_task_saved(s->saved, t->tid, comm))
		(void)memcpy(t->comm, comm, sizeof(t->comm));
}

static const struct task *residual_task_of(struct wm_sieve *s, uint32_t tid)
{
	struct task *t = &s->tasks[tid % TASKS];
	char comm[WM_TASK_COMM_BYTES];
	uint64_t ns = wm_clock_monotonic_ns();
	bool other = !t->asked_ns || t->tid != tid;

	if (!other && (t->told || ns - t->asked_ns < KEPT_NS))
		return t;
	if (other)
		*t = (struct task){.tid = tid, .pid = tid};
	t->asked_ns = ns;
	if (wm_task_look(tid, &t->pid, comm) == 0)
		(void)memcpy(t->comm, comm, sizeof(t->comm));
	else if (other)
		ask_saved(s, t, ns);
	return t;
}

static struct task *residual_told(struct wm_sieve *s, uint32_t pid, uint32_t tid)
{
	struct task *t = &s->tasks[tid % TASKS];

	*t = (struct task){
	    .tid = tid, .pid = pid, .asked_ns = wm_clock_monotonic_ns(), .told = true};
	return t;
}

void wm_sieve_renamed(struct wm_sieve *s, uint32_t pid, uint32_t tid, const char *comm,
		      size_t bytes)
{
	struct task *t = residual_told(s, pid, tid);

	memcpy(t->comm, comm, bytes < sizeof(t->comm) ? bytes : sizeof(t->comm));
}

void wm_sieve_forked(struct wm_sieve *s, uint32_t pid, uint32_t tid, uint32_t parent_tid)
{
	const struct task parent = *residual_task_of(s, parent_tid);

	memcpy(residual_told(s, pid, tid)->comm, parent.comm, sizeof(parent.comm));
}

/* --- time of a record ---------------------------------------------------------------------- */

/* Computes a time by interpolation between two moments that were read on both clocks. */
static int64_t residual_time_of(struct wm_sieve *s, uint64_t clock)
{
	uint64_t ticks, ns;

	if (s->clock == WM_CLOCK_MONOTONIC)
		return (int64_t)clock;
	if (clock >= s->last.clock)
		s->last = residual_now(s);
	ticks = s->last.clock - s->first.clock;
	ns = s->last.ns - s->first.ns;
	if (clock <= s->first.clock || !ticks)
		return (int64_t)s->first.ns;
	return (int64_t)(s->first.ns +
			 (uint64_t)((unsigned __int128)(clock - s->first.clock) * ns / ticks));
}

bool wm_sieve_pass(struct wm_sieve *s, const struct wm_filter *f, const struct wm_sieve_context *c,
		   const unsigned char *payload, size_t bytes)
{
	const uint32_t needs = wm_filter_needs(f);
	struct wm_filter_contexts contexts = {.pid = c->pid, .tid = c->tid, .cpu = c->cpu};
	const struct task *t;

	if (needs & WM_FILTER_TIME)
		contexts.time_ns = residual_time_of(s, c->clock);
	if (needs & WM_FILTER_COMM || (needs & WM_FILTER_PID && c->pid < 0)) {
		t = residual_task_of(s, c->tid);
		memcpy(contexts.comm, t->comm, sizeof(contexts.comm));
		if (c->pid < 0)
			contexts.pid = t->pid;
	}
	return wm_filter_run(f, payload, bytes, &contexts);
}
