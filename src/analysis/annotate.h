/* SPDX-License-Identifier: MIT */
/*
 * annotate.h - one function, instruction by instruction: how much of the events
 * each has, where calls and jumps go, which source line it is of.
 */
#ifndef WM_ANALYSIS_ANNOTATE_H
#define WM_ANALYSIS_ANNOTATE_H

#include "analysis/profile.h"

#define WM_ANNOTATE_CODE_MAX (16u << 20) /* bytes of one function */

struct wm_annotate_values {
	struct wm_profile_values profile; /* `syms` names the function, `dsos` its object or NULL */
	bool no_source;
};

extern const struct wm_analysis wm_analysis_annotate;

#endif
