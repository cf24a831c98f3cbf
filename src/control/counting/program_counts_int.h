/* SPDX-License-Identifier: MIT */
/*
 * program_counts_int.h - what program_counts.c (processes come and go) and program_counts_sum.c
 * (events and their sums) share. For those two files only.
 */
#ifndef WM_CONTROL_COUNTING_PROGRAM_COUNTS_INT_H
#define WM_CONTROL_COUNTING_PROGRAM_COUNTS_INT_H

#include "control/counting/program_counts.h"
#include "control/session/member.h"

/* Sums of one event: a column for each thread that is counted apart, and one for all. */
struct tally_event {
	char *name;
	uint32_t rule;
	uint64_t *kept;   /* of chunks that are gone */
	uint64_t *now;    /* of those in use, as last read */
	uint64_t *before; /* wm_tally_begin() */
	uint64_t *told;   /* by wm_tally_since() */
};

/* A thread that is counted apart, as its process sees it. */
struct tally_thread {
	uint32_t pid; /* as we see its process */
	uint32_t tid; /* as it sees itself */
};

struct tally_member {
	struct wm_app *app;
	struct wm_tally *tally;
	struct tally_member *next;
	struct tally_event **events; /* by id; NULL: not announced */
	uint32_t nr_ids;
	bool counted;    /* among those that joined */
	uint64_t missed; /* filtered_missing, as last seen */
};

struct wm_tally {
	struct wm_tally_options o;
	struct wm_session session;
	struct wm_loop *loop;
	struct wm_app_host host;
	struct wm_watch *accept_watch, *sweep_watch;
	struct tally_member *members;
	uint32_t nr_members;
	struct tally_event **events; /* by name */
	size_t nr_events;
	struct tally_thread *threads;
	size_t nr_columns; /* threads, and all */
	struct wm_tally_totals totals;
	uint64_t lost_now;    /* of processes that live */
	uint64_t lost_before; /* wm_tally_begin() */
	bool held;            /* until then */
};

int wm_tally_find_threads(struct wm_tally *t);
void wm_tally_on_event(struct wm_app *a, uint32_t id, const struct wm_class *c, void *data);
/* What its sealed chunks hold is kept, and they are emptied; `all`: the others' counts are `now`.
 */
void wm_tally_take(struct tally_member *m, bool all);
/* Its process has ended: what it holds still is kept. */
void wm_tally_keep(struct tally_member *m);
void wm_tally_forget(struct wm_tally *t); /* frees the sums */

#endif
