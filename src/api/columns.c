/* SPDX-License-Identifier: MIT */
/*
 * columns.c - fields of many events as arrays, for <waymark/read.h>. The place
 * of a column's field in each type is looked up once; a row then only steps
 * over the values before it. Arrays are allocated once, except text, which
 * grows.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/array.h"

#define COLUMNS_MAX 4096u
#define ROWS_MAX    (1u << 26)

enum source { FIELD, TIME, CPU, PID, TID, TYPE, STREAM, COMM };

static const struct {
	const char *name;
	enum source source;
	enum waymark_column_kind kind;
} specials[] = {
    {"$time", TIME, WAYMARK_COLUMN_INT64}, {"$cpu", CPU, WAYMARK_COLUMN_INT64},
    {"$pid", PID, WAYMARK_COLUMN_INT64},   {"$tid", TID, WAYMARK_COLUMN_INT64},
    {"$type", TYPE, WAYMARK_COLUMN_INT64}, {"$stream", STREAM, WAYMARK_COLUMN_INT64},
    {"$comm", COMM, WAYMARK_COLUMN_TEXT},
};

/* The position of a field in an event type. */
struct place {
	int8_t part; /* -1: the type lacks it */
	uint32_t index;
};

struct column {
	enum source source;
	enum waymark_column_kind kind;
	struct place *places; /* indexed by type; for FIELD */
	void *data;           /* nr_rows values of 8 bytes; for TEXT one more */
	unsigned char *valid;
	char *text; /* for TEXT */
	uint64_t text_bytes, text_room;
};

struct waymark_columns {
	struct waymark_reader *reader;
	struct column *list;
	uint32_t nr;
	uint64_t nr_rows;
};

/* --- creation ----------------------------------------------------------------------------- */

static struct place place_in(const struct waymark_type *type, const char *name)
{
	for (int part = WM_NR_PARTS - 1; part >= 0; part--) {
		const struct wm_type *t = type->type->parts[part];

		for (uint32_t k = 0; t && k < t->nr_members; k++)
			if (!strcmp(t->members[k].name, name))
				return (struct place){(int8_t)part, k};
	}
	return (struct place){-1, 0};
}

static enum waymark_column_kind columns_kind_of(const struct wm_type *t)
{
	switch (t->kind) {
	case WM_TYPE_UNSIGNED:
	case WM_TYPE_BOOL:
		return WAYMARK_COLUMN_UINT64;
	case WM_TYPE_SIGNED:
		return WAYMARK_COLUMN_INT64;
	case WM_TYPE_FLOAT:
		return WAYMARK_COLUMN_DOUBLE;
	default:
		return WAYMARK_COLUMN_TEXT;
	}
}

/* Returns the kind that can hold the values of two types; text if no numeric kind can. */
static enum waymark_column_kind common(enum waymark_column_kind a, enum waymark_column_kind b)
{
	if (a == WAYMARK_COLUMN_AUTO || a == b)
		return b;
	if (a == WAYMARK_COLUMN_TEXT || b == WAYMARK_COLUMN_TEXT)
		return WAYMARK_COLUMN_TEXT;
	return a == WAYMARK_COLUMN_DOUBLE || b == WAYMARK_COLUMN_DOUBLE ? WAYMARK_COLUMN_DOUBLE
									: WAYMARK_COLUMN_INT64;
}

/* Finds the field in all selected types. Returns 0, or -ENOENT when none has it. */
static int columns_find_field(const struct waymark_reader *r, struct column *c, const char *name)
{
	const struct waymark_trace *t = r->trace;
	enum waymark_column_kind kind = WAYMARK_COLUMN_AUTO;

	c->places = calloc(t->nr_types + (size_t)1, sizeof(*c->places));
	if (!c->places)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->nr_types; i++) {
		const struct waymark_type *type = &t->types[i];
		struct place p = place_in(type, name);

		c->places[i] = p;
		if (p.part >= 0 &&
		    wm_select_is_wanted(&r->select.events, type->trace, type->type->index))
			kind = common(kind, columns_kind_of(
						type->type->parts[p.part]->members[p.index].type));
	}
	if (c->kind == WAYMARK_COLUMN_AUTO)
		c->kind = kind;
	return kind == WAYMARK_COLUMN_AUTO ? -ENOENT : 0;
}

static int make_column(struct waymark_columns *cs, struct column *c, const char *name)
{
	int err = -ENOENT;

	for (size_t i = 0; i < sizeof(specials) / sizeof(specials[0]); i++) {
		if (strcmp(name, specials[i].name) != 0)
			continue;
		c->source = specials[i].source;
		if (c->kind == WAYMARK_COLUMN_AUTO || c->source == COMM)
			c->kind = specials[i].kind;
		err = 0;
	}
	if (err)
		err = columns_find_field(cs->reader, c, name);
	if (err)
		return err;
	c->data = calloc(cs->nr_rows + 1, sizeof(uint64_t));
	c->valid = calloc(cs->nr_rows, 1);
	return c->data && c->valid ? 0 : -ENOMEM;
}

WM_API int waymark_columns(struct waymark_reader *reader, const char *const *names,
			   const enum waymark_column_kind *kinds, uint32_t nr_columns,
			   uint64_t nr_rows, struct waymark_columns **ret,
			   struct waymark_error *error)
{
	struct waymark_columns *cs;
	int err = wm_api_error_begin(error);

	if (err)
		return err;
	if (!nr_columns || nr_columns > COLUMNS_MAX || !nr_rows || nr_rows > ROWS_MAX)
		return wm_api_fail(error, -EINVAL, "the limits are 1 to %u columns of 1 to %u rows",
				   COLUMNS_MAX, ROWS_MAX);
	cs = calloc(1, sizeof(*cs));
	if (cs)
		cs->list = calloc(nr_columns, sizeof(*cs->list));
	if (!cs || !cs->list) {
		free(cs);
		return wm_api_fail(error, -ENOMEM, "out of memory");
	}
	cs->reader = reader;
	cs->nr_rows = nr_rows;
	for (; cs->nr < nr_columns && !err; cs->nr++) {
		const char *name = names[cs->nr];
		struct column *c = &cs->list[cs->nr];

		c->kind = kinds ? kinds[cs->nr] : WAYMARK_COLUMN_AUTO;
		err = name && (unsigned)c->kind <= WAYMARK_COLUMN_TEXT ? make_column(cs, c, name)
								       : -EINVAL;
		if (err == -ENOENT)
			(void)wm_api_fail(error, err, "no selected event has a field '%.200s'",
					  name);
		else if (err)
			(void)wm_api_fail(error, err, "column %u: %s", cs->nr, strerror(-err));
	}
	if (err) {
		waymark_columns_close(cs);
		return err;
	}
	*ret = cs;
	return 0;
}

WM_API void waymark_columns_close(struct waymark_columns *cs)
{
	if (!cs)
		return;
	for (uint32_t i = 0; i < cs->nr; i++) {
		free(cs->list[i].places);
		free(cs->list[i].data);
		free(cs->list[i].valid);
		free(cs->list[i].text);
	}
	free(cs->list);
	free(cs);
}

/* --- one row ------------------------------------------------------------------------------ */

static int columns_put_text(struct column *c, const void *bytes, uint64_t count)
{
	uint64_t need;

	if (__builtin_add_overflow(c->text_bytes, count, &need) ||
	    WM_ARRAY_GROW(c->text, c->text_room, need))
		return -ENOMEM;
	if (count)
		memcpy(c->text + c->text_bytes, bytes, count);
	c->text_bytes += count;
	return 0;
}

/* Stores an integer. Returns whether the column's kind can hold it. */
static bool columns_put_integer(struct column *c, uint64_t row, uint64_t n, bool is_signed)
{
	bool negative = is_signed && (int64_t)n < 0;

	if (c->kind == WAYMARK_COLUMN_DOUBLE) {
		((double *)c->data)[row] = is_signed ? (double)(int64_t)n : (double)n;
		return true;
	}
	((uint64_t *)c->data)[row] = n;
	return c->kind == WAYMARK_COLUMN_UINT64 ? !negative : is_signed || n <= INT64_MAX;
}

static bool columns_put_real(struct column *c, uint64_t row, double d)
{
	if (c->kind == WAYMARK_COLUMN_DOUBLE) {
		((double *)c->data)[row] = d;
		return true;
	}
	if (c->kind == WAYMARK_COLUMN_UINT64 && d > -1 && d < 0x1p64) {
		((uint64_t *)c->data)[row] = (uint64_t)d;
		return true;
	}
	if (c->kind == WAYMARK_COLUMN_INT64 && d >= -0x1p63 && d < 0x1p63) {
		((int64_t *)c->data)[row] = (int64_t)d;
		return true;
	}
	return false;
}

/*
 * Stores text, bytes or a value's label in a text column. Returns 1 when it was stored, 0 when the
 * value has no text, or -errno.
 */
static int columns_put_bytes(struct column *c, const struct wm_item *i)
{
	const char *label;

	if (i->member->type->kind == WM_TYPE_STRING || i->member->type->kind == WM_TYPE_BYTES)
		return columns_put_text(c, i->bytes, i->count) ?: 1;
	label = i->member->type->is_enum ? wm_type_label(i->member->type, i) : NULL;
	return label ? columns_put_text(c, label, strlen(label)) ?: 1 : 0;
}

static int columns_put_item(struct column *c, uint64_t row, const struct wm_item *i)
{
	if (c->kind == WAYMARK_COLUMN_TEXT)
		return columns_put_bytes(c, i);
	switch (i->member->type->kind) {
	case WM_TYPE_UNSIGNED:
	case WM_TYPE_BOOL:
		return columns_put_integer(c, row, i->u, false);
	case WM_TYPE_SIGNED:
		return columns_put_integer(c, row, i->u, true);
	case WM_TYPE_FLOAT:
		return columns_put_real(c, row, i->f);
	default:
		return 0;
	}
}

static int columns_put_field(struct column *c, uint64_t row, const struct waymark_event *e)
{
	const struct place *p = &c->places[e->type->number];
	uint32_t at;

	if (p->part < 0)
		return 0;
	at = e->parts[p->part].begin;
	for (uint32_t k = 0; k < p->index; k++)
		at = at < e->parts[p->part].end ? e->values[at].next : at;
	if (at >= e->parts[p->part].end) /* the part was not decoded */
		return 0;
	return columns_put_item(c, row, (const struct wm_item *)&e->values[at]);
}

static int columns_put_comm(struct waymark_columns *cs, struct column *c,
			    const struct waymark_event *e)
{
	uint32_t bytes;
	const char *comm = waymark_comm(cs->reader, e, &bytes);

	return bytes ? columns_put_text(c, comm, bytes) ?: 1 : 0;
}

/* Stores a value in a row. Returns 1, 0 when the row has no value, or -errno. */
static int columns_put(struct waymark_columns *cs, struct column *c, uint64_t row,
		       const struct waymark_event *e)
{
	int64_t n;

	switch (c->source) {
	case FIELD:
		return columns_put_field(c, row, e);
	case COMM:
		return columns_put_comm(cs, c, e);
	case TIME:
		n = e->time_ns;
		break;
	case CPU:
		n = e->cpu;
		break;
	case PID:
		n = e->pid;
		break;
	case TID:
		n = e->tid;
		break;
	case TYPE:
		n = e->type->number;
		break;
	default:
		n = e->stream;
		break;
	}
	if (c->kind == WAYMARK_COLUMN_TEXT || n == (c->source == TIME ? WAYMARK_NO_TIME : -1))
		return 0;
	return columns_put_integer(c, row, (uint64_t)n, true);
}

static int columns_put_row(struct waymark_columns *cs, uint64_t row, const struct waymark_event *e)
{
	for (uint32_t i = 0; i < cs->nr; i++) {
		struct column *c = &cs->list[i];
		int got = columns_put(cs, c, row, e);

		if (got < 0)
			return got;
		c->valid[row] = (unsigned char)got;
		if (c->kind == WAYMARK_COLUMN_TEXT)
			((uint64_t *)c->data)[row + 1] = c->text_bytes;
		else if (!got)
			((uint64_t *)c->data)[row] = 0;
	}
	return 0;
}

WM_API int64_t waymark_columns_fill(struct waymark_columns *cs)
{
	const struct waymark_event *e;
	uint64_t row = 0;
	int got = 1, err = 0;

	for (uint32_t i = 0; i < cs->nr; i++)
		cs->list[i].text_bytes = 0;
	while (!err && row < cs->nr_rows && (got = waymark_next(cs->reader, &e)) == 1)
		err = columns_put_row(cs, row++, e);
	return err ? err : got < 0 ? got : (int64_t)row;
}

/* --- results ------------------------------------------------------------------------------ */

WM_API enum waymark_column_kind waymark_column_kind(const struct waymark_columns *cs, uint32_t i)
{
	return i < cs->nr ? cs->list[i].kind : WAYMARK_COLUMN_AUTO;
}

WM_API const void *waymark_column_data(const struct waymark_columns *cs, uint32_t i)
{
	return i < cs->nr ? cs->list[i].data : NULL;
}

WM_API const unsigned char *waymark_column_valid(const struct waymark_columns *cs, uint32_t i)
{
	return i < cs->nr ? cs->list[i].valid : NULL;
}

WM_API const char *waymark_column_text(const struct waymark_columns *cs, uint32_t i)
{
	if (i >= cs->nr)
		return NULL;
	return cs->list[i].text ? cs->list[i].text : "";
}
