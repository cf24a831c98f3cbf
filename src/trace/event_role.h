/* SPDX-License-Identifier: MIT */
/*
 * event_role.h - the events that tell who runs, by whatever name a tracer gives them:
 * one table of names and fields (event_role.c), bound to the kinds of a trace once.
 */
#ifndef WM_TRACE_EVENT_ROLE_H
#define WM_TRACE_EVENT_ROLE_H

#include "trace/field_ref.h"

enum wm_role {
	WM_ROLE_NONE,
	WM_ROLE_SWITCH,  /* PREV left the processor, NEXT got it */
	WM_ROLE_FORK,    /* TID is new, a child of PARENT */
	WM_ROLE_RENAME,  /* TID, else who wrote it, is called COMM now */
	WM_ROLE_PROCESS, /* TID is there and was before: a list made by the tracer */
	WM_ROLE_EXIT,    /* TID, else who wrote it, ends */
	WM_NR_ROLES
};

/* What a role's event may say; not every tracer says all of it. */
enum wm_role_field {
	WM_ROLE_TID,        /* SWITCH: of the next */
	WM_ROLE_PID,        /* the process */
	WM_ROLE_PARENT,     /* SWITCH: the tid of the one before */
	WM_ROLE_COMM,       /* SWITCH: of the next; FORK: of the child */
	WM_ROLE_OTHER_COMM, /* SWITCH: of the one before */
	WM_NR_ROLE_FIELDS
};

struct wm_role_bound {
	enum wm_role role;
	struct wm_field_ref fields[WM_NR_ROLE_FIELDS];
};

/* What the kind of event is for us; NONE also when it lacks what the role needs. */
void wm_role_bind(const struct wm_event_type *t, struct wm_role_bound *ret);

/* "system:event" written so, or as LTTng and perf have it, without or apart. */
bool wm_role_is_named(const struct wm_event_type *t, const char *full_name);

#endif
