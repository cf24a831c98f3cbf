/* SPDX-License-Identifier: MIT */
/*
 * result.h - what an analysis found, before anybody draws it: notes, and tables
 * of typed cells whose rows may have rows below them. view/ makes text, JSON
 * and screens of any result by this header alone.
 *
 * Two kinds of rows below a row: parts (the same columns, of a hierarchy), and
 * calls (a call graph: a name and how much of the row came that way).
 *
 * Everything is in the result's arena. Texts keep their bytes as they came:
 * views make them harmless.
 */
#ifndef WM_ANALYSIS_RESULT_H
#define WM_ANALYSIS_RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

#define WM_RESULT_ARENA_MAX ((size_t)8 << 30)

enum wm_cell_kind {
	WM_CELL_TEXT,    /* .text; NULL: nothing to say */
	WM_CELL_COUNT,   /* .u */
	WM_CELL_BYTES,   /* .u */
	WM_CELL_NS,      /* .s: a duration */
	WM_CELL_TIME,    /* .s: a moment, nanoseconds of the traces' clock */
	WM_CELL_ADDRESS, /* .u */
	WM_CELL_SHARE,   /* .f: 0 .. 1, shown in percent */
	WM_CELL_CHANGE,  /* .f: a difference of shares, -1 .. 1 */
	WM_CELL_NUMBER,  /* .f */
};

struct wm_result_column {
	const char *name;  /* for programs: a word */
	const char *title; /* for people */
	enum wm_cell_kind kind;
};

union wm_cell {
	const char *text;
	uint64_t u;
	int64_t s;
	double f; /* NAN: nothing to say */
};

enum wm_row_kind {
	WM_ROW_PLAIN, /* cells[] of the table's columns */
	WM_ROW_CALL,  /* label, share and weight */
};

struct wm_result_row {
	struct wm_result_row *next, *first; /* the one behind it; the first below it */
	struct wm_result_row *last;         /* below it; for who adds */
	enum wm_row_kind kind;
	uint64_t weight;            /* what rows are sorted by */
	double share;               /* of the table's total, 0 .. 1 */
	const char *label;          /* CALL */
	const union wm_cell *cells; /* PLAIN */
	uint64_t own;               /* the analysis's: how it finds the row again */
	bool more;                  /* there are rows below: the analysis's expand() makes them */
};

struct wm_result_table {
	struct wm_result_table *next;
	const char *name;  /* a word for programs */
	const char *title; /* a line for people; NULL: none */
	const char
	    *subject; /* what it is about where there are several: an event's name; NULL: all */
	const struct wm_result_column *columns;
	uint32_t nr_columns, nr_rows;
	struct wm_result_row *first, *last;
	uint64_t nr_left_out; /* rows below a limit */
	double share_left_out;
};

enum wm_note_kind {
	WM_NOTE_FACT,    /* what the traces are */
	WM_NOTE_LOSS,    /* events are missing: figures are too small */
	WM_NOTE_PROBLEM, /* something could not be done, and the cure */
};

struct wm_result_note {
	struct wm_result_note *next;
	enum wm_note_kind kind;
	const char *name; /* a word for programs */
	const char *text; /* a sentence or a value */
};

struct wm_result {
	struct wm_arena arena;
	const char *name; /* of the analysis */
	struct wm_result_note *notes, *last_note;
	struct wm_result_table *tables, *last_table;
	bool failed; /* out of memory somewhere: additions are dropped */
};

void wm_result_init(struct wm_result *r, const char *name);
void wm_result_done(struct wm_result *r);

/* A copy of the bytes; "" and r->failed when there is no memory. */
const char *wm_result_text(struct wm_result *r, const char *text, size_t bytes);
const char *wm_result_format(struct wm_result *r, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

void wm_result_note(struct wm_result *r, enum wm_note_kind kind, const char *name, const char *fmt,
		    ...) __attribute__((format(printf, 4, 5)));

/* Columns and titles are not copied: they are constants, or the arena's. NULL: no memory. */
struct wm_result_table *wm_result_table(struct wm_result *r, const char *name, const char *title,
					const struct wm_result_column *columns,
					uint32_t nr_columns);

/*
 * Adds a row at the end, below `above` or, when that is NULL, to the table.
 * Its cells are zero and the caller's to fill through *ret_cells. NULL: no memory.
 */
struct wm_result_row *wm_result_row(struct wm_result *r, struct wm_result_table *t,
				    struct wm_result_row *above, union wm_cell **ret_cells);

/* A row of a call graph below `above`. The label is not copied. NULL: no memory. */
struct wm_result_row *wm_result_call(struct wm_result *r, struct wm_result_row *above,
				     const char *label, uint64_t weight, double share);

#endif
