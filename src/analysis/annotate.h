/* SPDX-License-Identifier: MIT */
/*
 * annotate.h - one function, instruction by instruction: each instruction's
 * share of the events, the targets of calls and jumps, and the source lines.
 */
#ifndef WM_ANALYSIS_ANNOTATE_H
#define WM_ANALYSIS_ANNOTATE_H

#include "analysis/profile.h"

#define WM_ANNOTATE_CODE_MAX (16u << 20) /* maximum bytes per function */

/* Selects the function. The strings are not copied. */
struct wm_annotate_what {
	const char *symbol;
	const char *object; /* NULL: the object with the most events */
	/* the event, if the profile has one table per event; NULL: all events */
	const char *event;
	bool no_source;
};

/*
 * Adds a table of the function for each event that occurred in it, and notes, computed from a
 * profile with addresses; does not read the traces. Returns 0 or -ENOMEM.
 */
int wm_annotate(struct wm_pass *pass, struct wm_profile *profile, const struct wm_annotate_what *w,
		struct wm_result *r);

/* Values of the analysis "annotate", which creates its own profile. */
struct wm_annotate_values {
	struct wm_profile_values profile;
	struct wm_annotate_what what;
};

#endif
