/* SPDX-License-Identifier: MIT */
/*
 * task_state.h - what is known at the moment a pass has come to: threads, their
 * names and parents, what runs on which processor. Kept once, for all analyses
 * of a pass.
 *
 * An event belongs to the state before it: ask wm_state_who(), then let the
 * event change the state with wm_state_apply(). Nothing a trace says is
 * believed further than a table's limit.
 */
#ifndef WM_TRACE_TASK_STATE_H
#define WM_TRACE_TASK_STATE_H

#include "trace/event_role.h"
#include "trace/name_table.h"
#include "trace/tasks.h"

#define WM_STATE_CPUS_MAX 65536u

struct wm_cpu {
	struct wm_task *current; /* NULL: not known */
};

struct wm_state_trace {
	struct wm_trace *trace;
	struct wm_role_bound *roles; /* by index of the kind; NONE most of them */
	struct wm_field_ref *names;  /* by the same: the thread's name as a context of the event */
};

struct wm_state {
	struct wm_names names;
	struct wm_tasks tasks;
	struct wm_cpu *cpus;
	uint32_t nr_cpus;
	struct wm_state_trace *traces;
	uint32_t nr_traces;
	const struct wm_event_type *plain; /* kind of the last event that had no thread's name */
};

/* The traces stay the caller's, open, and are one machine's. 0 or -ENOMEM. */
int wm_state_init(struct wm_state *s, struct wm_trace *const *traces, uint32_t nr_traces);
void wm_state_done(struct wm_state *s);

/* The traces are others, with the same and more kinds of events; what is known stays. */
int wm_state_rebind(struct wm_state *s, struct wm_trace *const *traces);

static inline enum wm_role wm_state_role(const struct wm_state *s, uint32_t trace,
					 const struct wm_event_type *t)
{
	return s->traces[trace].roles[t->index].role;
}

/* As wm_state_who(), of any event. */
struct wm_task *wm_state_find(struct wm_state *s, uint32_t trace, const struct wm_event *e);

/*
 * The thread an event is of: the one it names, else the one that runs on its
 * processor; NULL: nobody knows, or out of memory. Mostly it is the one before.
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

/* The event happened. 0 or -ENOMEM. */
int wm_state_apply(struct wm_state *s, uint32_t trace, const struct wm_event *e);

/* The name of a thread; "" not known. */
static inline const char *wm_state_comm(const struct wm_state *s, const struct wm_task *t)
{
	return t ? wm_names_text(&s->names, t->comm) : "";
}

#endif
