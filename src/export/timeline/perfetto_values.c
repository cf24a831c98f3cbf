/* SPDX-License-Identifier: MIT */
/* perfetto_values.c - see perfetto_values.h. Field numbers are those of DebugAnnotation. */
#include "export/timeline/perfetto_values.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"

#define ARENA_MAX ((size_t)1 << 30)

enum annotation {
	NAME_IID = 1,
	BOOL = 2,
	UINT = 3,
	INT = 4,
	DOUBLE = 5,
	STRING = 6,
	POINTER = 7,
	NAME = 10,
	DICT_ENTRIES = 11,
	ARRAY_VALUES = 12,
};

/* --- names ------------------------------------------------------------------------------ */

int wm_perfetto_names_init(struct wm_perfetto_names *n)
{
	*n = (struct wm_perfetto_names){0};
	return wm_names_init(&n->names);
}

void wm_perfetto_names_done(struct wm_perfetto_names *n)
{
	wm_names_done(&n->names);
	wm_text_done(&n->pending);
	free(n->sent);
	*n = (struct wm_perfetto_names){0};
}

/* Adds a name as {iid, name}; all three kinds of names have this form. */
static void send(struct wm_perfetto_names *n, enum wm_perfetto_name kind, uint32_t id)
{
	size_t at = wm_pb_begin(&n->pending, kind);

	wm_pb_u64(&n->pending, 1, id + 1);
	wm_pb_utf8(&n->pending, 2, wm_names_text(&n->names, id), n->names.bytes[id]);
	wm_pb_end(&n->pending, at);
}

/*
 * Looks names up by address in a cache first: most events use the same few names at the same few
 * addresses.
 */
static uint32_t perfetto_values_id_of(struct wm_perfetto_names *n, const char *text)
{
	uint32_t i = (uint32_t)((uintptr_t)text * 0x9e3779b97f4a7c15ull >> 56);

	if (n->recent[i].text == text && !strcmp(text, wm_names_text(&n->names, n->recent[i].id)))
		return n->recent[i].id;
	n->recent[i].text = text;
	n->recent[i].id = wm_names_id(&n->names, text, strlen(text));
	return n->recent[i].id;
}

uint64_t wm_perfetto_name(struct wm_perfetto_names *n, enum wm_perfetto_name kind, const char *text)
{
	uint32_t id;

	if (n->names.nr >= WM_PERFETTO_NAMES_MAX)
		return 0;
	id = perfetto_values_id_of(n, text);
	if (id == WM_NAMES_NONE || WM_ARRAY_GROW_ZEROED(n->sent, n->room, (size_t)id + 1))
		return 0;
	if (!(n->sent[id] & 1u << kind)) {
		n->sent[id] |= (unsigned char)(1u << kind);
		send(n, kind, id);
	}
	return id + 1;
}

void wm_perfetto_names_again(struct wm_perfetto_names *n)
{
	wm_text_cut(&n->pending, 0);
	for (uint32_t id = 0; id < n->names.nr && id < n->room; id++)
		for (int kind = WM_PERFETTO_CATEGORY; kind <= WM_PERFETTO_ANNOTATION; kind++)
			if (n->sent[id] & 1u << kind)
				send(n, (enum wm_perfetto_name)kind, id);
}

/* --- shapes: types with encoded member names ------------------------------------------ */

struct piece {
	const char *name; /* the name, as an encoded field of DebugAnnotation */
	uint32_t bytes;
	const struct wm_perfetto_shape *shape;
};

struct wm_perfetto_shape {
	const struct wm_type *type;
	uint32_t nr;
	struct piece *pieces; /* one for each member; LIST and OPTIONAL have one */
};

void wm_perfetto_values_init(struct wm_perfetto_values *v, struct wm_perfetto_names *names)
{
	*v = (struct wm_perfetto_values){.names = names};
	wm_arena_init(&v->arena, ARENA_MAX);
	wm_table_init(&v->table);
}

void wm_perfetto_values_done(struct wm_perfetto_values *v)
{
	wm_arena_done(&v->arena);
	wm_table_done(&v->table);
	*v = (struct wm_perfetto_values){0};
}

/* Encodes name_iid if the name has a number, else name; nothing for NULL. */
static bool encode_name(struct wm_perfetto_values *v, const char *name, struct piece *ret)
{
	uint64_t iid = name ? wm_perfetto_name(v->names, WM_PERFETTO_ANNOTATION, name) : 0;
	struct wm_text t;

	wm_text_init(&t);
	if (iid)
		wm_pb_u64(&t, NAME_IID, iid);
	else if (name)
		wm_pb_utf8(&t, NAME, name, strlen(name));
	ret->name = wm_arena_copy(&v->arena, t.data ? t.data : "", t.bytes);
	ret->bytes = (uint32_t)t.bytes;
	if (t.failed)
		ret->name = NULL;
	wm_text_done(&t);
	return ret->name;
}

static const struct wm_perfetto_shape *perfetto_values_shape_of(struct wm_perfetto_values *v,
								const struct wm_type *t);

static bool perfetto_values_fill(struct wm_perfetto_values *v, struct wm_perfetto_shape *s)
{
	bool has_members = s->type->kind == WM_TYPE_STRUCT || s->type->kind == WM_TYPE_CHOICE;
	bool has_element = s->type->kind == WM_TYPE_LIST || s->type->kind == WM_TYPE_OPTIONAL;
	const struct wm_member *m = has_members ? s->type->members : &s->type->element;

	s->nr = has_members ? s->type->nr_members : has_element;
	s->pieces = wm_arena_array(&v->arena, s->nr + 1, sizeof(*s->pieces));
	for (uint32_t i = 0; s->pieces && i < s->nr; i++) {
		s->pieces[i].shape = perfetto_values_shape_of(v, m[i].type);
		if (!s->pieces[i].shape || !encode_name(v, m[i].name, &s->pieces[i]))
			return false;
	}
	return s->pieces;
}

/*
 * Returns the shape of a type, which is created when first used. The recursion ends, because types
 * have no cycles and the readers limit their depth.
 */
static const struct wm_perfetto_shape *perfetto_values_shape_of(struct wm_perfetto_values *v,
								const struct wm_type *t)
{
	uint64_t hash = wm_table_hash(&v->table, (uintptr_t)t);
	struct wm_table_walk w = wm_table_walk(hash);
	struct wm_perfetto_shape *s, **more;

	while (wm_table_next(&v->table, &w))
		if (v->shapes[w.index]->type == t)
			return v->shapes[w.index];
	s = wm_arena_get(&v->arena, sizeof(*s));
	if (!s)
		return NULL;
	s->type = t;
	if (!perfetto_values_fill(v, s)) /* this may add shapes */
		return NULL;
	more = wm_arena_grow(&v->arena, v->shapes, v->table.nr, sizeof(*more));
	if (!more)
		return NULL;
	v->shapes = more;
	more[v->table.nr] = s;
	return wm_table_add(&v->table, hash, v->table.nr) ? NULL : s;
}

/* --- values --------------------------------------------------------------------------- */

static void perfetto_values_put_label(struct wm_text *t, const struct wm_type *type,
				      const struct wm_item *i)
{
	const char *label = wm_type_label(type, i);
	struct wm_text text;

	wm_text_init(&text);
	wm_text_str(&text, label);
	wm_text_str(&text, " (");
	if (type->kind == WM_TYPE_SIGNED)
		wm_text_i64(&text, i->s);
	else
		wm_text_u64(&text, i->u);
	wm_text_char(&text, ')');
	wm_pb_utf8(t, STRING, text.data ? text.data : "", text.bytes);
	t->failed |= text.failed;
	wm_text_done(&text);
}

static void perfetto_values_put_bytes(struct wm_text *t, const struct wm_item *i)
{
	static const char digits[] = "0123456789abcdef";
	size_t at = wm_pb_begin(t, STRING);

	for (uint32_t k = 0; k < i->count; k++) {
		wm_text_char(t, digits[i->bytes[k] >> 4]);
		wm_text_char(t, digits[i->bytes[k] & 15]);
	}
	wm_pb_end(t, at);
}

static void perfetto_values_put_leaf(struct wm_text *t, const struct wm_type *type,
				     const struct wm_item *i)
{
	bool is_hex = type->look == WM_LOOK_HEX || type->look == WM_LOOK_POINTER;

	if (type->is_enum && !type->is_flags && wm_type_label(type, i)) {
		perfetto_values_put_label(t, type, i);
		return;
	}
	switch (type->kind) {
	case WM_TYPE_BOOL:
		wm_pb_u64(t, BOOL, i->u != 0);
		break;
	case WM_TYPE_UNSIGNED:
		wm_pb_u64(t, is_hex ? POINTER : UINT, i->u);
		break;
	case WM_TYPE_SIGNED:
		wm_pb_i64(t, INT, i->s);
		break;
	case WM_TYPE_FLOAT:
		wm_pb_double(t, DOUBLE, i->f);
		break;
	case WM_TYPE_STRING:
		wm_pb_utf8(t, STRING, i->text, i->count);
		break;
	default:
		perfetto_values_put_bytes(t, i);
	}
}

static uint32_t perfetto_values_put(struct wm_text *t, uint32_t field, const struct piece *piece,
				    const struct wm_item *items, uint32_t at, uint32_t end);

/* Writes the contents of the item; returns the index after it. */
static uint32_t put_inside(struct wm_text *t, const struct wm_perfetto_shape *s,
			   const struct wm_item *items, uint32_t at, uint32_t end)
{
	const struct wm_item *i = &items[at];
	uint32_t n = i->count, field = DICT_ENTRIES;

	at++;
	if (s->type->kind == WM_TYPE_CHOICE)
		return perfetto_values_put(t, field, &s->pieces[i->u < s->nr ? i->u : 0], items, at,
					   end);
	if (s->type->kind == WM_TYPE_LIST)
		field = ARRAY_VALUES;
	for (uint32_t k = 0; k < n && at < end; k++) {
		const struct piece *piece = &s->pieces[s->type->kind == WM_TYPE_LIST ? 0 : k];

		if (s->type->kind == WM_TYPE_STRUCT && k >= s->nr)
			break;
		at = perfetto_values_put(t, field, piece, items, at, end);
	}
	return i->next;
}

/* Writes one annotation; returns the index after it. A present optional is written as its value. */
static uint32_t perfetto_values_put(struct wm_text *t, uint32_t field, const struct piece *piece,
				    const struct wm_item *items, uint32_t at, uint32_t end)
{
	const struct wm_perfetto_shape *s = piece->shape;
	uint32_t behind = items[at].next;
	size_t length = wm_pb_begin(t, field);

	wm_text_add(t, piece->name, piece->bytes);
	while (s->type->kind == WM_TYPE_OPTIONAL && items[at].count && at + 1 < end) {
		s = s->pieces[0].shape;
		at++;
	}
	if (s->type->kind < WM_TYPE_STRUCT)
		perfetto_values_put_leaf(t, s->type, &items[at]);
	else if (s->type->kind != WM_TYPE_OPTIONAL)
		(void)put_inside(t, s, items, at, end);
	wm_pb_end(t, length);
	return behind;
}

static bool perfetto_values_put_part(struct wm_perfetto_values *v, const struct wm_event *e,
				     int part, uint32_t field, struct wm_text *t)
{
	const struct wm_type *type = e->type->parts[part];
	const struct wm_perfetto_shape *s = type ? perfetto_values_shape_of(v, type) : NULL;
	uint32_t at = e->parts[part].at, end = e->parts[part].end;

	for (uint32_t k = 0; s && k < s->nr && at < end; k++)
		at = perfetto_values_put(t, field, &s->pieces[k], e->items, at, end);
	return s || !type;
}

size_t wm_perfetto_values_begin(struct wm_perfetto_values *v, uint32_t field, const char *name,
				struct wm_text *t)
{
	uint64_t iid = wm_perfetto_name(v->names, WM_PERFETTO_ANNOTATION, name);
	size_t at = wm_pb_begin(t, field);

	if (iid)
		wm_pb_u64(t, NAME_IID, iid);
	else
		wm_pb_string(t, NAME, name, strlen(name));
	return at;
}

static bool perfetto_values_put_context(struct wm_perfetto_values *v, const struct wm_event *e,
					int part, const char *name, uint32_t field,
					struct wm_text *t)
{
	size_t at;
	bool ok;

	if (e->parts[part].at == e->parts[part].end)
		return true;
	at = wm_perfetto_values_begin(v, field, name, t);
	ok = perfetto_values_put_part(v, e, part, DICT_ENTRIES, t);
	wm_pb_end(t, at);
	return ok;
}

static void perfetto_values_put_message(struct wm_perfetto_values *v, const struct wm_view *view,
					uint32_t trace, const struct wm_event *e, uint32_t field,
					struct wm_text *t)
{
	struct wm_text message;
	size_t at;

	if (!e->type->print)
		return;
	wm_text_init(&message);
	if (wm_view_message(view, trace, e, &message)) {
		at = wm_perfetto_values_begin(v, field, "$message", t);
		wm_pb_utf8(t, STRING, message.data ? message.data : "", message.bytes);
		wm_pb_end(t, at);
	}
	t->failed |= message.failed;
	wm_text_done(&message);
}

int wm_perfetto_values_put(struct wm_perfetto_values *v, const struct wm_view *view, uint32_t trace,
			   const struct wm_event *e, uint32_t field, struct wm_text *t)
{
	size_t at;

	if (!perfetto_values_put_part(v, e, WM_PART_FIELDS, field, t))
		return -ENOMEM;
	if (e->cpu >= 0) {
		at = wm_perfetto_values_begin(v, field, "$cpu", t);
		wm_pb_u64(t, UINT, (uint64_t)e->cpu);
		wm_pb_end(t, at);
	}
	if (e->ns == WM_TIME_NONE) {
		at = wm_perfetto_values_begin(v, field, "$time", t);
		wm_pb_string(t, STRING, "none", 4);
		wm_pb_end(t, at);
	}
	if (!perfetto_values_put_context(v, e, WM_PART_STREAM_CONTEXT, "$common", field, t) ||
	    !perfetto_values_put_context(v, e, WM_PART_CONTEXT, "$context", field, t))
		return -ENOMEM;
	perfetto_values_put_message(v, view, trace, e, field, t);
	return t->failed ? -ENOMEM : 0;
}
