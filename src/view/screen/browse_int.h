/* SPDX-License-Identifier: MIT */
/* browse_int.h - what the files of the browser share; see browse.h. */
#ifndef WM_VIEW_SCREEN_BROWSE_INT_H
#define WM_VIEW_SCREEN_BROWSE_INT_H

#include "base/text.h"
#include "view/browse.h"
#include "view/screen/outline.h"

#define WM_BROWSE_TEXT_MAX    256u /* bytes that are typed at once */
#define WM_BROWSE_COLUMNS_MAX 64u

/* One table, and where one is in it. */
struct wm_browse_table {
	struct wm_outline outline;
	uint32_t cursor, top; /* lines */
	int left;             /* columns that are scrolled out */
	unsigned widths[WM_BROWSE_COLUMNS_MAX];
	uint32_t nr_columns;
};

/* A subject: what was there at first, or a function of it. */
struct wm_browse_level {
	struct wm_browse_subject subject;
	struct wm_browse_table *tables; /* at least one line each */
	uint32_t nr_tables, at;
};

enum wm_browse_levels { WM_BROWSE_ROWS, WM_BROWSE_FUNCTION, WM_BROWSE_LEVELS };

struct wm_browse {
	struct wm_terminal *t;
	const struct wm_browse_owner *owner;
	struct wm_browse_level levels[WM_BROWSE_LEVELS];
	uint32_t level;
	char keys[WM_BROWSE_TEXT_MAX];    /* what rows are split by */
	char search[WM_BROWSE_TEXT_MAX];  /* what was looked for last */
	char message[WM_BROWSE_TEXT_MAX]; /* until the next key */
	int body;                         /* lines of the table on the screen */
	bool leave;
	int err;
	struct wm_text text; /* of the piece that is drawn */
};

static inline struct wm_browse_level *wm_browse_level(struct wm_browse *b)
{
	return &b->levels[b->level];
}

/* The table that is shown; NULL: the result has none. */
static inline struct wm_browse_table *wm_browse_table(struct wm_browse *b)
{
	struct wm_browse_level *l = wm_browse_level(b);

	return l->nr_tables ? &l->tables[l->at] : NULL;
}

/* The line that is meant; NULL: there is none. */
static inline struct wm_outline_line *wm_browse_line(struct wm_browse *b)
{
	struct wm_browse_table *t = wm_browse_table(b);

	return t && t->outline.nr ? &t->outline.lines[t->cursor] : NULL;
}

void wm_browse_say(struct wm_browse *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The whole picture (browse_draw.c). */
void wm_browse_draw(struct wm_browse *b);
void wm_browse_measure(struct wm_browse *b, struct wm_browse_table *t);

/* Does what a key means; keys that mean nothing are said (browse_keys.c). */
void wm_browse_do(struct wm_browse *b, uint32_t key);

/* The keys and what they do, a line each. */
void wm_browse_help(struct wm_text *t);

/*
 * A line to be typed at the bottom of the screen (browse_ask.c): `text`, of
 * TEXT_MAX bytes, is what it is at first. False: left with Esc.
 */
bool wm_browse_ask(struct wm_browse *b, const char *what, char *text);

/* Text over the whole screen, until a key that is not one to move by. */
void wm_browse_page(struct wm_browse *b, const char *title, const struct wm_text *text);

/* Another subject at that level; the old one stays when it fails. 0 or -ENOMEM. */
int wm_browse_look_at(struct wm_browse *b, uint32_t level, const struct wm_browse_subject *s);
void wm_browse_forget(struct wm_browse_level *l);

/* The loop's key, with what ends or changes the screen dealt with: NONE then. */
uint32_t wm_browse_key(struct wm_browse *b);

#endif
