/* SPDX-License-Identifier: MIT */
/*
 * event_names.h - reads the list of events after -e, which may have groups as perf's:
 *
 *   NAME,...                  each event for itself
 *   {NAME,...},NAME,...       those in braces are counted together
 *   {NAME,...}:MODIFIERS      the modifiers (u, k, ...) hold for all events of the group
 *
 * Two modifiers of perf that have no meaning here are accepted in groups: W (count them one by one
 * if they cannot be counted together, which is always done) and S (for samples).
 */
#ifndef WM_KERNEL_EVENT_NAMES_H
#define WM_KERNEL_EVENT_NAMES_H

#include <stdint.h>

#include "base/diag.h"

struct wm_event_names {
	const char *rest; /* of the list; borrowed */
	char *inside;     /* what is in the braces of the current group; NULL: outside of groups */
	const char *rest_inside;
	char modifiers[16];
	uint32_t nr_groups;
	uint32_t group; /* number of the last name's group, from 1; 0: it is in none */
};

/* `nr_groups` is the number of groups in earlier lists, so that numbers are unique. */
void wm_event_names_begin(struct wm_event_names *n, const char *list, uint32_t nr_groups);

/*
 * Returns 1 and the next name, which the caller frees; 0 at the end; or -ENOMEM, or -EINVAL with
 * diag. After anything but 1, nothing is left to free.
 */
int wm_event_names_next(struct wm_event_names *n, char **ret_name, struct wm_diag *diag);

/* Frees what is left when a caller stops before the end. */
void wm_event_names_done(struct wm_event_names *n);

#endif
