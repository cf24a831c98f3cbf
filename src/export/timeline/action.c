/* SPDX-License-Identifier: MIT */
/* action.c - see action.h. */
#include "export/timeline/action.h"

#include <string.h>

/* as a provider: an event without a provider, in a trace from LTTng's kernel tracer */
#define LTTNG "\001"

enum family { NO_FAMILY, SYSCALL, FUNCTION, INTERRUPT, SOFTIRQ, SPAN };

struct def {
	const char *provider; /* alternatives "a|b" */
	/* name without provider; for "x*", the text matched by * is the bar's title */
	const char *name;
	enum wm_act act;
	enum wm_act_owner owner;
	enum family family;
	const char *prefix; /* text before the value of `label`; NUMBER: the unit */
	/* a field whose value is part of the title; NUMBER: which of several numbers */
	const char *label;
	const char *value; /* NUMBER: the field with the value */
};

/* clang-format off */
static const struct def table[] = {
	{"syscalls", "sys_enter_*", WM_ACT_BEGIN, WM_ACT_OF_THREAD, SYSCALL},
	{"syscalls", "sys_exit_*", WM_ACT_END, WM_ACT_OF_THREAD, SYSCALL},
	{"raw_syscalls", "sys_enter", WM_ACT_BEGIN, WM_ACT_OF_THREAD, SYSCALL, "syscall ", "id"},
	{"raw_syscalls", "sys_exit", WM_ACT_END, WM_ACT_OF_THREAD, SYSCALL, "syscall ", "id"},
	/* LTTng's events */
	{LTTNG, "syscall_entry_*", WM_ACT_BEGIN, WM_ACT_OF_THREAD, SYSCALL},
	{LTTNG, "syscall_exit_*", WM_ACT_END, WM_ACT_OF_THREAD, SYSCALL},
	{LTTNG, "compat_syscall_entry_*", WM_ACT_BEGIN, WM_ACT_OF_THREAD, SYSCALL},
	{LTTNG, "compat_syscall_exit_*", WM_ACT_END, WM_ACT_OF_THREAD, SYSCALL},
	{LTTNG, "exit_syscall", WM_ACT_END, WM_ACT_OF_THREAD, SYSCALL},
	{LTTNG, "sys_*", WM_ACT_BEGIN, WM_ACT_OF_THREAD, SYSCALL},
	{"lttng_ust_cyg_profile", "func_entry", WM_ACT_BEGIN, WM_ACT_OF_THREAD, FUNCTION, "", "addr"},
	{"lttng_ust_cyg_profile", "func_exit", WM_ACT_END, WM_ACT_OF_THREAD, FUNCTION, "", "addr"},
	{"lttng_ust_cyg_profile_fast", "func_entry", WM_ACT_BEGIN, WM_ACT_OF_THREAD, FUNCTION, "", "addr"},
	{"lttng_ust_cyg_profile_fast", "func_exit", WM_ACT_END, WM_ACT_OF_THREAD, FUNCTION},
	/* waymark's events: record --preload func */
	{"func", "entry", WM_ACT_BEGIN, WM_ACT_OF_THREAD, FUNCTION, "", "function"},
	{"func", "exit", WM_ACT_END, WM_ACT_OF_THREAD, FUNCTION, "", "function"},
	{"irq|" LTTNG, "irq_handler_entry", WM_ACT_BEGIN, WM_ACT_OF_CPU, INTERRUPT, "irq ", "irq"},
	{"irq|" LTTNG, "irq_handler_exit", WM_ACT_END, WM_ACT_OF_CPU, INTERRUPT, "irq ", "irq"},
	{"irq|" LTTNG, "softirq_entry", WM_ACT_BEGIN, WM_ACT_OF_CPU, SOFTIRQ, "softirq ", "vec"},
	{"irq|" LTTNG, "softirq_exit", WM_ACT_END, WM_ACT_OF_CPU, SOFTIRQ, "softirq ", "vec"},
	{"sched|" LTTNG, "sched_switch", WM_ACT_SWITCH, WM_ACT_OF_CPU, NO_FAMILY},
	{"power|" LTTNG, "cpu_frequency", WM_ACT_NUMBER, WM_ACT_OF_CPU, NO_FAMILY, "kHz", "cpu_id", "state"},
	{"power|" LTTNG, "cpu_idle", WM_ACT_NUMBER, WM_ACT_OF_CPU, NO_FAMILY, "state", "cpu_id", "state"},
	{"power|" LTTNG, "power_cpu_frequency", WM_ACT_NUMBER, WM_ACT_OF_CPU, NO_FAMILY, "kHz", "cpu_id", "state"},
	{"power|" LTTNG, "power_cpu_idle", WM_ACT_NUMBER, WM_ACT_OF_CPU, NO_FAMILY, "state", "cpu_id", "state"},
	/* waymark's events: record -e proc:vmstat */
	{"proc", "cpu", WM_ACT_READINGS, WM_ACT_OF_CPU, NO_FAMILY, NULL, "cpu"},
	{"proc", "*", WM_ACT_READINGS, WM_ACT_OF_CPU, NO_FAMILY, NULL, "dev"},
};
/* clang-format on */

/* Returns whether the word is one of the alternatives "a|b". */
static bool action_is_one_of(const char *words, const char *word, size_t bytes)
{
	for (const char *at = words;; at++) {
		size_t n = strcspn(at, "|");

		if (n == bytes && !memcmp(at, word, n))
			return true;
		at += n;
		if (!*at)
			return false;
	}
}

/* Returns whether the entry matches; *ret_rest is the part of the event's name matched by `*`. */
static bool action_matches(const struct def *d, const char *provider, size_t bytes,
			   const char *name, const char **ret_rest)
{
	size_t n = strlen(d->name);

	*ret_rest = NULL;
	if (!action_is_one_of(d->provider, provider, bytes))
		return false;
	if (d->name[n - 1] != '*')
		return !strcmp(d->name, name);
	*ret_rest = name + n - 1;
	return !strncmp(d->name, name, n - 1) && name[n - 1];
}

static bool is_whole_number(const struct wm_field_ref *f)
{
	return f->type && f->type->kind <= WM_TYPE_BOOL;
}

static bool action_is_number(const struct wm_type *t)
{
	return t->kind <= WM_TYPE_FLOAT;
}

/* Finds the field that names the device or processor, and checks whether all others are numbers. */
static void bind_readings(const struct def *d, const struct wm_event_type *t,
			  struct wm_act_type *ret)
{
	const struct wm_type *fields = t->parts[WM_PART_FIELDS];
	uint32_t nr = 0;

	(void)wm_field_ref_find_in(t, WM_PART_FIELDS, d->label, &ret->part);
	if (ret->part.type && ret->part.type->kind != WM_TYPE_STRING &&
	    !is_whole_number(&ret->part))
		ret->part.type = NULL;
	for (uint32_t i = 0; fields && i < fields->nr_members; i++) {
		if (ret->part.type && ret->part.index == i)
			continue;
		if (action_is_number(fields->members[i].type))
			nr++;
		else
			ret->has_words = true;
	}
	if (!nr)
		ret->act = WM_ACT_POINT;
}

/*
 * Applies a table entry to an event type. When a field that the entry needs is missing, the event
 * is a point.
 */
static void bind_def(const struct def *d, const struct wm_event_type *t, const char *rest,
		     struct wm_act_type *ret)
{
	ret->act = (uint8_t)d->act;
	ret->owner = (uint8_t)d->owner;
	ret->family = (uint8_t)d->family;
	if (d->act == WM_ACT_READINGS) {
		bind_readings(d, t, ret);
		return;
	}
	if (rest)
		ret->title = rest;
	if (d->act == WM_ACT_NUMBER) {
		ret->unit = d->prefix;
		(void)wm_field_ref_find_in(t, WM_PART_FIELDS, d->value, &ret->value);
		(void)wm_field_ref_find_in(t, WM_PART_FIELDS, d->label, &ret->part);
		if (!is_whole_number(&ret->value))
			ret->act = WM_ACT_POINT;
		return;
	}
	if (d->label && wm_field_ref_find_in(t, WM_PART_FIELDS, d->label, &ret->label))
		ret->prefix = is_whole_number(&ret->label) ? d->prefix : NULL;
	ret->alone = d->family == SYSCALL;
	ret->is_named = d->act == WM_ACT_END && (rest || ret->prefix);
}

static const struct wm_field_ref *field_called(const struct wm_event_type *t, uint32_t place,
					       const char *name, struct wm_field_ref *ret)
{
	if (!wm_field_ref_find_in(t, WM_PART_FIELDS, name, ret) || ret->index != place ||
	    ret->type->kind != WM_TYPE_UNSIGNED || ret->type->bits != 64)
		return NULL;
	return ret;
}

/* Spans are recognized by their first fields. */
static bool bind_span(const struct wm_event_type *t, struct wm_act_type *ret)
{
	struct wm_field_ref parent;

	if (field_called(t, 0, "span_id", &ret->id)) {
		ret->act = field_called(t, 1, "parent_id", &parent) ? WM_ACT_BEGIN : WM_ACT_END;
		ret->owner = WM_ACT_OF_SPAN;
		ret->family = SPAN;
		return true;
	}
	if (field_called(t, 0, "begin", &ret->begin) &&
	    field_called(t, 1, "duration", &ret->duration) &&
	    field_called(t, 2, "parent_id", &parent)) {
		ret->act = WM_ACT_WHOLE;
		ret->owner = WM_ACT_OF_THREAD;
		return true;
	}
	return false;
}

void wm_act_bind(const struct wm_trace *trace, const struct wm_event_type *t,
		 struct wm_act_type *ret)
{
	const char *tracer = wm_trace_word(trace, "tracer_name");
	const char *colon = strchr(t->name, ':'), *rest;
	const char *name = colon ? colon + 1 : t->name;
	const char *provider = colon ? t->name : t->provider;
	size_t bytes = colon ? (size_t)(colon - t->name) : strlen(provider);

	if (!bytes && tracer && !strcmp(tracer, "lttng-modules")) {
		provider = LTTNG "|";
		bytes = 1;
	}
	*ret = (struct wm_act_type){.act = WM_ACT_POINT, .title = t->name, .category = t->provider};
	if (bind_span(t, ret))
		return;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (action_matches(&table[i], provider, bytes, name, &rest)) {
			bind_def(&table[i], t, rest, ret);
			return;
		}
}
