/* SPDX-License-Identifier: MIT */
/*
 * group_count.c - see group_count.h. The key is the row itself, without its
 * count; the rows of an event type are in a hash table with linear probing.
 */
#include "analysis/group_count.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/pass.h"
#include "base/array.h"
#include "trace/field_ref.h"

#define ROWS_FIRST 64u

enum source { SOURCE_FIELD, SOURCE_PID, SOURCE_TID, SOURCE_COMM, SOURCE_CPU, SOURCE_NONE };

/* An event type bound to the current trace. */
struct binding {
	const struct wm_event_type *type; /* NULL: not bound yet */
	bool skipped;
	size_t kind;
	enum source sources[WM_APART_PARTS_MAX];
	struct wm_field_ref refs[WM_APART_PARTS_MAX];
};

struct apart {
	struct wm_pass *pass;
	const struct wm_apart_values *values;
	char names[WM_APART_PARTS_MAX][64];
	unsigned nr_parts;
	struct wm_apart_kind *kinds;
	size_t nr_kinds;
	struct binding *bindings; /* indexed by type */
	uint32_t nr_bindings;
};

/* ---- names -> fields ---------------------------------------------------------------- */

static int take_names(struct apart *c, const char *fields, struct wm_diag *diag)
{
	while (*fields) {
		size_t bytes = strcspn(fields, ",");

		if (bytes && (c->nr_parts == WM_APART_PARTS_MAX || bytes >= sizeof(c->names[0])))
			return wm_diag_set(diag, -EINVAL, NULL, -1,
					   "cannot count by more than %u fields, or by a name "
					   "longer than 63 bytes",
					   WM_APART_PARTS_MAX);
		if (bytes)
			memcpy(c->names[c->nr_parts++], fields, bytes);
		fields += bytes + (fields[bytes] == ',');
	}
	return c->nr_parts || c->values->totals
		   ? 0
		   : wm_diag_set(diag, -EINVAL, NULL, -1, "no field to count by");
}

static enum source context_of(const char *name)
{
	static const char *const names[] = {[SOURCE_PID] = "pid",
					    [SOURCE_TID] = "tid",
					    [SOURCE_COMM] = "comm",
					    [SOURCE_CPU] = "cpu"};

	for (int i = SOURCE_PID; i <= SOURCE_CPU; i++) {
		if (!strcmp(names[i], name))
			return (enum source)i;
	}
	return SOURCE_NONE;
}

static bool is_countable(const struct wm_type *t)
{
	return t->kind <= WM_TYPE_BOOL || t->kind == WM_TYPE_STRING;
}

static enum source bind_part(const struct wm_event_type *t, const char *name,
			     struct wm_field_ref *ref)
{
	enum source s;

	if (*name != '$' && wm_field_ref_find(t, name, ref) && is_countable(ref->type))
		return SOURCE_FIELD;
	s = context_of(name + (*name == '$'));
	if (s == SOURCE_CPU && !wm_field_ref_find(t, "cpu_id", ref))
		(void)wm_field_ref_find(t, "cpu", ref);
	return s;
}

static int group_kind_of(struct apart *c, const char *name, size_t *ret)
{
	struct wm_apart_kind *grown;
	size_t i = 0;

	while (i < c->nr_kinds && strcmp(c->kinds[i].name, name) != 0)
		i++;
	if (i == c->nr_kinds) {
		grown = reallocarray(c->kinds, i + 1, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		c->kinds = grown;
		grown[i] = (struct wm_apart_kind){.name = strdup(name)};
		wm_table_init(&grown[i].table);
		if (!grown[i].name)
			return -ENOMEM;
		c->nr_kinds++;
	}
	*ret = i;
	return 0;
}

static int group_bind(struct apart *c, const struct wm_event_type *t, struct binding **ret)
{
	struct binding *grown, *b;
	int err = 0;

	if (t->index >= c->nr_bindings) {
		grown = reallocarray(c->bindings, t->index + 1, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		memset(grown + c->nr_bindings, 0, (t->index + 1 - c->nr_bindings) * sizeof(*grown));
		c->bindings = grown;
		c->nr_bindings = t->index + 1;
	}
	b = *ret = &c->bindings[t->index];
	if (b->type == t)
		return 0;
	*b = (struct binding){.type = t};
	b->skipped = t->meta || (c->values->counts && !c->values->counts(c->values->data, t->name));
	if (!b->skipped)
		err = group_kind_of(c, t->name, &b->kind);
	for (unsigned i = 0; !b->skipped && !err && i < c->nr_parts; i++) {
		b->sources[i] = bind_part(t, c->names[i], &b->refs[i]);
		c->kinds[b->kind].lacks |= b->sources[i] == SOURCE_NONE;
	}
	return err;
}

/* ---- keys ------------------------------------------------------------------------------ */

static void group_put_text(struct wm_apart_part *p, const char *text, size_t bytes)
{
	p->is_text = true;
	memcpy(p->text, text, bytes < WM_APART_TEXT_BYTES ? bytes : WM_APART_TEXT_BYTES - 1);
}

static void group_put_field(struct wm_apart_part *p, const struct wm_field_ref *ref,
			    const struct wm_event *e)
{
	const struct wm_item *item = ref->type ? wm_field_ref_item(ref, e) : NULL;
	size_t bytes;
	const char *text;

	if (!item)
		return;
	if (ref->type->kind != WM_TYPE_STRING) {
		p->is_signed = ref->type->kind == WM_TYPE_SIGNED;
		p->number = item->s;
		return;
	}
	text = wm_field_ref_string(ref, e, &bytes);
	group_put_text(p, text ? text : "", bytes);
}

static void group_put_part(const struct apart *c, const struct binding *b, unsigned i,
			   const struct wm_sight *s, struct wm_apart_part *p)
{
	const char *comm;

	switch (b->sources[i]) {
	case SOURCE_PID:
		p->is_signed = true;
		p->number = s->task ? s->task->pid : -1;
		break;
	case SOURCE_TID:
		p->is_signed = true;
		p->number = s->task ? s->task->tid : -1;
		break;
	case SOURCE_COMM:
		comm = wm_state_comm(&c->pass->state, s->task);
		group_put_text(p, comm ? comm : "", comm ? strlen(comm) : 0);
		break;
	default:
		group_put_field(p, &b->refs[i], s->event);
		break;
	}
}

static size_t key_bytes(const struct apart *c)
{
	return c->nr_parts * sizeof(struct wm_apart_part);
}

static int group_count(struct apart *c, struct wm_apart_kind *k, const struct wm_apart_row *row)
{
	uint64_t hash = wm_table_hash_bytes(&k->table, row->parts, key_bytes(c));
	struct wm_table_walk w = wm_table_walk(hash);

	k->total++;
	while (wm_table_next(&k->table, &w)) {
		if (memcmp(k->rows[w.index].parts, row->parts, key_bytes(c)) != 0)
			continue;
		k->rows[w.index].count++;
		return 0;
	}
	if (k->nr_rows == WM_APART_KEYS_MAX) {
		k->left_over++;
		return 0;
	}
	if (WM_ARRAY_GROW(k->rows, k->room, (size_t)k->nr_rows + 1) ||
	    wm_table_add(&k->table, hash, k->nr_rows))
		return -ENOMEM;
	k->rows[k->nr_rows] = *row;
	k->rows[k->nr_rows++].count++;
	return 0;
}

/* ---- the analysis ------------------------------------------------------------------------- */

static void group_destroy(void *own)
{
	struct apart *c = own;

	for (size_t i = 0; c && i < c->nr_kinds; i++) {
		free((char *)c->kinds[i].name);
		free(c->kinds[i].rows);
		wm_table_done(&c->kinds[i].table);
	}
	if (c) {
		free(c->kinds);
		free(c->bindings);
	}
	free(c);
}

static int group_create(struct wm_pass *pass, const void *values, void **ret, struct wm_diag *diag)
{
	struct apart *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return -ENOMEM;
	c->pass = pass;
	c->values = values;
	err = take_names(c, c->values->fields, diag);
	if (err < 0)
		group_destroy(c);
	else
		*ret = c;
	return err;
}

static int group_feed(void *own, const struct wm_sight *s)
{
	struct apart *c = own;
	struct wm_apart_kind *k;
	struct wm_apart_row row;
	struct binding *b;
	int err = group_bind(c, s->event->type, &b);

	if (err || b->skipped)
		return err;
	k = &c->kinds[b->kind];
	if (k->lacks) {
		k->total++;
		k->left_over++;
		return 0;
	}
	memset(&row, 0, sizeof(row)); /* rows are compared with memcmp(), including their padding */
	for (unsigned i = 0; i < c->nr_parts; i++) {
		memcpy(row.parts[i].name, c->names[i], sizeof(row.parts[i].name));
		group_put_part(c, b, i, s, &row.parts[i]);
	}
	return group_count(c, k, &row);
}

const struct wm_analysis wm_analysis_apart = {
    .name = "apart",
    .summary = "events counted by the values of their fields",
    .create = group_create,
    .feed = group_feed,
    .destroy = group_destroy,
};

unsigned wm_apart_parts(const void *own)
{
	return ((const struct apart *)own)->nr_parts;
}

struct wm_apart_kind *wm_apart_kinds(void *own, size_t *ret_nr)
{
	struct apart *c = own;

	*ret_nr = c->nr_kinds;
	return c->kinds;
}

static int group_by_count(const void *a, const void *b)
{
	const struct wm_apart_row *x = a, *y = b;

	return (x->count < y->count) - (x->count > y->count);
}

void wm_apart_sort(struct wm_apart_kind *k)
{
	if (k->nr_rows)
		qsort(k->rows, k->nr_rows, sizeof(*k->rows), group_by_count);
}

void wm_apart_reset(void *own)
{
	struct apart *c = own;

	for (size_t i = 0; i < c->nr_kinds; i++) {
		struct wm_apart_kind *k = &c->kinds[i];

		wm_table_clear(&k->table);
		k->nr_rows = 0;
		k->total = k->left_over = 0;
	}
}

void wm_apart_rebind(void *own)
{
	struct apart *c = own;

	for (uint32_t i = 0; i < c->nr_bindings; i++)
		c->bindings[i].type = NULL;
}
