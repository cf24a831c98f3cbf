/* SPDX-License-Identifier: MIT */
/* browse_ask.c - input lines, and pages of text; see browse_int.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "view/screen/browse_int.h"

/* --- input line -------------------------------------------------------------------------- */

static void browse_ask_draw_line(struct wm_browse *b, const char *what, const char *text)
{
	int rows, columns, x, over;

	wm_browse_draw(b);
	wm_terminal_size(b->t, &rows, &columns);
	wm_terminal_fill(b->t, rows - 1, 0, WM_INK_PLAIN);
	/* A long input is scrolled so that its end is visible. */
	over = (int)(strlen(what) + 2 + wm_terminal_width(b->t, text, strlen(text))) - columns + 1;
	x = over > 0 ? -over : 0;
	x = wm_terminal_put(b->t, rows - 1, x, 0, what, strlen(what), WM_INK_TITLE);
	x = wm_terminal_put(b->t, rows - 1, x, 0, ": ", 2, WM_INK_TITLE);
	x = wm_terminal_put(b->t, rows - 1, x, 0, text, strlen(text), WM_INK_PLAIN);
	wm_terminal_cursor(b->t, rows - 1, x < columns ? x : columns - 1);
	wm_terminal_show(b->t);
}

static void take_back(char *text)
{
	size_t bytes = strlen(text);

	while (bytes && ((unsigned char)text[--bytes] & 0xc0) == 0x80)
		;
	text[bytes] = '\0';
}

/* Appends a character to the text, as UTF-8. */
static void type(char *text, uint32_t c)
{
	size_t at = strlen(text), nr = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	static const unsigned char first[] = {0, 0, 0xc0, 0xe0, 0xf0};

	if (at + nr >= WM_BROWSE_TEXT_MAX)
		return;
	text[at + nr] = '\0';
	for (size_t i = nr - 1; i; i--, c >>= 6)
		text[at + i] = (char)(0x80 | (c & 0x3f));
	text[at] = (char)(first[nr == 1 ? 0 : nr] | c);
}

bool wm_browse_ask(struct wm_browse *b, const char *what, char *text)
{
	while (!b->leave) {
		uint32_t key;

		browse_ask_draw_line(b, what, text);
		key = wm_browse_key(b);
		if (key == WM_KEY_ENTER)
			return true;
		if (key == WM_KEY_ESCAPE)
			return false;
		if (key == WM_KEY_BACKSPACE)
			take_back(text);
		else if (key == ('U' & 0x1f))
			text[0] = '\0';
		else if (key >= ' ' && key < WM_KEY_UP)
			type(text, key);
	}
	return false;
}

/* --- page -------------------------------------------------------------------------------- */

struct page {
	const char *title;
	const struct wm_text *text;
	int top, nr_lines, rows;
};

static int browse_ask_count_lines(const struct wm_text *text)
{
	int nr = 0;

	for (size_t i = 0; i < text->bytes; i++)
		nr += text->data[i] == '\n';
	return nr;
}

static void draw_page(struct wm_browse *b, struct page *p)
{
	static const char how[] = " any other key goes back";
	const char *at = p->text->data ? p->text->data : "", *end = at + p->text->bytes;
	int rows, columns;

	wm_terminal_size(b->t, &rows, &columns);
	p->rows = rows > 2 ? rows - 2 : 1;
	if (p->top > p->nr_lines - p->rows)
		p->top = p->nr_lines - p->rows;
	if (p->top < 0)
		p->top = 0;
	wm_terminal_begin(b->t);
	wm_terminal_fill(b->t, 0, 0, WM_INK_BAR);
	(void)wm_terminal_put(b->t, 0, 1, 0, p->title, strlen(p->title), WM_INK_BAR);
	for (int line = 0; at < end; line++) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));

		if (!stop)
			stop = end;
		if (line >= p->top && line < p->top + p->rows)
			(void)wm_terminal_put(b->t, 1 + line - p->top, 1, 0, at,
					      (size_t)(stop - at), WM_INK_PLAIN);
		at = stop + 1;
	}
	wm_terminal_fill(b->t, rows - 1, 0, WM_INK_BAR);
	(void)wm_terminal_put(b->t, rows - 1, 0, 0, how, sizeof(how) - 1, WM_INK_BAR);
	wm_terminal_show(b->t);
}

/* Scrolls the page. Returns false when the key does not scroll. */
static bool move(struct page *p, uint32_t key)
{
	switch (key) {
	case WM_KEY_NONE:
		return true;
	case WM_KEY_DOWN:
	case 'j':
		p->top++;
		return true;
	case WM_KEY_UP:
	case 'k':
		p->top--;
		return true;
	case WM_KEY_PAGE_DOWN:
	case ' ':
		p->top += p->rows;
		return true;
	case WM_KEY_PAGE_UP:
		p->top -= p->rows;
		return true;
	default:
		return false;
	}
}

void wm_browse_page(struct wm_browse *b, const char *title, const struct wm_text *text)
{
	struct page p = {.title = title, .text = text, .nr_lines = browse_ask_count_lines(text)};

	do
		draw_page(b, &p);
	while (move(&p, wm_browse_key(b)) && !b->leave);
}
