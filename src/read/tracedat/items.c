/* SPDX-License-Identifier: MIT */
/* items.c - creates the event types of a trace.dat file. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "read/kernel_items_int.h"
#include "read/tracedat/tracedat_int.h"

static int make_event(struct wm_td *td, uint32_t id, const struct wm_kformat *f)
{
	struct wm_arena *a = &td->trace->arena;
	struct wm_event_type *type = wm_arena_get(a, sizeof(*type));
	struct wm_td_event *e = wm_arena_get(a, sizeof(*e));
	size_t room = strlen(f->system) + strlen(f->name) + 2;
	char *name = wm_arena_get(a, room);
	uint32_t first = f->nr_common ? 1 : 0;
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
	/* Skip the first common field: the id is known from the type. */
	err = wm_kprint_hex(a, &td->machine, f, hex);
	if (!err)
		err = wm_kitems_part(a, hex + first, f->fields + first, f->nr_common - first,
				     &type->parts[WM_PART_STREAM_CONTEXT]);
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
	int err = 0;

	td->nr_types = wm_kformats_nr_ids(td->formats);
	td->types =
	    wm_arena_array(&td->trace->arena, td->nr_types ? td->nr_types : 1, sizeof(*td->types));
	if (!td->types)
		return -ENOMEM;
	for (uint32_t id = 0; !err && id < td->nr_types; id++) {
		const struct wm_kformat *f = wm_kformats_event(td->formats, id);

		if (f)
			err = make_event(td, id, f);
	}
	return err;
}
