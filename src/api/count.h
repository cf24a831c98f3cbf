/* SPDX-License-Identifier: MIT */
/*
 * count.h - declarations shared by count.c and count_programs.c: the former counts kernel events,
 * the latter program events.
 */
#ifndef WM_API_COUNT_H
#define WM_API_COUNT_H

#include <waymark/record.h>

#include "api/api.h"
#include "control/counting_programs.h"

/* The program-event counters in a set of counters; unused unless such an event was added. */
struct wm_api_programs {
	struct wm_arena arena;
	struct wm_recorder_events events;
	struct wm_recorder_plan plan; /* nr_asked: the number of such names */
	struct wm_counting_programs run;
	struct wm_loop *loop;
	pid_t *pids;                 /* processes that are already running */
	struct wm_tally_totals said; /* the losses reported so far */
};

/*
 * Selects the processes of `o`. The memory that `o` points to must outlive `p`. Returns 0, or
 * -errno with a message.
 */
int wm_api_programs_init(struct wm_api_programs *p, const struct waymark_count_options *o,
			 const struct wm_words *words, struct waymark_error *error);
void wm_api_programs_done(struct wm_api_programs *p);

/* Adds a name, which must not have been added before. Returns 0, or -errno with a message. */
int wm_api_programs_add(struct wm_api_programs *p, const char *name, const char *filter,
			struct wm_diag *diag);

/*
 * Creates the session that processes join; `beside` is true when the kernel's events are counted as
 * well.
 */
int wm_api_programs_open(struct wm_api_programs *p, bool beside, struct wm_diag *diag);

/*
 * Waits until `pid` ends, at most `timeout_ms` (-1: without a limit). Returns 1 when it has ended,
 * 0 after the timeout or a signal.
 */
int wm_api_programs_wait(struct wm_api_programs *p, pid_t pid, int timeout_ms);

/* Updates the sums; reports losses since the last call. */
void wm_api_programs_read(struct wm_api_programs *p);

/* Gets the i-th counter of one thread, or the sum for WM_TALLY_ALL. 0 or -ERANGE. */
int wm_api_programs_tell(const struct wm_api_programs *p, size_t i, size_t thread,
			 struct waymark_counter *ret);

#endif
