/* SPDX-License-Identifier: MIT */
/*
 * count_filter.h - filters for counted events, in the kernel's filter language. Counting happens in
 * the kernel, so a filter that the kernel cannot evaluate as waymark does cannot be used.
 */
#ifndef WM_KERNEL_COUNT_FILTER_H
#define WM_KERNEL_COUNT_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "kernel/event_def.h"
#include "kernel/event_space.h"

/* One entry per event, in the form that wm_counters_open() takes; NULL entries: no filter. */
struct wm_count_filters {
	char **list;
	size_t nr;
	bool beyond; /* the kernel cannot evaluate one of the filters as waymark does */
};
void wm_count_filters_done(struct wm_count_filters *f);

/*
 * Sets the filter of each event from index `before` on: all conditions in `texts` (NULL entries:
 * none). Events that a wildcard matched (`wild`) but that lack a field are removed from the list
 * and counted. Returns 0, or an error with a message and the column in a filter: -ENOENT if an
 * event lacks a field; -EINVAL...
 */
int wm_count_filters_add(struct wm_count_filters *f, const struct wm_event_space *space,
			 const char *const *texts, size_t nr_texts, bool wild, size_t before,
			 struct wm_event_defs *defs, size_t *ret_left_out, struct wm_diag *diag);

#endif
