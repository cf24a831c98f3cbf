/* SPDX-License-Identifier: MIT */
/*
 * browse_keys.c - what the browser's keys do: one table, which is also the help page.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "base/words.h"
#include "view/screen/browse_int.h"

#define KEYS_MAX    4u
#define SCROLL_STEP 8
#define SCROLL_MAX  65536

#define CTRL(c) ((uint32_t)(c)&0x1f)

struct action {
	uint32_t keys[KEYS_MAX];
	const char *name; /* name of the keys, for the help page */
	const char *what;
	void (*run)(struct wm_browse *b, int how);
	int how;
};

/* --- moving --------------------------------------------------------------------------- */

static void move_to(struct wm_browse *b, int64_t line)
{
	struct wm_browse_table *t = wm_browse_table(b);

	if (!t || !t->outline.nr)
		return;
	if (line >= t->outline.nr)
		line = (int64_t)t->outline.nr - 1;
	t->cursor = line < 0 ? 0 : (uint32_t)line;
}

static void move_by(struct wm_browse *b, int64_t step)
{
	struct wm_browse_table *t = wm_browse_table(b);

	if (t)
		move_to(b, (int64_t)t->cursor + step);
}

static void move_lines(struct wm_browse *b, int step)
{
	move_by(b, step);
}

static void move_pages(struct wm_browse *b, int step)
{
	move_by(b, (int64_t)step * b->body);
}

static void move_to_end(struct wm_browse *b, int end)
{
	move_to(b, end < 0 ? 0 : INT64_MAX);
}

static void scroll_sideways(struct wm_browse *b, int step)
{
	struct wm_browse_table *t = wm_browse_table(b);

	step *= SCROLL_STEP;
	if (t && t->left + step >= 0 && t->left + step < SCROLL_MAX)
		t->left += step;
}

static void change_table(struct wm_browse *b, int step)
{
	struct wm_browse_level *l = wm_browse_level(b);

	if (l->nr_tables > 1)
		l->at = (l->at + l->nr_tables + (uint32_t)step) % l->nr_tables;
	else
		wm_browse_say(b, "there is only one table");
}

static void next_hot(struct wm_browse *b, int how)
{
	struct wm_browse_table *t = wm_browse_table(b);
	uint32_t line;

	if (!t || !t->outline.nr)
		return;
	line = wm_outline_next_hot(&t->outline, wm_outline_top(&t->outline, t->cursor));
	if (line != UINT32_MAX)
		t->cursor = line;
}

/* --- opening -------------------------------------------------------------------------- */

static void opened(struct wm_browse *b, int err)
{
	if (err == -E2BIG)
		wm_browse_say(b, "more than %u lines: the rest stays closed",
			      WM_OUTLINE_AT_ONCE_MAX);
	else if (err)
		b->err = err;
}

static void browse_keys_open_line(struct wm_browse *b, int how)
{
	struct wm_outline_line *l = wm_browse_line(b);

	if (!l)
		return;
	if (!wm_outline_opens(l))
		wm_browse_say(b, "there is nothing below this line");
	else
		opened(b,
		       wm_outline_open(&wm_browse_table(b)->outline, wm_browse_table(b)->cursor));
}

static void browse_keys_close_line(struct wm_browse *b, int how)
{
	struct wm_browse_table *t = wm_browse_table(b);
	struct wm_outline_line *l = wm_browse_line(b);

	if (!l)
		return;
	if (l->open)
		wm_outline_close(&t->outline, t->cursor);
	else
		t->cursor = wm_outline_above(&t->outline, t->cursor);
}

/*
 * Gets the target of a jump within the function, as in "1147 <+0x1e>". Returns false when the row
 * is not such a jump.
 */
static bool jumps_to(const struct wm_outline *o, const struct wm_result_row *row, uint32_t *ret)
{
	uint32_t address = wm_outline_column(o->table, "address");
	uint32_t instruction = wm_outline_column(o->table, "instruction");
	const char *text, *target;

	if (address == WM_OUTLINE_ANY || instruction == WM_OUTLINE_ANY)
		return false;
	text = row->cells[instruction].text;
	target = text ? strstr(text, " <+0x") : NULL;
	if (!target)
		return false;
	while (target > text && target[-1] != ' ')
		target--;
	*ret = wm_outline_number(o, address, strtoull(target, NULL, 16));
	return *ret != UINT32_MAX;
}

static void toggle_line(struct wm_browse *b, int how)
{
	struct wm_outline_line *l = wm_browse_line(b);
	uint32_t target;

	if (l && jumps_to(&wm_browse_table(b)->outline, l->row, &target))
		wm_browse_table(b)->cursor = target;
	else if (l && l->open)
		wm_outline_close(&wm_browse_table(b)->outline, wm_browse_table(b)->cursor);
	else
		browse_keys_open_line(b, 0);
}

static void open_below(struct wm_browse *b, int how)
{
	if (wm_browse_line(b))
		opened(b, wm_outline_open_all(&wm_browse_table(b)->outline,
					      wm_browse_table(b)->cursor));
}

/* Opens or closes all lines; the cursor remains on its top-level row. */
static void all_lines(struct wm_browse *b, int (*change)(struct wm_outline *o))
{
	struct wm_browse_table *t = wm_browse_table(b);
	const struct wm_result_row *row;
	int err;

	if (!wm_browse_line(b))
		return;
	row = t->outline.lines[wm_outline_top(&t->outline, t->cursor)].row;
	err = change(&t->outline);
	for (uint32_t i = 0; i < t->outline.nr; i++)
		if (t->outline.lines[i].row == row)
			t->cursor = i;
	opened(b, err);
}

static int open_everything(struct wm_outline *o)
{
	return wm_outline_open_all(o, UINT32_MAX);
}

static void open_or_close_all(struct wm_browse *b, int how)
{
	all_lines(b, how > 0 ? open_everything : wm_outline_close_all);
}

/* --- searching ------------------------------------------------------------------------ */

static void browse_keys_find(struct wm_browse *b, int step)
{
	struct wm_browse_table *t = wm_browse_table(b);
	uint32_t line;

	if (!t)
		return;
	if (!b->search[0]) {
		wm_browse_say(b, "press / to enter a search text first");
		return;
	}
	line = wm_outline_find(&t->outline, b->search, t->cursor, step);
	if (line == UINT32_MAX)
		wm_browse_say(b, "no line has '%.100s'", b->search);
	else
		t->cursor = line;
}

static void search(struct wm_browse *b, int how)
{
	char text[WM_BROWSE_TEXT_MAX] = "";

	if (!wm_browse_ask(b, "search", text))
		return;
	if (text[0])
		memcpy(b->search, text, sizeof(text));
	browse_keys_find(b, 1);
}

/* --- filtering rows -------------------------------------------------------------------- */

static void filter(struct wm_browse *b, uint32_t column, bool whole, const char *text)
{
	struct wm_browse_table *t = wm_browse_table(b);
	int err = wm_outline_filter(&t->outline, column, whole, text);

	t->cursor = t->top = 0;
	if (err == -ENOSPC)
		wm_browse_say(b, "no more than %u filters: press Esc to undo one",
			      WM_OUTLINE_FILTERS_MAX);
	else if (err)
		b->err = err;
}

/* Asks for a filter: "comm:ls", or a string that any column may contain. */
static void filter_by_text(struct wm_browse *b, int how)
{
	struct wm_browse_table *t = wm_browse_table(b);
	char text[WM_BROWSE_TEXT_MAX] = "", *colon;
	uint32_t column = WM_OUTLINE_ANY;

	if (!t || !wm_browse_ask(b, "rows with [COLUMN:]TEXT", text) || !text[0])
		return;
	colon = strchr(text, ':');
	if (colon) {
		*colon = '\0';
		column = wm_outline_column(t->outline.table, text);
		*colon = ':';
	}
	filter(b, column, false, column == WM_OUTLINE_ANY ? text : colon + 1);
}

/*
 * Returns the row's text in that column; in a hierarchy, it may come from a row above. NULL: none.
 */
static const char *text_in(struct wm_browse *b, uint32_t column)
{
	struct wm_browse_table *t = wm_browse_table(b);
	uint32_t line = t->cursor;

	for (;;) {
		const struct wm_result_row *row = t->outline.lines[line].row;

		if (row->kind == WM_ROW_PLAIN && row->cells[column].text)
			return row->cells[column].text;
		if (!t->outline.lines[line].depth)
			return NULL;
		line = wm_outline_above(&t->outline, line);
	}
}

enum zoom { ZOOM_OBJECT, ZOOM_THREAD, ZOOM_COMMAND };

/* Filters rows like the cursor's, by the first of these columns that exists. */
static void zoom(struct wm_browse *b, int how)
{
	static const char *const columns[][4] = {[ZOOM_OBJECT] = {"dso"},
						 [ZOOM_THREAD] = {"tid", "pid", "comm"},
						 [ZOOM_COMMAND] = {"comm"}};
	const char *const *name = columns[how];
	struct wm_browse_table *t = wm_browse_table(b);
	const char *text = NULL;
	uint32_t column = WM_OUTLINE_ANY;

	if (!wm_browse_line(b))
		return;
	for (; *name && column == WM_OUTLINE_ANY; name++)
		column = wm_outline_column(t->outline.table, *name);
	if (column != WM_OUTLINE_ANY)
		text = text_in(b, column);
	if (text)
		filter(b, column, true, text);
	else
		wm_browse_say(b, "rows are not split by '%s': press s to split them",
			      columns[how][0]);
}

static void ask_limit(struct wm_browse *b, int how)
{
	struct wm_browse_table *t = wm_browse_table(b);
	char text[WM_BROWSE_TEXT_MAX] = "", *end;
	double limit;

	if (!t || !wm_browse_ask(b, "rows of at least this percentage", text))
		return;
	limit = strtod(text, &end);
	if (text[0] && (end == text || *end || !(limit >= 0 && limit <= 100))) {
		wm_browse_say(b, "'%.100s' is not a percentage", text);
		return;
	}
	t->cursor = t->top = 0;
	b->err = wm_outline_limit(&t->outline, text[0] ? limit / 100 : 0, t->outline.most);
}

/* --- other subjects -------------------------------------------------------------------- */

/*
 * Gets the function on the current line. For a call, this is the function named by its label, in
 * any object.
 */
static void browse_keys_function(struct wm_browse *b, struct wm_browse_function *ret)
{
	const struct wm_result_row *row = wm_browse_line(b)->row;
	uint32_t symbol, object;

	ret->table = wm_browse_table(b)->outline.table;
	if (row->kind == WM_ROW_CALL) {
		const char *last = strrchr(row->label, ';'); /* folded calls */

		ret->symbol = last ? last + 1 : row->label;
		return;
	}
	symbol = wm_outline_column(ret->table, "sym");
	object = wm_outline_column(ret->table, "dso");
	ret->symbol = symbol == WM_OUTLINE_ANY ? NULL : text_in(b, symbol);
	ret->object = object == WM_OUTLINE_ANY ? NULL : text_in(b, object);
}

static void browse_keys_annotate(struct wm_browse *b, int how)
{
	struct wm_browse_function f = {0};
	struct wm_browse_subject s = {0};
	struct wm_diag diag = {0};
	int err;

	if (!wm_browse_line(b) || b->level != WM_BROWSE_ROWS || !b->owner->annotate) {
		wm_browse_say(b, "this line has no instructions");
		return;
	}
	browse_keys_function(b, &f);
	if (!f.symbol) {
		wm_browse_say(b, "this row has no function: press s to split rows by 'sym'");
		return;
	}
	err = b->owner->annotate(b->owner->data, &f, &s, &diag);
	if (!err)
		b->err = wm_browse_look_at(b, WM_BROWSE_FUNCTION, &s);
	else
		wm_browse_say(b, "%s", wm_words_of(err, &diag));
}

static void browse_keys_split(struct wm_browse *b, int how)
{
	const struct wm_browse_table *t = wm_browse_table(b);
	char keys[WM_BROWSE_TEXT_MAX];
	struct wm_browse_subject s = {0};
	struct wm_diag diag = {0};
	int err;

	if (!b->owner->split || b->level != WM_BROWSE_ROWS) {
		wm_browse_say(b, "rows cannot be split by other keys here");
		return;
	}
	memcpy(keys, b->keys, sizeof(keys));
	if (!wm_browse_ask(b, "split by", keys) || !keys[0])
		return;
	wm_browse_draw(b);
	err = b->owner->split(b->owner->data, keys, &s, &diag);
	if (err) {
		wm_browse_say(b, "%s", wm_words_of(err, &diag));
		return;
	}
	memcpy(b->keys, keys, sizeof(keys));
	if (t) {
		s.least = t->outline.least;
		s.most = t->outline.most;
	}
	b->err = wm_browse_look_at(b, WM_BROWSE_ROWS, &s);
}

static void go_back(struct wm_browse *b, int how)
{
	struct wm_browse_table *t = wm_browse_table(b);

	if (t && t->outline.nr_filters) {
		b->err = wm_outline_unfilter(&t->outline);
		t->cursor = t->top = 0;
	} else if (b->level != WM_BROWSE_ROWS) {
		wm_browse_forget(wm_browse_level(b));
		b->level = WM_BROWSE_ROWS;
	} else {
		wm_browse_say(b, "press q to quit");
	}
}

static void browse_keys_leave(struct wm_browse *b, int how)
{
	if (b->level == WM_BROWSE_ROWS) {
		b->leave = true;
		return;
	}
	wm_browse_forget(wm_browse_level(b));
	b->level = WM_BROWSE_ROWS;
}

/* --- pages ---------------------------------------------------------------------------- */

static void show_notes(struct wm_browse *b, int how)
{
	static const char *const kinds[] = {"", "lost  ", ""};
	const struct wm_result *r = wm_browse_level(b)->subject.result;
	struct wm_text text;

	wm_text_init(&text);
	for (const struct wm_result_note *n = r->notes; n; n = n->next)
		wm_text_f(&text, "%s%-10s %s\n", kinds[n->kind], n->name, n->text);
	for (const struct wm_result_table *t = r->tables; t; t = t->next)
		if (t->nr_left_out)
			wm_text_f(&text, "%-10s %llu %s below the limit, %.2f%%\n", "left out",
				  (unsigned long long)t->nr_left_out,
				  wm_plural(t->nr_left_out, "row", "rows"),
				  t->share_left_out * 100);
	wm_browse_page(b, "contents of the trace, and losses", &text);
	wm_text_done(&text);
}

static void browse_keys_help(struct wm_text *t);

static void show_help(struct wm_browse *b, int how)
{
	struct wm_text text;

	wm_text_init(&text);
	browse_keys_help(&text);
	wm_browse_page(b, "keys", &text);
	wm_text_done(&text);
}

/* --- the table -------------------------------------------------------------------------- */

static const struct action actions[] = {
    {{WM_KEY_UP, 'k'}, "Up k", "one line up", move_lines, -1},
    {{WM_KEY_DOWN, 'j'}, "Down j", "one line down", move_lines, 1},
    {{WM_KEY_PAGE_UP, CTRL('b')}, "PgUp ^B", "one screen up", move_pages, -1},
    {{WM_KEY_PAGE_DOWN, CTRL('f'), ' '}, "PgDn ^F Space", "one screen down", move_pages, 1},
    {{WM_KEY_HOME, 'g'}, "Home g", "the first line", move_to_end, -1},
    {{WM_KEY_END, 'G'}, "End G", "the last line", move_to_end, 1},
    {{'<'}, "<", "scroll to the left", scroll_sideways, -1},
    {{'>'}, ">", "scroll to the right, for long names", scroll_sideways, 1},
    {{WM_KEY_TAB}, "Tab", "the next table", change_table, 1},
    {{WM_KEY_BACK_TAB}, "Shift-Tab", "the previous table", change_table, -1},
    {{WM_KEY_ENTER},
     "Enter",
     "open or close the calls or rows below a row; on a jump: go to its target",
     toggle_line},
    {{WM_KEY_RIGHT, '+', 'l'}, "Right + l", "open", browse_keys_open_line},
    {{WM_KEY_LEFT, '-'}, "Left -", "close, or go to the parent line", browse_keys_close_line},
    {{'e'}, "e", "open everything below this line", open_below},
    {{'E'}, "E", "open everything", open_or_close_all, 1},
    {{'C', 'c'}, "C c", "close everything", open_or_close_all, -1},
    {{'/'}, "/", "search in the lines shown", search},
    {{'n'}, "n", "the next match", browse_keys_find, 1},
    {{'N'}, "N", "the previous match", browse_keys_find, -1},
    {{'f'},
     "f",
     "show only rows that contain a string; COLUMN:STRING for one column (comm, dso, sym)",
     filter_by_text},
    {{'d'}, "d", "show only rows of this row's program or library", zoom, ZOOM_OBJECT},
    {{'t'}, "t", "show only rows of this row's thread, or command", zoom, ZOOM_THREAD},
    {{'m'}, "m", "show only rows of this row's command", zoom, ZOOM_COMMAND},
    {{'P'}, "P", "show only rows of at least a percentage", ask_limit},
    {{WM_KEY_ESCAPE, WM_KEY_BACKSPACE}, "Esc Backspace", "undo the last filter", go_back},
    {{'a'}, "a", "show the function's instructions", browse_keys_annotate},
    {{'H'}, "H", "the line with the next smaller share; after the last, the largest", next_hot},
    {{'s'}, "s", "split rows by other keys: reads the trace again", browse_keys_split},
    {{'i'}, "i", "contents of the trace, losses, addresses without names", show_notes},
    {{'?', 'h', WM_KEY_F1}, "? h F1", "this page", show_help},
    {{'q'}, "q", "back; leave", browse_keys_leave},
};

#define NR_ACTIONS (sizeof(actions) / sizeof(actions[0]))

/* Writes one line per key, with its action. */
static void browse_keys_help(struct wm_text *t)
{
	for (size_t i = 0; i < NR_ACTIONS; i++)
		wm_text_f(t, "%-14s %s\n", actions[i].name, actions[i].what);
	wm_text_f(t, "%-14s %s\n", "Ctrl-C", "leave");
}

void wm_browse_do(struct wm_browse *b, uint32_t key)
{
	for (size_t i = 0; i < NR_ACTIONS; i++)
		for (uint32_t k = 0; k < KEYS_MAX; k++)
			if (actions[i].keys[k] == key) {
				actions[i].run(b, actions[i].how);
				return;
			}
	wm_browse_say(b, "this key has no action: press ? for help");
}
