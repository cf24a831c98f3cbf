/* SPDX-License-Identifier: MIT */
/*
 * model.c - converts the reader's types to CTF declarations; see ctf_int.h. Recursion follows the
 * nesting depth of types: at most WM_CTF_DEPTH_MAX in CTF traces, a few levels in others.
 */
#include <errno.h>
#include <string.h>

#include "export/ctf/ctf_int.h"

static int ctf_model_build(struct wm_cx_build *b, struct wm_meta_field *n,
			   const struct wm_meta_field *around);

static int ctf_model_push(struct wm_cx_build *b, const struct wm_meta_field *n)
{
	if (b->nr_frames == sizeof(b->frames) / sizeof(b->frames[0]))
		return -E2BIG;
	b->frames[b->nr_frames++] = (struct wm_cx_frame){n, 0};
	return 0;
}

static struct wm_meta_field *add_parts(struct wm_cx_build *b, struct wm_meta_field *n, uint32_t nr)
{
	n->parts = wm_arena_array(b->arena, nr ? nr : 1, sizeof(*n->parts));
	n->nr_parts = n->parts ? nr : 0;
	return n->parts;
}

static const struct wm_ctf_type *from_of(const struct wm_cx_build *b, const struct wm_type *t)
{
	return b->metadata ? t->own : NULL;
}

/*
 * Sets the CTF type and the name of each part. The metadata has more members than the type, which
 * omits the fields of the packet frame.
 */
static int set_parts(struct wm_cx_build *b, struct wm_meta_field *n)
{
	/* options of a variant with their ranges, or NULL */
	const struct wm_meta_field *options = n->parts;
	const struct wm_ctf_type *from = wm_cx_source(n);
	const struct wm_type *t = n->type;
	uint32_t k = 0;

	if (!add_parts(b, n, t->nr_members))
		return -ENOMEM;
	for (uint32_t i = 0; i < t->nr_members; i++) {
		struct wm_meta_field *part = &n->parts[i];

		part->type = t->members[i].type;
		part->source = from_of(b, part->type);
		part->name = t->members[i].name;
		if (!from)
			continue;
		while (k < from->nr_members &&
		       !wm_ctf_is_shown(b->metadata, b->nr_frames ? WM_CTF_NR_SCOPES : b->scope,
					&from->members[k]))
			k++;
		if (k == from->nr_members)
			return -EBADMSG; /* cannot happen: the type was made from these members */
		part->source_name = from->members[k].raw;
		part->nr_ranges = options ? options[i].nr_ranges : from->members[k].nr_ranges;
		part->ranges = options ? options[i].ranges : from->members[k].ranges;
		part->label = options ? options[i].label : NULL;
		k++;
	}
	return wm_cx_name_parts(b, n);
}

static int build_members(struct wm_cx_build *b, struct wm_meta_field *n)
{
	bool is_struct = n->type->kind == WM_TYPE_STRUCT;
	int err = set_parts(b, n);

	if (!err && is_struct)
		err = ctf_model_push(b, n);
	for (uint32_t i = 0; !err && i < n->nr_parts; i++) {
		err = ctf_model_build(b, &n->parts[i], n);
		if (is_struct)
			b->frames[b->nr_frames - 1].done = i + 1;
	}
	if (!err && is_struct)
		b->nr_frames--;
	return err;
}

static int build_element(struct wm_cx_build *b, struct wm_meta_field *n)
{
	const struct wm_ctf_type *from = wm_cx_source(n);

	if (!add_parts(b, n, 1))
		return -ENOMEM;
	n->parts[0].type = n->type->element.type;
	n->parts[0].source = from_of(b, n->parts[0].type);
	if (n->type->kind == WM_TYPE_OPTIONAL && from && from->nr_members) {
		n->parts[0].nr_ranges = from->members[0].nr_ranges;
		n->parts[0].ranges = from->members[0].ranges;
	}
	return ctf_model_build(b, &n->parts[0], n);
}

/* Returns the fixed size of a blob, or of an integer wider than 64 bits. */
static uint32_t fixed_bytes(const struct wm_meta_field *n)
{
	const struct wm_ctf_type *from = wm_cx_source(n);

	if (n->type->kind != WM_TYPE_BYTES || !from)
		return 0;
	if (from->kind == WM_CTF_ARRAY)
		return n->type->length;
	return from->kind == WM_CTF_SEQUENCE ? 0 : (from->bits + 7u) / 8;
}

static bool needs_count(const struct wm_meta_field *n)
{
	switch (n->type->kind) {
	case WM_TYPE_LIST:
		return !n->type->fixed;
	case WM_TYPE_BYTES:
		return !n->source || wm_cx_source(n)->kind == WM_CTF_SEQUENCE;
	case WM_TYPE_CHOICE:
	case WM_TYPE_OPTIONAL:
		return true;
	default:
		return false;
	}
}

/* Builds the parts of a field whose type, CTF type and names are set. */
static int ctf_model_build(struct wm_cx_build *b, struct wm_meta_field *n,
			   const struct wm_meta_field *around)
{
	bool wrapped;
	int err = 0;

	n->length = fixed_bytes(n);
	if (!needs_count(n)) {
		n->count = NULL;
	} else if (n->source) {
		err = wm_cx_resolve(b, n);
		if (n->ref.nr_names)
			n->count = NULL;
	}
	if (needs_count(n) && !n->ref.nr_names && !n->count)
		n->count = "count";
	wrapped = wm_meta_is_wrapped(n, around);
	if (!err && wrapped)
		err = ctf_model_push(b, NULL);
	if (err)
		return err;
	if (n->type->kind == WM_TYPE_STRUCT || n->type->kind == WM_TYPE_CHOICE)
		err = build_members(b, n);
	else if (n->type->kind == WM_TYPE_LIST || n->type->kind == WM_TYPE_OPTIONAL)
		err = build_element(b, n);
	if (!err && wrapped)
		b->nr_frames--;
	return err;
}

int wm_cx_build(struct wm_cx_build *b, enum wm_ctf_scope scope, const struct wm_type *type,
		struct wm_meta_field **ret)
{
	struct wm_meta_field *n;
	int err;

	*ret = NULL;
	b->roots[scope] = NULL;
	if (!type)
		return 0;
	n = wm_arena_get(b->arena, sizeof(*n));
	if (!n)
		return -ENOMEM;
	n->type = type;
	n->source = from_of(b, type);
	b->scope = scope;
	b->nr_frames = 0;
	b->roots[scope] = n;
	err = ctf_model_build(b, n, NULL);
	if (!err)
		*ret = n;
	return err;
}

/* --- comparing ------------------------------------------------------------------------ */

static bool ctf_model_same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool same_labels(const struct wm_type *a, const struct wm_type *b)
{
	if (a->nr_labels != b->nr_labels)
		return false;
	for (uint32_t i = 0; i < a->nr_labels && a->labels != b->labels; i++)
		if (strcmp(a->labels[i].name, b->labels[i].name) != 0 ||
		    a->labels[i].low != b->labels[i].low || a->labels[i].high != b->labels[i].high)
			return false;
	return true;
}

static bool same_type(const struct wm_type *a, const struct wm_type *b)
{
	return a == b ||
	       (a->kind == b->kind && a->look == b->look && a->bits == b->bits &&
		a->fixed == b->fixed && a->length == b->length && a->is_enum == b->is_enum &&
		a->is_flags == b->is_flags && same_labels(a, b));
}

bool wm_cx_same(const struct wm_meta_field *a, const struct wm_meta_field *b)
{
	if (!a || !b)
		return a == b;
	/* References in common fields point to common fields, so they need no comparison. */
	if (!same_type(a->type, b->type) || !ctf_model_same_text(a->name, b->name) ||
	    !ctf_model_same_text(a->count, b->count) || a->nr_parts != b->nr_parts ||
	    a->length != b->length)
		return false;
	for (uint32_t i = 0; i < a->nr_parts; i++)
		if (!wm_cx_same(&a->parts[i], &b->parts[i]))
			return false;
	return true;
}

bool wm_cx_has_sequence(const struct wm_meta_field *n)
{
	bool found = n && (n->type->kind == WM_TYPE_LIST || n->type->kind == WM_TYPE_BYTES) &&
		     (n->count || n->ref.nr_names);

	for (uint32_t i = 0; n && !found && i < n->nr_parts; i++)
		found = wm_cx_has_sequence(&n->parts[i]);
	return found;
}
