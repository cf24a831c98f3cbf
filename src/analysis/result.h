/* SPDX-License-Identifier: MIT */
/*
 * result.h - the result of an analysis, independent of its display: notes, and tables of typed
 * cells whose rows may have rows below them. view/ turns any result into text, JSON and screens,
 * using this header alone.
 *
 * There are two kinds of rows below a row: parts of a hierarchy, which have the same columns, and
 * calls of a call graph, which have a name and a share of the row.
 *
 * Everything is in the result's arena. Strings are raw bytes from traces and files: views must
 * escape them.
 */
#ifndef WM_ANALYSIS_RESULT_H
#define WM_ANALYSIS_RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

#define WM_RESULT_ARENA_MAX ((size_t)8 << 30)

enum wm_cell_kind {
	WM_CELL_TEXT,    /* .text; NULL: empty */
	WM_CELL_COUNT,   /* .u */
	WM_CELL_BYTES,   /* .u */
	WM_CELL_NS,      /* .s: a duration */
	WM_CELL_TIME,    /* .s: a time in nanoseconds of the traces' clock */
	WM_CELL_ADDRESS, /* .u */
	WM_CELL_SHARE,   /* .f: 0 .. 1, shown in percent */
	WM_CELL_CHANGE,  /* .f: a difference of shares, -1 .. 1 */
	WM_CELL_NUMBER,  /* .f */
	WM_CELL_CHANCE,  /* .f: a probability, 0 .. 1 */
};

struct wm_result_column {
	const char *name;  /* identifier for programs */
	const char *title; /* title for display */
	enum wm_cell_kind kind;
};

union wm_cell {
	const char *text;
	uint64_t u;
	int64_t s;
	double f; /* NAN: empty */
};

enum wm_row_kind {
	WM_ROW_PLAIN, /* has cells[], one for each column of the table */
	WM_ROW_CALL,  /* has label, share and weight */
};

struct wm_result_row {
	struct wm_result_row *next, *first; /* next sibling; first row below this one */
	struct wm_result_row *last;         /* last row below this one, for appending */
	enum wm_row_kind kind;
	uint64_t weight;            /* the sort key */
	double share;               /* share of the table's total, 0 .. 1 */
	const char *label;          /* set for CALL */
	const union wm_cell *cells; /* set for PLAIN */
	uint64_t own;               /* set by the analysis to identify the row */
	/* rows below exist, and can be created by the analysis's expand() */
	bool more;
};

struct wm_result_table {
	struct wm_result_table *next;
	const char *name;  /* identifier for programs */
	const char *title; /* title for display; may be NULL */
	/* name of its event if there are several tables; NULL: all events */
	const char *subject;
	const struct wm_result_column *columns;
	uint32_t nr_columns, nr_rows;
	struct wm_result_row *first, *last;
	uint64_t nr_left_out; /* number of rows below a limit */
	double share_left_out;
};

enum wm_note_kind {
	WM_NOTE_FACT,    /* describes the traces */
	WM_NOTE_LOSS,    /* events are missing, so figures are too small */
	WM_NOTE_PROBLEM, /* something failed; the text has a hint */
};

struct wm_result_note {
	struct wm_result_note *next;
	enum wm_note_kind kind;
	const char *name; /* identifier for programs */
	const char *text; /* a sentence or a value */
};

struct wm_result {
	struct wm_arena arena;
	const char *name; /* name of the analysis */
	struct wm_result_note *notes, *last_note;
	struct wm_result_table *tables, *last_table;
	/*
	 * Why the traces do not yield part of the result, with a hint; NULL: they yield all of it.
	 */
	const char *untold;
	bool failed; /* an allocation failed: further additions are ignored */
};

void wm_result_init(struct wm_result *r, const char *name);
void wm_result_done(struct wm_result *r);

/* Returns a copy of the bytes; if out of memory, sets r->failed and returns "". */
const char *wm_result_text(struct wm_result *r, const char *text, size_t bytes);
const char *wm_result_format(struct wm_result *r, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

void wm_result_note(struct wm_result *r, enum wm_note_kind kind, const char *name, const char *fmt,
		    ...) __attribute__((format(printf, 4, 5)));

/*
 * Appends a table. Columns and titles are not copied: they must be constants or in the arena. NULL:
 * out of memory.
 */
struct wm_result_table *wm_result_table(struct wm_result *r, const char *name, const char *title,
					const struct wm_result_column *columns,
					uint32_t nr_columns);

/*
 * Appends a row below `above` or, if that is NULL, to the table. Its cells are
 * zero; the caller fills them through *ret_cells. NULL: no memory.
 */
struct wm_result_row *wm_result_row(struct wm_result *r, struct wm_result_table *t,
				    struct wm_result_row *above, union wm_cell **ret_cells);

/* Appends a row of a call graph below `above`. The label is not copied. NULL: no memory. */
struct wm_result_row *wm_result_call(struct wm_result *r, struct wm_result_row *above,
				     const char *label, uint64_t weight, double share);

#endif
