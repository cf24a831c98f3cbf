/* SPDX-License-Identifier: MIT */
/*
 * browse_draw.c - draws a browser:
 *
 *   title, the traces                     omitted first on a low screen
 *   losses, and the number of other notes
 *   the table's title
 *   the columns' titles
 *   lines                                 at least one
 *   position and filters; or a message
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/plural.h"
#include "view/result_view.h"
#include "view/screen/browse_int.h"

#define MARK_COLUMNS 2 /* "+ " before a line that can be opened */
#define WIDTH_MAX    60u
#define HOT_SHARE    0.05 /* rows are drawn as hot from this share on, as in perf */
#define WARM_SHARE   0.005
#define LOSSES_MAX   3 /* maximum lines about losses; the notes page has all */

/* --- widths --------------------------------------------------------------------------- */

static unsigned browse_draw_make_cell(struct wm_browse *b, const struct wm_result_table *t,
				      uint32_t column, const struct wm_result_row *row)
{
	wm_text_cut(&b->text, 0);
	wm_view_result_cell(&b->text, t->columns[column].kind, &row->cells[column]);
	return b->text.bytes ? wm_terminal_width(b->t, b->text.data, b->text.bytes) : 0;
}

static void browse_draw_measure_rows(struct wm_browse *b, struct wm_browse_table *t,
				     const struct wm_result_row *row)
{
	for (; row; row = row->next) {
		if (row->kind != WM_ROW_PLAIN)
			continue;
		for (uint32_t i = 0; i < t->nr_columns; i++) {
			unsigned width = browse_draw_make_cell(b, t->outline.table, i, row);

			if (width > t->widths[i])
				t->widths[i] = width;
		}
		browse_draw_measure_rows(b, t, row->first);
	}
}

void wm_browse_measure(struct wm_browse *b, struct wm_browse_table *t)
{
	const struct wm_result_table *from = t->outline.table;

	t->nr_columns =
	    from->nr_columns < WM_BROWSE_COLUMNS_MAX ? from->nr_columns : WM_BROWSE_COLUMNS_MAX;
	for (uint32_t i = 0; i < t->nr_columns; i++)
		t->widths[i] =
		    wm_terminal_width(b->t, from->columns[i].title, strlen(from->columns[i].title));
	browse_draw_measure_rows(b, t, from->first);
	for (uint32_t i = 0; i + 1 < t->nr_columns; i++)
		if (t->widths[i] > WIDTH_MAX)
			t->widths[i] = WIDTH_MAX;
}

/* --- lines of the table --------------------------------------------------------------- */

static unsigned browse_draw_ink_of(double share)
{
	return share >= HOT_SHARE ? WM_INK_HOT : share >= WARM_SHARE ? WM_INK_WARM : WM_INK_PLAIN;
}

/* Text is left-aligned, numbers are right-aligned; returns where the next column begins. */
static int browse_draw_put_cell(struct wm_browse *b, const struct wm_browse_table *t, uint32_t i,
				int y, int x, unsigned width, unsigned ink)
{
	bool last = i + 1 == t->nr_columns;
	bool left = t->outline.table->columns[i].kind == WM_CELL_TEXT;
	int end = x + (int)t->widths[i], indent = 0;

	if (!left && width < t->widths[i])
		indent = (int)(t->widths[i] - width);
	/* Skip a column that ends left of the screen: an edge of 0 would mean the screen's edge. */
	if ((last || end > 0) && b->text.bytes)
		(void)wm_terminal_put(b->t, y, x + indent, last ? 0 : end, b->text.data,
				      b->text.bytes, ink);
	return end + 2;
}

static void browse_draw_row(struct wm_browse *b, const struct wm_browse_table *t,
			    const struct wm_outline_line *l, int y, unsigned cursor)
{
	const struct wm_result_column *columns = t->outline.table->columns;
	int x = MARK_COLUMNS - t->left;

	(void)wm_terminal_put(b->t, y, -t->left, 0, wm_outline_opens(l) ? l->open ? "-" : "+" : " ",
			      1, cursor | WM_INK_TITLE);
	for (uint32_t i = 0; i < t->nr_columns; i++) {
		unsigned width = browse_draw_make_cell(b, t->outline.table, i, l->row),
			 ink = WM_INK_PLAIN;

		if (columns[i].kind == WM_CELL_SHARE)
			ink = browse_draw_ink_of(l->row->cells[i].f);
		x = browse_draw_put_cell(b, t, i, y, x, width, ink | cursor);
	}
}

static void draw_call(struct wm_browse *b, const struct wm_browse_table *t,
		      const struct wm_outline_line *l, int y, unsigned cursor)
{
	int x = MARK_COLUMNS + 2 * (int)l->indent - t->left;
	char share[32] = "         ";

	if (!l->alone) /* otherwise it equals the share of the call above */
		(void)snprintf(share, sizeof(share), "%6.2f%%  ", l->row->share * 100);
	(void)wm_terminal_put(b->t, y, x, 0, wm_outline_opens(l) ? l->open ? "-" : "+" : " ", 1,
			      cursor | WM_INK_TITLE);
	x = wm_terminal_put(b->t, y, x + MARK_COLUMNS, 0, share, strlen(share),
			    browse_draw_ink_of(l->row->share) | cursor);
	(void)wm_terminal_put(b->t, y, x, 0, l->row->label, strlen(l->row->label), cursor);
}

static void browse_draw_line(struct wm_browse *b, struct wm_browse_table *t, uint32_t line, int y)
{
	const struct wm_outline_line *l = &t->outline.lines[line];
	unsigned cursor = line == t->cursor ? WM_INK_CURSOR : 0;

	if (cursor)
		wm_terminal_fill(b->t, y, 0, cursor);
	if (l->row->kind == WM_ROW_CALL)
		draw_call(b, t, l, y, cursor);
	else
		browse_draw_row(b, t, l, y, cursor);
}

static void draw_titles(struct wm_browse *b, const struct wm_browse_table *t, int y)
{
	int x = MARK_COLUMNS - t->left;

	for (uint32_t i = 0; i < t->nr_columns; i++) {
		const char *title = t->outline.table->columns[i].title;

		wm_text_cut(&b->text, 0);
		wm_text_str(&b->text, title);
		x = browse_draw_put_cell(
		    b, t, i, y, x, wm_terminal_width(b->t, title, strlen(title)), WM_INK_TITLE);
	}
}

/*
 * Scrolls so that the cursor's line is on the screen, and so that lines at the bottom are empty
 * only if the table has fewer lines than the screen.
 */
static void scroll(struct wm_browse_table *t, uint32_t body)
{
	if (t->cursor >= t->outline.nr)
		t->cursor = t->outline.nr ? t->outline.nr - 1 : 0;
	if (t->top > t->cursor)
		t->top = t->cursor;
	if (t->cursor - t->top >= body)
		t->top = t->cursor - body + 1;
	if (t->outline.nr - t->top < body)
		t->top = t->outline.nr > body ? t->outline.nr - body : 0;
}

static void draw_lines(struct wm_browse *b, struct wm_browse_table *t, int y)
{
	static const char none[] = "no row matches: press Esc to undo the last filter";

	scroll(t, (uint32_t)b->body);
	for (uint32_t i = 0; i < (uint32_t)b->body && t->top + i < t->outline.nr; i++)
		browse_draw_line(b, t, t->top + i, y + (int)i);
	if (!t->outline.nr)
		(void)wm_terminal_put(b->t, y, MARK_COLUMNS, 0, none, sizeof(none) - 1,
				      WM_INK_FAINT);
}

/* --- head and status line --------------------------------------------------------------- */

static void browse_draw_put_text(struct wm_browse *b, int y, int x, unsigned ink)
{
	if (b->text.bytes && !b->text.failed)
		(void)wm_terminal_put(b->t, y, x, 0, b->text.data, b->text.bytes, ink);
}

/* Draws the title, such as "waymark report trace p.data events 590". */
static void browse_draw_bar(struct wm_browse *b, int y)
{
	const struct wm_result *r = wm_browse_level(b)->subject.result;

	wm_text_cut(&b->text, 0);
	wm_text_f(&b->text, " %s", b->owner->title);
	for (const struct wm_result_note *n = r->notes; n; n = n->next)
		if (n->kind == WM_NOTE_FACT && strcmp(n->name, "command") != 0)
			wm_text_f(&b->text, "  %s %s", n->name, n->text);
	wm_terminal_fill(b->t, y, 0, WM_INK_BAR);
	browse_draw_put_text(b, y, 0, WM_INK_BAR);
}

/* Shows losses, and the number of other notes. Returns the next row. */
static int draw_notes(struct wm_browse *b, int y)
{
	const struct wm_result *r = wm_browse_level(b)->subject.result;
	unsigned losses = 0, others = 0;

	for (const struct wm_result_note *n = r->notes; n; n = n->next) {
		if (n->kind == WM_NOTE_PROBLEM || (n->kind == WM_NOTE_LOSS && losses == LOSSES_MAX))
			others++;
		if (n->kind != WM_NOTE_LOSS || losses == LOSSES_MAX)
			continue;
		wm_text_cut(&b->text, 0);
		wm_text_f(&b->text, " %s: %s", n->name, n->text);
		browse_draw_put_text(b, y++, 0, WM_INK_LOSS);
		losses++;
	}
	if (!others)
		return y;
	wm_text_cut(&b->text, 0);
	wm_text_f(&b->text, "%u %s on missing or unknown data: press i to see %s", others,
		  wm_plural(others, "note", "notes"), wm_plural(others, "it", "them"));
	browse_draw_put_text(b, y, 0, WM_INK_FAINT);
	return y + 1;
}

static void draw_table_title(struct wm_browse *b, const struct wm_browse_table *t, int y)
{
	const struct wm_browse_level *l = wm_browse_level(b);
	const char *title = t->outline.table->title;

	wm_text_cut(&b->text, 0);
	wm_text_f(&b->text, " %s", title ? title : t->outline.table->name);
	if (l->nr_tables > 1)
		wm_text_f(&b->text, "  (table %u of %u: Tab)", l->at + 1, l->nr_tables);
	browse_draw_put_text(b, y, 0, WM_INK_PLAIN);
}

static void browse_draw_add_filters(struct wm_text *text, const struct wm_outline *o)
{
	for (uint32_t i = 0; i < o->nr_filters; i++) {
		const struct wm_outline_filter *f = &o->filters[i];

		wm_text_f(text, "  %s%s%s",
			  f->column == WM_OUTLINE_ANY ? "" : o->table->columns[f->column].name,
			  f->column == WM_OUTLINE_ANY ? "with "
			  : f->whole                  ? " is "
						      : " has ",
			  f->text);
	}
	if (o->least > 0)
		wm_text_f(text, "  at least %g%%", o->least * 100);
}

static void draw_status(struct wm_browse *b, const struct wm_browse_table *t, int y)
{
	wm_text_cut(&b->text, 0);
	if (b->message[0]) {
		wm_text_f(&b->text, " %s", b->message);
	} else if (t) {
		wm_text_f(&b->text, " %u of %u", t->outline.nr ? t->cursor + 1 : 0, t->outline.nr);
		if (t->outline.nr_shown != t->outline.table->nr_rows)
			wm_text_f(&b->text, " (%u of %u rows)", t->outline.nr_shown,
				  t->outline.table->nr_rows);
		browse_draw_add_filters(&b->text, &t->outline);
		wm_text_str(&b->text, "  ? help  q quit");
	} else {
		wm_text_str(&b->text, " nothing to show  i notes  q quit");
	}
	wm_terminal_fill(b->t, y, 0, WM_INK_BAR);
	browse_draw_put_text(b, y, 0, WM_INK_BAR);
}

void wm_browse_draw(struct wm_browse *b)
{
	struct wm_browse_table *t = wm_browse_table(b);
	int rows, columns, y = 0;

	wm_terminal_size(b->t, &rows, &columns);
	wm_terminal_begin(b->t);
	if (rows >= 5)
		browse_draw_bar(b, y++);
	if (rows >= 12)
		y = draw_notes(b, y);
	if (t && rows >= 6)
		draw_table_title(b, t, y++);
	if (t && rows >= 4)
		draw_titles(b, t, y++);
	b->body = rows - y - 1 > 0 ? rows - y - 1 : 1;
	if (t)
		draw_lines(b, t, y);
	if (rows > 1)
		draw_status(b, t, rows - 1);
	wm_terminal_show(b->t);
	if (b->text.failed)
		b->err = -ENOMEM;
}
