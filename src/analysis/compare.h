/* SPDX-License-Identifier: MIT */
/*
 * compare.h - compares profiles of several recordings: the change of each row, in share and in
 * rate, and the probability that it arose by chance.
 *
 * A side is one recording, or several of the same program; the other sides are compared with the
 * first one. For single recordings, the probability comes from the numbers of samples; for repeated
 * ones, from the differences among them.
 */
#ifndef WM_ANALYSIS_COMPARE_H
#define WM_ANALYSIS_COMPARE_H

#include "analysis/result.h"

#define WM_COMPARE_SIDES_MAX      16u
#define WM_COMPARE_RECORDINGS_MAX 1024u

struct wm_compare_recording {
	const struct wm_result *result; /* result of a profile without children */
	double seconds;                 /* duration; 0: unknown */
	/* number of the side, from 0; recordings are sorted by it */
	uint32_t side;
};

struct wm_compare {
	const struct wm_compare_recording *recordings;
	uint32_t nr_recordings, nr_sides;
	double percent_limit; /* rows with a smaller share on all sides are left out */
	bool by_rate;         /* sort by change of rate; otherwise by change of share */
};

/* Adds a table for each event. Returns 0 or -ENOMEM. */
int wm_compare(const struct wm_compare *c, struct wm_result *r);

#endif
