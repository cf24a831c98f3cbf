/* SPDX-License-Identifier: MIT */
/*
 * ticker.h - a result (analysis/result.h) on a terminal that is another one
 * every few seconds: a line above, its tables, a line below. A row is meant
 * and may be opened, and both stay with what the row is about, wherever that
 * moves. For results that stay there is more to do: browse.h.
 */
#ifndef WM_VIEW_TICKER_H
#define WM_VIEW_TICKER_H

#include "analysis/result.h"
#include "base/text.h"
#include "view/screen/terminal.h"

#define WM_TICKER_NAME 256u /* bytes of what a row is about that are compared */

struct wm_ticker {
	uint32_t cursor;            /* row that is meant, of all that are shown */
	char open[WM_TICKER_NAME];  /* the row whose calls are shown; "": none */
	char meant[WM_TICKER_NAME]; /* that of the cursor, as drawn last */
	uint32_t nr_rows;           /* drawn last, of all tables */
	uint32_t page;              /* rows that fit */
	uint32_t top;               /* the first line that is drawn */
};

/* One picture of it. */
struct wm_ticker_picture {
	const char *above, *below; /* lines; `above` in WM_INK_LOSS when it tells of loss */
	bool loss;
	const struct wm_result *result; /* NULL: nothing yet */
	const char *but;                /* a table that is not drawn; NULL: all are */
	const char *nothing;            /* then */
	uint64_t max_rows;              /* of a table; 0: all that fit */
	/* Makes what is below a row, once; NULL: rows have nothing below. */
	int (*expand)(void *own, struct wm_result_row *row);
	void *own;
};

void wm_ticker_draw(struct wm_ticker *k, struct wm_terminal *t, const struct wm_ticker_picture *p);

/* Lines of a text over everything, from the top. */
void wm_ticker_page(struct wm_terminal *t, const char *const *lines, uint32_t nr);

/* Whether the key was one of those that move or open. */
bool wm_ticker_key(struct wm_ticker *k, uint32_t key);

#endif
