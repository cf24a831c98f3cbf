/* SPDX-License-Identifier: MIT */
/*
 * annotate.h - one function, instruction by instruction: how much of the events
 * each has, where calls and jumps go, which source line it is of.
 */
#ifndef WM_ANALYSIS_ANNOTATE_H
#define WM_ANALYSIS_ANNOTATE_H

#include "analysis/profile.h"

#define WM_ANNOTATE_CODE_MAX (16u << 20) /* bytes of one function */

/* Which function. Texts stay the caller's. */
struct wm_annotate_what {
	const char *symbol;
	const char *object; /* NULL: the one with most events */
	const char *event;  /* of a profile with a table for each event; NULL: all */
	bool no_source;
};

/*
 * Adds a table, and notes, of the function as a profile with addresses saw it:
 * the traces are not read again. 0 or -ENOMEM.
 */
int wm_annotate(struct wm_pass *pass, struct wm_profile *profile, const struct wm_annotate_what *w,
		struct wm_result *r);

/* By a profile of its own. */
struct wm_annotate_values {
	struct wm_profile_values profile;
	struct wm_annotate_what what;
};

extern const struct wm_analysis wm_analysis_annotate;

#endif
