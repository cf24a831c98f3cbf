/* SPDX-License-Identifier: MIT */
/*
 * stat.h - the plan of `waymark stat`, shared by its files:
 *
 *   stat.c         options
 *   plan.c         options -> plan; control/counting_choice.h decides what is counted, and how
 *   run.c          plan -> counting runs, and the exit status
 *   show_by.c      prints the tables of --by
 *   stream.c       --by and plain counts, computed from a stream of the events;
 *                  stream_show.c prints them
 *   rows.c         counters -> rows of view/count_table.h
 *   output.c       prints the rows of runs and intervals
 */
#ifndef WM_CMD_STAT_STAT_H
#define WM_CMD_STAT_STAT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/json.h"
#include "control/counting.h"
#include "control/counting_choice.h"
#include "view/count_table.h"

struct wm_stat_plan {
	struct wm_counting_request request;
	struct wm_counting_choice choice;
	int64_t runs;
	FILE *out;
	bool json;
	const char *separator; /* NULL: print a table */
	bool defaults;         /* default events: unavailable ones are not reported as missing */
	const char *without;   /* note on unavailable default events; NULL: none */
};

/* Reports that a run ended before the -D delay was over. */
void wm_stat_say_cut_short(const struct wm_stat_plan *plan);

/* Counts and prints; returns the exit status. */
int wm_stat_run(const struct wm_stat_plan *plan);

/*
 * Prints the tables for --by, in JSON as a member "by". Returns false, after a message, when some
 * events are in no row.
 */
bool wm_stat_show_by(const struct wm_stat_plan *plan, const struct wm_counting *c,
		     struct wm_json *j);

/* Prints one table for --by; returns the same as wm_stat_show_by(). */
bool wm_stat_show_table(const struct wm_stat_plan *plan, const char *event,
			const struct wm_by_row *rows, size_t nr, unsigned parts, uint64_t left_over,
			struct wm_json *j);

/*
 * Like wm_stat_run(), but counts from an event stream, for counts that the kernel cannot compute:
 * the events are recorded, read immediately and not stored.
 */
int wm_stat_stream_run(const struct wm_stat_plan *plan);

/* The counts of several runs: one entry per row of wm_stat_rows(). */
struct wm_stat_runs {
	struct wm_stat_run {
		char *key;       /* event and place of the row; not every run has each row */
		double mean, m2; /* m2: sum of squared distances from the mean */
		uint64_t enabled_ns, running_ns, raw;
		int64_t nr_runs; /* number of runs in the mean of each row */
	} * rows;
	size_t nr_rows;
	int64_t nr_runs;
	struct wm_stat_run elapsed, user, system; /* times of the runs, in nanoseconds */
};
void wm_stat_runs_add(struct wm_stat_run *r, int64_t nr_runs, double value);
/* Returns the standard error of the mean, relative to the mean; -1 with one run. */
double wm_stat_spread(const struct wm_stat_run *r, int64_t nr_runs);

/* State of the output, see output.c. */
struct wm_stat_out {
	const struct wm_stat_plan *plan;
	struct wm_count_layout layout;
	struct wm_json json;
	struct wm_stat_runs runs;
	uint64_t last_tick_ns; /* time of the last interval of this run */
	bool head_printed;
	uint64_t lost; /* events that were not counted; for programs, in the last run */
};
void wm_stat_out_begin(struct wm_stat_out *s, const struct wm_stat_plan *plan);
/* Prints an interval that ends now. */
void wm_stat_out_tick(struct wm_stat_out *s, const struct wm_count_row *rows, size_t nr,
		      uint64_t elapsed_ns);
/*
 * Add a run: begin, its rows (unless there are intervals), end. The rows are printed after the last
 * run. Return 0 or -ENOMEM.
 */
void wm_stat_out_begin_run(struct wm_stat_out *s, uint64_t elapsed_ns, uint64_t user_ns,
			   uint64_t system_ns);
int wm_stat_out_run(struct wm_stat_out *s, struct wm_count_row *rows, size_t nr,
		    uint64_t elapsed_ns, bool last);
void wm_stat_out_finish(struct wm_stat_out *s);

/*
 * Builds one row for each event and place. With `since`, the counts are those of the last interval,
 * which took elapsed_ns. Free them with wm_stat_rows_free(). NULL: out of memory.
 */
struct wm_count_row *wm_stat_rows(const struct wm_stat_plan *plan, const struct wm_counting *c,
				  bool since, uint64_t elapsed_ns, size_t *ret_nr);
void wm_stat_rows_free(struct wm_count_row *rows, size_t nr);

#endif
