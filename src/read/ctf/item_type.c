/* SPDX-License-Identifier: MIT */
/*
 * item_type.c - see item_type.h. Recursion is limited by the nesting depth of types,
 * WM_CTF_DEPTH_MAX.
 */
#include "read/ctf/item_type.h"

#include <string.h>

static uint8_t item_type_look_of(const struct wm_ctf_type *t)
{
	switch (t->base) {
	case 2:
		return WM_LOOK_BINARY;
	case 8:
		return WM_LOOK_OCTAL;
	case 16:
		return WM_LOOK_HEX;
	default:
		return WM_LOOK_DECIMAL;
	}
}

/* Returns the size of the item's value in bits; 0 for bytes. */
static uint8_t shown_bits(const struct wm_ctf_type *t)
{
	if (t->kind == WM_CTF_FLOAT)
		return t->bits <= 32 ? 32 : 64;
	return (uint8_t)(t->kind == WM_CTF_VARINT ? 64 : t->bits > 64 ? 0 : t->bits);
}

/* Returns the kind of item: arrays and sequences of characters become strings. */
static uint8_t item_type_kind_of(const struct wm_ctf_type *t)
{
	static const uint8_t kinds[WM_CTF_NR_KINDS] = {
	    [WM_CTF_FLOAT] = WM_TYPE_FLOAT,       [WM_CTF_STRING] = WM_TYPE_STRING,
	    [WM_CTF_STRUCT] = WM_TYPE_STRUCT,     [WM_CTF_VARIANT] = WM_TYPE_CHOICE,
	    [WM_CTF_ARRAY] = WM_TYPE_LIST,        [WM_CTF_SEQUENCE] = WM_TYPE_LIST,
	    [WM_CTF_OPTIONAL] = WM_TYPE_OPTIONAL,
	};

	if (t->kind == WM_CTF_INTEGER || t->kind == WM_CTF_ENUM || t->kind == WM_CTF_VARINT)
		return t->bits > 64   ? WM_TYPE_BYTES
		       : t->is_bool   ? WM_TYPE_BOOL
		       : t->is_signed ? WM_TYPE_SIGNED
				      : WM_TYPE_UNSIGNED;
	if (t->kind == WM_CTF_ARRAY || t->kind == WM_CTF_SEQUENCE)
		return t->text ? WM_TYPE_STRING : t->blob ? WM_TYPE_BYTES : WM_TYPE_LIST;
	return kinds[t->kind];
}

static bool item_type_labels(struct wm_ctf_metadata *m, const struct wm_ctf_type *t,
			     struct wm_type *s)
{
	struct wm_type_label *list;

	s->is_enum = !t->is_flags && (t->kind == WM_CTF_ENUM || t->nr_labels);
	s->is_flags = t->is_flags;
	if (!t->nr_labels)
		return true;
	list = wm_arena_array(&m->arena, t->nr_labels, sizeof(*list));
	for (uint32_t i = 0; list && i < t->nr_labels; i++)
		list[i] = (struct wm_type_label){.name = t->labels[i].name,
						 .low = t->labels[i].range.low,
						 .high = t->labels[i].range.high};
	s->labels = list;
	s->nr_labels = t->nr_labels;
	return list && wm_type_link_labels(list, t->nr_labels);
}

static const struct wm_type *item_type_shape(struct wm_ctf_metadata *m, struct wm_ctf_type *t);

static bool item_type_members(struct wm_ctf_metadata *m, enum wm_ctf_scope scope,
			      const struct wm_ctf_type *t, struct wm_type *s)
{
	struct wm_member *list = wm_arena_array(&m->arena, t->nr_members + 1, sizeof(*list));

	for (uint32_t i = 0; list && i < t->nr_members; i++) {
		struct wm_member *one = &list[s->nr_members];

		if (!wm_ctf_is_shown(m, scope, &t->members[i]))
			continue;
		one->name = t->members[i].name;
		one->type = item_type_shape(m, t->members[i].type);
		if (!one->type)
			return false;
		s->nr_members++;
	}
	s->members = list;
	return list;
}

static const struct wm_type *item_type_make(struct wm_ctf_metadata *m, enum wm_ctf_scope scope,
					    struct wm_ctf_type *t)
{
	struct wm_type *s = wm_arena_get(&m->arena, sizeof(*s));

	if (!s)
		return NULL;
	s->own = t;
	s->kind = item_type_kind_of(t);
	s->look = item_type_look_of(t);
	s->bits = shown_bits(t);
	s->fixed = t->kind == WM_CTF_ARRAY;
	s->is_bare = t->is_bare;
	s->length = (uint32_t)t->length;
	if (!item_type_labels(m, t, s))
		return NULL;
	if (t->kind == WM_CTF_STRUCT || t->kind == WM_CTF_VARIANT)
		return item_type_members(m, scope, t, s) ? s : NULL;
	if (s->kind != WM_TYPE_LIST && s->kind != WM_TYPE_OPTIONAL)
		return s;
	s->element.type = item_type_shape(m, t->element);
	return s->element.type ? s : NULL;
}

/* Returns the converted type; NULL: out of memory. */
static const struct wm_type *item_type_shape(struct wm_ctf_metadata *m, struct wm_ctf_type *t)
{
	if (!t->shape)
		t->shape = item_type_make(m, WM_CTF_NR_SCOPES, t);
	return t->shape;
}

const struct wm_type *wm_ctf_shape_scope(struct wm_ctf_metadata *m, enum wm_ctf_scope scope,
					 struct wm_ctf_type *t)
{
	return scope == WM_CTF_PACKET_CONTEXT ? item_type_make(m, scope, t) : item_type_shape(m, t);
}

bool wm_ctf_is_shown(const struct wm_ctf_metadata *m, enum wm_ctf_scope scope,
		     const struct wm_ctf_member *member)
{
	return scope != WM_CTF_PACKET_CONTEXT ||
	       wm_ctf_member_role(m, scope, member) == WM_CTF_NO_ROLE;
}
