/* SPDX-License-Identifier: MIT */
/*
 * ticker.h - redraws a result (analysis/result.h) on a terminal every few seconds: a line above,
 * its tables, a line below. Selected and expanded rows are identified by name, so that they stay
 * selected when rows move. For a result that does not change, browse.h offers more.
 */
#ifndef WM_VIEW_TICKER_H
#define WM_VIEW_TICKER_H

#include "analysis/result.h"
#include "base/text.h"
#include "view/screen/terminal.h"

#define WM_TICKER_NAME 256u /* bytes of a row's name to compare */

struct wm_ticker {
	uint32_t cursor;            /* the selected row, counted over all tables shown */
	char open[WM_TICKER_NAME];  /* the row whose calls are shown; "": none */
	char meant[WM_TICKER_NAME]; /* name of the cursor's row, as last drawn */
	uint32_t nr_rows;           /* number of rows last drawn, in all tables */
	uint32_t page;              /* number of rows that fit on the screen */
	uint32_t top;               /* the first line drawn */
};

/* The contents of one refresh. */
struct wm_ticker_picture {
	const char *above, *below; /* lines; `above` is drawn in WM_INK_LOSS if `loss` */
	bool loss;
	bool no_problems; /* leaves out notes of problems, which have a page of their own */
	const struct wm_result *result; /* NULL: no result yet */
	const char *but;                /* name of a table to omit; NULL: none */
	const char *nothing;            /* text drawn while `result` is NULL */
	uint64_t max_rows;              /* maximum rows per table; 0: all that fit */
	/* Creates the rows below a row, once; NULL: rows have no children. */
	int (*expand)(void *own, struct wm_result_row *row);
	void *own;
};

void wm_ticker_draw(struct wm_ticker *k, struct wm_terminal *t, const struct wm_ticker_picture *p);

/* Covers the screen with lines of text. */
void wm_ticker_page(struct wm_terminal *t, const char *const *lines, uint32_t nr);

/* Handles a key that moves the cursor or opens a row; returns false for other keys. */
bool wm_ticker_key(struct wm_ticker *k, uint32_t key);

#endif
