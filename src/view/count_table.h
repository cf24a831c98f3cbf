/* SPDX-License-Identifier: MIT */
/*
 * count_table.h - shows counts as an aligned table for users, or as separated lines or JSON for
 * programs. Control bytes in event and thread names are escaped.
 */
#ifndef WM_VIEW_COUNT_TABLE_H
#define WM_VIEW_COUNT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/json.h"

struct wm_count_row {
	const char *event;
	const char *where;  /* "CPU0", "sh-1234"; NULL: everywhere */
	const char *reason; /* why the event was not counted; NULL: it was counted */
	bool minor;     /* one of many events that a wildcard matched: not shown while it is 0 */
	uint64_t raw;   /* unscaled */
	uint64_t value; /* extrapolated; equal to raw when the counter always ran */
	uint64_t enabled_ns, running_ns;
	double scale;        /* value of one count in `unit`; 0 means 1 */
	const char *unit;    /* "ms", "Joules"; NULL: a plain number */
	double spread;       /* standard error of the mean over runs, relative; < 0: one run */
	uint64_t elapsed_ns; /* wall time of the count; 0: show no rate */
	bool cpus; /* a clock in nanoseconds: `value`/elapsed is the number of CPUs used */
};

/* Column widths; the same for all tables of one run. */
struct wm_count_layout {
	bool time;      /* has a column with the time of the interval */
	unsigned where; /* bytes; 0: no such column */
	unsigned value, event;
};

/* Widens the layout to fit these rows. */
void wm_view_count_fit(struct wm_count_layout *l, const struct wm_count_row *rows, size_t nr);

void wm_view_count_head(FILE *out, const struct wm_count_layout *l);
/*
 * `time_ns` is shown when the layout has that column. Omits rows that were not
 * counted, and minor rows with 0 events; the last line says how many minor
 * rows were omitted.
 */
void wm_view_count_text(FILE *out, const struct wm_count_layout *l, uint64_t time_ns,
			const struct wm_count_row *rows, size_t nr);

/*
 * Prints one line per row, with the fields of `perf stat -x`:
 * [time,][where,]value,unit,event,[spread,]run time in ns,percentage of time running. Rows that
 * were not counted have the value "<not counted>".
 */
void wm_view_count_separated(FILE *out, const char *separator, bool with_time, uint64_t time_ns,
			     const struct wm_count_row *rows, size_t nr);

/* Writes the rows as an array of objects under `key`. */
void wm_view_count_json(struct wm_json *j, const char *key, const struct wm_count_row *rows,
			size_t nr);

/* Formats a number as "1,234,567"; buf must have 32 bytes. */
const char *wm_view_count_digits(uint64_t value, char *buf);

#endif
