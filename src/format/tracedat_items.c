/* SPDX-License-Identifier: MIT */
/* tracedat_items.c - the types of a kernel event's fields, and their values as items. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "format/tracedat_int.h"

#define ELEMENTS_MAX 65536u /* of one array, whatever a record says */

static const struct wm_type word = {.kind = WM_TYPE_UNSIGNED, .bits = 64, .look = WM_LOOK_HEX};
static const struct wm_type string = {.kind = WM_TYPE_STRING};
static const struct wm_type bytes_type = {.kind = WM_TYPE_BYTES};
static const struct wm_type words = {.kind = WM_TYPE_LIST, .element = {NULL, &word}};

/* --- types ------------------------------------------------------------------ */

static void number_type(const struct wm_kprint *print, const struct wm_kfield *f,
			struct wm_type *ret)
{
	bool is_bool = f->flags & WM_KFIELD_BOOL && f->element_bytes == 1;
	bool is_pointer = f->flags & WM_KFIELD_POINTER;

	*ret = (struct wm_type){
	    .kind = is_bool                                      ? WM_TYPE_BOOL
		    : f->flags & WM_KFIELD_SIGNED && !is_pointer ? WM_TYPE_SIGNED
								 : WM_TYPE_UNSIGNED,
	    .bits = (uint8_t)(8 * f->element_bytes),
	    .look = is_pointer                      ? WM_LOOK_POINTER
		    : wm_kprint_shows_hex(print, f) ? WM_LOOK_HEX
						    : WM_LOOK_DECIMAL,
	};
}

static bool is_list(const struct wm_kfield *f)
{
	return f->flags & WM_KFIELD_ARRAY;
}

static int make_type(struct wm_td *td, const struct wm_kprint *print, const struct wm_kfield *f,
		     const struct wm_type **ret)
{
	struct wm_type *number, *list;

	if (f->flags & WM_KFIELD_CHARS || f->flags & WM_KFIELD_BITMASK || !f->element_bytes) {
		*ret = f->flags & WM_KFIELD_CHARS     ? &string
		       : f->flags & WM_KFIELD_BITMASK ? &words
						      : &bytes_type;
		return 0;
	}
	number = wm_arena_get(&td->trace->arena, sizeof(*number));
	if (!number)
		return -ENOMEM;
	number_type(print, f, number);
	*ret = number;
	if (!is_list(f))
		return 0;
	list = wm_arena_get(&td->trace->arena, sizeof(*list));
	if (!list)
		return -ENOMEM;
	*list = (struct wm_type){.kind = WM_TYPE_LIST, .element = {NULL, number}};
	list->fixed = !(f->flags & (WM_KFIELD_DYNAMIC | WM_KFIELD_TAIL));
	list->length = list->fixed ? f->length : 0;
	*ret = list;
	return 0;
}

/* Of fields [from, to) of an event. */
static int make_part(struct wm_td *td, const struct wm_td_event *e, unsigned from, unsigned to,
		     const struct wm_type **ret)
{
	struct wm_type *t = wm_arena_get(&td->trace->arena, sizeof(*t));
	struct wm_member *members =
	    wm_arena_array(&td->trace->arena, to > from ? to - from : 1, sizeof(*members));

	if (!t || !members)
		return -ENOMEM;
	for (unsigned i = from; i < to; i++) {
		const struct wm_kfield *f = &e->format->fields[i];
		int err = make_type(td, e->print, f, &members[i - from].type);

		members[i - from].name = f->name;
		if (err)
			return err;
	}
	*t = (struct wm_type){
	    .kind = WM_TYPE_STRUCT, .nr_members = to > from ? to - from : 0, .members = members};
	*ret = t;
	return 0;
}

static int make_event(struct wm_td *td, uint32_t id, const struct wm_kformat *f)
{
	struct wm_arena *a = &td->trace->arena;
	struct wm_event_type *type = wm_arena_get(a, sizeof(*type));
	struct wm_td_event *e = wm_arena_get(a, sizeof(*e));
	size_t room = strlen(f->system) + strlen(f->name) + 2;
	char *name = wm_arena_get(a, room);
	int err;

	if (!type || !e || !name)
		return -ENOMEM;
	(void)snprintf(name, room, "%s:%s", f->system, f->name);
	*e = (struct wm_td_event){f, wm_kformats_print(td->formats, id),
				  wm_kformat_field(f, "common_pid"), f->nr_fields};
	*type = (struct wm_event_type){.name = name,
				       .level = -1,
				       .id = id,
				       .provider = f->system,
				       .print = f->print,
				       .own = e};
	/* The first common field is the id, which the type has. */
	err = make_part(td, e, f->nr_common ? 1 : 0, f->nr_common,
			&type->parts[WM_PART_STREAM_CONTEXT]);
	if (!err)
		err = make_part(td, e, f->nr_common, f->nr_fields, &type->parts[WM_PART_FIELDS]);
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

/* --- values ----------------------------------------------------------------- */

struct value {
	const unsigned char *data; /* NULL: the record ends before */
	uint32_t bytes;
};

static bool add_text(struct wm_batch *b, const struct wm_member *m, struct value v)
{
	struct wm_item *i;

	if (!wm_batch_room(b, 1))
		return false;
	i = wm_batch_item(b, m);
	i->text = v.data ? (const char *)v.data : "";
	i->count = (uint32_t)strnlen(i->text, v.bytes);
	return true;
}

static bool add_bytes(struct wm_batch *b, const struct wm_member *m, struct value v)
{
	struct wm_item *i;

	if (!wm_batch_room(b, 1))
		return false;
	i = wm_batch_item(b, m);
	i->bytes = v.data;
	i->count = v.bytes;
	return true;
}

static uint64_t number(const struct wm_type *t, const unsigned char *p, unsigned width, bool swap)
{
	if (t->kind == WM_TYPE_SIGNED)
		return (uint64_t)wm_get_int(p, width, swap);
	if (t->kind == WM_TYPE_BOOL)
		return *p != 0;
	return wm_get_uint(p, width, swap);
}

static bool add_list(const struct wm_td *td, struct wm_batch *b, const struct wm_member *m,
		     const struct wm_kfield *f, struct value v)
{
	const struct wm_member *element = &m->type->element;
	uint32_t width = f->element_bytes, nr = v.bytes / width;
	struct wm_item *list;

	nr = nr > ELEMENTS_MAX ? ELEMENTS_MAX : nr;
	if (m->type->fixed)
		nr = v.data ? m->type->length : 0;
	if (!wm_batch_room(b, nr + 1))
		return false;
	list = wm_batch_item(b, m);
	list->count = nr;
	for (uint32_t i = 0; i < nr; i++)
		wm_batch_item(b, element)->u =
		    number(element->type, v.data + i * width, width, td->machine.swap);
	list->next = b->nr_items;
	return true;
}

/* The kernel's longs as words of 64 bits. */
static bool add_words(const struct wm_td *td, struct wm_batch *b, const struct wm_member *m,
		      struct value v)
{
	uint32_t width = td->machine.long_bytes, nr = (v.bytes + 7) / 8;
	struct wm_item *list;

	if (!wm_batch_room(b, nr + 1))
		return false;
	list = wm_batch_item(b, m);
	list->count = nr;
	for (uint32_t i = 0; i < nr; i++) {
		uint64_t value = 0;

		for (uint32_t at = 8 * i; at < 8 * (i + 1) && at + width <= v.bytes; at += width)
			value |= wm_get_uint(v.data + at, width, td->machine.swap) << 8 * (at % 8);
		wm_batch_item(b, &m->type->element)->u = value;
	}
	list->next = b->nr_items;
	return true;
}

static bool add_number(const struct wm_td *td, struct wm_batch *b, const struct wm_member *m,
		       const struct wm_kfield *f, struct value v)
{
	if (!wm_batch_room(b, 1))
		return false;
	wm_batch_item(b, m)->u =
	    v.data ? number(m->type, v.data, f->element_bytes, td->machine.swap) : 0;
	return true;
}

static bool add_field(const struct wm_td *td, struct wm_batch *b, const struct wm_member *m,
		      const struct wm_kfield *f, const unsigned char *record, uint32_t bytes)
{
	struct value v;

	v.data = wm_kfield_bytes(f, td->machine.swap, record, bytes, &v.bytes);
	switch (m->type->kind) {
	case WM_TYPE_STRING:
		return add_text(b, m, v);
	case WM_TYPE_BYTES:
		return add_bytes(b, m, v);
	case WM_TYPE_LIST:
		return f->flags & WM_KFIELD_BITMASK ? add_words(td, b, m, v)
						    : add_list(td, b, m, f, v);
	default:
		return add_number(td, b, m, f, v);
	}
}

bool wm_td_add_items(const struct wm_td *td, const struct wm_type *part,
		     const struct wm_kfield *fields, const unsigned char *record, uint32_t bytes,
		     struct wm_batch *b)
{
	for (uint32_t i = 0; i < part->nr_members; i++) {
		if (!add_field(td, b, &part->members[i], &fields[i], record, bytes))
			return false;
	}
	return true;
}
