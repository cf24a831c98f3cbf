/* SPDX-License-Identifier: MIT */
/*
 * report_view.h - waymark report on a terminal: an interactive view of its result
 * (view/browse.h).
 */
#ifndef WM_CMD_REPORT_VIEW_H
#define WM_CMD_REPORT_VIEW_H

#include "analysis/profile.h"
#include "cmd/analyse.h"

/* Returns whether to use the view. When it was requested but is not possible, prints the reason. */
bool wm_report_view_fits(const struct wm_analyse_values *common);

/*
 * Runs the view; returns an exit status when the user quits. The arguments are the verb's.
 */
int wm_report_view(struct wm_analyse_values *common, const struct wm_profile_values *profile,
		   int nr_args, char **args);

#endif
