/* SPDX-License-Identifier: MIT */
/* perfetto_ftrace.c - see perfetto_ftrace.h. */
#include "export/timeline/perfetto_ftrace.h"

#include <string.h>

#include "trace/event_role.h"

struct def {
	const char *name;
	uint32_t event;
	/* [i]: names "a|b" for field number i + 1; the first that exists is used */
	const char *fields[WM_PERFETTO_FTRACE_FIELDS];
};

/* clang-format off */
static const struct def table[] = {
	{"sched:sched_switch", 4, {"prev_comm", "prev_tid|prev_pid", "prev_prio", "prev_state",
				   "next_comm", "next_tid|next_pid", "next_prio"}},
	{"sched:sched_wakeup", 17, {"comm", "tid|pid", "prio", "success", "target_cpu"}},
	{"sched:sched_waking", 20, {"comm", "tid|pid", "prio", "success", "target_cpu"}},
	{"sched:sched_wakeup_new", 114, {"comm", "tid|pid", "prio", "success", "target_cpu"}},
	{"sched:sched_process_free", 240, {"comm", "tid|pid", "prio"}},
	{"sched:sched_process_exec", 237, {"filename", "tid|pid", "old_tid|old_pid"}},
	{"power:cpu_frequency", 11, {"state", "cpu_id"}},
	{"power:cpu_idle", 13, {"state", "cpu_id"}},
	{"irq:softirq_entry", 24, {"vec"}},
	{"irq:softirq_exit", 25, {"vec"}},
	{"irq:softirq_raise", 26, {"vec"}},
	{"irq:irq_handler_entry", 36, {"irq", "name"}},
	{"irq:irq_handler_exit", 37, {"irq", "ret"}},
	{"task:task_rename", 236, {"tid|pid", "oldcomm", "newcomm", "oom_score_adj"}},
};
/* clang-format on */

/* Returns whether the name is one of the alternatives "a|b". */
static bool perfetto_ftrace_is_one_of(const char *words, const char *name)
{
	size_t bytes = strlen(name);

	while (words && *words) {
		size_t n = strcspn(words, "|");

		if (n == bytes && !memcmp(words, name, n))
			return true;
		words += n + (words[n] == '|');
	}
	return false;
}

static bool can_hold(const struct wm_type *t)
{
	return t->kind <= WM_TYPE_BOOL || t->kind == WM_TYPE_STRING;
}

/* Returns the field number for a field of the event; 0: the message has no such field. */
static uint32_t perfetto_ftrace_number_of(const struct def *d, const struct wm_member *m)
{
	for (uint32_t i = 0; i < WM_PERFETTO_FTRACE_FIELDS; i++)
		if (perfetto_ftrace_is_one_of(d->fields[i], m->name) && can_hold(m->type))
			return i + 1;
	return 0;
}

void wm_perfetto_ftrace_bind(const struct wm_event_type *t, struct wm_perfetto_ftrace *ret)
{
	const struct wm_type *fields = t->parts[WM_PART_FIELDS];
	const struct def *d = table, *end = table + sizeof(table) / sizeof(table[0]);

	*ret = (struct wm_perfetto_ftrace){0};
	while (d < end && !wm_role_is_named(t, d->name))
		d++;
	if (d == end || !fields || fields->nr_members > WM_PERFETTO_FTRACE_FIELDS)
		return;
	for (uint32_t i = 0; i < fields->nr_members; i++) {
		ret->fields[i].number = perfetto_ftrace_number_of(d, &fields->members[i]);
		if (!ret->fields[i].number ||
		    !wm_field_ref_find_in(t, WM_PART_FIELDS, fields->members[i].name,
					  &ret->fields[i].field))
			return;
	}
	ret->nr = fields->nr_members;
	ret->event = d->event;
}

void wm_perfetto_ftrace_put(const struct wm_perfetto_ftrace *f, const struct wm_event *e,
			    int32_t tid, struct wm_text *t)
{
	size_t event = wm_pb_begin(t, 2), inner;

	wm_pb_u64(t, 1, (uint64_t)e->ns);
	if (tid >= 0)
		wm_pb_u64(t, 2, (uint64_t)tid);
	inner = wm_pb_begin(t, f->event);
	for (uint32_t i = 0; i < f->nr; i++) {
		const struct wm_field_ref *field = &f->fields[i].field;
		const struct wm_item *item = wm_field_ref_item(field, e);

		if (!item)
			continue;
		if (field->type->kind == WM_TYPE_STRING)
			wm_pb_utf8(t, f->fields[i].number, item->text, item->count);
		else
			wm_pb_u64(t, f->fields[i].number, item->u);
	}
	wm_pb_end(t, inner);
	wm_pb_end(t, event);
}
