/* SPDX-License-Identifier: MIT */
/*
 * program_counts_int.h - shared by program_counts.c (processes that join and end) and
 * program_counts_sum.c (events and their sums). For those two files only.
 */
#ifndef WM_CONTROL_COUNTING_PROGRAM_COUNTS_INT_H
#define WM_CONTROL_COUNTING_PROGRAM_COUNTS_INT_H

#include "control/counting/program_counts.h"
#include "control/session/member.h"

/* One event's sums: a column per separately counted thread, and one for the total. */
struct tally_event {
	char *name;
	uint32_t rule;
	uint64_t *kept;   /* counts from chunks that have been emptied */
	uint64_t *now;    /* counts from chunks in use, as last read */
	uint64_t *before; /* at wm_tally_begin() */
	uint64_t *told;   /* the value that wm_tally_since() last returned */
};

/* A separately counted thread, by its ids. */
struct tally_thread {
	uint32_t pid; /* process id in waymark's PID namespace */
	uint32_t tid; /* thread id in its own PID namespace */
};

struct tally_member {
	struct wm_app *app;
	struct wm_tally *tally;
	struct tally_member *next;
	struct tally_event **events; /* indexed by id; NULL: not announced */
	uint32_t nr_ids;
	bool counted;    /* counted among those that joined */
	uint64_t missed; /* filtered_missing when last read */
};

struct wm_tally {
	struct wm_tally_options o;
	struct wm_session session;
	struct wm_loop *loop;
	struct wm_app_host host;
	struct wm_watch *accept_watch, *sweep_watch;
	struct tally_member *members;
	uint32_t nr_members, nr_sweeps;
	struct tally_event **events; /* sorted by name */
	size_t nr_events;
	struct tally_thread *threads;
	size_t nr_columns; /* threads plus one for the total */
	struct wm_tally_totals totals;
	uint64_t lost_now;    /* losses in processes that are still running */
	uint64_t lost_before; /* at wm_tally_begin() */
	bool held;            /* until wm_tally_begin() */
};

int wm_tally_find_threads(struct wm_tally *t);
void wm_tally_on_event(struct wm_app *a, uint32_t id, const struct wm_class *c, void *data);
/*
 * Adds the counts from sealed chunks to `kept` and empties these chunks. With `all`, also adds the
 * counts from other chunks to `now`.
 */
void wm_tally_take(struct tally_member *m, bool all);
/* Adds all of an ended process's remaining counts to `kept`. */
void wm_tally_keep(struct tally_member *m);
void wm_tally_forget(struct wm_tally *t); /* frees the sums */

#endif
