/* SPDX-License-Identifier: MIT */
/*
 * count.h - shared by count.c and count_programs.c: the former counts the
 * kernel's events, the latter those of programs.
 */
#ifndef WM_API_COUNT_H
#define WM_API_COUNT_H

#include <waymark/record.h>

#include "api/api.h"
#include "control/counting_programs.h"

/* The programs' events of a set of counters; does nothing unless one was named. */
struct wm_api_programs {
	struct wm_arena arena;
	struct wm_recorder_events events;
	struct wm_recorder_plan plan; /* nr_asked: the number of such names */
	struct wm_counting_programs run;
	struct wm_loop *loop;
	pid_t *pids;                 /* processes that already run */
	struct wm_tally_totals said; /* the losses reported up to now */
};

/*
 * Selects the processes of `o`. The memory that `o` points to must live as
 * long. 0, or -errno with a sentence.
 */
int wm_api_programs_init(struct wm_api_programs *p, const struct waymark_count_options *o,
			 const struct wm_words *words, struct waymark_error *error);
void wm_api_programs_done(struct wm_api_programs *p);

/* Adds a name; a name may be added only once. 0, or -errno with a sentence. */
int wm_api_programs_add(struct wm_api_programs *p, const char *name, const char *filter,
			struct wm_diag *diag);

/* Creates the session that processes join; `beside`: the kernel's events are counted, too. */
int wm_api_programs_open(struct wm_api_programs *p, bool beside, struct wm_diag *diag);

/*
 * Waits at most this long (-1: for ever) for `pid` to end: 1; 0: timeout, or a
 * signal arrived.
 */
int wm_api_programs_wait(struct wm_api_programs *p, pid_t pid, int timeout_ms);

/* Updates the sums; reports losses since the last call. */
void wm_api_programs_read(struct wm_api_programs *p);

/* The i-th counter, of one thread or WM_TALLY_ALL. 0 or -ERANGE. */
int wm_api_programs_tell(const struct wm_api_programs *p, size_t i, size_t thread,
			 struct waymark_counter *ret);

#endif
