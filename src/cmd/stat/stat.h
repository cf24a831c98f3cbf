/* SPDX-License-Identifier: MIT */
/*
 * stat.h - what `waymark stat` was asked to do, shared by its files:
 *
 *   stat.c        options
 *   plan.c  options -> plan
 *   filter.c filters, in the kernel's words
 *   programs.c   events of programs
 *   run.c    plan -> runs of counting, and the exit status
 *   show_by.c     tables of --by
 *   stream.c the same, and plain counts, of a stream of the events:
 *                 stream_want.c which, stream_show.c what they were
 *   show.c   counters -> rows of view/count_table.h
 *   output.c    rows of runs and intervals on their way out
 */
#ifndef WM_CMD_STAT_STAT_H
#define WM_CMD_STAT_STAT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/json.h"
#include "control/counting.h"
#include "kernel/count_filter.h"
#include "kernel/event_def.h"
#include "kernel/event_space.h"
#include "view/count_table.h"

/* The events named, and for each the filter the kernel is to use (NULL: none). */
struct wm_stat_events {
	struct wm_event_defs defs;
	struct wm_count_filters filters;
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

/*
 * Events of programs. `c` says whose; `only_cpus`: on c->cpus alone.
 */
struct wm_stat_user;
int wm_stat_user_create(const struct wm_counting_plan *c, const char *preload, bool only_cpus,
			struct wm_stat_user **ret);
void wm_stat_user_destroy(struct wm_stat_user *u); /* accepts NULL */

/* Whether a name means some; `err` is why the kernel has none so called, 0: it was not asked. */
bool wm_stat_user_means(const struct wm_stat_user *u, const struct wm_event_space *space,
			const char *name, int err);
/* One more rule, behind `before` events of the kernel. 0 or an exit status, which was said. */
int wm_stat_user_add(struct wm_stat_user *u, const char *name,
		     const struct wm_stat_filters *filters, size_t before);
/* For control/; NULL: none were named. `beside`: the kernel's events are counted, too. */
const struct wm_recorder_plan *wm_stat_user_plan(struct wm_stat_user *u, bool beside);

/* Whose events: the same without events; they are the caller's. */
const struct wm_recorder_plan *wm_stat_user_whose(const struct wm_stat_user *u);
uint32_t wm_stat_user_nr_rules(const struct wm_stat_user *u);
size_t wm_stat_user_rules_before(const struct wm_stat_user *u, uint32_t rule);
const char *wm_stat_user_name(const struct wm_stat_user *u, uint32_t rule);
/* What is missing, in words. False: something is; *ret_none: no event was there at all. */
bool wm_stat_user_say(const struct wm_stat_user *u, const struct wm_counting *c, bool *ret_none);

/* One -e, as typed, and its --filter. */
struct wm_stat_wanted {
	const char *names, *filter;
};

struct wm_stat_plan {
	struct wm_counting_plan counting;
	const struct wm_stat_wanted *wanted;
	size_t nr_wanted;
	const char *filter;        /* before any -e; NULL: none */
	bool only_cpus;            /* counting.cpus were chosen by people */
	struct wm_stat_user *user; /* asked when there are counting.programs */
	bool per_cpu, per_thread;  /* a row for each */
	int64_t runs;
	FILE *out;
	bool json;
	const char *separator; /* NULL: a table for people */
	bool defaults;         /* nobody named an event: what is not there is not missed */
	bool stream;           /* counted from a stream of the events */
	const char *without;   /* default events that are not there, for people; NULL: none */
};

/* A run ended before -D was over. */
void wm_stat_say_cut_short(const struct wm_stat_plan *plan);

/* Counts and prints; the exit status. */
int wm_stat_run(const struct wm_stat_plan *plan);

/* The tables of --by; JSON as a member "by". False: some events are in no row; it was said. */
bool wm_stat_show_by(const struct wm_stat_plan *plan, const struct wm_counting *c,
		     struct wm_json *j);

/* One of them; the same. */
bool wm_stat_show_table(const struct wm_stat_plan *plan, const char *event,
			const struct wm_by_row *rows, size_t nr, unsigned parts, uint64_t left_over,
			struct wm_json *j);

/*
 * The same from a stream of the events, where the kernel cannot count by itself:
 * they are recorded, read as they come, and kept nowhere.
 */
int wm_stat_stream_run(const struct wm_stat_plan *plan);

/* Several runs of the same events: values by the rows of wm_stat_rows(). */
struct wm_stat_runs {
	struct wm_stat_run {
		char *key; /* of a row: its event and place; a run may have rows others lack */
		double mean, m2; /* m2: sum of squared distances from the mean */
		uint64_t enabled_ns, running_ns, raw;
		int64_t nr_runs; /* of a row: that are in its mean */
	} * rows;
	size_t nr_rows;
	int64_t nr_runs;
	struct wm_stat_run elapsed, user, system; /* nanoseconds */
};
void wm_stat_runs_add(struct wm_stat_run *r, int64_t nr_runs, double value);
/* The standard error of the mean, relative to it; -1 when there was one run. */
double wm_stat_spread(const struct wm_stat_run *r, int64_t nr_runs);

/* On their way to people or programs, see output.c. */
struct wm_stat_out {
	const struct wm_stat_plan *plan;
	struct wm_count_layout layout;
	struct wm_json json;
	struct wm_stat_runs runs;
	uint64_t last_tick_ns; /* of this run */
	bool head_printed;
	uint64_t lost; /* events that could not be counted; of programs: in the last run */
};
void wm_stat_out_begin(struct wm_stat_out *s, const struct wm_stat_plan *plan);
/* An interval that ends now. */
void wm_stat_out_tick(struct wm_stat_out *s, const struct wm_count_row *rows, size_t nr,
		      uint64_t elapsed_ns);
/* A run that ended; then its rows, where there are no intervals: shown behind the last. 0, -ENOMEM.
 */
void wm_stat_out_begin_run(struct wm_stat_out *s, uint64_t elapsed_ns, uint64_t user_ns,
			   uint64_t system_ns);
int wm_stat_out_run(struct wm_stat_out *s, struct wm_count_row *rows, size_t nr,
		    uint64_t elapsed_ns, bool last);
void wm_stat_out_finish(struct wm_stat_out *s);

/*
 * One row for each event and place. `since`: what the last interval had, of
 * that length. free() them with wm_stat_rows_free(). NULL: out of memory.
 */
struct wm_count_row *wm_stat_rows(const struct wm_stat_plan *plan, const struct wm_counting *c,
				  bool since, uint64_t elapsed_ns, size_t *ret_nr);
void wm_stat_rows_free(struct wm_count_row *rows, size_t nr);

#endif
