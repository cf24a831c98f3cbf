/* SPDX-License-Identifier: MIT */
/*
 * event_role.h - recognises the events that change the state of tasks (switch, fork, rename, exit),
 * whatever tracer recorded them. event_role.c has the table of their names and fields; it is bound
 * once to the event types of a trace.
 */
#ifndef WM_TRACE_EVENT_ROLE_H
#define WM_TRACE_EVENT_ROLE_H

#include "trace/field_ref.h"

enum wm_role {
	WM_ROLE_NONE,
	WM_ROLE_SWITCH,  /* the processor stopped running one thread and now runs TID */
	WM_ROLE_RESUME,  /* TID, else the event's thread, runs again, or stops: see MISC */
	WM_ROLE_FORK,    /* TID is new, a child of PARENT */
	WM_ROLE_RENAME,  /* TID, else the event's thread, has the name COMM now */
	WM_ROLE_PROCESS, /* TID existed already: the tracer lists existing threads when it starts */
	WM_ROLE_EXIT,    /* TID, else the event's thread, exits */
	WM_NR_ROLES
};

/* The fields that describe a change; a tracer may lack some of them. */
enum wm_role_field {
	WM_ROLE_TID,        /* SWITCH: the next thread */
	WM_ROLE_PID,        /* the process */
	WM_ROLE_PARENT,     /* SWITCH: the tid of the previous thread */
	WM_ROLE_COMM,       /* SWITCH: the next thread's; FORK: the child's */
	WM_ROLE_OTHER_COMM, /* SWITCH: the previous thread's */
	WM_ROLE_MISC,       /* RESUME: perf's flags, WM_PERF_MISC_SWITCH_OUT: it stops */
	WM_NR_ROLE_FIELDS
};

struct wm_role_bound {
	enum wm_role role;
	struct wm_field_ref fields[WM_NR_ROLE_FIELDS];
};

/*
 * Finds the role of an event type: WM_ROLE_NONE when it has none, or lacks fields that the role
 * requires.
 */
void wm_role_bind(const struct wm_event_type *t, struct wm_role_bound *ret);

/*
 * Returns whether an event with the role RESUME tells that its thread runs again, and not that it
 * stops.
 */
bool wm_role_resumes(const struct wm_role_bound *r, const struct wm_event *e);

/*
 * Returns whether the type is "system:event": either its full name matches, or it has the event's
 * name alone, with the system as its provider or no provider at all (LTTng, perf).
 */
bool wm_role_is_named(const struct wm_event_type *t, const char *full_name);

#endif
