/* SPDX-License-Identifier: MIT */
/*
 * encode.c - encodes an event's items as declared by its fields. The items may come from a hostile
 * file and not match: a missing member is written as zeros, a surplus element is dropped. See
 * ctf_int.h.
 */
#include <endian.h>
#include <string.h>

#include "export/ctf/ctf_int.h"

/* The items of one scope, and the index after the last one. */
struct from {
	const struct wm_item *items;
	uint32_t end;
};

static inline unsigned char *room(struct wm_text *out, size_t bytes)
{
	if (out->bytes > WM_CX_EVENT_MAX || bytes > WM_CX_EVENT_MAX) {
		out->failed = true;
		return NULL;
	}
	if (out->room - out->bytes <= bytes && !wm_text_reserve(out, bytes))
		return NULL;
	return (unsigned char *)out->data + out->bytes;
}

static inline void encode_put(struct wm_text *out, uint64_t value, uint32_t bytes)
{
	unsigned char *p = room(out, sizeof(value));

	value = htole64(value);
	if (p)
		memcpy(p, &value, sizeof(value));
	out->bytes += p ? bytes : 0;
}

void wm_cx_put(struct wm_text *out, uint64_t value, uint32_t bytes)
{
	encode_put(out, value, bytes);
}

static uint64_t low_bits(uint64_t value, uint32_t bits)
{
	return bits < 64 ? value & ((UINT64_C(1) << bits) - 1) : value;
}

static void encode_put_real(struct wm_text *out, const struct wm_type *t, double d)
{
	uint64_t bits;
	float narrow = (float)d;
	uint32_t half;

	memcpy(&bits, &d, sizeof(bits));
	memcpy(&half, &narrow, sizeof(half));
	encode_put(out, t->bits == 32 ? half : bits, t->bits == 32 ? 4 : 8);
}

static void encode_put_text(struct wm_text *out, const void *data, uint32_t bytes)
{
	unsigned char *p = room(out, (size_t)bytes + 1);

	if (!p)
		return;
	if (bytes)
		memcpy(p, data, bytes);
	p[bytes] = 0;
	out->bytes += (size_t)bytes + 1;
}

static void encode_put_bytes(struct wm_text *out, const struct wm_meta_field *n,
			     const struct wm_item *i)
{
	uint32_t bytes = i ? i->count : 0, wanted = n->length ? n->length : bytes;
	unsigned char *p;

	if (n->count)
		encode_put(out, bytes, WM_META_COUNT_BITS / 8);
	p = room(out, wanted);
	if (!p)
		return;
	bytes = bytes < wanted ? bytes : wanted;
	if (bytes)
		memcpy(p, i->bytes, bytes);
	memset(p + bytes, 0, wanted - bytes);
	out->bytes += wanted;
}

static void encode_put_leaf(struct wm_text *out, const struct wm_meta_field *n,
			    const struct wm_item *i)
{
	const struct wm_type *t = n->type;

	switch (t->kind) {
	case WM_TYPE_FLOAT:
		encode_put_real(out, t, i ? i->f : 0);
		break;
	case WM_TYPE_STRING:
		encode_put_text(out, i ? i->text : NULL, i ? i->count : 0);
		break;
	case WM_TYPE_BYTES:
		encode_put_bytes(out, n, i);
		break;
	default:
		encode_put(out, low_bits(i ? i->u : 0, t->bits), (t->bits + 7u) / 8);
	}
}

static bool encode_is_number(const struct wm_type *t)
{
	return t->kind == WM_TYPE_UNSIGNED || t->kind == WM_TYPE_SIGNED || t->kind == WM_TYPE_BOOL;
}

static void encode_items(struct wm_text *out, const struct wm_meta_field *n, struct from f,
			 const struct wm_item *i);

/* Returns the item after `i` on the same level; NULL: none. */
static const struct wm_item *encode_next(struct from f, const struct wm_item *i)
{
	return i && i->next < f.end ? &f.items[i->next] : NULL;
}

static const struct wm_item *first_in(struct from f, const struct wm_item *i)
{
	return i && i->count && i->next > (uint32_t)(i - f.items) + 1 ? i + 1 : NULL;
}

static void encode_numbers(struct wm_text *out, const struct wm_type *t, const struct wm_item *i,
			   uint32_t nr)
{
	uint32_t bytes = (t->bits + 7u) / 8;
	unsigned char *p = room(out, (size_t)nr * bytes + 8);

	for (uint32_t k = 0; p && k < nr; k++, p += bytes) {
		uint64_t value = htole64(low_bits(i[k].u, t->bits));

		memcpy(p, &value, sizeof(value));
	}
	out->bytes += p ? (size_t)nr * bytes : 0;
}

static void encode_list(struct wm_text *out, const struct wm_meta_field *n, struct from f,
			const struct wm_item *list)
{
	uint32_t nr = list ? list->count : 0, wanted = n->type->fixed ? n->type->length : nr;
	const struct wm_item *i = first_in(f, list);
	uint32_t k = 0;

	if (n->count)
		encode_put(out, nr, WM_META_COUNT_BITS / 8);
	nr = nr < wanted ? nr : wanted;
	if (encode_is_number(n->parts[0].type) && i) {
		encode_numbers(out, n->parts[0].type, i, nr);
		k = nr;
	}
	for (; k < wanted && !out->failed; k++) {
		encode_items(out, &n->parts[0], f, k < nr ? i : NULL);
		i = k < nr ? encode_next(f, i) : NULL;
	}
}

static void encode_members(struct wm_text *out, const struct wm_meta_field *n, struct from f,
			   const struct wm_item *i)
{
	for (uint32_t k = 0; k < n->nr_parts; k++) {
		encode_items(out, &n->parts[k], f, i);
		i = encode_next(f, i);
	}
}

static void encode_items(struct wm_text *out, const struct wm_meta_field *n, struct from f,
			 const struct wm_item *i)
{
	struct from inside = {f.items, i ? i->next : 0};
	uint64_t which;

	switch (n->type->kind) {
	case WM_TYPE_STRUCT:
		encode_members(out, n, inside, first_in(f, i));
		break;
	case WM_TYPE_LIST:
		encode_list(out, n, inside, i);
		break;
	case WM_TYPE_CHOICE:
		which = i && i->u < n->nr_parts ? i->u : 0;
		if (n->count)
			encode_put(out, which, WM_META_COUNT_BITS / 8);
		if (n->nr_parts)
			encode_items(out, &n->parts[which], inside, first_in(f, i));
		break;
	case WM_TYPE_OPTIONAL:
		which = i && i->count;
		if (n->count)
			encode_put(out, which, WM_META_COUNT_BITS / 8);
		if (which)
			encode_items(out, &n->parts[0], inside, first_in(f, i));
		break;
	default:
		encode_put_leaf(out, n, i);
	}
}

/* --- bits after the last field -------------------------------------------------- */

bool wm_cx_has_odd_bits(const struct wm_meta_field *n)
{
	bool odd = n && encode_is_number(n->type) && n->type->bits % 8;

	for (uint32_t i = 0; n && !odd && i < n->nr_parts; i++)
		odd = wm_cx_has_odd_bits(&n->parts[i]);
	return odd;
}

static uint32_t encode_unused(const struct wm_meta_field *n, struct from f, const struct wm_item *i,
			      uint32_t unused);

static uint32_t unused_of_members(const struct wm_meta_field *n, struct from f,
				  const struct wm_item *i, uint32_t unused)
{
	for (uint32_t k = 0; k < n->nr_parts; k++) {
		unused = encode_unused(&n->parts[k], f, i, unused);
		i = encode_next(f, i);
	}
	return unused;
}

/*
 * Returns whether the field starts on a byte boundary: all do, except those that may have no fields
 * inside.
 */
static bool begins_at_byte(const struct wm_meta_field *n)
{
	bool begins = false;

	if (n->count)
		return true;
	switch (n->type->kind) {
	case WM_TYPE_STRUCT:
	case WM_TYPE_LIST:
		for (uint32_t i = 0; i < n->nr_parts && !begins; i++)
			begins = begins_at_byte(&n->parts[i]);
		return begins;
	case WM_TYPE_CHOICE:
	case WM_TYPE_OPTIONAL:
		return false;
	default:
		return true;
	}
}

/* The list is aligned like its elements, even when it is empty. */
static uint32_t unused_of_list(const struct wm_meta_field *n, struct from f,
			       const struct wm_item *list, uint32_t unused)
{
	uint32_t nr = list ? list->count : 0, wanted = n->type->fixed ? n->type->length : nr;
	const struct wm_item *i = first_in(f, list);

	if (begins_at_byte(&n->parts[0]))
		unused = 0;
	for (uint32_t k = 0; k < wanted; k++) {
		unused = encode_unused(&n->parts[0], f, k < nr ? i : NULL, unused);
		i = k < nr ? encode_next(f, i) : NULL;
	}
	return unused;
}

static uint32_t encode_unused(const struct wm_meta_field *n, struct from f, const struct wm_item *i,
			      uint32_t unused)
{
	struct from inside = {f.items, i ? i->next : 0};
	uint64_t which = i && i->u < n->nr_parts ? i->u : 0;

	if (encode_is_number(n->type))
		return (8 - n->type->bits % 8) % 8;
	unused = n->count ? 0 : unused;
	switch (n->type->kind) {
	case WM_TYPE_STRUCT:
		return unused_of_members(n, inside, first_in(f, i), unused);
	case WM_TYPE_LIST:
		return unused_of_list(n, inside, i, unused);
	case WM_TYPE_CHOICE:
		return n->nr_parts ? encode_unused(&n->parts[which], inside, first_in(f, i), unused)
				   : unused;
	case WM_TYPE_OPTIONAL:
		return i && i->count ? encode_unused(&n->parts[0], inside, first_in(f, i), unused)
				     : unused;
	default:
		return 0;
	}
}

uint32_t wm_cx_unused_bits(const struct wm_meta_field *scope, const struct wm_item *items,
			   struct wm_part_range range, uint32_t unused)
{
	struct from f = {items, range.end};

	if (!scope)
		return unused;
	return unused_of_members(scope, f, range.at < range.end ? &items[range.at] : NULL, unused);
}

/* --- bytes ------------------------------------------------------------------------ */

void wm_cx_encode(struct wm_text *out, const struct wm_meta_field *scope,
		  const struct wm_item *items, struct wm_part_range range)
{
	struct from f = {items, range.end};

	if (scope)
		encode_members(out, scope, f, range.at < range.end ? &items[range.at] : NULL);
}
