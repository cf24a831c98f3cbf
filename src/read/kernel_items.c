/* SPDX-License-Identifier: MIT */
/* kernel_items.c - converts fields of kernel records to items; see kernel_items_int.h. */
#include <errno.h>
#include <string.h>

#include "read/kernel_items_int.h"

#define ELEMENTS_MAX 65536u /* limit on elements of an array, whatever the record claims */

static const struct wm_type word = {.kind = WM_TYPE_UNSIGNED, .bits = 64, .look = WM_LOOK_HEX};
static const struct wm_type string = {.kind = WM_TYPE_STRING};
static const struct wm_type bytes_type = {.kind = WM_TYPE_BYTES};
static const struct wm_type words = {.kind = WM_TYPE_LIST, .element = {NULL, &word}};

/* --- types ------------------------------------------------------------------ */

static void number_type(bool hex, const struct wm_kfield *f, struct wm_type *ret)
{
	bool is_bool = f->flags & WM_KFIELD_BOOL && f->element_bytes == 1;
	bool is_pointer = f->flags & WM_KFIELD_POINTER;

	*ret = (struct wm_type){
	    .kind = is_bool                                      ? WM_TYPE_BOOL
		    : f->flags & WM_KFIELD_SIGNED && !is_pointer ? WM_TYPE_SIGNED
								 : WM_TYPE_UNSIGNED,
	    .bits = (uint8_t)(8 * f->element_bytes),
	    .look = is_pointer ? WM_LOOK_POINTER
		    : hex      ? WM_LOOK_HEX
			       : WM_LOOK_DECIMAL,
	};
}

static bool is_list(const struct wm_kfield *f)
{
	return f->flags & WM_KFIELD_ARRAY;
}

static int kernel_items_make_type(struct wm_arena *arena, bool hex, const struct wm_kfield *f,
				  const struct wm_type **ret)
{
	struct wm_type *number, *list;

	if (f->flags & WM_KFIELD_CHARS || f->flags & WM_KFIELD_BITMASK || !f->element_bytes) {
		*ret = f->flags & WM_KFIELD_CHARS     ? &string
		       : f->flags & WM_KFIELD_BITMASK ? &words
						      : &bytes_type;
		return 0;
	}
	number = wm_arena_get(arena, sizeof(*number));
	if (!number)
		return -ENOMEM;
	number_type(hex, f, number);
	*ret = number;
	if (!is_list(f))
		return 0;
	list = wm_arena_get(arena, sizeof(*list));
	if (!list)
		return -ENOMEM;
	*list = (struct wm_type){.kind = WM_TYPE_LIST, .element = {NULL, number}};
	list->fixed = !(f->flags & (WM_KFIELD_DYNAMIC | WM_KFIELD_TAIL));
	list->length = list->fixed ? f->length : 0;
	*ret = list;
	return 0;
}

int wm_kitems_part(struct wm_arena *arena, const bool *hex, const struct wm_kfield *fields,
		   uint32_t nr, const struct wm_type **ret)
{
	struct wm_type *t = wm_arena_get(arena, sizeof(*t));
	struct wm_member *members = wm_arena_array(arena, nr ? nr : 1, sizeof(*members));

	if (!t || !members)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++) {
		int err = kernel_items_make_type(arena, hex[i], &fields[i], &members[i].type);

		members[i].name = fields[i].name;
		if (err)
			return err;
	}
	*t = (struct wm_type){.kind = WM_TYPE_STRUCT, .nr_members = nr, .members = members};
	*ret = t;
	return 0;
}

/* --- values ----------------------------------------------------------------- */

struct value {
	const unsigned char *data; /* NULL: the field is beyond the record's end */
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

static bool kernel_items_add_bytes(struct wm_batch *b, const struct wm_member *m, struct value v)
{
	struct wm_item *i;

	if (!wm_batch_room(b, 1))
		return false;
	i = wm_batch_item(b, m);
	i->bytes = v.data;
	i->count = v.bytes;
	return true;
}

static uint64_t kernel_items_number(const struct wm_type *t, const unsigned char *p, unsigned width,
				    bool swap)
{
	if (t->kind == WM_TYPE_SIGNED)
		return (uint64_t)wm_get_int(p, width, swap);
	if (t->kind == WM_TYPE_BOOL)
		return *p != 0;
	return wm_get_uint(p, width, swap);
}

static bool add_list(const struct wm_kmachine *k, struct wm_batch *b, const struct wm_member *m,
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
		    kernel_items_number(element->type, v.data + i * width, width, k->swap);
	list->next = b->nr_items;
	return true;
}

/* Adds an array of the kernel's longs as 64-bit numbers. */
static bool kernel_items_add_words(const struct wm_kmachine *k, struct wm_batch *b,
				   const struct wm_member *m, struct value v)
{
	uint32_t width = k->long_bytes, nr = (v.bytes + 7) / 8;
	struct wm_item *list;

	if (!wm_batch_room(b, nr + 1))
		return false;
	list = wm_batch_item(b, m);
	list->count = nr;
	for (uint32_t i = 0; i < nr; i++) {
		uint64_t value = 0;

		for (uint32_t at = 8 * i; at < 8 * (i + 1) && at + width <= v.bytes; at += width)
			value |= wm_get_uint(v.data + at, width, k->swap) << 8 * (at % 8);
		wm_batch_item(b, &m->type->element)->u = value;
	}
	list->next = b->nr_items;
	return true;
}

static bool kernel_items_add_number(const struct wm_kmachine *k, struct wm_batch *b,
				    const struct wm_member *m, const struct wm_kfield *f,
				    struct value v)
{
	if (!wm_batch_room(b, 1))
		return false;
	wm_batch_item(b, m)->u =
	    v.data ? kernel_items_number(m->type, v.data, f->element_bytes, k->swap) : 0;
	return true;
}

static bool kernel_items_add_field(const struct wm_kmachine *k, struct wm_batch *b,
				   const struct wm_member *m, const struct wm_kfield *f,
				   const unsigned char *record, uint32_t bytes)
{
	struct value v;

	v.data = wm_kfield_bytes(f, k->swap, record, bytes, &v.bytes);
	switch (m->type->kind) {
	case WM_TYPE_STRING:
		return add_text(b, m, v);
	case WM_TYPE_BYTES:
		return kernel_items_add_bytes(b, m, v);
	case WM_TYPE_LIST:
		return f->flags & WM_KFIELD_BITMASK ? kernel_items_add_words(k, b, m, v)
						    : add_list(k, b, m, f, v);
	default:
		return kernel_items_add_number(k, b, m, f, v);
	}
}

bool wm_kitems_add(const struct wm_kmachine *k, const struct wm_type *part,
		   const struct wm_kfield *fields, const unsigned char *record, uint32_t bytes,
		   struct wm_batch *b)
{
	for (uint32_t i = 0; i < part->nr_members; i++) {
		if (!kernel_items_add_field(k, b, &part->members[i], &fields[i], record, bytes))
			return false;
	}
	return true;
}
