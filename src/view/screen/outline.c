/* SPDX-License-Identifier: MIT */
/* outline.c - see outline.h. */
#include "view/screen/outline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* --- lines --------------------------------------------------------------------------- */

bool wm_outline_opens(const struct wm_outline_line *l)
{
	return l->row->first || l->row->more;
}

static int outline_make_room(struct wm_outline *o, uint32_t at, uint32_t nr)
{
	if (WM_ARRAY_GROW(o->lines, o->room, (size_t)o->nr + nr))
		return -ENOMEM;
	memmove(o->lines + at + nr, o->lines + at, (o->nr - at) * sizeof(*o->lines));
	o->nr += nr;
	return 0;
}

/* --- filters -------------------------------------------------------------------------- */

static bool text_fits(const struct wm_outline_filter *f, const char *text)
{
	if (!text)
		return false;
	return f->whole ? !strcmp(text, f->text) : strcasestr(text, f->text) != NULL;
}

static bool row_fits(const struct wm_outline *o, const struct wm_outline_filter *f,
		     const struct wm_result_row *row)
{
	for (uint32_t i = 0; i < o->table->nr_columns; i++)
		if ((f->column == WM_OUTLINE_ANY || f->column == i) &&
		    o->table->columns[i].kind == WM_CELL_TEXT && text_fits(f, row->cells[i].text))
			return true;
	return false;
}

/*
 * Returns whether a row passes all filters. A filter matches if the row itself matches, or a row
 * above it (`met`), or a row below it.
 */
static bool outline_fits(const struct wm_outline *o, const struct wm_result_row *row, uint32_t met,
			 uint32_t *ret_met)
{
	uint32_t all = (1u << o->nr_filters) - 1, below;

	if (row->kind != WM_ROW_PLAIN) {
		*ret_met = met;
		return true;
	}
	if (row->share < o->least)
		return false;
	for (uint32_t i = 0; i < o->nr_filters; i++)
		if (!(met & 1u << i) && row_fits(o, &o->filters[i], row))
			met |= 1u << i;
	*ret_met = met;
	if (met == all)
		return true;
	for (const struct wm_result_row *part = row->first; part; part = part->next)
		if (part->kind == WM_ROW_PLAIN && outline_fits(o, part, met, &below))
			return true;
	return false;
}

static int outline_fill(struct wm_outline *o)
{
	uint32_t met, at = 0;
	int err;

	o->nr = 0;
	err = outline_make_room(o, 0, o->table->nr_rows);
	if (err)
		return err;
	for (struct wm_result_row *row = o->table->first; row && (!o->most || at < o->most);
	     row = row->next)
		if (outline_fits(o, row, 0, &met))
			o->lines[at++] = (struct wm_outline_line){.row = row, .met = met};
	o->nr = o->nr_shown = at;
	return 0;
}

/* --- opening and closing --------------------------------------------------------------- */

int wm_outline_init(struct wm_outline *o, struct wm_result *result,
		    const struct wm_result_table *table,
		    int (*expand)(void *own, struct wm_result *r, struct wm_result_row *row),
		    void *own)
{
	*o = (struct wm_outline){.result = result, .table = table, .expand = expand, .own = own};
	return outline_fill(o);
}

void wm_outline_done(struct wm_outline *o)
{
	for (uint32_t i = 0; i < o->nr_filters; i++)
		free(o->filters[i].text);
	free(o->lines);
	*o = (struct wm_outline){0};
}

static bool outline_goes_on_alone(const struct wm_result_row *row,
				  const struct wm_result_row *above)
{
	return above->kind == WM_ROW_CALL && row->kind == WM_ROW_CALL && above->first == row &&
	       !row->next && row->weight == above->weight;
}

static struct wm_outline_line outline_below(const struct wm_outline_line *above,
					    struct wm_result_row *row, uint32_t met)
{
	bool alone = outline_goes_on_alone(row, above->row);

	return (struct wm_outline_line){
	    .row = row,
	    .depth = above->depth + 1,
	    .indent = above->indent + !alone,
	    .met = met,
	    .alone = alone,
	};
}

static int open_one(struct wm_outline *o, uint32_t at)
{
	struct wm_outline_line above = o->lines[at];
	uint32_t nr = 0, met;
	int err = 0;

	if (above.open)
		return 0;
	if (above.row->more && o->expand)
		err = o->expand(o->own, o->result, above.row);
	for (const struct wm_result_row *r = above.row->first; r; r = r->next)
		nr += outline_fits(o, r, above.met, &met);
	if (!err)
		err = outline_make_room(o, at + 1, nr);
	if (err)
		return err;
	o->lines[at].open = nr != 0;
	for (struct wm_result_row *r = above.row->first; r; r = r->next)
		if (outline_fits(o, r, above.met, &met))
			o->lines[++at] = outline_below(&above, r, met);
	return 0;
}

int wm_outline_open(struct wm_outline *o, uint32_t line)
{
	int err = open_one(o, line);

	while (!err && line + 1 < o->nr && o->lines[line].open && o->lines[line + 1].alone) {
		line++;
		err = open_one(o, line);
	}
	return err;
}

void wm_outline_close(struct wm_outline *o, uint32_t line)
{
	uint32_t end = line + 1;

	while (end < o->nr && o->lines[end].depth > o->lines[line].depth)
		end++;
	memmove(o->lines + line + 1, o->lines + end, (o->nr - end) * sizeof(*o->lines));
	o->nr -= end - line - 1;
	o->lines[line].open = false;
}

/* Collects lines in order: inserting them one by one would move all following lines each time. */
struct gathered {
	struct wm_outline_line *lines;
	uint32_t nr, room, most;
	bool cut; /* there were more lines than `most` */
};

static bool outline_push(struct gathered *g, struct wm_outline_line line)
{
	if (WM_ARRAY_GROW(g->lines, g->room, (size_t)g->nr + 1))
		return false;
	g->lines[g->nr++] = line;
	return true;
}

/*
 * Collects a line and everything below it. The recursion is as deep as call chains, at most
 * WM_CHAIN_MAX.
 */
static int gather(struct wm_outline *o, struct gathered *g, struct wm_outline_line line)
{
	uint32_t at = g->nr, met;
	int err = 0;

	line.open = false;
	if (!outline_push(g, line))
		return -ENOMEM;
	if (!wm_outline_opens(&line) || g->cut)
		return 0;
	g->cut = g->nr > g->most;
	if (line.row->more && o->expand)
		err = o->expand(o->own, o->result, line.row);
	for (struct wm_result_row *r = line.row->first; r && !err; r = r->next) {
		if (!outline_fits(o, r, line.met, &met))
			continue;
		g->lines[at].open = true;
		err = gather(o, g, outline_below(&line, r, met));
	}
	return err;
}

/* Replaces the lines [from, to). */
static int outline_replace(struct wm_outline *o, uint32_t from, uint32_t to,
			   const struct gathered *g)
{
	int err;

	memmove(o->lines + from, o->lines + to, (o->nr - to) * sizeof(*o->lines));
	o->nr -= to - from;
	err = outline_make_room(o, from, g->nr);
	if (!err)
		memcpy(o->lines + from, g->lines, g->nr * sizeof(*g->lines));
	return err;
}

int wm_outline_open_all(struct wm_outline *o, uint32_t line)
{
	bool all = line == UINT32_MAX;
	uint32_t from = all ? 0 : line, to = all ? o->nr : line + 1;
	struct gathered g = {.most = WM_OUTLINE_AT_ONCE_MAX};
	int err = 0;

	if (all)
		g.most += o->nr_shown;
	else
		wm_outline_close(o, line);
	for (uint32_t at = from; at < to && !err; at++)
		if (!all || !o->lines[at].depth)
			err = gather(o, &g, o->lines[at]);
	if (!err)
		err = outline_replace(o, from, to, &g);
	free(g.lines);
	return err ? err : g.cut ? -E2BIG : 0;
}

int wm_outline_close_all(struct wm_outline *o)
{
	return outline_fill(o);
}

uint32_t wm_outline_above(const struct wm_outline *o, uint32_t line)
{
	uint32_t depth = o->lines[line].depth;

	while (depth && line && o->lines[line].depth >= depth)
		line--;
	return line;
}

uint32_t wm_outline_top(const struct wm_outline *o, uint32_t line)
{
	while (line && o->lines[line].depth)
		line--;
	return line;
}

/* --- filtering and finding ------------------------------------------------------------- */

int wm_outline_filter(struct wm_outline *o, uint32_t column, bool whole, const char *text)
{
	char *copy;

	if (o->nr_filters == WM_OUTLINE_FILTERS_MAX)
		return -ENOSPC;
	copy = strdup(text);
	if (!copy)
		return -ENOMEM;
	o->filters[o->nr_filters++] = (struct wm_outline_filter){column, whole, copy};
	return outline_fill(o);
}

int wm_outline_unfilter(struct wm_outline *o)
{
	if (!o->nr_filters)
		return -ENOENT;
	free(o->filters[--o->nr_filters].text);
	return outline_fill(o);
}

int wm_outline_limit(struct wm_outline *o, double least, uint32_t most)
{
	o->least = least;
	o->most = most;
	return outline_fill(o);
}

uint32_t wm_outline_column(const struct wm_result_table *t, const char *name)
{
	for (uint32_t i = 0; i < t->nr_columns; i++)
		if (!strcmp(t->columns[i].name, name))
			return i;
	return WM_OUTLINE_ANY;
}

static bool has_text(const struct wm_outline *o, const struct wm_result_row *row, const char *text)
{
	const struct wm_outline_filter f = {.column = WM_OUTLINE_ANY, .text = (char *)text};

	return row->kind == WM_ROW_CALL ? text_fits(&f, row->label) : row_fits(o, &f, row);
}

uint32_t wm_outline_find(const struct wm_outline *o, const char *text, uint32_t from, int step)
{
	uint32_t at = from;

	for (uint32_t i = 0; i < o->nr; i++) {
		at = step > 0 ? (at + 1) % o->nr : (at + o->nr - 1) % o->nr;
		if (has_text(o, o->lines[at].row, text))
			return at;
	}
	return UINT32_MAX;
}

uint32_t wm_outline_number(const struct wm_outline *o, uint32_t column, uint64_t number)
{
	for (uint32_t i = 0; i < o->nr; i++)
		if (!o->lines[i].depth && o->lines[i].row->cells[column].u == number)
			return i;
	return UINT32_MAX;
}

/*
 * Returns whether row `a` comes before `b`: larger shares first, equal ones in table order.
 */
static bool comes_before(const struct wm_outline *o, uint32_t a, uint32_t b)
{
	double x = o->lines[a].row->share, y = o->lines[b].row->share;

	return x > y || (x == y && a < b);
}

uint32_t wm_outline_next_hot(const struct wm_outline *o, uint32_t from)
{
	uint32_t best = UINT32_MAX, hottest = UINT32_MAX;

	for (uint32_t i = 0; i < o->nr; i++) {
		if (o->lines[i].depth || !(o->lines[i].row->share > 0))
			continue;
		if (hottest == UINT32_MAX || comes_before(o, i, hottest))
			hottest = i;
		if (from < o->nr && comes_before(o, from, i) &&
		    (best == UINT32_MAX || comes_before(o, i, best)))
			best = i;
	}
	return best == UINT32_MAX ? hottest : best;
}
