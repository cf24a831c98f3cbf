/* SPDX-License-Identifier: MIT */
/*
 * compare.h - profiles of several recordings beside each other: what changed,
 * by share and by rate, and how likely that is chance.
 *
 * A side is one recording, or several of the same thing; the first side is
 * what the others are compared with. Of single recordings chance is judged by
 * the numbers of samples, of repeated ones by how they differ among themselves.
 */
#ifndef WM_ANALYSIS_COMPARE_H
#define WM_ANALYSIS_COMPARE_H

#include "analysis/result.h"

#define WM_COMPARE_SIDES_MAX      16u
#define WM_COMPARE_RECORDINGS_MAX 1024u

struct wm_compare_recording {
	const struct wm_result *result; /* of a profile, without children */
	double seconds;                 /* how long it was; 0: not known */
	uint32_t side;                  /* 0, 1... ascending */
};

struct wm_compare {
	const struct wm_compare_recording *recordings;
	uint32_t nr_recordings, nr_sides;
	double percent_limit; /* rows that have less on all sides are left out */
	bool by_rate;         /* sorted by change of rate, else of share */
};

/* Adds a table for each event. 0 or -ENOMEM. */
int wm_compare(const struct wm_compare *c, struct wm_result *r);

#endif
