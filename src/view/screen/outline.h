/* SPDX-License-Identifier: MIT */
/*
 * outline.h - the rows of a table as lines that can be opened, closed, found and filtered: the
 * model of an interactive view, without drawing.
 *
 * The lines are kept in one array: moving is arithmetic, opening a line inserts its children after
 * it, closing it removes them. The children of a row may be created only when it is opened
 * (wm_analysis.expand).
 */
#ifndef WM_VIEW_SCREEN_OUTLINE_H
#define WM_VIEW_SCREEN_OUTLINE_H

#include "analysis/result.h"

#define WM_OUTLINE_FILTERS_MAX 8u
#define WM_OUTLINE_AT_ONCE_MAX 100000u    /* maximum lines that wm_outline_open_all() may add */
#define WM_OUTLINE_ANY         UINT32_MAX /* value for a column: any */

struct wm_outline_line {
	struct wm_result_row *row;
	uint32_t depth; /* 0: a row of the table */
	/* call rows: less than `depth`, because single calls are not indented */
	uint32_t indent;
	uint32_t met; /* bits: the filters that the row or a row above it passed */
	bool open;
	bool alone; /* a single call: it carries the whole weight of the call above it */
};

struct wm_outline_filter {
	uint32_t column; /* or ANY */
	bool whole;      /* the cell equals the text; else it contains the text, ignoring case */
	char *text;
};

struct wm_outline {
	struct wm_result *result;
	const struct wm_result_table *table;
	int (*expand)(void *own, struct wm_result *r, struct wm_result_row *row); /* or NULL */
	void *own;
	struct wm_outline_line *lines;
	uint32_t nr, room;
	struct wm_outline_filter filters[WM_OUTLINE_FILTERS_MAX];
	uint32_t nr_filters;
	double least;      /* rows with a smaller share (0 .. 1) are left out */
	uint32_t most;     /* maximum matching rows to show; 0: all */
	uint32_t nr_shown; /* number of table rows that have lines */
};

/*
 * Shows all rows, closed. `result` and `table` must outlive the outline; `expand` creates the
 * children of rows with `more` set. Returns 0 or -ENOMEM; call wm_outline_done() in either case.
 */
int wm_outline_init(struct wm_outline *o, struct wm_result *result,
		    const struct wm_result_table *table,
		    int (*expand)(void *own, struct wm_result *r, struct wm_result_row *row),
		    void *own);
void wm_outline_done(struct wm_outline *o);

/* Whether the line has children. */
bool wm_outline_opens(const struct wm_outline_line *l);

/*
 * Opens a line and the chain of single calls below it. Closing removes all lines below. Returns 0
 * or -ENOMEM.
 */
int wm_outline_open(struct wm_outline *o, uint32_t line);
void wm_outline_close(struct wm_outline *o, uint32_t line);

/*
 * Opens everything below a line, or the whole outline (UINT32_MAX). Returns 0, -ENOMEM, or -E2BIG
 * when it stopped because it would add more than WM_OUTLINE_AT_ONCE_MAX lines.
 */
int wm_outline_open_all(struct wm_outline *o, uint32_t line);
int wm_outline_close_all(struct wm_outline *o); /* 0 or -ENOMEM */

/* The parent line in the tree; the line itself if it is a row of the table. */
uint32_t wm_outline_above(const struct wm_outline *o, uint32_t line);

/* The line of the table row that contains this line. */
uint32_t wm_outline_top(const struct wm_outline *o, uint32_t line);

/*
 * Adds a filter, and closes everything. Rows are shown if their share is at least `least` and they
 * pass all filters. The text is copied. Returns 0, -ENOMEM, or -ENOSPC when there are too many
 * filters.
 */
int wm_outline_filter(struct wm_outline *o, uint32_t column, bool whole, const char *text);
int wm_outline_unfilter(struct wm_outline *o); /* removes the last filter; -ENOENT: no filter */
int wm_outline_limit(struct wm_outline *o, double least, uint32_t most);

/* Returns the column with that name; WM_OUTLINE_ANY: there is none. */
uint32_t wm_outline_column(const struct wm_result_table *t, const char *name);

/*
 * Returns the next line (step 1) or previous line (step -1) that contains the text, ignoring case.
 * The search wraps around and ends at `from`. UINT32_MAX: none.
 */
uint32_t wm_outline_find(const struct wm_outline *o, const char *text, uint32_t from, int step);

/* Returns the line of the table row that has this number in that column; UINT32_MAX: none. */
uint32_t wm_outline_number(const struct wm_outline *o, uint32_t column, uint64_t number);

/*
 * Returns the line of the table row with the next smaller share; after the smallest share, the one
 * with the largest. UINT32_MAX: none.
 */
uint32_t wm_outline_next_hot(const struct wm_outline *o, uint32_t from);

#endif
