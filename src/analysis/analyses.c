/* SPDX-License-Identifier: MIT */
/* analyses.c - the table of all analyses; see analysis.h. */
#include <string.h>

#include "analysis/analysis.h"
#include "analysis/annotate.h"
#include "analysis/profile.h"

const struct wm_analysis *const wm_analyses[] = {
    &wm_analysis_profile, &wm_analysis_off_cpu, &wm_analysis_wakeups, &wm_analysis_annotate, NULL,
};

const struct wm_analysis *wm_analysis_find(const char *name)
{
	for (const struct wm_analysis *const *a = wm_analyses; *a; a++)
		if (!strcmp((*a)->name, name))
			return *a;
	return NULL;
}
