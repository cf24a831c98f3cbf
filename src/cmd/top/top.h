/* SPDX-License-Identifier: MIT */
/*
 * top.h - declarations shared by the files of `waymark top`:
 *
 *   top.c     options -> values; runs the recording
 *   count.c   live events -> a profile, and its result at any time
 *   show.c    prints the result as text or JSON, or draws it on the terminal; handles keys
 */
#ifndef WM_CMD_TOP_TOP_H
#define WM_CMD_TOP_TOP_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/profile.h"
#include "cmd/record/events.h"
#include "control/live.h"

struct wm_top_values {
	struct wm_record_asked asked; /* first member: the options of record fill it */
	struct wm_profile_values profile;
	double delay_s, duration_s, half_life_s;
	int64_t refreshes; /* 0: unlimited */
	int64_t rows;      /* rows per table; 0: the view's default */
	bool no_decay, stdio, json;
};

/* --- count.c ------------------------------------------------------------ */

struct wm_top_count;

/* Creates the count with the keys in v->profile; `v` must outlive it. NULL: out of memory. */
struct wm_top_count *wm_top_count_create(const struct wm_top_values *v, struct wm_live *live);
void wm_top_count_destroy(struct wm_top_count *c); /* accepts NULL */

/*
 * Handles a report from the recorder and counts the events in its batch, if any. Returns 0, or
 * -errno with `diag`.
 */
int wm_top_count_take(struct wm_top_count *c, const struct wm_report *report, struct wm_diag *diag);

/*
 * Returns the current result, valid until the next call; NULL: out of memory. Also reduces the
 * weight of older events.
 */
struct wm_result *wm_top_count_result(struct wm_top_count *c);

/* Adds the calls below a row of the last result. Returns 0 or -ENOMEM. */
int wm_top_count_expand(struct wm_top_count *c, struct wm_result_row *row);

/* Resets all counts. `keys` are the new keys; NULL: keep the current ones. */
void wm_top_count_zero(struct wm_top_count *c, const char *keys);

struct wm_top_figures {
	double elapsed_s;     /* seconds since the start */
	double records_per_s; /* between the last two results */
	uint64_t records;     /* number of events and samples since the start */
	bool samples;         /* some of them are samples, which stand for more events */
	uint64_t lost, late, skipped;
};
void wm_top_count_figures(const struct wm_top_count *c, struct wm_top_figures *ret);

/* --- show.c -------------------------------------------------------------- */

struct wm_top_show;

/* Callbacks for keys. */
struct wm_top_does {
	void (*quit)(void *data);
	void (*delay)(void *data, double seconds); /* sets the time between refreshes */
	void (*refresh)(void *data);               /* refreshes now */
	void *data;
};

/* Creates the output. Returns 0, or an exit status after a message. */
int wm_top_show_create(const struct wm_top_values *v, struct wm_top_count *c, struct wm_loop *loop,
		       const struct wm_top_does *does, struct wm_top_show **ret);
void wm_top_show_destroy(struct wm_top_show *s); /* accepts NULL; restores the terminal */

/* Shows a new result, unless paused. Returns 0, or -errno from writing to standard output. */
int wm_top_show_refresh(struct wm_top_show *s);

/* Shows a message on the terminal, or on standard error. */
void wm_top_show_say(struct wm_top_show *s, const char *sentence);

#endif
