/* SPDX-License-Identifier: MIT */
/*
 * task_state.h - the state of tasks while the events of a trace are read in time order: threads,
 * their names and parents, and the thread running on each processor. All analyses in one pass share
 * it.
 *
 * An event belongs to the state before it: call wm_state_who() first, then wm_state_apply(), which
 * updates the state. The tables have limits, so that a hostile trace cannot exhaust memory.
 */
#ifndef WM_TRACE_TASK_STATE_H
#define WM_TRACE_TASK_STATE_H

#include "trace/event_role.h"
#include "trace/name_table.h"
#include "trace/tasks.h"

#define WM_STATE_CPUS_MAX 65536u

struct wm_cpu {
	struct wm_task *current; /* NULL: unknown */
};

struct wm_state_trace {
	struct wm_trace *trace;
	struct wm_role_bound *roles; /* by type index; most are NONE */
	struct wm_field_ref *names;  /* by type index: the context that names the thread */
};

struct wm_state {
	struct wm_names names;
	struct wm_tasks tasks;
	struct wm_cpu *cpus;
	uint32_t nr_cpus;
	struct wm_state_trace *traces;
	uint32_t nr_traces;
	/* type of the last event that has no thread name among its contexts */
	const struct wm_event_type *plain;
};

/* The traces are not owned, must stay open, and must come from one machine. 0 or -ENOMEM. */
int wm_state_init(struct wm_state *s, struct wm_trace *const *traces, uint32_t nr_traces);
void wm_state_done(struct wm_state *s);

/* Replaces the traces with others that have at least the same event types; keeps the state. */
int wm_state_rebind(struct wm_state *s, struct wm_trace *const *traces);

static inline enum wm_role wm_state_role(const struct wm_state *s, uint32_t trace,
					 const struct wm_event_type *t)
{
	return s->traces[trace].roles[t->index].role;
}

/* Like wm_state_who(), for any event. */
struct wm_task *wm_state_find(struct wm_state *s, uint32_t trace, const struct wm_event *e);

/*
 * Returns the thread of an event: the one it names, else the one running on its processor. NULL:
 * unknown, or out of memory. The fast path is for an event from the same thread as the previous
 * one.
 */
static inline struct wm_task *wm_state_who(struct wm_state *s, uint32_t trace,
					   const struct wm_event *e)
{
	struct wm_task *last = s->tasks.last;

	if (last && last->tid == e->tid && e->tid >= 0 && last->pid == e->pid && last->comm &&
	    e->type == s->plain)
		return last;
	return wm_state_find(s, trace, e);
}

/* Updates the state with an event. 0 or -ENOMEM. */
int wm_state_apply(struct wm_state *s, uint32_t trace, const struct wm_event *e);

/* Returns the name of a thread; "" when unknown. */
static inline const char *wm_state_comm(const struct wm_state *s, const struct wm_task *t)
{
	return t ? wm_names_text(&s->names, t->comm) : "";
}

#endif
