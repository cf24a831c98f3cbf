/* SPDX-License-Identifier: MIT */
/*
 * count_table.h - what was counted, made visible: an aligned table for
 * people, lines with separators and JSON for programs. Knows rows, not where
 * they come from. Names of events and threads are shown with control bytes
 * made harmless.
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
	const char *reason; /* why it is not counted; NULL: it is */
	bool minor;     /* one of many that a wildcard matched: people miss nothing while it is 0 */
	uint64_t raw;   /* as counted */
	uint64_t value; /* extrapolated to the whole time; equal to raw when nothing was missed */
	uint64_t enabled_ns, running_ns;
	double scale;        /* what one count is worth, in `unit`; 0: 1 */
	const char *unit;    /* "ms", "Joules"; NULL: a number of times */
	double spread;       /* standard error of the mean over runs, relative; < 0: one run */
	uint64_t elapsed_ns; /* of wall time it was counted over; 0: no rate is shown */
	bool cpus;           /* a clock in nanoseconds: `value`/elapsed is CPUs used */
};

/* How wide the columns are; equal for all tables of one run. */
struct wm_count_layout {
	bool time;      /* a column with the time of the interval */
	unsigned where; /* bytes; 0: no such column */
	unsigned value, event;
};

/* Makes the layout wide enough for these rows. */
void wm_count_layout_fit(struct wm_count_layout *l, const struct wm_count_row *rows, size_t nr);

void wm_count_text_head(FILE *out, const struct wm_count_layout *l);
/* `time_ns` is shown when the layout has that column. Rows not counted are left out,
 * and so are minor ones that are 0, whose number is the last line. */
void wm_count_text(FILE *out, const struct wm_count_layout *l, uint64_t time_ns,
		   const struct wm_count_row *rows, size_t nr);

/*
 * One line a row, fields as of `perf stat -x`: [time,][where,]value,unit,
 * event,[spread,]time it ran in ns,percent of the time it ran. What is not
 * counted has "<not counted>" for a value.
 */
void wm_count_separated(FILE *out, const char *separator, bool with_time, uint64_t time_ns,
			const struct wm_count_row *rows, size_t nr);

/* An array of objects under `key`. */
void wm_count_json(struct wm_json *j, const char *key, const struct wm_count_row *rows, size_t nr);

/* "1,234,567"; buf has 32 bytes. */
const char *wm_count_digits(uint64_t value, char *buf);

#endif
