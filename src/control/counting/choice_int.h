/* SPDX-License-Identifier: MIT */
/* choice_int.h - shared by choice.c and choice_programs.c. */
#ifndef WM_CONTROL_COUNTING_CHOICE_INT_H
#define WM_CONTROL_COUNTING_CHOICE_INT_H

#include "control/counting_choice.h"

/* The filters for one name: the one for all events, and its own; NULL: none. */
struct wm_counting_filters {
	const char *text[2];
};

/*
 * Finds the request's processes, and creates an empty list of rules. Returns 0, or -errno with
 * diag.
 */
int wm_counting_rules_create(const struct wm_counting_request *q, const struct wm_counting_plan *c,
			     struct wm_counting_rules **ret, struct wm_diag *diag);
void wm_counting_rules_destroy(struct wm_counting_rules *r); /* accepts NULL */

/*
 * Whether `name` refers to program events. `err` is why the kernel has no event with this name; 0:
 * the kernel's events were not searched.
 */
bool wm_counting_rules_means(const struct wm_counting_rules *r, const struct wm_event_space *space,
			     const char *name, int err);
/*
 * Adds a rule, in order after `before` kernel events. Returns errors like wm_counting_choose().
 */
int wm_counting_rules_add(struct wm_counting_rules *r, const char *name,
			  const struct wm_counting_filters *filters, size_t before,
			  const char **ret_text, struct wm_diag *diag);
/*
 * Returns the plan for wm_counting_plan; NULL: no program event was named. `beside` is true when
 * kernel events are counted as well.
 */
const struct wm_recorder_plan *wm_counting_rules_plan(struct wm_counting_rules *r, bool beside);

#endif
