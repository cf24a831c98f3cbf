/* SPDX-License-Identifier: MIT */
/* pass_int.h - what a whole walk (pass.c) and one in parts (pass_parts.c) share; see pass.h. */
#ifndef WM_ANALYSIS_PASS_INT_H
#define WM_ANALYSIS_PASS_INT_H

#include "analysis/pass.h"
#include "trace/timeline.h"

/* A stretch of time that is walked alone. */
struct wm_pass_part {
	const struct wm_timeline *timeline;
	int64_t begin_ns, end_ns;
	uint32_t nr_merges; /* at work at a time */
};

/* Learns what was told of threads, names and memory before the part. 0 or -errno. */
int wm_pass_walk_told(struct wm_pass *p, const struct wm_pass_part *part);

/* Walks the part, by all that is known before it. 0 or -errno. */
int wm_pass_walk_part(struct wm_pass *p, const struct wm_pass_run *runs, uint32_t nr_runs,
		      const struct wm_pass_part *part);

/* Can it be walked in parts, and will that find the same? */
bool wm_pass_divides(const struct wm_pass *p, const struct wm_pass_run *run);

/*
 * Where parts begin that are worth a thread each: part i is [ret[i], ret[i + 1]).
 * How many; 1: it is to be walked whole, *ret stays. -errno.
 */
int64_t wm_pass_cut(const struct wm_pass *p, const struct wm_pass_run *run,
		    const struct wm_timeline *timeline, int64_t **ret);

/* Walks parts that were cut so, or anyhow, on a thread each. 0 or -errno. */
int wm_pass_walk_parts(struct wm_pass *p, const struct wm_pass_run *run,
		       const struct wm_timeline *timeline, const int64_t *cuts, uint32_t nr);

#endif
