/* SPDX-License-Identifier: MIT */
/*
 * describe_fields.c - describes the fields and contexts of an event class: safe and unique names,
 * types, labels. See describe_int.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/context.h"
#include "write/describe_int.h"
#include "write/metadata_int.h"

/* --- names ------------------------------------------------------------------------------- */

/* Names that are unique among the fields of the event; valid identifiers in TSDL. */
struct names {
	char name[WM_CLASS_NAME_MAX + 16];
	char length[WM_CLASS_NAME_MAX + 32]; /* "" except for sequences and blobs */
};

static bool describe_fields_is_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       c == '_';
}

static bool describe_fields_is_taken(const struct names *all, uint32_t before, const char *name,
				     const char *const *taken)
{
	for (; taken && *taken; taken++)
		if (!strcmp(*taken, name))
			return true;
	for (uint32_t i = 0; i < before; i++)
		if (!strcmp(all[i].name, name) || !strcmp(all[i].length, name))
			return true;
	return false;
}

static void describe_fields_set_names(struct names *n, const struct wm_field *f,
				      enum wm_meta_language language, const char *suffix)
{
	bool identifiers = language == WM_META_TSDL;
	uint32_t bytes;

	(void)snprintf(n->name, sizeof(n->name), "%.*s%s", (int)WM_CLASS_NAME_MAX,
		       f->name ? f->name : "", suffix); /* fits */
	for (char *c = n->name; *c; c += bytes ? bytes : 1) {
		bytes = identifiers ? describe_fields_is_word(*c) : wm_meta_utf8(c);
		if (!bytes)
			*c = identifiers ? '_' : '?';
	}
	n->length[0] = '\0';
	if (f->shape == WM_SHAPE_SEQUENCE || f->shape == WM_SHAPE_BLOB)
		(void)snprintf(n->length, sizeof(n->length), "_%s_length", n->name); /* fits */
}

/*
 * `taken` is a NULL-terminated list of names that the caller itself uses. Returns NULL when out of
 * memory.
 */
static struct names *describe_fields_make_names(struct wm_arena *arena,
						enum wm_meta_language language,
						const struct wm_class *class,
						const char *const *taken)
{
	struct names *all = wm_arena_array(arena, class->nr_fields + 1u, sizeof(*all));
	char suffix[16];

	for (uint32_t i = 0; all && i < class->nr_fields; i++) {
		suffix[0] = '\0';
		/* Each clash increases the number by the number of fields, so the loop ends. */
		for (uint32_t attempt = 0;; attempt++) {
			describe_fields_set_names(&all[i], &class->fields[i], language, suffix);
			if (all[i].name[0] &&
			    !describe_fields_is_taken(all, i, all[i].name, taken) &&
			    !(all[i].length[0] &&
			      describe_fields_is_taken(all, i, all[i].length, taken)))
				break;
			(void)snprintf(suffix, sizeof(suffix), "_%u",
				       i + attempt * class->nr_fields); /* fits: below 2^20 */
		}
	}
	return all;
}

/* --- types ------------------------------------------------------------------------------- */

/* A list of fields being filled; it has enough room. */
struct fields {
	struct wm_arena *arena;
	enum wm_meta_language language;
	struct wm_meta_field *at;
	uint32_t nr;
	bool failed;
};

static void *describe_fields_memory(struct fields *f, void *got)
{
	f->failed |= !got;
	return got;
}

/* CTF 1.8 readers remove one leading underscore. */
static const char *name_in(struct fields *f, const char *name)
{
	size_t room = strlen(name) + 2;
	char *made;

	if (f->language == WM_META_JSON)
		return describe_fields_memory(f, wm_arena_copy(f->arena, name, strlen(name)));
	made = describe_fields_memory(f, wm_arena_get(f->arena, room));
	if (made)
		(void)snprintf(made, room, "_%s", name);
	return made;
}

/* "wm_i4", "wm_u1", "wm_z1"... A hostile description cannot produce any other name. */
static const char *alias_of(struct fields *f, const struct wm_field *field)
{
	static const char letters[] = {
	    [WM_SCALAR_SIGNED] = 'i', [WM_SCALAR_UNSIGNED] = 'u', [WM_SCALAR_HEX] = 'x',
	    [WM_SCALAR_BOOL] = 'b',   [WM_SCALAR_FLOAT] = 'f',    [WM_SCALAR_POINTER] = 'p',
	};
	char name[] = {'w', 'm', '_', letters[field->scalar], (char)('0' + field->bytes), '\0'};

	if (field->shape == WM_SHAPE_BLOB)
		return "wm_z1";
	if (field->shape == WM_SHAPE_CHARS)
		return "wm_c1";
	return describe_fields_memory(f, wm_arena_copy(f->arena, name, sizeof(name) - 1));
}

/* The label's value, truncated to the width of its enumeration. */
static int64_t label_value(const struct wm_field *f, int64_t value)
{
	uint32_t drop = 64u - 8u * f->bytes;

	if (f->scalar == WM_SCALAR_SIGNED)
		return (int64_t)((uint64_t)value << drop) >> drop;
	return (int64_t)((uint64_t)value << drop >> drop);
}

static int describe_fields_by_name(const void *a, const void *b)
{
	const struct wm_label *const *x = a, *const *y = b;
	int order = strcmp((*x)->name, (*y)->name);

	return order ? order : (*x > *y) - (*x < *y);
}

/* Sets the labels of an enumeration; in CTF 2 they are sorted by name. */
static void set_labels(struct fields *f, const struct wm_field *field, struct wm_type *type)
{
	const struct wm_label **sorted =
	    describe_fields_memory(f, wm_arena_array(f->arena, field->nr_labels, sizeof(*sorted)));
	struct wm_type_label *labels =
	    describe_fields_memory(f, wm_arena_array(f->arena, field->nr_labels, sizeof(*labels)));

	if (!sorted || !labels)
		return;
	for (uint32_t i = 0; i < field->nr_labels; i++)
		sorted[i] = &field->labels[i];
	if (f->language == WM_META_JSON)
		qsort(sorted, field->nr_labels, sizeof(*sorted), describe_fields_by_name);
	for (uint32_t i = 0; i < field->nr_labels; i++) {
		int64_t value = label_value(field, sorted[i]->value);

		labels[i] = (struct wm_type_label){sorted[i]->name, value, value};
	}
	type->labels = labels;
	type->nr_labels = field->nr_labels;
	type->is_enum = true;
}

/* Returns the type of a scalar or of an element. A field with labels is an enumeration. */
static const struct wm_type *scalar_type(struct fields *f, const struct wm_field *field)
{
	static const uint8_t kinds[] = {
	    [WM_SCALAR_SIGNED] = WM_TYPE_SIGNED, [WM_SCALAR_UNSIGNED] = WM_TYPE_UNSIGNED,
	    [WM_SCALAR_HEX] = WM_TYPE_UNSIGNED,  [WM_SCALAR_BOOL] = WM_TYPE_BOOL,
	    [WM_SCALAR_FLOAT] = WM_TYPE_FLOAT,   [WM_SCALAR_POINTER] = WM_TYPE_UNSIGNED,
	};
	struct wm_type *type = describe_fields_memory(f, wm_arena_get(f->arena, sizeof(*type)));

	if (!type)
		return NULL;
	type->bits = (uint8_t)(8 * field->bytes);
	type->kind = kinds[field->scalar];
	if (field->scalar == WM_SCALAR_HEX || field->scalar == WM_SCALAR_POINTER)
		type->look = WM_LOOK_HEX;
	if (field->nr_labels) {
		if (type->kind != WM_TYPE_SIGNED)
			type->kind = WM_TYPE_UNSIGNED;
		set_labels(f, field, type);
	}
	return type;
}

/* --- fields ------------------------------------------------------------------------------ */

static void refer(struct fields *f, struct wm_meta_field *to, enum wm_ctf_scope scope,
		  const char *length)
{
	const char **names = describe_fields_memory(f, wm_arena_get(f->arena, sizeof(*names)));

	if (!names)
		return;
	names[0] = length;
	to->ref = (struct wm_meta_ref){
	    .scope = f->language == WM_META_JSON ? scope : WM_CTF_RELATIVE,
	    .nr_names = 1,
	    .names = names,
	    .is_last = true,
	};
}

static void describe_fields_add_number(struct fields *f, const char *name, const char *alias)
{
	static const struct wm_type number = {.kind = WM_TYPE_UNSIGNED};

	f->at[f->nr++] = (struct wm_meta_field){.type = &number, .name = name, .alias = alias};
}

/* Turns `list` from an element into a list of such elements. */
static void make_list(struct fields *f, struct wm_meta_field *list, bool fixed, uint32_t length)
{
	struct wm_meta_field *element =
	    describe_fields_memory(f, wm_arena_get(f->arena, sizeof(*element)));
	struct wm_type *type = describe_fields_memory(f, wm_arena_get(f->arena, sizeof(*type)));

	if (!element || !type)
		return;
	*type = (struct wm_type){.kind = WM_TYPE_LIST, .fixed = fixed, .length = length};
	*element = (struct wm_meta_field){.type = list->type, .alias = list->alias};
	list->type = type;
	list->alias = NULL;
	list->parts = element;
	list->nr_parts = 1;
}

static void describe_fields_add_field(struct fields *f, const struct wm_field *field,
				      const struct names *names)
{
	static const struct wm_type text = {.kind = WM_TYPE_STRING}, blob = {.kind = WM_TYPE_BYTES};
	const char *length = names->length[0] ? name_in(f, names->length) : NULL;
	struct wm_meta_field *to;

	if (length)
		describe_fields_add_number(f, length, "wm_u4");
	to = &f->at[f->nr++];
	to->name = name_in(f, names->name);
	if (length)
		refer(f, to, WM_CTF_EVENT_FIELDS, length);
	if (field->shape == WM_SHAPE_STRING) {
		to->type = &text;
		return;
	}
	to->alias = alias_of(f, field);
	if (field->shape == WM_SHAPE_CHARS) {
		to->type = &text;
		to->length = field->length;
	} else if (field->shape == WM_SHAPE_BLOB) {
		to->type = &blob;
	} else {
		to->type = scalar_type(f, field);
	}
	if (field->shape == WM_SHAPE_ARRAY || field->shape == WM_SHAPE_SEQUENCE)
		make_list(f, to, field->shape == WM_SHAPE_ARRAY, field->length);
}

static void describe_fields_add_stack(struct fields *f, const char *length, const char *name)
{
	describe_fields_add_number(f, length, "wm_u4");
	describe_fields_add_number(f, name, "wm_x8");
	refer(f, &f->at[f->nr - 1], WM_CTF_EVENT_CONTEXT, length);
	make_list(f, &f->at[f->nr - 1], false, 0);
}

static bool describe_fields_begin(struct fields *f, uint32_t room)
{
	f->nr = 0;
	f->at = describe_fields_memory(f, wm_arena_array(f->arena, room, sizeof(*f->at)));
	return f->at;
}

static void end(struct fields *f, struct wm_meta_scope *ret)
{
	struct wm_meta_field *structure =
	    describe_fields_memory(f, wm_arena_get(f->arena, sizeof(*structure)));

	if (structure)
		*structure = wm_meta_structure(f->at, f->nr);
	*ret = (struct wm_meta_scope){structure, NULL};
}

int wm_describe_fields(struct wm_arena *arena, enum wm_meta_language language, uint32_t contexts,
		       const struct wm_class *class, struct wm_meta_scope *ret_context,
		       struct wm_meta_scope *ret_fields)
{
	static const char *const stack_names[] = {"ustack", "_ustack_length", NULL};
	bool is_tsdl = language == WM_META_TSDL, has_stack = contexts & WM_CONTEXT_USTACK;
	struct names *names = describe_fields_make_names(arena, language, class,
							 is_tsdl && has_stack ? stack_names : NULL);
	struct fields f = {.arena = arena, .language = language};

	*ret_context = *ret_fields = (struct wm_meta_scope){NULL, NULL};
	if (!names || !describe_fields_begin(&f, 3))
		return -ENOMEM;
	if (contexts & WM_CONTEXT_CPU)
		describe_fields_add_number(&f, is_tsdl ? "_cpu" : "cpu", "wm_u4");
	if (has_stack && !is_tsdl)
		describe_fields_add_stack(&f, "_ustack_length", "ustack");
	if (f.nr)
		end(&f, ret_context);
	if (!describe_fields_begin(&f, 2 * class->nr_fields + 2))
		return -ENOMEM;
	/* A field, not a context: babeltrace2 2.0.4 aborts on a sequence in the context. */
	if (has_stack && is_tsdl)
		describe_fields_add_stack(&f, "__ustack_length", "_ustack");
	for (uint32_t i = 0; i < class->nr_fields; i++)
		describe_fields_add_field(&f, &class->fields[i], &names[i]);
	end(&f, ret_fields);
	return f.failed ? -ENOMEM : 0;
}
