/* SPDX-License-Identifier: MIT */
/*
 * terminal.h - the screen and the keys of a terminal, for views that stay:
 * opened, drawn again and again, given back as it was. All else about a view
 * is elsewhere, and only terminal.c knows the library behind it (ncurses).
 *
 *   wm_terminal_open()                    the screen is ours, signals come as keys
 *     begin, put, put..., show            a whole picture each time; only changes are sent
 *     wm_terminal_key()                   waits
 *   wm_terminal_close()                   as it was before
 *
 * Text is drawn by this header only and may come from anywhere: what is no
 * character, or would move the cursor or turn the direction of writing, is
 * drawn as an escape (wm_view_safe()); wide characters take two columns.
 *
 * One terminal a process at a time, by one thread. Rows and columns are from 0.
 */
#ifndef WM_VIEW_SCREEN_TERMINAL_H
#define WM_VIEW_SCREEN_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

struct wm_terminal;

/* Keys: a character is itself (UTF-32); these are what is none. */
enum wm_terminal_key {
	WM_KEY_NONE = 0, /* the time is over */
	WM_KEY_TAB = '\t',
	WM_KEY_ENTER = '\n',
	WM_KEY_ESCAPE = 27,
	WM_KEY_BACKSPACE = 127,
	WM_KEY_UP = 0x110000,
	WM_KEY_DOWN,
	WM_KEY_LEFT,
	WM_KEY_RIGHT,
	WM_KEY_PAGE_UP,
	WM_KEY_PAGE_DOWN,
	WM_KEY_HOME,
	WM_KEY_END,
	WM_KEY_DELETE,
	WM_KEY_BACK_TAB,
	WM_KEY_F1, /* and so on to F12 */
	WM_KEY_F12 = WM_KEY_F1 + 11,
	WM_KEY_RESIZE,    /* draw anew: another size, or back after being stopped */
	WM_KEY_INTERRUPT, /* Ctrl-C */
	WM_KEY_ENDED,     /* asked to end by a signal, or the terminal is gone: close it */
};

/* What a piece of text is; how that looks is the terminal's. */
enum wm_ink {
	WM_INK_PLAIN,
	WM_INK_TITLE,
	WM_INK_BAR,  /* lines at the screen's edges */
	WM_INK_HOT,  /* much */
	WM_INK_WARM, /* some */
	WM_INK_FAINT,
	WM_INK_LOSS, /* something is missing */
	WM_INK_MATCH,
	WM_INK_NR,
	WM_INK_CURSOR = 0x100, /* or'ed: the line that is meant */
};

/*
 * Could one be opened? As wm_terminal_open(), without doing it.
 */
int wm_terminal_usable(struct wm_diag *diag);

/*
 * Takes the terminal of standard input and output; characters are those of the
 * process's LC_CTYPE. 0, or with `diag` that says what stands instead:
 * -ENOTSUP built without it, -ENOTTY no terminal, -ENODEV TERM names none that
 * can place text, -ENOMEM.
 */
int wm_terminal_open(bool color, struct wm_terminal **ret, struct wm_diag *diag);

/* Accepts NULL. */
void wm_terminal_close(struct wm_terminal *t);

void wm_terminal_size(const struct wm_terminal *t, int *ret_rows, int *ret_columns);

/* An empty picture; what it is to be; on the screen. */
void wm_terminal_begin(struct wm_terminal *t);
void wm_terminal_show(struct wm_terminal *t);

/*
 * Text at a place; returns the column behind it. What lies left of column 0
 * (it may be negative, for lines that are scrolled) or right of `edge` is not
 * drawn; edge 0: the screen's. Rows outside the screen: nothing.
 */
int wm_terminal_put(struct wm_terminal *t, int row, int column, int edge, const char *text,
		    size_t bytes, unsigned ink);

/* Blanks from a column to the screen's edge. */
void wm_terminal_fill(struct wm_terminal *t, int row, int column, unsigned ink);

/* The columns that the text takes there. */
unsigned wm_terminal_width(const struct wm_terminal *t, const char *text, size_t bytes);

/* The cursor at a place of the picture, for who types; row -1: none. */
void wm_terminal_cursor(struct wm_terminal *t, int row, int column);

/* The next key, at most so long from now (-1: for ever). */
uint32_t wm_terminal_key(struct wm_terminal *t, int timeout_ms);

/* For a loop of one's own: descriptors to wait for before asking for keys without waiting. */
void wm_terminal_fds(const struct wm_terminal *t, int fds[2]);

/* The signal behind WM_KEY_ENDED, for who ends as if by it once the terminal is closed; 0: none. */
int wm_terminal_signal(const struct wm_terminal *t);

#endif
