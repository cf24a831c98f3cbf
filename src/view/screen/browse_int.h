/* SPDX-License-Identifier: MIT */
/* browse_int.h - declarations shared by the files of the browser; see browse.h. */
#ifndef WM_VIEW_SCREEN_BROWSE_INT_H
#define WM_VIEW_SCREEN_BROWSE_INT_H

#include "base/text.h"
#include "view/browse.h"
#include "view/screen/outline.h"

#define WM_BROWSE_TEXT_MAX    256u /* size of an input line */
#define WM_BROWSE_COLUMNS_MAX 64u

/* A table, and the position in it. */
struct wm_browse_table {
	struct wm_outline outline;
	uint32_t cursor, top; /* numbers of lines */
	int left;             /* columns scrolled out to the left */
	unsigned widths[WM_BROWSE_COLUMNS_MAX];
	uint32_t nr_columns;
};

/* A level of the browser: the initial result, or one of its functions, with its tables. */
struct wm_browse_level {
	struct wm_browse_subject subject;
	struct wm_browse_table *tables; /* at least one element */
	uint32_t nr_tables, at;
};

enum wm_browse_levels { WM_BROWSE_ROWS, WM_BROWSE_FUNCTION, WM_BROWSE_LEVELS };

struct wm_browse {
	struct wm_terminal *t;
	const struct wm_browse_owner *owner;
	struct wm_browse_level levels[WM_BROWSE_LEVELS];
	uint32_t level;
	char keys[WM_BROWSE_TEXT_MAX];    /* the current keys of the rows */
	char search[WM_BROWSE_TEXT_MAX];  /* the last search text */
	char message[WM_BROWSE_TEXT_MAX]; /* shown until the next key */
	int body;                         /* number of table lines on the screen */
	bool leave;
	int err;
	struct wm_text text; /* scratch buffer for the drawing functions */
};

static inline struct wm_browse_level *wm_browse_level(struct wm_browse *b)
{
	return &b->levels[b->level];
}

/* The table shown; NULL: the result has no table. */
static inline struct wm_browse_table *wm_browse_table(struct wm_browse *b)
{
	struct wm_browse_level *l = wm_browse_level(b);

	return l->nr_tables ? &l->tables[l->at] : NULL;
}

/* The cursor's line; NULL: the table has no lines. */
static inline struct wm_outline_line *wm_browse_line(struct wm_browse *b)
{
	struct wm_browse_table *t = wm_browse_table(b);

	return t && t->outline.nr ? &t->outline.lines[t->cursor] : NULL;
}

void wm_browse_say(struct wm_browse *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Draw the whole screen (browse_draw.c). */
void wm_browse_draw(struct wm_browse *b);
void wm_browse_measure(struct wm_browse *b, struct wm_browse_table *t);

/* Runs a key's action; unknown keys show a message (browse_keys.c). */
void wm_browse_do(struct wm_browse *b, uint32_t key);

/*
 * Reads a line at the bottom of the screen (browse_ask.c). `text` has WM_BROWSE_TEXT_MAX bytes and
 * holds the initial text. Returns false when the user cancels with Esc.
 */
bool wm_browse_ask(struct wm_browse *b, const char *what, char *text);

/* Covers the screen with text until a non-scrolling key is pressed. */
void wm_browse_page(struct wm_browse *b, const char *title, const struct wm_text *text);

/* Sets a level's subject; on failure, the old one remains. Returns 0 or -ENOMEM. */
int wm_browse_look_at(struct wm_browse *b, uint32_t level, const struct wm_browse_subject *s);
void wm_browse_forget(struct wm_browse_level *l);

/* Reads a key for the loop; handles termination and resizing itself and then returns NONE. */
uint32_t wm_browse_key(struct wm_browse *b);

#endif
