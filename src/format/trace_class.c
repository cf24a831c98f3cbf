/* SPDX-License-Identifier: MIT */
/*
 * trace_class.c - event classes out of a trace's metadata: the way back of
 * what doc/format/trace.md writes there. The result is a struct wm_class over
 * the same payload bytes a program packed, so event/class.h can walk them.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <waymark/abi.h>

#include "event/context.h"
#include "format/trace_plan.h"
#include "format/tsdl_lex.h"

struct work {
	struct wm_ctf_metadata *m;
	const struct wm_ctf_event *event;
	struct wm_diag *diag;
	struct wm_class *class;
	struct wm_field *fields;
	const struct wm_ctf_member **members; /* of context, then of fields */
	uint32_t nr_members;
	uint32_t contexts;
};

static int refuse(struct work *w, const char *field, const char *why)
{
	(void)wm_diag_set(w->diag, -EBADMSG, w->diag ? w->diag->where : NULL, -1,
			  "event '%.60s'%s%.60s%s: %s", w->event->name ? w->event->name : "",
			  field ? ", field '" : "", field ? field : "", field ? "'" : "", why);
	if (w->diag)
		w->diag->line = w->event->line;
	return -EBADMSG;
}

/* --- scalars -------------------------------------------------------------------- */

static const struct {
	char letter;
	enum wm_scalar scalar;
} letters[] = {
    {'i', WM_SCALAR_SIGNED},   {'u', WM_SCALAR_UNSIGNED}, {'x', WM_SCALAR_HEX},
    {'b', WM_SCALAR_BOOL},     {'p', WM_SCALAR_POINTER},  {'f', WM_SCALAR_FLOAT},
    {'c', WM_SCALAR_UNSIGNED}, {'z', WM_SCALAR_HEX},
};

static bool readable(const struct wm_ctf_type *t)
{
	bool size = t->bits == 8 || t->bits == 16 || t->bits == 32 || t->bits == 64;

	return size && t->align <= 8 && (t->order == WM_CTF_LITTLE || t->bits == 8) && !t->clock;
}

/* The alias says what the language can not; without one the type speaks for itself. */
static void scalar_of(const struct wm_ctf_type *t, struct wm_field *f)
{
	f->bytes = (uint8_t)(t->bits / 8);
	if (t->kind == WM_CTF_FLOAT)
		f->scalar = WM_SCALAR_FLOAT;
	else if (t->is_bool && t->bits == 8)
		f->scalar = WM_SCALAR_BOOL;
	else if (t->is_signed)
		f->scalar = WM_SCALAR_SIGNED;
	else
		f->scalar = t->base == 16 ? WM_SCALAR_HEX : WM_SCALAR_UNSIGNED;
	if (!t->alias || strncmp(t->alias, "wm_", 3) != 0)
		return;
	for (size_t i = 0; i < sizeof(letters) / sizeof(*letters); i++) {
		bool same_kind =
		    (letters[i].scalar == WM_SCALAR_FLOAT) == (t->kind == WM_CTF_FLOAT);
		bool same_sign = (letters[i].scalar == WM_SCALAR_SIGNED) == t->is_signed;

		if (t->alias[3] == letters[i].letter && same_kind && same_sign)
			f->scalar = letters[i].scalar;
	}
	if (f->scalar == WM_SCALAR_POINTER && f->bytes != 8)
		f->scalar = WM_SCALAR_HEX;
	if (f->scalar == WM_SCALAR_BOOL && f->bytes != 1)
		f->scalar = WM_SCALAR_UNSIGNED;
}

static int labels_of(struct work *w, const struct wm_ctf_type *t, struct wm_field *f)
{
	struct wm_label *labels;

	if (t->nr_labels > WM_CLASS_LABELS_MAX)
		return refuse(w, f->name, "too many labels");
	labels = wm_arena_array(&w->m->arena, t->nr_labels, sizeof(*labels));
	if (!labels)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->nr_labels; i++) {
		const struct wm_ctf_label *from = &t->labels[i];

		if (from->range.low != from->range.high)
			return refuse(w, f->name, "a label for a range can not be read yet");
		labels[i] = (struct wm_label){.value = from->range.low, .name = from->name};
	}
	f->labels = labels;
	f->nr_labels = t->nr_labels;
	return 0;
}

static int element_of(struct work *w, const struct wm_ctf_type *t, struct wm_field *f)
{
	bool labelled = t->kind == WM_CTF_ENUM;
	const struct wm_ctf_type *number = labelled ? t->element : t;

	if ((number->kind != WM_CTF_INTEGER && number->kind != WM_CTF_FLOAT) || !readable(number))
		return refuse(w, f->name, "a type that can not be read yet");
	scalar_of(number, f);
	return labelled ? labels_of(w, t, f) : 0;
}

/* --- fields --------------------------------------------------------------------- */

static bool is_length(const struct wm_ctf_member *m)
{
	const struct wm_ctf_type *t = m->type;

	return t->kind == WM_CTF_INTEGER && t->bits == 32 && !t->is_signed && readable(t);
}

/* A sequence whose length is the member before it. */
static bool is_counted(const struct wm_ctf_member *length, const struct wm_ctf_member *m)
{
	const struct wm_ctf_ref *ref = &m->type->ref;

	return m->type->kind == WM_CTF_SEQUENCE && is_length(length) && ref->nr_names &&
	       ref->names[ref->nr_names - 1] && !strcmp(ref->names[ref->nr_names - 1], length->raw);
}

static int field_of(struct work *w, uint32_t *at, struct wm_field *f)
{
	const struct wm_ctf_member *m = w->members[(*at)++];
	const struct wm_ctf_type *t = m->type;

	if (*at < w->nr_members && is_counted(m, w->members[*at])) {
		m = w->members[(*at)++];
		t = m->type->element;
		f->name = m->name;
		f->shape = m->type->blob || (t->alias && !strcmp(t->alias, "wm_z1"))
			       ? WM_SHAPE_BLOB
			       : WM_SHAPE_SEQUENCE;
		return element_of(w, t, f);
	}
	f->name = m->name;
	if (t->kind == WM_CTF_STRING) {
		f->shape = WM_SHAPE_STRING;
		f->bytes = 1;
		f->scalar = WM_SCALAR_UNSIGNED;
		return 0;
	}
	if (t->kind != WM_CTF_ARRAY)
		return element_of(w, t, f);
	if (t->length > WM_CLASS_ARRAY_MAX)
		return refuse(w, m->name, "an array of too many elements");
	f->shape = t->text ? WM_SHAPE_CHARS : WM_SHAPE_ARRAY;
	f->length = (uint32_t)t->length;
	return element_of(w, t->element, f);
}

/* Bytes of a field of fixed size, or -1. */
static int64_t fixed_bytes(const struct wm_field *f)
{
	switch (f->shape) {
	case WM_SHAPE_SCALAR:
		return f->bytes;
	case WM_SHAPE_CHARS:
		return f->length;
	case WM_SHAPE_ARRAY:
		return (int64_t)f->length * f->bytes;
	default:
		return -1;
	}
}

static int fields_of(struct work *w, uint32_t at)
{
	int64_t offset = 0;
	int err;

	w->fields = wm_arena_array(&w->m->arena, w->nr_members + 1, sizeof(*w->fields));
	if (!w->fields)
		return -ENOMEM;
	while (at < w->nr_members) {
		struct wm_field *f = &w->fields[w->class->nr_fields];
		int64_t bytes;

		if (w->class->nr_fields == WM_CLASS_FIELDS_MAX)
			return refuse(w, NULL, "too many fields");
		err = field_of(w, &at, f);
		if (err)
			return err;
		bytes = fixed_bytes(f);
		f->offset = (int32_t)offset;
		offset =
		    offset < 0 || bytes < 0 || offset + bytes > INT32_MAX ? -1 : offset + bytes;
		w->class->nr_fields++;
	}
	w->class->fields = w->fields;
	w->class->payload_bytes = (int32_t)offset;
	return 0;
}

/* --- what stands in the comment, or in the attributes ------------------------------- */

/* key=NUMBER or key="C literal", separated by blanks. */
static int note_value(struct work *w, const char **at, const char **ret_text, uint64_t *ret_number)
{
	size_t bytes = strlen(*at), n, bad;
	int64_t used;
	char *text, *end;

	*ret_text = NULL;
	if (**at != '"') {
		errno = 0;
		*ret_number = strtoull(*at, &end, 10);
		if (errno || end == *at)
			return -EBADMSG;
		*at = end;
		return 0;
	}
	text = wm_arena_get(&w->m->arena, bytes + 1);
	if (!text)
		return -ENOMEM;
	used = wm_tsdl_unescape(*at + 1, bytes - 1, text, &n, &bad);
	if (used < 0)
		return -EBADMSG;
	text[n] = 0;
	*ret_text = text;
	*at += used + 1;
	return 0;
}

static int take(struct work *w, const char *key, size_t bytes, const char *text, uint64_t number)
{
	struct wm_class *c = w->class;

#define IS(name) (bytes == sizeof(name) - 1 && !memcmp(key, name, sizeof(name) - 1))
	if (IS("print") && text && *text)
		c->print = text;
	else if (IS("file") && text)
		c->file = text;
	else if (IS("kind") && !text && number <= WAYMARK_KIND_SPAN)
		c->kind = (uint8_t)number;
	else if (IS("line") && !text)
		c->line = (uint32_t)number;
	else if (IS("flags") && !text)
		c->flags = (uint32_t)number;
	else if (IS("contexts") && !text) {
		if (number & ~(uint64_t)WM_CONTEXT_ALL)
			return refuse(w, NULL, "contexts this release does not know");
		w->contexts = (uint32_t)number;
	}
#undef IS
	return 0;
}

static int notes(struct work *w)
{
	const char *at = w->event->note, *key, *text;
	uint64_t number = 0;
	int err = 0;

	for (uint32_t i = 0; i < w->event->nr_pairs && !err; i++) {
		const struct wm_ctf_pair *p = &w->event->pairs[i];

		err = take(w, p->key, strlen(p->key), p->text, (uint64_t)p->number);
	}
	while (at && *at && !err) {
		at += strspn(at, " \t\r\n");
		key = at;
		at += strcspn(at, "= \t\r\n");
		if (*at != '=')
			break; /* the end, or no note of ours */
		at++;
		err = note_value(w, &at, &text, &number);
		if (err)
			return err == -EBADMSG ? refuse(w, NULL, "a damaged comment") : err;
		err = take(w, key, strcspn(key, "="), text, number);
	}
	return err;
}

/* --- the whole ------------------------------------------------------------------------ */

static int names(struct work *w)
{
	const char *full = w->event->name ? w->event->name : "", *colon = strchr(full, ':');
	struct wm_class *c = w->class;

	if (strlen(full) > 2 * WM_CLASS_NAME_MAX + 1)
		return refuse(w, NULL, "its name is too long");
	c->provider = colon ? wm_arena_copy(&w->m->arena, full, (size_t)(colon - full)) : "";
	c->name = colon ? colon + 1 : full;
	c->file = "";
	/* LTTng's 14, TRACE_DEBUG, is our DEBUG; the others have one number. */
	c->level = w->event->level >= 0 && w->event->level <= WAYMARK_DEBUG
		       ? (uint8_t)w->event->level
		       : WAYMARK_DEBUG;
	return c->provider ? 0 : -ENOMEM;
}

static int collect(struct work *w)
{
	const struct wm_ctf_type *scopes[] = {w->event->context, w->event->fields};
	uint32_t n = 0;

	for (int s = 0; s < 2; s++) {
		if (scopes[s] && scopes[s]->align > 8)
			return refuse(w, NULL, "aligned fields can not be read yet");
		n += scopes[s] ? scopes[s]->nr_members : 0;
	}
	w->members = wm_arena_array(&w->m->arena, n + 1, sizeof(*w->members));
	if (!w->members)
		return -ENOMEM;
	for (int s = 0; s < 2; s++) {
		for (uint32_t i = 0; scopes[s] && i < scopes[s]->nr_members; i++)
			w->members[w->nr_members++] = &scopes[s]->members[i];
	}
	return 0;
}

/* The contexts stand before the fields; returns how many members they are. */
static int skip_contexts(struct work *w)
{
	uint32_t at = 0;

	if (w->contexts & WM_CONTEXT_CPU) {
		if (at == w->nr_members || !is_length(w->members[at]))
			return refuse(w, NULL, "no context cpu where it says there is one");
		at++;
	}
	if (w->contexts & WM_CONTEXT_USTACK) {
		const struct wm_ctf_type *t;

		if (at + 2 > w->nr_members || !is_counted(w->members[at], w->members[at + 1]))
			return refuse(w, NULL, "no user stack where it says there is one");
		t = w->members[at + 1]->type->element;
		if (t->kind != WM_CTF_INTEGER || t->bits != 64 || !readable(t))
			return refuse(w, NULL, "a user stack that can not be read yet");
		at += 2;
	}
	return (int)at;
}

int wm_plan_class(struct wm_ctf_metadata *m, const struct wm_ctf_event *e,
		  struct wm_plan_event *ret, struct wm_diag *diag)
{
	struct work w = {.m = m, .event = e, .diag = diag};
	int err, at;

	w.class = wm_arena_get(&m->arena, sizeof(*w.class));
	if (!w.class)
		return -ENOMEM;
	err = names(&w);
	if (!err)
		err = notes(&w);
	if (!err)
		err = collect(&w);
	if (err)
		return err;
	at = skip_contexts(&w);
	err = at < 0 ? at : fields_of(&w, (uint32_t)at);
	if (err)
		return err;
	*ret = (struct wm_plan_event){.class = w.class, .contexts = w.contexts};
	return 0;
}
