/* SPDX-License-Identifier: MIT */
/*
 * count.h - what count.c and count_programs.c share: counters of the kernel's
 * events are the former's, those of programs' the latter's.
 */
#ifndef WM_API_COUNT_H
#define WM_API_COUNT_H

#include <waymark/record.h>

#include "api/api.h"
#include "control/counting_programs.h"

/* Programs' events of a set of counters; nothing runs while none was named. */
struct wm_api_programs {
	struct wm_arena arena;
	struct wm_recorder_events events;
	struct wm_recorder_plan plan; /* nr_asked: names of such events */
	struct wm_counting_programs run;
	struct wm_loop *loop;
	pid_t *pids;                 /* whose events, when they run already */
	struct wm_tally_totals said; /* of what was lost */
};

/* Whose: as `o` says. What it points to must live as long. 0, or -errno with a sentence. */
int wm_api_programs_init(struct wm_api_programs *p, const struct waymark_count_options *o,
			 const struct wm_words *words, struct waymark_error *error);
void wm_api_programs_done(struct wm_api_programs *p);

/* One more name, once. 0, or with a sentence. */
int wm_api_programs_add(struct wm_api_programs *p, const char *name, const char *filter,
			struct wm_diag *diag);

/* Makes what processes join; `beside`: the kernel's events are counted, too. */
int wm_api_programs_open(struct wm_api_programs *p, bool beside, struct wm_diag *diag);

/* Waits at most so long (-1: for ever) for `pid` to end: 1; 0: the time is over, or a signal came.
 */
int wm_api_programs_wait(struct wm_api_programs *p, pid_t pid, int timeout_ms);

/* Sums up; words about what was lost since. */
void wm_api_programs_read(struct wm_api_programs *p);

/* The i-th, of that thread or WM_TALLY_ALL. 0 or -ERANGE. */
int wm_api_programs_tell(const struct wm_api_programs *p, size_t i, size_t thread,
			 struct waymark_counter *ret);

#endif
