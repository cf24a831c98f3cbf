/* SPDX-License-Identifier: MIT */
/*
 * browse.h - interactive view of a result (analysis/result.h) on a terminal: the user opens,
 * searches and filters rows, switches tables and reads notes. It works on any result; the owner
 * provides callbacks for operations that need more than the result.
 */
#ifndef WM_VIEW_BROWSE_H
#define WM_VIEW_BROWSE_H

#include "analysis/result.h"
#include "base/diag.h"
#include "view/screen/terminal.h"

/* The result being shown. */
struct wm_browse_subject {
	struct wm_result *result;
	int (*expand)(void *own, struct wm_result *r, struct wm_result_row *row); /* or NULL */
	void *own;
	double least;    /* rows with a smaller share are hidden at first: 0 .. 1 */
	uint32_t most;   /* maximum rows per table; 0: no limit */
	bool at_hottest; /* start at the row with the largest share instead of the first */
};

/* The function in a row: the text of the row's cells. */
struct wm_browse_function {
	const struct wm_result_table *table;
	const char *symbol; /* "[.] main" */
	const char *object; /* NULL: the table has no such column */
};

/* The owner's operations; NULL: not available. */
struct wm_browse_owner {
	void *data;
	const char *title; /* "waymark report" */
	const char *keys;  /* the current keys of the rows; may be NULL */

	/*
	 * Creates a subject with the function's instructions. The owner keeps it valid until the
	 * next call of annotate() or split(). Returns 0, or -errno with `diag`.
	 */
	int (*annotate)(void *data, const struct wm_browse_function *f,
			struct wm_browse_subject *ret, struct wm_diag *diag);

	/*
	 * Splits the same data by other keys: fills `ret` and destroys the previous subject, which
	 * remains valid after an error. Draws its own progress.
	 */
	int (*split)(void *data, const char *keys, struct wm_browse_subject *ret,
		     struct wm_diag *diag);
};

/*
 * Runs until the user quits. Returns 0 or -ENOMEM. wm_terminal_signal() tells whether it was ended
 * by a signal.
 */
int wm_browse(struct wm_terminal *t, const struct wm_browse_subject *subject,
	      const struct wm_browse_owner *owner);

/* Draws a line such as "reading: 43%" at the bottom of the screen, immediately. */
void wm_browse_progress(struct wm_terminal *t, const char *what, double done);

#endif
