/* SPDX-License-Identifier: MIT */
/*
 * variables.h - the parameters and variables that a probe can name at its place, as text and JSON.
 * They come from kernel/probe_variables.h.
 */
#ifndef WM_CMD_LIST_VARIABLES_H
#define WM_CMD_LIST_VARIABLES_H

#include "base/json.h"
#include "control/inventory_kernel.h"

/*
 * Print the variables of one place, for JSON as the member "variables"; nothing for events that are
 * no probes. The text says why there are none; that a file has no debug information, it says once
 * for its places in a row.
 */
void wm_list_variables_text(const struct wm_inventory_kernel *k, const struct wm_event_def *d);
void wm_list_variables_json(const struct wm_inventory_kernel *k, const struct wm_event_def *d,
			    struct wm_json *j);

#endif
