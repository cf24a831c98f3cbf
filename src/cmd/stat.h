/* SPDX-License-Identifier: MIT */
/*
 * stat.h - what `waymark stat` was asked to do, shared by its files:
 *
 *   stat.c        options -> plan
 *   stat_filter.c filters, in the kernel's words
 *   stat_run.c    plan -> runs of counting, and the exit status
 *   stat_by.c     tables of --by
 *   stat_show.c   counters -> rows of view/count_table.h
 */
#ifndef WM_CMD_STAT_H
#define WM_CMD_STAT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/json.h"
#include "control/counting.h"
#include "kernel/event_def.h"
#include "kernel/event_space.h"
#include "view/count_table.h"

/* The events named, and for each the filter the kernel is to use (NULL: none). */
struct wm_stat_events {
	struct wm_event_defs defs;
	char **filters;
	size_t nr_filters;
};
void wm_stat_events_done(struct wm_stat_events *e);

/* As typed: the one for all, and the one of this -e; NULL: none. */
struct wm_stat_filters {
	const char *text[2];
};

/*
 * Gives the events from `before` on their filters. Those a wildcard matched
 * that lack a field are taken off the list and counted in words; one named
 * outright is an error. 0 or an exit status, which was said.
 */
int wm_stat_filter(const struct wm_event_space *space, const char *name,
		   const struct wm_stat_filters *filters, size_t before, struct wm_stat_events *e);

struct wm_stat_plan {
	struct wm_counting_plan counting;
	bool per_cpu, per_thread; /* a row for each */
	int64_t runs;
	FILE *out;
	bool json;
	const char *separator; /* NULL: a table for people */
	bool defaults;         /* nobody named an event: what is not there is not missed */
	const char *without;   /* default events that are not there, for people; NULL: none */
};

/* Counts and prints; the exit status. */
int wm_stat_run(const struct wm_stat_plan *plan);

/* The tables of --by; JSON as a member "by". False: some events are in no row; it was said. */
bool wm_stat_show_by(const struct wm_stat_plan *plan, const struct wm_counting *c,
		     struct wm_json *j);

/* Several runs of the same events: value by row of wm_stat_rows(). */
struct wm_stat_runs {
	struct wm_stat_run {
		double mean, m2; /* m2: sum of squared distances from the mean */
		uint64_t enabled_ns, running_ns, raw;
	} * rows;
	size_t nr_rows;
	int64_t nr_runs;
	struct wm_stat_run elapsed, user, system; /* nanoseconds */
};
void wm_stat_runs_add(struct wm_stat_run *r, int64_t nr_runs, double value);
/* The standard error of the mean, relative to it; -1 when there was one run. */
double wm_stat_spread(const struct wm_stat_run *r, int64_t nr_runs);

/*
 * One row for each event and place. `since`: what the last interval had, of
 * that length. free() them with wm_stat_rows_free(). NULL: out of memory.
 */
struct wm_count_row *wm_stat_rows(const struct wm_stat_plan *plan, const struct wm_counting *c,
				  bool since, uint64_t elapsed_ns, size_t *ret_nr);
void wm_stat_rows_free(struct wm_count_row *rows, size_t nr);

#endif
