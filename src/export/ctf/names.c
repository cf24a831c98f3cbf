/* SPDX-License-Identifier: MIT */
/*
 * names.c - names of fields in the output language, and references to lengths and tags; see
 * ctf_int.h.
 *
 * CTF 1.8 allows only identifiers, and readers drop one leading underscore. Therefore each name
 * gets a leading underscore, and characters other than letters and digits are replaced by
 * underscores. The names in a CTF 1.8 trace are copied unchanged. CTF 2 allows any name.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/table.h"
#include "export/ctf/ctf_int.h"

/* --- names that are taken -------------------------------------------------------------- */

struct taken {
	const char **names; /* in the arena */
	struct wm_table table;
	bool failed; /* out of memory */
};

static const char *const frame_names[] = {
    "timestamp_begin", "timestamp_end",    "content_size", "packet_size",
    "packet_seq_num",  "events_discarded", "cpu_id",
};
#define NR_FRAME_NAMES (sizeof(frame_names) / sizeof(frame_names[0]))

/* Reserves a name. Returns false when it is already reserved. */
static bool ctf_names_take(struct wm_arena *a, struct taken *t, const char *name)
{
	uint64_t hash = wm_table_hash_bytes(&t->table, name, strlen(name));
	struct wm_table_walk w = wm_table_walk(hash);
	const char **more;

	while (wm_table_next(&t->table, &w))
		if (!strcmp(t->names[w.index], name))
			return false;
	more = wm_arena_grow(a, t->names, t->table.nr, sizeof(*more));
	if (!more || wm_table_add(&t->table, hash, t->table.nr)) {
		t->failed = true;
		return true;
	}
	t->names = more;
	more[t->table.nr - 1] = name;
	return true;
}

static void taken_init(struct taken *t)
{
	*t = (struct taken){0};
	wm_table_init(&t->table);
}

/* --- names ------------------------------------------------------------------------------ */

static bool is_letter(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

const char *wm_cx_identifier(struct wm_arena *a, const char *text)
{
	char *copy = wm_arena_copy(a, text, strlen(text));

	for (char *c = copy; c && *c; c++)
		if (!is_letter(*c))
			*c = '_';
	return copy;
}

static const char *ctf_names_join(struct wm_arena *a, const char *before, const char *name,
				  const char *behind)
{
	size_t room = strlen(before) + strlen(name) + strlen(behind) + 1;
	char *made = wm_arena_get(a, room);

	if (made)
		(void)snprintf(made, room, "%s%s%s", before, name, behind);
	return made;
}

static bool keeps_raw(const struct wm_cx_build *b)
{
	return b->language == WM_META_TSDL && b->metadata && b->metadata->major == 1;
}

static const char *ctf_names_wanted(const struct wm_cx_build *b, const struct wm_meta_field *part)
{
	const char *name = part->name ? part->name : "", *made;

	if (part->label)
		return part->label;
	if (keeps_raw(b) && part->source_name)
		return part->source_name;
	if (b->language == WM_META_JSON)
		return name;
	made = wm_cx_identifier(b->arena, name);
	return made ? ctf_names_join(b->arena, "_", made, "") : NULL;
}

/*
 * Returns the name, with a number appended if it is taken. Each attempt adds nr to the number, so
 * that no two parts try the same name, and the loop ends.
 */
static const char *unique(const struct wm_cx_build *b, struct taken *t, const char *name,
			  uint32_t i, uint32_t nr)
{
	const char *made = name;
	char suffix[16];

	for (uint32_t lap = 0; made && !ctf_names_take(b->arena, t, made); lap++) {
		(void)snprintf(suffix, sizeof(suffix), "_%u", i + lap * nr);
		made = ctf_names_join(b->arena, "", name, suffix);
	}
	return made;
}

/* Builds the name of a count: "_NAME_length", as in LTTng. */
static const char *count_name(const struct wm_cx_build *b, const struct wm_meta_field *part)
{
	bool is_length = part->type->kind == WM_TYPE_LIST || part->type->kind == WM_TYPE_BYTES;

	return ctf_names_join(b->arena, "_", part->name, is_length ? "_length" : "_tag");
}

static bool may_need_count(const struct wm_type *t)
{
	return (t->kind == WM_TYPE_LIST && !t->fixed) || t->kind == WM_TYPE_BYTES ||
	       t->kind == WM_TYPE_CHOICE || t->kind == WM_TYPE_OPTIONAL;
}

int wm_cx_name_parts(const struct wm_cx_build *b, struct wm_meta_field *n)
{
	struct taken t;
	bool ok = true;

	taken_init(&t);
	if (b->scope == WM_CTF_PACKET_CONTEXT && !b->nr_frames && !keeps_raw(b))
		for (size_t i = 0; i < NR_FRAME_NAMES - (b->metadata != NULL); i++)
			(void)ctf_names_take(b->arena, &t, frame_names[i]);
	for (uint32_t i = 0; ok && i < n->nr_parts; i++) {
		struct wm_meta_field *part = &n->parts[i];
		const char *name = ctf_names_wanted(b, part);

		part->name = name ? unique(b, &t, name, i, n->nr_parts) : NULL;
		ok = part->name;
	}
	for (uint32_t i = 0; ok && i < n->nr_parts && n->type->kind == WM_TYPE_STRUCT; i++) {
		struct wm_meta_field *part = &n->parts[i];
		const char *name;

		if (!may_need_count(part->type))
			continue;
		name = count_name(b, part);
		part->count = name ? unique(b, &t, name, i, n->nr_parts) : NULL;
		ok = part->count;
	}
	wm_table_done(&t.table);
	return ok && !t.failed ? 0 : -ENOMEM;
}

int wm_cx_make_apart(struct wm_arena *arena, struct wm_meta_field *a, const struct wm_meta_field *b)
{
	struct wm_cx_build build = {.arena = arena};
	struct taken t;
	bool ok = true;

	taken_init(&t);
	for (uint32_t i = 0; i < b->nr_parts; i++) {
		(void)ctf_names_take(arena, &t, b->parts[i].name);
		if (b->parts[i].count)
			(void)ctf_names_take(arena, &t, b->parts[i].count);
	}
	for (uint32_t i = 0; ok && i < a->nr_parts; i++) {
		struct wm_meta_field *n = &a->parts[i];

		n->name = unique(&build, &t, n->name, i, a->nr_parts);
		if (n->name && n->count)
			n->count = unique(&build, &t, n->count, i, a->nr_parts);
		ok = n->name && (n->count || !may_need_count(n->type));
	}
	wm_table_done(&t.table);
	return ok && !t.failed ? 0 : -ENOMEM;
}

/* --- references -------------------------------------------------------------------------- */

struct found {
	const struct wm_meta_field *field;
	uint32_t nr_names;
	const char *names[WM_CTF_DEPTH_MAX];
};

/*
 * Returns the last of the first `nr` members with that name: a length directly
 * precedes its list.
 */
static const struct wm_meta_field *ctf_names_member(const struct wm_meta_field *n, uint32_t nr,
						    const char *raw)
{
	while (n && nr-- > 0)
		if (n->parts[nr].source_name && !strcmp(n->parts[nr].source_name, raw))
			return &n->parts[nr];
	return NULL;
}

/*
 * Follows the path of names down from the member `n`. Stops at lists and variants: fields inside
 * them cannot be referred to from outside.
 */
static bool ctf_names_descend(struct found *f, const struct wm_meta_field *n,
			      const char *const *names, uint32_t nr_names)
{
	f->nr_names = 0;
	for (uint32_t i = 0; n; i++) {
		if (f->nr_names == WM_CTF_DEPTH_MAX)
			return false;
		f->names[f->nr_names++] = n->name;
		if (i == nr_names)
			break;
		n = n->type->kind == WM_TYPE_STRUCT && names[i]
			? ctf_names_member(n, n->nr_parts, names[i])
			: NULL;
	}
	f->field = n;
	return n;
}

/*
 * Returns whether a reference would find another field, because a TSDL lookup prefers a member of
 * an inner structure.
 */
static bool is_shadowed(const struct wm_cx_build *b, uint32_t depth, const char *name)
{
	for (uint32_t i = depth; i < b->nr_frames; i++) {
		const struct wm_cx_frame *f = &b->frames[i];

		for (uint32_t k = 0; f->field && k < f->done; k++)
			if (!strcmp(f->field->parts[k].name, name))
				return true;
	}
	return false;
}

/*
 * Searches the enclosing structures from the innermost outwards. Returns how many were left before
 * the field was found; -1: not found.
 */
static int ctf_names_outwards(const struct wm_cx_build *b, const struct wm_ctf_ref *ref,
			      struct found *f)
{
	const char *const *names = ref->names;
	uint32_t nr = ref->nr_names, depth = b->nr_frames, skip;

	for (; nr && !*names; names++, nr--) {
		/*
		 * Skip structures added by the exporter: the trace's references do not count them.
		 */
		while (depth && !b->frames[depth - 1].field)
			depth--;
		depth -= depth > 0;
	}
	for (; nr && depth; depth--) {
		const struct wm_cx_frame *at = &b->frames[depth - 1];
		const struct wm_meta_field *n =
		    at->field ? ctf_names_member(at->field, at->done, names[0]) : NULL;

		if (n && ctf_names_descend(f, n, names + 1, nr - 1)) {
			skip = b->nr_frames - depth;
			if (b->language == WM_META_TSDL && is_shadowed(b, depth, f->names[0]))
				return -1;
			return (int)skip;
		}
		if (n || (at->field && b->metadata->major == 2))
			break;
	}
	return -1;
}

static bool absolute(const struct wm_cx_build *b, enum wm_ctf_scope scope, const char *const *names,
		     uint32_t nr, struct found *f)
{
	const struct wm_meta_field *root = b->roots[scope], *n;
	uint32_t done = root ? root->nr_parts : 0;

	if (!root || !nr || !names[0])
		return false;
	if (scope == b->scope)
		done = b->nr_frames ? b->frames[0].done : 0;
	n = ctf_names_member(root, done, names[0]);
	return n && ctf_names_descend(f, n, names + 1, nr - 1);
}

/* Returns whether the output language accepts the field as a length or tag. */
static bool ctf_names_may_give(const struct wm_cx_build *b, const struct wm_meta_field *n,
			       const struct wm_meta_field *giver)
{
	bool is_list = n->type->kind == WM_TYPE_LIST || n->type->kind == WM_TYPE_BYTES;
	uint8_t kind = giver->type->kind;

	if (is_list)
		return kind == WM_TYPE_UNSIGNED;
	if (b->language == WM_META_TSDL)
		return n->type->kind == WM_TYPE_CHOICE && giver->type->is_enum;
	return kind == WM_TYPE_UNSIGNED || kind == WM_TYPE_SIGNED ||
	       (kind == WM_TYPE_BOOL && n->type->kind == WM_TYPE_OPTIONAL);
}

/* --- CTF 1.8 options: selected by label names, which become ranges in CTF 2 ------------------ */

struct want {
	struct wm_ctf_range range;
	bool is_signed;
};

static int ctf_names_by_low(const void *a, const void *b)
{
	const struct want *x = a, *y = b;

	if (x->is_signed)
		return x->range.low < y->range.low ? -1 : x->range.low > y->range.low;
	return (uint64_t)x->range.low < (uint64_t)y->range.low
		   ? -1
		   : (uint64_t)x->range.low > (uint64_t)y->range.low;
}

static bool overlap(struct want *w, size_t nr)
{
	qsort(w, nr, sizeof(*w), ctf_names_by_low);
	for (size_t i = 1; i < nr; i++)
		if (w[i].is_signed ? w[i].range.low <= w[i - 1].range.high
				   : (uint64_t)w[i].range.low <= (uint64_t)w[i - 1].range.high)
			return true;
	return false;
}

struct by_name {
	const char *name;
	uint32_t index;
};

static int ctf_names_by_name(const void *a, const void *b)
{
	const struct by_name *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : x->index < y->index ? -1 : x->index > y->index;
}

/* Turns the labels with that name into the option's ranges. */
static int add_ranges(const struct wm_cx_build *b, struct wm_meta_field *option,
		      const struct wm_type *tag, const struct by_name *sorted, struct want *wants,
		      size_t *nr_wants)
{
	uint32_t low, nr = 0, n = 0;
	struct wm_ctf_range *ranges;

	low = WM_SEARCH(0, tag->nr_labels, i, strcmp(sorted[i].name, option->source_name) < 0);
	while (low + nr < tag->nr_labels && !strcmp(sorted[low + nr].name, option->source_name))
		nr++;
	ranges = wm_arena_array(b->arena, nr ? nr : 1, sizeof(*ranges));
	if (!ranges)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++) {
		if (!wm_type_label_clip(tag, &tag->labels[sorted[low + i].index], &ranges[n].low,
					&ranges[n].high))
			continue;
		wants[(*nr_wants)++] = (struct want){ranges[n++], tag->kind == WM_TYPE_SIGNED};
	}
	option->ranges = ranges;
	option->nr_ranges = n;
	return n ? 0 : -ENOENT; /* no value selects the option: it cannot be expressed */
}

/*
 * Creates the ranges of all options. -ENOENT: the output language cannot express them. set_parts()
 * later copies the ranges to the final fields.
 */
static int label_ranges(const struct wm_cx_build *b, struct wm_meta_field *n,
			const struct wm_type *tag)
{
	struct by_name *sorted = calloc(tag->nr_labels + (size_t)1, sizeof(*sorted));
	struct want *wants = calloc(tag->nr_labels + (size_t)1, sizeof(*wants));
	struct wm_meta_field *options =
	    wm_arena_array(b->arena, n->type->nr_members + (size_t)1, sizeof(*options));
	int err = sorted && wants && options ? 0 : -ENOMEM;
	size_t nr = 0;

	for (uint32_t i = 0; !err && i < tag->nr_labels; i++)
		sorted[i] = (struct by_name){tag->labels[i].name, i};
	if (!err)
		qsort(sorted, tag->nr_labels, sizeof(*sorted), ctf_names_by_name);
	for (uint32_t i = 0; !err && i < wm_cx_source(n)->nr_members; i++) {
		options[i].source_name = wm_cx_source(n)->members[i].raw;
		err = add_ranges(b, &options[i], tag, sorted, wants, &nr);
	}
	if (!err && b->language == WM_META_JSON && overlap(wants, nr))
		err = -ENOENT;
	if (!err && b->language == WM_META_JSON)
		n->parts = options;
	free(sorted);
	free(wants);
	return err;
}

/* --- CTF 2 options in CTF 1.8: named after the labels that have their ranges ---------------- */

#define COMPARED_MAX (1u << 20) /* pairs of an option and a label; beyond this, a tag is added */

static bool is_tsdl_name(const char *s)
{
	static const char *const keywords[] = {
	    "align",    "callsite",       "const",    "char",
	    "clock",    "double",         "enum",     "env",
	    "event",    "float",          "int",      "long",
	    "short",    "integer",        "void",     "signed",
	    "stream",   "string",         "struct",   "trace",
	    "typedef",  "typealias",      "_Bool",    "variant",
	    "unsigned", "floating_point", "_Complex", "_Imaginary"};

	for (size_t i = 0; i < sizeof(keywords) / sizeof(*keywords); i++)
		if (!strcmp(s, keywords[i]))
			return false;
	if (!*s || (*s >= '0' && *s <= '9'))
		return false;
	for (; *s; s++)
		if (!is_letter(*s) && *s != '_')
			return false;
	return true;
}

/* Returns whether an option called `label` in TSDL is shown as `name`. */
static bool is_shown_as(const char *label, const char *name)
{
	if (!is_tsdl_name(label))
		return false;
	return label[0] == '_' ? !strcmp(label + 1, name) : !strcmp(label, name);
}

static bool has_range(const struct wm_ctf_member *option, const struct wm_type_label *l)
{
	for (uint32_t i = 0; i < option->nr_ranges; i++)
		if (option->ranges[i].low == l->low && option->ranges[i].high == l->high)
			return true;
	return false;
}

/* Returns the tag's label that has exactly the option's ranges and can be its name, or NULL. */
static const char *label_of(const struct wm_type *tag, const struct wm_ctf_member *option)
{
	uint32_t nr = 0;
	const char *name = NULL;
	int64_t low, high;

	for (uint32_t i = 0; i < tag->nr_labels && !name; i++)
		if (has_range(option, &tag->labels[i]) &&
		    wm_type_label_clip(tag, &tag->labels[i], &low, &high) &&
		    is_shown_as(tag->labels[i].name, option->name))
			name = tag->labels[i].name;
	for (uint32_t i = 0; i < tag->nr_labels && name; i++) {
		if (strcmp(tag->labels[i].name, name) != 0)
			continue;
		nr++;
		if (!has_range(option, &tag->labels[i]))
			return NULL;
	}
	return nr == option->nr_ranges ? name : NULL;
}

/* Finds the labels of all options. -ENOENT: a tag must be added. */
static int range_labels(const struct wm_cx_build *b, struct wm_meta_field *n,
			const struct wm_type *tag)
{
	const struct wm_ctf_type *from = wm_cx_source(n);
	struct wm_meta_field *options =
	    wm_arena_array(b->arena, n->type->nr_members + (size_t)1, sizeof(*options));

	if (!options)
		return -ENOMEM;
	if ((uint64_t)from->nr_members * tag->nr_labels > COMPARED_MAX)
		return -ENOENT;
	for (uint32_t i = 0; i < from->nr_members; i++) {
		options[i].label = label_of(tag, &from->members[i]);
		if (!options[i].label)
			return -ENOENT;
	}
	n->parts = options;
	return 0;
}

int wm_cx_resolve(const struct wm_cx_build *b, struct wm_meta_field *n)
{
	const struct wm_ctf_ref *ref = &wm_cx_source(n)->ref;
	enum wm_ctf_scope scope;
	uint32_t used = wm_ctf_ref_scope(ref, &scope);
	struct found f = {0};
	const char **names;
	int up = 0, err = 0;

	if (!ref->nr_names)
		return 0;
	if (scope == WM_CTF_RELATIVE)
		up = ctf_names_outwards(b, ref, &f);
	else if (!absolute(b, scope, ref->names + used, ref->nr_names - used, &f))
		up = -1;
	if (up < 0 || !ctf_names_may_give(b, n, f.field))
		return 0;
	if (b->language == WM_META_TSDL && n->type->kind == WM_TYPE_CHOICE &&
	    scope != WM_CTF_RELATIVE && b->metadata->major == 2) {
		/* babeltrace2 does not accept a tag reference that names its scope. */
		if (scope != b->scope || is_shadowed(b, 1, f.names[0]))
			return 0;
		scope = WM_CTF_RELATIVE;
	}
	if (b->metadata->major == 2 && b->language == WM_META_TSDL)
		err = n->type->kind == WM_TYPE_CHOICE ? range_labels(b, n, f.field->type) : 0;
	else if (b->metadata->major == 1 && n->type->kind == WM_TYPE_CHOICE)
		err = label_ranges(b, n, f.field->type);
	if (err)
		return err == -ENOENT ? 0 : err;
	names = wm_arena_array(b->arena, f.nr_names, sizeof(*names));
	if (!names)
		return -ENOMEM;
	memcpy(names, f.names, f.nr_names * sizeof(*names));
	n->ref = (struct wm_meta_ref){scope, (uint32_t)up, f.nr_names, names};
	return 0;
}
