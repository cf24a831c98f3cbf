/* SPDX-License-Identifier: MIT */
/* ticker.c - see ticker.h. Everything is redrawn each time; no reference to a result is kept. */
#include "view/ticker.h"

#include <stdlib.h>
#include <string.h>

#include "view/result_view.h"

#define COLUMNS_MAX 32u
#define DEPTH_MAX   40u /* maximum depth of calls drawn */
#define HOT         0.05
#define WARM        0.005

/* State while drawing a table: its columns are as wide as their contents. */
struct drawing {
	struct wm_ticker *k;
	struct wm_terminal *t;
	const struct wm_ticker_picture *p;
	const struct wm_result_table *table;
	unsigned widths[COLUMNS_MAX];
	uint32_t nr_columns;
	uint32_t row;  /* number of rows so far, in all tables */
	uint32_t line; /* number of lines so far, visible or not */
	int height;    /* height of the screen */
	struct wm_text text;
};

static bool ticker_is_text(enum wm_cell_kind kind)
{
	return kind == WM_CELL_TEXT;
}

/* Returns the cell as text, valid until the next call. */
static const char *cell_text(struct drawing *d, const struct wm_result_row *row, uint32_t c)
{
	d->text.bytes = 0;
	wm_view_result_cell(&d->text, d->table->columns[c].kind, &row->cells[c]);
	return d->text.failed || !d->text.data ? "" : d->text.data;
}

static void ticker_measure(struct drawing *d)
{
	uint64_t nr = 0;

	d->nr_columns = d->table->nr_columns < COLUMNS_MAX ? d->table->nr_columns : COLUMNS_MAX;
	for (uint32_t c = 0; c < d->nr_columns; c++) {
		const char *title = d->table->columns[c].title;

		d->widths[c] = wm_terminal_width(d->t, title, strlen(title));
	}
	for (const struct wm_result_row *r = d->table->first;
	     r && nr < (uint64_t)d->height && (!d->p->max_rows || nr < d->p->max_rows);
	     r = r->next, nr++)
		for (uint32_t c = 0; c < d->nr_columns; c++) {
			const char *text = cell_text(d, r, c);
			unsigned width = wm_terminal_width(d->t, text, strlen(text));

			if (width > d->widths[c])
				d->widths[c] = width;
		}
}

/*
 * Returns the screen row of the next line; -1: it is scrolled out. The first and last rows are used
 * by the bars.
 */
static int next_line(struct drawing *d)
{
	uint32_t line = d->line++;

	if (line < d->k->top || line - d->k->top >= (uint32_t)d->height - 2)
		return -1;
	return (int)(line - d->k->top) + 1;
}

static int ticker_put(struct drawing *d, int y, int x, const char *text, unsigned ink)
{
	return wm_terminal_put(d->t, y, x, 0, text, strlen(text), ink);
}

static int ticker_put_cell(struct drawing *d, int y, int x, uint32_t c, const char *text,
			   unsigned ink)
{
	unsigned width = wm_terminal_width(d->t, text, strlen(text));
	int end = x + (int)d->widths[c];

	if (!ticker_is_text(d->table->columns[c].kind) && width < d->widths[c])
		x += (int)(d->widths[c] - width);
	(void)ticker_put(d, y, x, text, ink);
	return end + 2;
}

static unsigned ticker_ink_of(double share)
{
	return share >= HOT ? WM_INK_HOT : share >= WARM ? WM_INK_WARM : WM_INK_PLAIN;
}

static void draw_calls(struct drawing *d, const struct wm_result_row *row, int depth)
{
	for (; row && depth < (int)DEPTH_MAX; row = row->next) {
		union wm_cell share = {.f = row->share};
		int y, x;

		if (row->kind != WM_ROW_CALL)
			continue;
		y = next_line(d);
		if (y >= 0) {
			d->text.bytes = 0;
			wm_view_result_cell(&d->text, WM_CELL_SHARE, &share);
			x = ticker_put(d, y, 4 + 2 * depth, d->text.data ? d->text.data : "",
				       ticker_ink_of(row->share));
			(void)ticker_put(d, y, x + 1, row->label ? row->label : "", WM_INK_FAINT);
		}
		draw_calls(d, row->first, depth + 1);
	}
}

/* Builds the name that identifies a row: the text of its keys. */
static void ticker_name_of(struct drawing *d, const struct wm_result_row *row, char *name)
{
	size_t n = 0;

	name[0] = '\0';
	for (uint32_t c = 0; c < d->nr_columns; c++) {
		const char *text =
		    d->table->columns[c].kind == WM_CELL_TEXT ? cell_text(d, row, c) : "";
		size_t bytes = strlen(text);

		if (!bytes || n + bytes + 2 > WM_TICKER_NAME)
			continue;
		memcpy(name + n, text, bytes);
		n += bytes;
		name[n++] = '\t';
		name[n] = '\0';
	}
}

static void ticker_draw_row(struct drawing *d, struct wm_result_row *row)
{
	char name[WM_TICKER_NAME];
	bool meant = d->row++ == d->k->cursor;
	unsigned cursor = meant ? WM_INK_CURSOR : 0;
	int y = next_line(d), x = 1;

	ticker_name_of(d, row, name);
	if (meant)
		strcpy(d->k->meant, name);
	if (y >= 0 && meant)
		wm_terminal_fill(d->t, y, 0, WM_INK_PLAIN | cursor);
	for (uint32_t c = 0; c < d->nr_columns && y >= 0; c++)
		x = ticker_put_cell(d, y, x, c, cell_text(d, row, c),
				    (d->table->columns[c].kind == WM_CELL_SHARE
					 ? ticker_ink_of(row->cells[c].f)
					 : WM_INK_PLAIN) |
					cursor);
	if (!d->k->open[0] || strcmp(d->k->open, name) != 0)
		return;
	if (d->p->expand && !row->first && d->p->expand(d->p->own, row))
		return;
	draw_calls(d, row->first, 0);
}

static void draw_table(struct drawing *d)
{
	uint64_t nr = 0;
	int y = next_line(d), x = 1;

	if (d->table->title && y >= 0)
		(void)ticker_put(d, y, 0, d->table->title, WM_INK_FAINT);
	y = next_line(d);
	ticker_measure(d);
	for (uint32_t c = 0; c < d->nr_columns && y >= 0; c++)
		x = ticker_put_cell(d, y, x, c, d->table->columns[c].title, WM_INK_TITLE);
	for (struct wm_result_row *r = d->table->first;
	     r && (!d->p->max_rows || nr < d->p->max_rows); r = r->next, nr++)
		ticker_draw_row(d, r);
}

static void ticker_draw_notes(struct drawing *d, enum wm_note_kind kind, unsigned ink)
{
	for (const struct wm_result_note *n = d->p->result->notes; n; n = n->next) {
		int y = n->kind == kind ? next_line(d) : -1;

		if (y >= 0)
			(void)ticker_put(d, y, 0, n->text, ink);
	}
}

static void draw_tables(struct drawing *d)
{
	ticker_draw_notes(d, WM_NOTE_LOSS, WM_INK_LOSS);
	if (!d->p->no_problems)
		ticker_draw_notes(d, WM_NOTE_PROBLEM, WM_INK_FAINT);
	for (d->table = d->p->result->tables; d->table; d->table = d->table->next)
		if (!d->p->but || strcmp(d->p->but, d->table->name) != 0)
			draw_table(d);
}

static void ticker_draw_bar(struct wm_terminal *t, int y, const char *text, unsigned ink)
{
	wm_terminal_fill(t, y, 0, ink);
	(void)wm_terminal_put(t, y, 0, 0, text, strlen(text), ink);
}

void wm_ticker_draw(struct wm_ticker *k, struct wm_terminal *t, const struct wm_ticker_picture *p)
{
	struct drawing d = {.k = k, .t = t, .p = p};
	int columns;

	wm_text_init(&d.text);
	wm_terminal_size(t, &d.height, &columns);
	wm_terminal_begin(t);
	if (d.height > 2 && p->result)
		draw_tables(&d);
	else if (d.height > 2)
		(void)ticker_put(&d, 2, 1, p->nothing, WM_INK_FAINT);
	ticker_draw_bar(t, 0, p->above, p->loss ? WM_INK_LOSS : WM_INK_BAR);
	ticker_draw_bar(t, d.height - 1, p->below, WM_INK_BAR);
	wm_terminal_show(t);
	k->nr_rows = d.row;
	k->page = d.height > 4 ? (uint32_t)d.height - 4 : 1;
	wm_text_done(&d.text);
}

void wm_ticker_page(struct wm_terminal *t, const char *const *lines, uint32_t nr)
{
	wm_terminal_begin(t);
	for (uint32_t i = 0; i < nr; i++)
		(void)wm_terminal_put(t, (int)i, 1, 0, lines[i], strlen(lines[i]),
				      i ? WM_INK_PLAIN : WM_INK_TITLE);
	wm_terminal_show(t);
}

static uint32_t ticker_moved(const struct wm_ticker *k, int64_t by)
{
	int64_t to = (int64_t)k->cursor + by;

	if (to >= (int64_t)k->nr_rows)
		to = (int64_t)k->nr_rows - 1;
	return to < 0 ? 0 : (uint32_t)to;
}

bool wm_ticker_key(struct wm_ticker *k, uint32_t key)
{
	int64_t by = key == WM_KEY_DOWN || key == 'j' ? 1
		     : key == WM_KEY_UP || key == 'k' ? -1
		     : key == WM_KEY_PAGE_DOWN        ? (int64_t)k->page
		     : key == WM_KEY_PAGE_UP          ? -(int64_t)k->page
		     : key == WM_KEY_HOME             ? -(int64_t)k->nr_rows
		     : key == WM_KEY_END              ? (int64_t)k->nr_rows
						      : 0;

	if (by) {
		k->cursor = ticker_moved(k, by);
		/* Few lines precede the rows: leave room for the lines after the cursor. */
		k->top = k->cursor > k->page * 3 / 4 ? k->cursor - k->page * 3 / 4 : 0;
		return true;
	}
	if (key != WM_KEY_ENTER && key != 'e' && key != 'g')
		return false;
	if (!strcmp(k->open, k->meant))
		k->open[0] = '\0';
	else
		strcpy(k->open, k->meant);
	return true;
}
