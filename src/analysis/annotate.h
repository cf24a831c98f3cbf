/* SPDX-License-Identifier: MIT */
/*
 * annotate.h - one function, instruction by instruction: each instruction's
 * share of the events, the targets of calls and jumps, and the source lines.
 */
#ifndef WM_ANALYSIS_ANNOTATE_H
#define WM_ANALYSIS_ANNOTATE_H

#include "analysis/profile.h"

#define WM_ANNOTATE_CODE_MAX (16u << 20) /* bytes per function */

/* Selects the function. The caller keeps the strings. */
struct wm_annotate_what {
	const char *symbol;
	const char *object; /* NULL: the object with most events */
	const char *event;  /* if the profile has a table per event; NULL: all events */
	bool no_source;
};

/*
 * Adds a table of the function, and notes, from a profile with addresses: the
 * traces are not read again. 0 or -ENOMEM.
 */
int wm_annotate(struct wm_pass *pass, struct wm_profile *profile, const struct wm_annotate_what *w,
		struct wm_result *r);

/* For the analysis, which makes its own profile. */
struct wm_annotate_values {
	struct wm_profile_values profile;
	struct wm_annotate_what what;
};

extern const struct wm_analysis wm_analysis_annotate;

#endif
