/* SPDX-License-Identifier: MIT */
/* event_role.c - the table of events that change the state of tasks; see event_role.h. */
#include "trace/event_role.h"

#include <string.h>

#include "kdata/perf_record.h"

struct def {
	const char *name; /* full name: "system:event" for the kernel, or "provider:event" */
	enum wm_role role;
	/* alternatives "a|b": the first field that exists is used */
	const char *fields[WM_NR_ROLE_FIELDS];
};

/* clang-format off */
static const struct def table[] = {
	/* the kernel's tracepoints; in LTTng's, tid is the thread and pid the process */
	{"sched:sched_switch", WM_ROLE_SWITCH,
	 {"next_tid|next_pid", NULL, "prev_tid|prev_pid", "next_comm", "prev_comm"}},
	{"sched:sched_process_fork", WM_ROLE_FORK,
	 {"child_tid|child_pid", "child_tgid", "parent_tid|parent_pid", "child_comm", NULL}},
	{"task:task_rename", WM_ROLE_RENAME, {"tid|pid", NULL, NULL, "newcomm", NULL}},
	{"sched:sched_process_exit", WM_ROLE_EXIT, {"tid|pid", NULL, NULL, NULL, NULL}},
	{"lttng_statedump_process_state", WM_ROLE_PROCESS, {"tid", "pid", "ppid", "name", NULL}},
	/* perf's records */
	{"perf:comm", WM_ROLE_RENAME, {"tid", "pid", NULL, "comm", NULL}},
	{"perf:fork", WM_ROLE_FORK, {"tid", "pid", "ptid", NULL, NULL}},
	{"perf:exit", WM_ROLE_EXIT, {"tid", "pid", NULL, NULL, NULL}},
	{"perf:switch", WM_ROLE_RESUME, {"tid", "pid", NULL, NULL, NULL, "misc"}},
	{"perf:switch_cpu_wide", WM_ROLE_RESUME, {NULL, NULL, NULL, NULL, NULL, "misc"}},
	/* waymark's recorder */
	{"waymark:thread", WM_ROLE_PROCESS, {"tid", "pid", NULL, "comm", NULL}},
	{"waymark:process", WM_ROLE_PROCESS, {"pid", "pid", "ppid", "comm", NULL}},
};
/* clang-format on */

bool wm_role_is_named(const struct wm_event_type *t, const char *full_name)
{
	const char *colon = strchr(full_name, ':');
	size_t bytes = colon ? (size_t)(colon - full_name) : 0;

	if (!strcmp(t->name, full_name))
		return true;
	if (!colon || strcmp(t->name, colon + 1))
		return false;
	return !t->provider[0] ||
	       (strlen(t->provider) == bytes && !memcmp(t->provider, full_name, bytes));
}

/* Finds the first field of "a|b" that the event has. */
static void event_role_find_field(const struct wm_event_type *t, const char *names,
				  struct wm_field_ref *ret)
{
	char name[64];

	*ret = (struct wm_field_ref){0};
	while (names && *names) {
		size_t bytes = strcspn(names, "|");

		memcpy(name, names, bytes);
		name[bytes] = '\0';
		if (wm_field_ref_find_in(t, WM_PART_FIELDS, name, ret))
			return;
		names += bytes + (names[bytes] == '|');
	}
}

void wm_role_bind(const struct wm_event_type *t, struct wm_role_bound *ret)
{
	const struct def *d = table, *end = table + sizeof(table) / sizeof(table[0]);

	*ret = (struct wm_role_bound){0};
	while (d < end && !wm_role_is_named(t, d->name))
		d++;
	if (d == end)
		return;
	for (int i = 0; i < WM_NR_ROLE_FIELDS; i++)
		event_role_find_field(t, d->fields[i], &ret->fields[i]);
	if (ret->fields[d->role == WM_ROLE_RESUME ? WM_ROLE_MISC : WM_ROLE_TID].type)
		ret->role = d->role;
}

bool wm_role_resumes(const struct wm_role_bound *r, const struct wm_event *e)
{
	return r->role == WM_ROLE_RESUME &&
	       !(wm_field_ref_integer(&r->fields[WM_ROLE_MISC], e, 0) & WM_PERF_MISC_SWITCH_OUT);
}
