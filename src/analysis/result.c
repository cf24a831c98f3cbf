/* SPDX-License-Identifier: MIT */
/* result.c - see result.h. */
#include "analysis/result.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void wm_result_init(struct wm_result *r, const char *name)
{
	*r = (struct wm_result){.name = name};
	wm_arena_init(&r->arena, WM_RESULT_ARENA_MAX);
}

void wm_result_done(struct wm_result *r)
{
	wm_arena_done(&r->arena);
	*r = (struct wm_result){0};
}

static void *result_get(struct wm_result *r, size_t count, size_t bytes)
{
	void *p = wm_arena_array(&r->arena, count, bytes);

	if (!p) {
		r->failed = true;
		return NULL;
	}
	return memset(p, 0, count * bytes);
}

const char *wm_result_text(struct wm_result *r, const char *text, size_t bytes)
{
	const char *copy = wm_arena_copy(&r->arena, text, bytes);

	r->failed |= !copy;
	return copy ? copy : "";
}

static const char *format(struct wm_result *r, const char *fmt, va_list args)
{
	char *text = NULL;
	int bytes = vasprintf(&text, fmt, args);
	const char *copy;

	if (bytes < 0) {
		r->failed = true;
		return "";
	}
	copy = wm_result_text(r, text, (size_t)bytes);
	free(text);
	return copy;
}

const char *wm_result_format(struct wm_result *r, const char *fmt, ...)
{
	const char *text;
	va_list args;

	va_start(args, fmt);
	text = format(r, fmt, args);
	va_end(args);
	return text;
}

void wm_result_note(struct wm_result *r, enum wm_note_kind kind, const char *name, const char *fmt,
		    ...)
{
	struct wm_result_note *n = result_get(r, 1, sizeof(*n));
	va_list args;

	if (!n)
		return;
	va_start(args, fmt);
	*n = (struct wm_result_note){.kind = kind, .name = name, .text = format(r, fmt, args)};
	va_end(args);
	if (r->last_note)
		r->last_note->next = n;
	else
		r->notes = n;
	r->last_note = n;
}

struct wm_result_table *wm_result_table(struct wm_result *r, const char *name, const char *title,
					const struct wm_result_column *columns, uint32_t nr_columns)
{
	struct wm_result_table *t = result_get(r, 1, sizeof(*t));

	if (!t)
		return NULL;
	*t = (struct wm_result_table){
	    .name = name, .title = title, .columns = columns, .nr_columns = nr_columns};
	if (r->last_table)
		r->last_table->next = t;
	else
		r->tables = t;
	r->last_table = t;
	return t;
}

struct wm_result_row *wm_result_row(struct wm_result *r, struct wm_result_table *t,
				    struct wm_result_row *above, union wm_cell **ret_cells)
{
	struct wm_result_row *row = result_get(r, 1, sizeof(*row)), **first, **last;
	union wm_cell *cells = result_get(r, t->nr_columns, sizeof(*cells));

	if (!row || !cells)
		return NULL;
	first = above ? &above->first : &t->first;
	last = above ? &above->last : &t->last;
	if (*last)
		(*last)->next = row;
	else
		*first = row;
	*last = row;
	t->nr_rows += !above;
	row->cells = *ret_cells = cells;
	return row;
}

struct wm_result_row *wm_result_call(struct wm_result *r, struct wm_result_row *above,
				     const char *label, uint64_t weight, double share)
{
	struct wm_result_row *row = result_get(r, 1, sizeof(*row));

	if (!row)
		return NULL;
	row->kind = WM_ROW_CALL;
	row->label = label;
	row->weight = weight;
	row->share = share;
	if (above->last)
		above->last->next = row;
	else
		above->first = row;
	above->last = row;
	return row;
}
