/* SPDX-License-Identifier: MIT */
/*
 * browse.h - a result (analysis/result.h) on a terminal, to move in: rows are
 * opened, searched and chosen from, tables changed, notes read. Works on any
 * result; what needs more than the result is asked of its owner.
 */
#ifndef WM_VIEW_BROWSE_H
#define WM_VIEW_BROWSE_H

#include "analysis/result.h"
#include "base/diag.h"
#include "view/screen/terminal.h"

/* What is looked at. */
struct wm_browse_subject {
	struct wm_result *result;
	int (*expand)(void *own, struct wm_result *r, struct wm_result_row *row); /* or NULL */
	void *own;
	double least;    /* rows with a smaller share are not shown at first: 0 .. 1 */
	uint32_t most;   /* rows of a table; 0: all */
	bool at_hottest; /* begin at the row with the largest share, not at the first */
};

/* A function that a row is about: its cells' texts. */
struct wm_browse_function {
	const struct wm_result_table *table;
	const char *symbol; /* "[.] main" */
	const char *object; /* NULL: no such column */
};

/* What the owner can do; NULL: not here. */
struct wm_browse_owner {
	void *data;
	const char *title; /* "waymark report" */
	const char *keys;  /* what rows are split by now; may be NULL */

	/*
	 * The function's instructions as another subject, the owner's, valid until
	 * the next call of either. 0, or -errno with `diag`.
	 */
	int (*annotate)(void *data, const struct wm_browse_function *f,
			struct wm_browse_subject *ret, struct wm_diag *diag);

	/*
	 * The same split by other keys: fills `ret`, and ends the life of what was
	 * looked at. On an error that stays. Draws how far it is by itself.
	 */
	int (*split)(void *data, const char *keys, struct wm_browse_subject *ret,
		     struct wm_diag *diag);
};

/* Until it is left: 0, -ENOMEM. Who was ended by a signal: wm_terminal_signal(). */
int wm_browse(struct wm_terminal *t, const struct wm_browse_subject *subject,
	      const struct wm_browse_owner *owner);

/* A line across the bottom of the screen, at once: "reading: 43%". */
void wm_browse_progress(struct wm_terminal *t, const char *what, double done);

#endif
