/* SPDX-License-Identifier: MIT */
/* analyses.c - finds an analysis by name; see analysis.h. */
#include <string.h>

#include "analysis/analysis.h"

#define ANALYSIS_ADDRESS(analysis) &(analysis),

static const struct wm_analysis *const analyses[] = {WM_ANALYSES(ANALYSIS_ADDRESS) NULL};

const struct wm_analysis *wm_analysis_find(const char *name)
{
	for (const struct wm_analysis *const *a = analyses; *a; a++)
		if (!strcmp((*a)->name, name))
			return *a;
	return NULL;
}
