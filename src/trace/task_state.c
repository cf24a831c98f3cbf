/* SPDX-License-Identifier: MIT */
/* task_state.c - see task_state.h. There is one function for each role. */
#include "trace/task_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/event_comm.h"

static int task_state_bind_trace(struct wm_state_trace *st, struct wm_trace *t)
{
	st->trace = t;
	st->roles = calloc(t->nr_types + 1, sizeof(*st->roles));
	st->names = calloc(t->nr_types + 1, sizeof(*st->names));
	if (!st->roles || !st->names)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->nr_types; i++) {
		wm_role_bind(t->types[i], &st->roles[i]);
		wm_comm_bind(t->types[i], &st->names[i]);
	}
	return 0;
}

int wm_state_init(struct wm_state *s, struct wm_trace *const *traces, uint32_t nr_traces)
{
	int err;

	*s = (struct wm_state){0};
	err = wm_names_init(&s->names);
	if (!err)
		err = wm_tasks_init(&s->tasks);
	if (!err) {
		s->traces = calloc(nr_traces + 1, sizeof(*s->traces));
		s->nr_traces = s->traces ? nr_traces : 0;
		err = s->traces ? 0 : -ENOMEM;
	}
	for (uint32_t i = 0; i < nr_traces && !err; i++)
		err = task_state_bind_trace(&s->traces[i], traces[i]);
	if (err)
		wm_state_done(s);
	return err;
}

void wm_state_done(struct wm_state *s)
{
	for (uint32_t i = 0; i < s->nr_traces; i++) {
		free(s->traces[i].roles);
		free(s->traces[i].names);
	}
	free(s->traces);
	free(s->cpus);
	wm_tasks_done(&s->tasks);
	wm_names_done(&s->names);
	*s = (struct wm_state){0};
}

int wm_state_rebind(struct wm_state *s, struct wm_trace *const *traces)
{
	int err = 0;

	s->plain = NULL;
	for (uint32_t i = 0; i < s->nr_traces && !err; i++) {
		free(s->traces[i].roles);
		free(s->traces[i].names);
		s->traces[i].names = NULL;
		err = task_state_bind_trace(&s->traces[i], traces[i]);
	}
	return err;
}

/* --- tasks -------------------------------------------------------------------------- */

static struct wm_cpu *get_cpu(struct wm_state *s, int32_t cpu)
{
	if (cpu < 0 || (uint32_t)cpu >= WM_STATE_CPUS_MAX)
		return NULL;
	if ((uint32_t)cpu >= s->nr_cpus) {
		uint32_t nr = (uint32_t)cpu + 1;
		struct wm_cpu *more = realloc(s->cpus, nr * sizeof(*more));

		if (!more)
			return NULL;
		memset(more + s->nr_cpus, 0, (nr - s->nr_cpus) * sizeof(*more));
		s->cpus = more;
		s->nr_cpus = nr;
	}
	return &s->cpus[cpu];
}

static void rename_task(struct wm_state *s, struct wm_task *task, const struct wm_field_ref *f,
			const struct wm_event *e)
{
	size_t bytes;
	const char *comm = wm_field_ref_string(f, e, &bytes);
	uint32_t id;

	if (!bytes)
		return;
	/* The usual case: the name is unchanged. */
	if (!strncmp(wm_names_text(&s->names, task->comm), comm, bytes) &&
	    s->names.bytes[task->comm] == bytes)
		return;
	id = wm_names_id(&s->names, comm, bytes);
	if (id != WM_NAMES_NONE)
		task->comm = id;
}

/* Formats that store thread names outside of events are queried once per thread. */
static void ask_name(struct wm_state *s, uint32_t trace, struct wm_task *task,
		     const struct wm_event *e)
{
	struct wm_trace *t = s->traces[trace].trace;
	struct wm_event its = *e; /* a copy of the event, with the task's ids */
	const char *comm;
	uint32_t id;

	its.pid = task->pid;
	its.tid = task->tid;
	comm = wm_comm_of_thread(t, &its);
	id = comm[0] ? wm_names_id(&s->names, comm, strlen(comm)) : 0;

	task->asked = true;
	task->is_named = id && id != WM_NAMES_NONE;
	if (task->is_named)
		task->comm = id;
}

/*
 * Takes a name from a field of an event only if the trace's format has none: analyses have the
 * names that the events are printed with.
 */
static void learn_name(struct wm_state *s, uint32_t trace, struct wm_task *task,
		       const struct wm_field_ref *f, const struct wm_event *e)
{
	if (!task->asked && !task->is_named)
		ask_name(s, trace, task, e);
	if (!task->is_named)
		rename_task(s, task, f, e);
}

/* The same for an event after which the thread may have another name. */
static void learn_new_name(struct wm_state *s, uint32_t trace, struct wm_task *task,
			   const struct wm_field_ref *f, const struct wm_event *e)
{
	task->asked = task->is_named = false;
	learn_name(s, trace, task, f, e);
}

struct wm_task *wm_state_find(struct wm_state *s, uint32_t trace, const struct wm_event *e)
{
	struct wm_task *task = NULL;

	if (e->tid >= 0) {
		task = wm_tasks_get(&s->tasks, e->tid);
		if (task && e->pid >= 0)
			task->pid = e->pid;
	} else if (e->cpu >= 0 && (uint32_t)e->cpu < s->nr_cpus) {
		task = s->cpus[e->cpu].current;
	}
	s->plain = s->traces[trace].names[e->type->index].type ? NULL : e->type;
	if (task && !s->plain) {
		rename_task(s, task, &s->traces[trace].names[e->type->index], e);
		task->is_named = task->comm;
	} else if (task && !task->comm && !task->asked) {
		ask_name(s, trace, task, e);
	}
	return task;
}

/* --- changes by events ------------------------------------------------------------------ */

static int32_t task_state_number(const struct wm_role_bound *r, enum wm_role_field f,
				 const struct wm_event *e, int32_t otherwise)
{
	int64_t v = wm_field_ref_integer(&r->fields[f], e, otherwise);

	return v >= 0 && v <= INT32_MAX ? (int32_t)v : otherwise;
}

static int do_switch(struct wm_state *s, uint32_t trace, const struct wm_role_bound *r,
		     const struct wm_event *e)
{
	struct wm_task *prev = wm_tasks_get(&s->tasks, task_state_number(r, WM_ROLE_PARENT, e, -1));
	struct wm_task *next = wm_tasks_get(&s->tasks, task_state_number(r, WM_ROLE_TID, e, -1));
	struct wm_cpu *cpu = get_cpu(s, e->cpu);

	if (!prev || !next)
		return -ENOMEM;
	learn_name(s, trace, prev, &r->fields[WM_ROLE_OTHER_COMM], e);
	learn_name(s, trace, next, &r->fields[WM_ROLE_COMM], e);
	prev->cpu = -1;
	prev->since_ns = e->ns;
	next->cpu = e->cpu;
	next->since_ns = e->ns;
	next->gone = false;
	if (cpu)
		cpu->current = next;
	return 0;
}

/* The thread named by the event, else the event's own thread. */
static struct wm_task *subject(struct wm_state *s, const struct wm_role_bound *r,
			       const struct wm_event *e)
{
	return wm_tasks_get(&s->tasks, task_state_number(r, WM_ROLE_TID, e, e->tid));
}

static int do_resume(struct wm_state *s, uint32_t trace, const struct wm_role_bound *r,
		     const struct wm_event *e)
{
	struct wm_task *task = subject(s, r, e);
	bool runs = wm_role_resumes(r, e);
	struct wm_cpu *cpu = runs ? get_cpu(s, e->cpu) : NULL;

	(void)trace;
	if (!task)
		return -ENOMEM;
	task->pid = task_state_number(r, WM_ROLE_PID, e, task->pid);
	task->cpu = runs ? e->cpu : -1;
	task->since_ns = e->ns;
	if (cpu)
		cpu->current = task;
	return 0;
}

static int do_fork(struct wm_state *s, uint32_t trace, const struct wm_role_bound *r,
		   const struct wm_event *e)
{
	struct wm_task *child = subject(s, r, e);
	const struct wm_task *parent =
	    wm_tasks_find(&s->tasks, task_state_number(r, WM_ROLE_PARENT, e, -1));

	if (!child)
		return -ENOMEM;
	child->gone = false;
	child->cpu = -1;
	child->pid = task_state_number(r, WM_ROLE_PID, e, -1);
	child->parent = parent ? parent->pid : -1;
	child->comm = parent ? parent->comm : 0;
	learn_new_name(s, trace, child, &r->fields[WM_ROLE_COMM], e);
	return 0;
}

static int do_rename(struct wm_state *s, uint32_t trace, const struct wm_role_bound *r,
		     const struct wm_event *e)
{
	struct wm_task *task = subject(s, r, e);

	if (!task)
		return -ENOMEM;
	task->pid = task_state_number(r, WM_ROLE_PID, e, task->pid);
	learn_new_name(s, trace, task, &r->fields[WM_ROLE_COMM], e);
	return 0;
}

static int do_process(struct wm_state *s, uint32_t trace, const struct wm_role_bound *r,
		      const struct wm_event *e)
{
	struct wm_task *task = subject(s, r, e);

	if (!task)
		return -ENOMEM;
	task->pid = task_state_number(r, WM_ROLE_PID, e, task->pid);
	task->parent = task_state_number(r, WM_ROLE_PARENT, e, task->parent);
	task->gone = false;
	learn_new_name(s, trace, task, &r->fields[WM_ROLE_COMM], e);
	return 0;
}

static int do_exit(struct wm_state *s, uint32_t trace, const struct wm_role_bound *r,
		   const struct wm_event *e)
{
	struct wm_task *task = subject(s, r, e);

	(void)trace;
	if (!task)
		return -ENOMEM;
	task->gone = true;
	return 0;
}

static int (*const on_role[WM_NR_ROLES])(struct wm_state *s, uint32_t trace,
					 const struct wm_role_bound *r,
					 const struct wm_event *e) = {
    [WM_ROLE_SWITCH] = do_switch,   [WM_ROLE_FORK] = do_fork, [WM_ROLE_RENAME] = do_rename,
    [WM_ROLE_PROCESS] = do_process, [WM_ROLE_EXIT] = do_exit, [WM_ROLE_RESUME] = do_resume,
};

int wm_state_apply(struct wm_state *s, uint32_t trace, const struct wm_event *e)
{
	const struct wm_role_bound *r = &s->traces[trace].roles[e->type->index];

	return on_role[r->role] ? on_role[r->role](s, trace, r, e) : 0;
}
