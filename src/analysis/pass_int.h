/* SPDX-License-Identifier: MIT */
/*
 * pass_int.h - shared by a walk of everything (pass.c) and one in parts
 * (pass_parts.c); see pass.h.
 */
#ifndef WM_ANALYSIS_PASS_INT_H
#define WM_ANALYSIS_PASS_INT_H

#include "analysis/pass.h"
#include "trace/timeline.h"

/* A period of time that is walked on its own. */
struct wm_pass_part {
	const struct wm_timeline *timeline;
	int64_t begin_ns, end_ns;
	uint32_t nr_merges; /* that run at the same time */
};

/* Learns threads, names and memory from the events before the part. 0 or -errno. */
int wm_pass_walk_told(struct wm_pass *p, const struct wm_pass_part *part);

/* Walks the part, starting from the state before it. 0 or -errno. */
int wm_pass_walk_part(struct wm_pass *p, const struct wm_pass_run *runs, uint32_t nr_runs,
		      const struct wm_pass_part *part);

/* Returns whether a walk in parts is possible and gives the same result. */
bool wm_pass_divides(const struct wm_pass *p, const struct wm_pass_run *run);

/*
 * Chooses the begins of parts large enough for a thread each: part i is
 * [ret[i], ret[i + 1]). Returns their number; 1: walk everything at once, *ret
 * is not set. -errno.
 */
int64_t wm_pass_cut(const struct wm_pass *p, const struct wm_pass_run *run,
		    const struct wm_timeline *timeline, int64_t **ret);

/* Walks parts cut there, or at any other times, one thread each. 0 or -errno. */
int wm_pass_walk_parts(struct wm_pass *p, const struct wm_pass_run *run,
		       const struct wm_timeline *timeline, const int64_t *cuts, uint32_t nr);

#endif
