/* SPDX-License-Identifier: MIT */
/*
 * event_place_event.c - probes on events: a copy of a tracepoint that fetches more than the
 * tracepoint's fields, mainly the data that a pointer field refers to. The format file lists the
 * fields. See event_place.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "base/nearest.h"
#include "kdata/event_format.h"
#include "kernel/event_fields.h"
#include "kernel/probes/event_place.h"
#include "kernel/probes/probe_args.h"

#define FORM             "eprobe:SYSTEM:EVENT(NAME=FIELD[:TYPE],...), e.g. filename:ustring"
#define FORMAT_BYTES_MAX (4u << 20)

/* Looks up a field, with or without the kernel's '$' prefix. */
static int place_event_on_name(void *data, const char *name, struct wm_probe_value *ret,
			       struct wm_diag *diag)
{
	const struct wm_kformat *format = data;
	const struct wm_kfield *f;
	char hint[120];

	if (!strcmp(name, "$comm") || !strncmp(name, "$stack", 6))
		return -ENOENT;
	name += *name == '$';
	f = wm_kformat_field(format, name);
	if (!f)
		return wm_diag_set(diag, -ENOENT, NULL, -1, "%s:%s has no field '%.60s'; %s",
				   format->system, format->name, name,
				   wm_event_fields_hint(format, NULL, name, hint, sizeof(hint)));
	(void)snprintf(ret->fetch, sizeof(ret->fetch), "$%s", name);
	ret->is_text = f->flags & WM_KFIELD_CHARS;
	ret->points = !ret->is_text && f->bytes == sizeof(void *);
	if (ret->is_text)
		(void)snprintf(ret->type, sizeof(ret->type), "string");
	else if (f->element_bytes && !(f->flags & WM_KFIELD_ARRAY))
		(void)snprintf(ret->type, sizeof(ret->type), "%c%u",
			       f->flags & WM_KFIELD_SIGNED ? 's' : 'u', 8u * f->element_bytes);
	return 0;
}

static int place_event_on_each(void *data, int (*fn)(const char *name, void *), void *user)
{
	const struct wm_kformat *format = data;
	int err = 0;

	for (unsigned i = format->nr_common; !err && i < format->nr_fields; i++)
		err = fn(format->fields[i].name, user);
	return err;
}

static int place_event_add(const struct wm_event_place *p, const struct wm_kformat *format,
			   const struct wm_tracefs_event *e)
{
	char name[2 * WM_TRACEFS_NAME_MAX + 16], label[2 * WM_TRACEFS_NAME_MAX];
	struct wm_event_def def = {.family = WM_FAMILY_EPROBE,
				   .name = name,
				   .label = label,
				   .symbol = label,
				   .in_kernel = true};
	const struct wm_probe_scope scope = {.probe = name,
					     .in_kernel = true,
					     .named = place_event_on_name,
					     .each = place_event_on_each,
					     .data = (void *)format};
	struct wm_probe_args args;
	int err;

	(void)snprintf(name, sizeof(name), "eprobe:%s:%s", e->system, e->name);
	(void)snprintf(label, sizeof(label), "%s:%s", e->system, e->name);
	wm_probe_args_init(&args);
	err = wm_probe_args_compile(p->arguments, &scope, &args, p->diag);
	def.arguments = args.kernel.data;
	def.left_out = args.left_out.data;
	if (!err)
		err = wm_event_defs_add(p->defs, &def);
	wm_probe_args_done(&args);
	return err;
}

static int read_format_and_add(const struct wm_event_place *p, const struct wm_tracefs_event *e)
{
	const struct wm_kformat *format;
	struct wm_kmachine machine;
	struct wm_arena arena;
	size_t bytes;
	char *text;
	int err =
	    wm_tracefs_event_format(p->space->tracefs, e->system, e->name, &text, &bytes, p->diag);

	if (err)
		return err;
	wm_arena_init(&arena, FORMAT_BYTES_MAX);
	wm_kmachine_init(&machine, sizeof(long), __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	err = wm_kformat_parse(&arena, &machine, e->system, text, bytes, &format, p->diag);
	if (!err)
		err = place_event_add(p, format, e);
	wm_arena_done(&arena);
	free(text);
	return err;
}

static int no_event(const struct wm_event_place *p)
{
	const struct wm_tracefs *t = p->space->tracefs;
	struct wm_nearest near;
	char hint[120], full[2 * WM_TRACEFS_NAME_MAX];

	wm_nearest_init(&near, p->text);
	for (size_t i = 0; i < t->nr_events; i++) {
		(void)snprintf(full, sizeof(full), "%s:%s", t->events[i].system, t->events[i].name);
		wm_nearest_offer(&near, full);
	}
	wm_nearest_sentence(&near, "", hint, sizeof(hint));
	return wm_diag_set(p->diag, -ENOENT, NULL, -1, "no kernel event matches '%.60s'; %s",
			   p->text, *hint ? hint : "run 'waymark list' to see all events");
}

int wm_event_place_event(const struct wm_event_place *p)
{
	struct wm_tracefs *t = p->space->tracefs;
	char full[2 * WM_TRACEFS_NAME_MAX];
	int nr = 0, err = 0;

	if (!t)
		return wm_diag_set(p->diag, p->space->tracefs_err, NULL, -1, "%s",
				   p->space->tracefs_diag.sentence);
	if (!p->arguments || !strchr(p->text, ':'))
		return wm_diag_set(p->diag, -EINVAL, NULL, -1,
				   "'eprobe:%.80s' is not of the form " FORM, p->text);
	err = wm_tracefs_load(t, p->diag);
	for (size_t i = 0; i < t->nr_events && !err; i++) {
		(void)snprintf(full, sizeof(full), "%s:%s", t->events[i].system, t->events[i].name);
		if (!wm_glob_match(p->text, strlen(p->text), full, strlen(full)))
			continue;
		err = read_format_and_add(p, &t->events[i]);
		nr += !err;
	}
	return err ? err : nr ? nr : no_event(p);
}
