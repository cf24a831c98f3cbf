/* SPDX-License-Identifier: MIT */
/* browse.c - see browse.h: subjects, and the loop that draws and handles keys. */
#include "view/browse.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view/screen/browse_int.h"

void wm_browse_say(struct wm_browse *b, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(b->message, sizeof(b->message), fmt, args);
	va_end(args);
}

/* --- subjects ------------------------------------------------------------------------- */

void wm_browse_forget(struct wm_browse_level *l)
{
	for (uint32_t i = 0; i < l->nr_tables; i++)
		wm_outline_done(&l->tables[i].outline);
	free(l->tables);
	*l = (struct wm_browse_level){0};
}

static int open_table(struct wm_browse *b, struct wm_browse_level *l,
		      const struct wm_result_table *from)
{
	struct wm_browse_table *t = &l->tables[l->nr_tables++];
	int err = wm_outline_init(&t->outline, l->subject.result, from, l->subject.expand,
				  l->subject.own);
	uint32_t hottest;

	if (!err && (l->subject.least > 0 || l->subject.most))
		err = wm_outline_limit(&t->outline, l->subject.least, l->subject.most);
	if (err)
		return err;
	wm_browse_measure(b, t);
	hottest = l->subject.at_hottest ? wm_outline_next_hot(&t->outline, UINT32_MAX) : 0;
	t->cursor = hottest == UINT32_MAX ? 0 : hottest;
	return 0;
}

int wm_browse_look_at(struct wm_browse *b, uint32_t level, const struct wm_browse_subject *s)
{
	struct wm_browse_level l = {.subject = *s};
	uint32_t nr = 0;
	int err = 0;

	for (const struct wm_result_table *t = s->result->tables; t; t = t->next)
		nr++;
	l.tables = calloc(nr + 1, sizeof(*l.tables));
	if (!l.tables)
		return -ENOMEM;
	for (const struct wm_result_table *t = s->result->tables; t && !err; t = t->next)
		err = open_table(b, &l, t);
	if (err) {
		wm_browse_forget(&l);
		return err;
	}
	wm_browse_forget(&b->levels[level]);
	b->levels[level] = l;
	b->level = level;
	return 0;
}

/* --- the loop ------------------------------------------------------------------------- */

uint32_t wm_browse_key(struct wm_browse *b)
{
	uint32_t key = wm_terminal_key(b->t, -1);

	if (key != WM_KEY_ENDED && key != WM_KEY_INTERRUPT)
		return key == WM_KEY_RESIZE ? WM_KEY_NONE : key;
	b->leave = true;
	return WM_KEY_NONE;
}

void wm_browse_progress(struct wm_terminal *t, const char *what, double done)
{
	char text[80];
	int rows, columns, bytes;

	wm_terminal_size(t, &rows, &columns);
	bytes = snprintf(text, sizeof(text), " %s: %d%%", what, (int)(done * 100));
	wm_terminal_fill(t, rows - 1, 0, WM_INK_BAR);
	(void)wm_terminal_put(t, rows - 1, 0, 0, text, (size_t)bytes, WM_INK_BAR);
	wm_terminal_show(t);
}

int wm_browse(struct wm_terminal *t, const struct wm_browse_subject *subject,
	      const struct wm_browse_owner *owner)
{
	struct wm_browse b = {.t = t, .owner = owner};

	wm_text_init(&b.text);
	(void)snprintf(b.keys, sizeof(b.keys), "%s", owner->keys ? owner->keys : "");
	b.err = wm_browse_look_at(&b, WM_BROWSE_ROWS, subject);
	while (!b.leave && !b.err) {
		uint32_t key;

		wm_browse_draw(&b);
		key = wm_browse_key(&b);
		if (key) {
			b.message[0] = '\0';
			wm_browse_do(&b, key);
		}
	}
	for (uint32_t i = 0; i < WM_BROWSE_LEVELS; i++)
		wm_browse_forget(&b.levels[i]);
	wm_text_done(&b.text);
	return b.err;
}
