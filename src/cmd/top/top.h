/* SPDX-License-Identifier: MIT */
/*
 * top.h - `waymark top`, its files:
 *
 *   top.c         options -> values; the recording, from its beginning to its end
 *   count.c   events as they come -> a profile, and a result of it at any moment
 *   show.c    the result as blocks of text, as JSON, or on the terminal; keys
 */
#ifndef WM_CMD_TOP_TOP_H
#define WM_CMD_TOP_TOP_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/profile.h"
#include "cmd/record/events.h"
#include "control/live.h"

struct wm_top_values {
	struct wm_record_asked asked; /* first: its options fill it */
	struct wm_profile_values profile;
	double delay_s, duration_s, half_life_s;
	int64_t refreshes; /* 0: no end */
	int64_t rows;      /* of a table; 0: as the way of showing has it */
	bool no_decay, stdio, json;
};

/* --- count.c ------------------------------------------------------------ */

struct wm_top_count;

/* `keys` are the profile's; the values live as long. NULL: out of memory. */
struct wm_top_count *wm_top_count_create(const struct wm_top_values *v, struct wm_live *live);
void wm_top_count_destroy(struct wm_top_count *c); /* accepts NULL */

/* A report of the recorder: of a batch, its events are counted. 0 or -errno with `diag`. */
int wm_top_count_take(struct wm_top_count *c, const struct wm_report *report, struct wm_diag *diag);

/* What there is now, valid until the next call; NULL: out of memory. Then older events weigh less.
 */
struct wm_result *wm_top_count_result(struct wm_top_count *c);

/* The calls below a row of that result. 0 or -ENOMEM. */
int wm_top_count_expand(struct wm_top_count *c, struct wm_result_row *row);

/* Forgets what was counted; `keys`: others from here on, NULL: the same. */
void wm_top_count_zero(struct wm_top_count *c, const char *keys);

struct wm_top_figures {
	double elapsed_s;    /* since it began */
	double events_per_s; /* between the last two results */
	uint64_t events;     /* since it began */
	uint64_t lost, late, skipped;
};
void wm_top_count_figures(const struct wm_top_count *c, struct wm_top_figures *ret);

/* --- show.c -------------------------------------------------------------- */

struct wm_top_show;

/* What keys ask for. */
struct wm_top_does {
	void (*quit)(void *data);
	void (*delay)(void *data, double seconds); /* another pace */
	void (*refresh)(void *data);               /* now */
	void *data;
};

/* 0, or an exit status after words. */
int wm_top_show_create(const struct wm_top_values *v, struct wm_top_count *c, struct wm_loop *loop,
		       const struct wm_top_does *does, struct wm_top_show **ret);
void wm_top_show_destroy(struct wm_top_show *s); /* accepts NULL; the terminal is as it was */

/* A result, unless it stands still. 0, or -errno of who reads it. */
int wm_top_show_refresh(struct wm_top_show *s);

/* A sentence for people, where they look. */
void wm_top_show_say(struct wm_top_show *s, const char *sentence);

#endif
