/* SPDX-License-Identifier: MIT */
/*
 * outline.h - the rows of a table as lines that are opened and closed, found
 * and left out: what a view that people move in shows, without the showing.
 *
 * Lines are one array: moving is arithmetic, opening puts the lines of what is
 * below behind a line, closing takes them out. What is below a row may be made
 * only when it is opened (wm_analysis.expand).
 */
#ifndef WM_VIEW_SCREEN_OUTLINE_H
#define WM_VIEW_SCREEN_OUTLINE_H

#include "analysis/result.h"

#define WM_OUTLINE_FILTERS_MAX 8u
#define WM_OUTLINE_AT_ONCE_MAX 100000u    /* lines that opening everything adds */
#define WM_OUTLINE_ANY         UINT32_MAX /* column: each */

struct wm_outline_line {
	struct wm_result_row *row;
	uint32_t depth;  /* 0: of the table */
	uint32_t indent; /* of calls: less than the depth where calls go on alone */
	uint32_t met;    /* filters that the row or one above it passed: bits */
	bool open;
	bool alone; /* a call that all of the call above it led to */
};

struct wm_outline_filter {
	uint32_t column; /* or ANY */
	bool whole;      /* the cell is the text; else it has it in it, in any case */
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
	double least;      /* rows with a smaller share are left out: 0 .. 1 */
	uint32_t most;     /* of the rows that fit, the first; 0: all */
	uint32_t nr_shown; /* rows of the table that are lines */
};

/*
 * All rows, closed. `result` and `table` outlive it; `expand` makes what is
 * below rows that have `more`. 0 or -ENOMEM; wm_outline_done() in any case.
 */
int wm_outline_init(struct wm_outline *o, struct wm_result *result,
		    const struct wm_result_table *table,
		    int (*expand)(void *own, struct wm_result *r, struct wm_result_row *row),
		    void *own);
void wm_outline_done(struct wm_outline *o);

/* Is there something below? */
bool wm_outline_opens(const struct wm_outline_line *l);

/*
 * Opens a line; where all of a call leads to one other, that too.
 * Closing takes all below it away. 0 or -ENOMEM.
 */
int wm_outline_open(struct wm_outline *o, uint32_t line);
void wm_outline_close(struct wm_outline *o, uint32_t line);

/*
 * Opens all below a line, or (UINT32_MAX) all; -E2BIG when that was more than
 * AT_ONCE_MAX lines: what was opened stays. 0, -ENOMEM.
 */
int wm_outline_open_all(struct wm_outline *o, uint32_t line);
int wm_outline_close_all(struct wm_outline *o); /* 0 or -ENOMEM */

/* The line above it in the tree; itself when it is of the table. */
uint32_t wm_outline_above(const struct wm_outline *o, uint32_t line);

/* The line of the table that it is or lies below. */
uint32_t wm_outline_top(const struct wm_outline *o, uint32_t line);

/*
 * Rows of the table that fit: at least `least`, and all filters. -ENOSPC: too
 * many filters; -ENOMEM. Everything is closed. The text is copied.
 */
int wm_outline_filter(struct wm_outline *o, uint32_t column, bool whole, const char *text);
int wm_outline_unfilter(struct wm_outline *o); /* takes the last one back; -ENOENT: there is none */
int wm_outline_limit(struct wm_outline *o, double least, uint32_t most);

/* The column of that name; ANY: none. */
uint32_t wm_outline_column(const struct wm_result_table *t, const char *name);

/*
 * The next line (step 1, or -1: the one before) with the text in it, in any
 * case, `from` last; UINT32_MAX: none.
 */
uint32_t wm_outline_find(const struct wm_outline *o, const char *text, uint32_t from, int step);

/* The line of the table whose cell in that column is that number; UINT32_MAX: none. */
uint32_t wm_outline_number(const struct wm_outline *o, uint32_t column, uint64_t number);

/* The line of the table with the next smaller share; behind the last the largest. UINT32_MAX: none.
 */
uint32_t wm_outline_next_hot(const struct wm_outline *o, uint32_t from);

#endif
