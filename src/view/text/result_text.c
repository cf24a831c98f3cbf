/* SPDX-License-Identifier: MIT */
/*
 * result_text.c - a result as aligned text; see result_view.h. Columns are as
 * wide as the cells shown; the last column is not padded.
 */
#include <string.h>

#include "base/plural.h"
#include "view/result_view.h"
#include "view/value_text.h"

#define COLUMNS_MAX 64u
#define WIDTH_MAX   60u /* maximum width of a column other than the last */

struct sheet {
	const struct wm_result_view *v;
	const struct wm_result_table *table;
	struct wm_text *out, cell;
	unsigned widths[COLUMNS_MAX];
	uint32_t nr_columns;
};

/* Returns the number of characters; the text is valid UTF-8 here. */
static unsigned result_text_width_of(const char *text, size_t bytes)
{
	unsigned n = 0;

	for (size_t i = 0; i < bytes; i++)
		n += ((unsigned char)text[i] & 0xc0) != 0x80;
	return n;
}

static unsigned result_text_make_cell(struct sheet *s, uint32_t column,
				      const struct wm_result_row *row)
{
	wm_text_cut(&s->cell, 0);
	wm_view_result_cell(&s->cell, s->table->columns[column].kind, &row->cells[column]);
	return result_text_width_of(s->cell.data ? s->cell.data : "", s->cell.bytes);
}

static void result_text_measure_rows(struct sheet *s, const struct wm_result_row *row,
				     unsigned depth)
{
	uint64_t nr = 0;

	for (; row && (depth || !s->v->max_rows || nr < s->v->max_rows); row = row->next, nr++) {
		if (row->kind != WM_ROW_PLAIN)
			continue;
		for (uint32_t i = 0; i < s->nr_columns; i++) {
			unsigned width = result_text_make_cell(s, i, row) + (i ? 0 : depth * 2);

			if (width > s->widths[i])
				s->widths[i] = width < WIDTH_MAX ? width : WIDTH_MAX;
		}
		result_text_measure_rows(s, row->first, depth + 1);
	}
}

static void result_text_pad(struct wm_text *t, unsigned nr)
{
	while (nr--)
		wm_text_char(t, ' ');
}

/* Ends a line and truncates it at the terminal's edge; `start` is the offset of its beginning. */
static void end_line(struct sheet *s, size_t start)
{
	struct wm_text *t = s->out;
	unsigned n = 0;
	size_t at = start;

	while (t->bytes > start && t->data[t->bytes - 1] == ' ')
		wm_text_cut(t, t->bytes - 1);
	while (s->v->columns && at < t->bytes) {
		if (((unsigned char)t->data[at] & 0xc0) != 0x80 && ++n > s->v->columns)
			break;
		at++;
	}
	if (s->v->columns && at < t->bytes)
		wm_text_cut(t, at);
	wm_text_char(t, '\n');
}

/* Text is left-aligned, numbers are right-aligned. */
static void result_text_put_cell(struct sheet *s, uint32_t i, const char *text, size_t bytes,
				 unsigned indent)
{
	unsigned width = result_text_width_of(text, bytes) + indent;
	unsigned space = width < s->widths[i] ? s->widths[i] - width : 0;
	bool left = s->table->columns[i].kind == WM_CELL_TEXT;

	result_text_pad(s->out, indent);
	if (!left)
		result_text_pad(s->out, space);
	wm_text_add(s->out, text, bytes);
	if (left)
		result_text_pad(s->out, space);
	wm_text_str(s->out, "  ");
}

static size_t begin_line(struct sheet *s)
{
	size_t start = s->out->bytes;

	if (s->v->indent)
		wm_text_str(s->out, s->v->indent);
	return start;
}

/* --- call graphs -------------------------------------------------------------------------- */

/*
 * Writes the calls below a row. `left` is the text to the left of a call, with a vertical line for
 * each level that continues below.
 */
static void result_text_put_calls(struct sheet *s, const struct wm_result_row *row,
				  struct wm_text *left);

static void result_text_put_label(struct sheet *s, const char *label)
{
	wm_view_safe(s->out, label, strlen(label), false);
}

static bool result_text_goes_on_alone(const struct wm_result_row *row)
{
	return row->first && !row->first->next && row->first->kind == WM_ROW_CALL &&
	       row->first->weight == row->weight;
}

static void put_call(struct sheet *s, const struct wm_result_row *row, struct wm_text *left)
{
	size_t start = begin_line(s), bytes = left->bytes;
	bool last = !row->next;

	wm_text_add(s->out, left->data ? left->data : "", bytes);
	wm_text_f(s->out, "%s--%.2f%%--", last ? "`" : "|", row->share * 100);
	result_text_put_label(s, row->label);
	end_line(s, start);
	wm_text_str(left, last ? "           " : "|          ");
	for (; result_text_goes_on_alone(row); row = row->first) {
		start = begin_line(s);
		wm_text_add(s->out, left->data, left->bytes);
		result_text_put_label(s, row->first->label);
		end_line(s, start);
	}
	result_text_put_calls(s, row->first, left);
	wm_text_cut(left, bytes);
}

static void result_text_put_calls(struct sheet *s, const struct wm_result_row *row,
				  struct wm_text *left)
{
	for (; row; row = row->next)
		if (row->kind == WM_ROW_CALL)
			put_call(s, row, left);
}

/* --- tables ---------------------------------------------------------------------------------- */

static void put_graph(struct sheet *s, const struct wm_result_row *row)
{
	struct wm_text left;

	if (!row->first || row->first->kind != WM_ROW_CALL)
		return;
	wm_text_init(&left);
	result_text_pad(&left, s->widths[0] + 2);
	result_text_put_calls(s, row->first, &left);
	wm_text_char(s->out, '\n');
	wm_text_done(&left);
}

static void result_text_put_rows(struct sheet *s, const struct wm_result_row *row, unsigned depth)
{
	uint64_t nr = 0;

	for (; row && (depth || !s->v->max_rows || nr < s->v->max_rows); row = row->next, nr++) {
		size_t start;

		if (row->kind != WM_ROW_PLAIN)
			continue;
		start = begin_line(s);
		for (uint32_t i = 0; i < s->nr_columns; i++) {
			(void)result_text_make_cell(s, i, row);
			result_text_put_cell(s, i, s->cell.data ? s->cell.data : "", s->cell.bytes,
					     i ? 0 : depth * 2);
		}
		end_line(s, start);
		put_graph(s, row);
		result_text_put_rows(s, row->first, depth + 1);
	}
}

static void put_titles(struct sheet *s)
{
	size_t start = begin_line(s);

	for (uint32_t i = 0; i < s->nr_columns; i++) {
		const char *title = s->table->columns[i].title;

		result_text_put_cell(s, i, title, strlen(title), 0);
	}
	end_line(s, start);
}

static void result_text_put_table(struct sheet *s)
{
	const struct wm_result_table *t = s->table;

	s->nr_columns = t->nr_columns < COLUMNS_MAX ? t->nr_columns : COLUMNS_MAX;
	for (uint32_t i = 0; i < s->nr_columns; i++)
		s->widths[i] =
		    result_text_width_of(t->columns[i].title, strlen(t->columns[i].title));
	result_text_measure_rows(s, t->first, 0);
	wm_text_char(s->out, '\n');
	if (t->title) {
		size_t start = begin_line(s);

		wm_text_str(s->out, "# ");
		result_text_put_label(s, t->title);
		end_line(s, start);
	}
	put_titles(s);
	result_text_put_rows(s, t->first, 0);
	if (t->nr_left_out) {
		wm_text_f(s->out, "# and %llu %s below the limit",
			  (unsigned long long)t->nr_left_out,
			  wm_plural(t->nr_left_out, "row", "rows"));
		if (t->share_left_out > 0)
			wm_text_f(s->out, ", %.2f%%", t->share_left_out * 100);
		wm_text_char(s->out, '\n');
	}
}

/* Writes the facts first, then losses and problems, where users notice them. */
static void result_text_put_notes(struct wm_text *out, const struct wm_result *r, bool facts)
{
	for (const struct wm_result_note *n = r->notes; n; n = n->next) {
		if ((n->kind == WM_NOTE_FACT) != facts)
			continue;
		wm_text_f(out, facts ? "# %-10s " : "# %s: ", n->name);
		wm_view_safe(out, n->text, strlen(n->text), false);
		wm_text_char(out, '\n');
	}
}

void wm_view_result_text(struct wm_text *t, const struct wm_result *r,
			 const struct wm_result_view *v)
{
	struct sheet s = {.v = v, .out = t};

	wm_text_init(&s.cell);
	result_text_put_notes(t, r, true);
	result_text_put_notes(t, r, false);
	for (s.table = r->tables; s.table; s.table = s.table->next) {
		memset(s.widths, 0, sizeof(s.widths));
		result_text_put_table(&s);
	}
	t->failed |= s.cell.failed;
	wm_text_done(&s.cell);
}
