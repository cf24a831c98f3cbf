/* SPDX-License-Identifier: MIT */
/*
 * variables.h - the parameters and variables that a probe can name at its location, as text and
 * JSON. They come from kernel/probe_variables.h.
 */
#ifndef WM_CMD_LIST_VARIABLES_H
#define WM_CMD_LIST_VARIABLES_H

#include "base/json.h"
#include "control/inventory_kernel.h"

/*
 * Print the variables at one location, in JSON as the member "variables"; print nothing for events
 * that are not probes. The text output says why there are none; that a file lacks debug information
 * is reported once for consecutive locations.
 */
void wm_list_variables_text(const struct wm_inventory_kernel *k, const struct wm_event_def *d);
void wm_list_variables_json(const struct wm_inventory_kernel *k, const struct wm_event_def *d,
			    struct wm_json *j);

#endif
