/* SPDX-License-Identifier: MIT */
/*
 * class.c - turns an untrusted description into a struct wm_class. Relies on schema_int.h for the
 * grammar and the names. Tool side; must not know where descriptions come from.
 *
 * A class is one block of memory: struct wm_class, fields, labels, strings. The schema is parsed
 * twice: first to check and measure, then to fill the block.
 */
#include "event/class.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/schema_int.h"

/* A class's memory block while it is being filled. */
struct block {
	struct wm_class *class;
	struct wm_field *fields;
	struct wm_label *labels; /* the next free label */
	char *text;              /* the next free byte for text */
	/* Length of each field's name without a suffix such as _2. */
	uint8_t base_bytes[WM_CLASS_FIELDS_MAX];
};

static_assert(WM_SCHEMA_NAME_MAX <= UINT8_MAX, "base_bytes holds any base name's length");

struct measure {
	size_t nr_fields, nr_labels, text_bytes;
};

#define SUFFIX_BYTES 5u /* room for the suffix "_256" and a NUL */

static int class_refuse(const struct wm_schema *s, struct wm_diag *diag)
{
	return wm_diag_set(diag, -EBADMSG, "event description", s->at, "%s", s->why);
}

static int measure_fields(struct wm_schema s, struct measure *m, struct wm_diag *diag)
{
	struct wm_schema_field f;
	int more;

	while ((more = wm_schema_next(&s, &f)) > 0) {
		m->nr_fields++;
		m->nr_labels += f.nr_labels;
		m->text_bytes += WM_SCHEMA_NAME_MAX + SUFFIX_BYTES;
	}
	if (more < 0)
		return class_refuse(&s, diag);
	m->text_bytes += s.text_bytes[WM_TEXT_SCHEMA]; /* labels: a NUL replaces each '#' */
	return 0;
}

/*
 * Checks a name's length and refuses control characters: names are typed by users and stored in
 * files.
 */
static int check_name(const char *name, const char *what, bool may_be_empty, struct wm_diag *diag)
{
	size_t n = strlen(name);

	if (!n && !may_be_empty)
		return wm_diag_set(diag, -EBADMSG, "event description", -1, "the %s is empty",
				   what);
	if (n > WM_CLASS_NAME_MAX)
		return wm_diag_set(diag, -EBADMSG, "event description", -1,
				   "the %s is longer than %u bytes", what, WM_CLASS_NAME_MAX);
	for (size_t i = 0; i < n; i++) {
		if ((unsigned char)name[i] < ' ' || name[i] == 0x7f)
			return wm_diag_set(diag, -EBADMSG, "event description", -1,
					   "the %s contains a control character", what);
	}
	return 0;
}

static const char *class_keep(struct block *b, const char *text, size_t bytes)
{
	char *at = b->text;

	memcpy(at, text, bytes);
	at[bytes] = 0;
	b->text += bytes + 1;
	return at;
}

/*
 * Stores a field's name. The k-th field with the same base name, k > 1, is named NAME_k;
 * filter_link.c has the same rule.
 */
static const char *keep_name(struct block *b, const struct wm_schema_field *f)
{
	char name[WM_SCHEMA_NAME_MAX + SUFFIX_BYTES + 8];
	size_t n = wm_schema_base_name(f, name);
	uint32_t same = 1;

	for (uint32_t i = 0; i < f->index; i++)
		same += b->base_bytes[i] == n && !memcmp(b->fields[i].name, name, n);
	b->base_bytes[f->index] = (uint8_t)n;
	if (same > 1)
		n += (size_t)snprintf(name + n, sizeof(name) - n, "_%u", same);
	return class_keep(b, name, n);
}

static const struct wm_label *keep_labels(struct block *b, const struct wm_schema *s,
					  const struct wm_schema_field *f)
{
	struct wm_label *first = b->labels;
	const char *p = f->labels;

	for (uint32_t i = 0; i < f->nr_labels; i++) {
		size_t n = strcspn(p, "#");

		b->labels->name = class_keep(b, p, n);
		b->labels->value =
		    wm_schema_fit(wm_schema_value(s, f->first_value + i), f->scalar, f->bytes);
		b->labels++;
		p += n + 2; /* skips '#' and ',' */
	}
	return first;
}

static int keep_fields(struct block *b, struct wm_schema s, struct wm_diag *diag)
{
	struct wm_schema_field f;
	int32_t offset = 0;

	while (wm_schema_next(&s, &f) > 0) {
		struct wm_field *to = &b->fields[f.index];

		to->name = keep_name(b, &f);
		to->shape = f.shape;
		to->scalar = f.scalar;
		to->bytes = f.bytes;
		to->length = f.shape == WM_SHAPE_CHARS || f.shape == WM_SHAPE_ARRAY ? f.length : 0;
		to->nr_labels = f.nr_labels;
		to->labels = f.nr_labels ? keep_labels(b, &s, &f) : NULL;
		to->offset = offset;
		if (wm_schema_dynamic(&f))
			offset = -1;
		else if (offset >= 0)
			offset += (int32_t)wm_schema_least_bytes(&f);
		for (uint32_t i = 0; i < f.index; i++) {
			if (!strcmp(b->fields[i].name, to->name))
				return wm_diag_set(diag, -EBADMSG, "event description",
						   f.name - (const char *)s.desc,
						   "two fields have the name %.100s", to->name);
		}
	}
	b->class->payload_bytes = offset;
	return 0;
}

static int block_create(const struct measure *m, struct block *ret)
{
	size_t fields = m->nr_fields * sizeof(struct wm_field);
	size_t labels = m->nr_labels * sizeof(struct wm_label);
	char *memory = calloc(1, sizeof(struct wm_class) + fields + labels + m->text_bytes);

	if (!memory)
		return -ENOMEM;
	ret->class = (struct wm_class *)memory;
	ret->fields = (struct wm_field *)(memory + sizeof(struct wm_class));
	ret->labels = (struct wm_label *)((char *)ret->fields + fields);
	ret->text = (char *)ret->labels + labels;
	return 0;
}

int wm_class_parse(const void *desc, size_t bytes, const char *provider,
		   struct wm_class **ret_class, struct wm_diag *diag)
{
	struct measure m = {0};
	struct wm_schema s;
	struct block b;
	const char *name;
	int err = wm_schema_open(&s, desc, bytes);

	if (err)
		return class_refuse(&s, diag);
	if (s.text_bytes[WM_TEXT_PROVIDER] || !provider)
		provider = s.text[WM_TEXT_PROVIDER];
	name = s.text[WM_TEXT_NAME];
	err = check_name(provider, "provider", true, diag);
	if (!err)
		err = check_name(name, "name", false, diag);
	if (!err)
		err = measure_fields(s, &m, diag);
	if (err)
		return err;
	m.text_bytes += strlen(provider) + s.text_bytes[WM_TEXT_NAME] +
			s.text_bytes[WM_TEXT_PRINT] + s.text_bytes[WM_TEXT_FILE] +
			s.text_bytes[WM_TEXT_CARRIER] + 5;
	if (block_create(&m, &b))
		return wm_diag_set(diag, -ENOMEM, "event description", -1, "out of memory");
	b.class->provider = class_keep(&b, provider, strlen(provider));
	b.class->name = class_keep(&b, name, strlen(name));
	b.class->print = class_keep(&b, s.text[WM_TEXT_PRINT], s.text_bytes[WM_TEXT_PRINT]);
	b.class->file = class_keep(&b, s.text[WM_TEXT_FILE], s.text_bytes[WM_TEXT_FILE]);
	b.class->carrier = class_keep(&b, s.text[WM_TEXT_CARRIER], s.text_bytes[WM_TEXT_CARRIER]);
	if (!*b.class->carrier)
		b.class->carrier = NULL;
	if (!*b.class->print)
		b.class->print = NULL;
	b.class->kind = s.kind;
	b.class->level = s.level;
	b.class->line = s.line;
	b.class->flags = s.flags;
	b.class->nr_fields = (uint32_t)m.nr_fields;
	b.class->fields = b.fields;
	err = keep_fields(&b, s, diag);
	if (err) {
		wm_class_destroy(b.class);
		return err;
	}
	*ret_class = b.class;
	return 0;
}

void wm_class_destroy(struct wm_class *c)
{
	free(c); /* one block */
}

static bool field_equal(const struct wm_field *a, const struct wm_field *b)
{
	if (strcmp(a->name, b->name) || a->shape != b->shape || a->scalar != b->scalar ||
	    a->bytes != b->bytes || a->length != b->length || a->nr_labels != b->nr_labels)
		return false;
	for (uint32_t i = 0; i < a->nr_labels; i++) {
		if (a->labels[i].value != b->labels[i].value ||
		    strcmp(a->labels[i].name, b->labels[i].name))
			return false;
	}
	return true;
}

bool wm_class_equal(const struct wm_class *a, const struct wm_class *b)
{
	if (strcmp(a->provider, b->provider) || strcmp(a->name, b->name) || a->kind != b->kind ||
	    a->level != b->level || a->nr_fields != b->nr_fields)
		return false;
	for (uint32_t i = 0; i < a->nr_fields; i++) {
		if (!field_equal(&a->fields[i], &b->fields[i]))
			return false;
	}
	return true;
}
