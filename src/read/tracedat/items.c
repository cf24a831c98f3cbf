/* SPDX-License-Identifier: MIT */
/* items.c - creates the event types of a trace.dat file. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "read/kernel_items_int.h"
#include "read/tracedat/tracedat_int.h"

/* The common fields of an event, none of them hexadecimal, and their type. */
struct common {
	const struct wm_kfield *fields;
	uint32_t nr;
	const struct wm_type *type; /* NULL: none yet */
};

static bool items_is_same(const struct wm_kfield *a, const struct wm_kfield *b, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		if (a[i].bytes != b[i].bytes || a[i].length != b[i].length ||
		    a[i].element_bytes != b[i].element_bytes || a[i].flags != b[i].flags ||
		    strcmp(a[i].name, b[i].name))
			return false;
	return true;
}

/*
 * Makes the type of the common fields. Nearly all events have the same ones, so it is the previous
 * event's if nothing differs. Skips the first field: the id is known from the type.
 */
static int make_common(struct wm_td *td, const struct wm_kformat *f, const bool *hex,
		       struct common *last, const struct wm_type **ret)
{
	uint32_t first = f->nr_common ? 1 : 0, nr = f->nr_common - first;
	const struct wm_kfield *fields = f->fields + first;
	bool any_hex = memchr(hex + first, true, nr);
	int err;

	if (last->type && !any_hex && last->nr == nr && items_is_same(last->fields, fields, nr)) {
		*ret = last->type;
		return 0;
	}
	err = wm_kitems_part(&td->trace->arena, hex + first, fields, nr, ret);
	if (!err && !any_hex)
		*last = (struct common){fields, nr, *ret};
	return err;
}

static int make_event(struct wm_td *td, uint32_t id, const struct wm_kformat *f,
		      struct common *last)
{
	struct wm_arena *a = &td->trace->arena;
	struct wm_event_type *type = wm_arena_get(a, sizeof(*type));
	struct wm_td_event *e = wm_arena_get(a, sizeof(*e));
	size_t room = strlen(f->system) + strlen(f->name) + 2;
	char *name = wm_arena_get(a, room);
	bool hex[WM_KFORMAT_FIELDS_MAX];
	int err;

	if (!type || !e || !name)
		return -ENOMEM;
	(void)snprintf(name, room, "%s:%s", f->system, f->name);
	*e = (struct wm_td_event){f, wm_kformats_form(td->formats, id),
				  wm_kformat_field(f, "common_pid"), f->nr_fields};
	*type = (struct wm_event_type){.name = name,
				       .level = -1,
				       .id = id,
				       .provider = f->system,
				       .print = f->print,
				       .prints = f->print != NULL,
				       .own = e};
	err = wm_kprint_hex(a, &td->machine, f, hex);
	if (!err)
		err = make_common(td, f, hex, last, &type->parts[WM_PART_STREAM_CONTEXT]);
	if (!err)
		err = wm_kitems_part(a, hex + f->nr_common, f->fields + f->nr_common,
				     f->nr_fields - f->nr_common, &type->parts[WM_PART_FIELDS]);
	if (err)
		return err;
	td->types[id] = type;
	return wm_trace_add_type(td->trace, type);
}

int wm_td_make_types(struct wm_td *td)
{
	struct common last = {.type = NULL};
	int err = 0;

	td->nr_types = wm_kformats_nr_ids(td->formats);
	td->types =
	    wm_arena_array(&td->trace->arena, td->nr_types ? td->nr_types : 1, sizeof(*td->types));
	if (!td->types)
		return -ENOMEM;
	for (uint32_t id = 0; !err && id < td->nr_types; id++) {
		const struct wm_kformat *f = wm_kformats_event(td->formats, id);

		if (f)
			err = make_event(td, id, f, &last);
	}
	return err;
}
