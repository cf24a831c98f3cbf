/* SPDX-License-Identifier: MIT */
/*
 * count_filter.h - filters of events that are counted, in the kernel's words:
 * counting happens there, so what it cannot evaluate as we do cannot be had.
 */
#ifndef WM_KERNEL_COUNT_FILTER_H
#define WM_KERNEL_COUNT_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "kernel/event_def.h"
#include "kernel/event_space.h"

/* One for each event, as wm_counters_open() wants them; NULL entries: none. */
struct wm_count_filters {
	char **list;
	size_t nr;
	bool beyond; /* one of them is none that the kernel evaluates as it is meant */
};
void wm_count_filters_done(struct wm_count_filters *f);

/*
 * Gives the events from `before` on what each of `texts` (NULL entries: none)
 * says, all of it. Events that a wildcard matched (`wild`) and that lack a field
 * are taken off the list, and counted. 0, or with a sentence, and the column of
 * a text: -ENOENT: an event lacks a field; -EINVAL...
 */
int wm_count_filters_add(struct wm_count_filters *f, const struct wm_event_space *space,
			 const char *const *texts, size_t nr_texts, bool wild, size_t before,
			 struct wm_event_defs *defs, size_t *ret_left_out, struct wm_diag *diag);

#endif
