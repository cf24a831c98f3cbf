/* SPDX-License-Identifier: MIT */
/*
 * pass_int.h - declarations shared by pass.c (a walk over all events) and pass_parts.c (a walk in
 * parts); see pass.h.
 */
#ifndef WM_ANALYSIS_PASS_INT_H
#define WM_ANALYSIS_PASS_INT_H

#include "analysis/pass.h"
#include "trace/timeline.h"

/* A period of time that one thread walks. */
struct wm_pass_part {
	const struct wm_timeline *timeline;
	int64_t begin_ns, end_ns;
	uint32_t nr_merges; /* merges running at the same time */
};

/*
 * Reads what the trace says about threads, names and memory before the part begins. Returns 0 or
 * -errno.
 */
int wm_pass_walk_told(struct wm_pass *p, const struct wm_pass_part *part);

/* Walks the part, starting from the state before it. Returns 0 or -errno. */
int wm_pass_walk_part(struct wm_pass *p, const struct wm_pass_run *runs, uint32_t nr_runs,
		      const struct wm_pass_part *part);

/* Returns whether a walk in parts is possible and yields the same result. */
bool wm_pass_divides(const struct wm_pass *p, const struct wm_pass_run *run);

/*
 * Divides the time range into parts, each large enough to be worth a thread: part i is [ret[i],
 * ret[i + 1]). Returns their number or -errno. When it is 1, *ret is not set.
 */
int64_t wm_pass_cut(const struct wm_pass *p, const struct wm_pass_run *run,
		    const struct wm_timeline *timeline, int64_t **ret);

/* Walks the parts separated by the given times, each on its own thread. Returns 0 or -errno. */
int wm_pass_walk_parts(struct wm_pass *p, const struct wm_pass_run *run,
		       const struct wm_timeline *timeline, const int64_t *cuts, uint32_t nr);

#endif
