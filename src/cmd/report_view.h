/* SPDX-License-Identifier: MIT */
/* report_view.h - waymark report on a terminal: its result to move in (view/browse.h). */
#ifndef WM_CMD_REPORT_VIEW_H
#define WM_CMD_REPORT_VIEW_H

#include "analysis/profile.h"
#include "cmd/analyse.h"

/* Is it wanted, and possible? Why it is wanted and not possible is said. */
bool wm_report_view_fits(const struct wm_analyse_values *common);

/* Until it is left: an exit status. The arguments are those of the verb. */
int wm_report_view(struct wm_analyse_values *common, const struct wm_profile_values *profile,
		   int nr_args, char **args);

#endif
