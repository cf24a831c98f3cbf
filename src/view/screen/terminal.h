/* SPDX-License-Identifier: MIT */
/*
 * terminal.h - the screen and the keys of a terminal, for interactive views: opens it, redraws it,
 * restores it. Only terminal.c depends on the library used (ncurses).
 *
 *   wm_terminal_open()                    takes the screen; signals arrive as keys
 *     begin, put, put..., show draw a whole screen each time; only changes are sent
 *     wm_terminal_key() waits
 *   wm_terminal_close()                   restores the previous state
 *
 * Only wm_terminal_put() draws text, which may come from anywhere: invalid characters, and those
 * that move the cursor or change the writing direction, are drawn as escapes (wm_view_safe()); wide
 * characters take two columns.
 *
 * One terminal per process at a time, used by one thread. Rows and columns
 * count from 0.
 */
#ifndef WM_VIEW_SCREEN_TERMINAL_H
#define WM_VIEW_SCREEN_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

struct wm_terminal;

/* Keys: characters are their UTF-32 values; these are the others. */
enum wm_terminal_key {
	WM_KEY_NONE = 0, /* the timeout expired */
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
	WM_KEY_F1, /* followed by F2 to F12 */
	WM_KEY_F12 = WM_KEY_F1 + 11,
	WM_KEY_RESIZE,    /* redraw: the size changed, or the process was stopped and continued */
	WM_KEY_INTERRUPT, /* Ctrl-C */
	WM_KEY_ENDED, /* a termination signal, or the terminal was closed: call wm_terminal_close()
		       */
};

/* The meaning of a piece of text, which determines its colour and attributes. */
enum wm_ink {
	WM_INK_PLAIN,
	WM_INK_TITLE,
	WM_INK_BAR,  /* lines at the screen's edges */
	WM_INK_HOT,  /* a large share */
	WM_INK_WARM, /* a medium share */
	WM_INK_FAINT,
	WM_INK_LOSS, /* data is missing */
	WM_INK_MATCH,
	WM_INK_NR,
	WM_INK_CURSOR = 0x100, /* or'ed: the cursor's line */
};

/* Checks whether wm_terminal_open() would succeed. Returns the same errors. */
int wm_terminal_usable(struct wm_diag *diag);

/*
 * Takes over the terminal of standard input and output; characters are those of the process's
 * LC_CTYPE. Returns 0 or, with the reason in `diag`, -ENOTSUP (built without ncurses), -ENOTTY (not
 * a terminal), -ENODEV (TERM names a terminal that cannot move the cursor) or -ENOMEM.
 */
int wm_terminal_open(bool color, struct wm_terminal **ret, struct wm_diag *diag);

/* Accepts NULL. */
void wm_terminal_close(struct wm_terminal *t);

void wm_terminal_size(const struct wm_terminal *t, int *ret_rows, int *ret_columns);

/* wm_terminal_begin() clears the contents, wm_terminal_show() sends them to the screen. */
void wm_terminal_begin(struct wm_terminal *t);
void wm_terminal_show(struct wm_terminal *t);

/*
 * Draws text; returns the column after it. Text left of column 0 (the column
 * may be negative, for scrolled lines) or right of `edge` is clipped; edge 0:
 * the screen's edge. Rows outside the screen are ignored.
 */
int wm_terminal_put(struct wm_terminal *t, int row, int column, int edge, const char *text,
		    size_t bytes, unsigned ink);

/* Fills from a column to the screen's edge with blanks. */
void wm_terminal_fill(struct wm_terminal *t, int row, int column, unsigned ink);

/* Returns the number of columns that the text occupies. */
unsigned wm_terminal_width(const struct wm_terminal *t, const char *text, size_t bytes);

/* Shows the cursor at a position, for text input; row -1 hides it. */
void wm_terminal_cursor(struct wm_terminal *t, int row, int column);

/* Returns the next key, waiting at most `timeout_ms` (-1: no limit). */
uint32_t wm_terminal_key(struct wm_terminal *t, int timeout_ms);

/*
 * Gets the descriptors that an external event loop must wait for before reading keys without a
 * timeout.
 */
void wm_terminal_fds(const struct wm_terminal *t, int fds[2]);

/*
 * Returns the signal that caused WM_KEY_ENDED, so that the caller can raise it again after closing
 * the terminal; 0: none.
 */
int wm_terminal_signal(const struct wm_terminal *t);

#endif
