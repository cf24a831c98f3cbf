/* SPDX-License-Identifier: MIT */
/* choice_int.h - shared by choice.c and choice_programs.c. */
#ifndef WM_CMD_STAT_CHOICE_INT_H
#define WM_CMD_STAT_CHOICE_INT_H

#include "cmd/stat/choice.h"

/* The filters of one name: the one for all events, and its own; NULL: none. */
struct wm_stat_filters {
	const char *text[2];
};

/* Finds the processes of the request, and creates an empty list of rules. 0 or -errno with diag. */
int wm_stat_user_create(const struct wm_stat_request *q, const struct wm_counting_plan *c,
			struct wm_stat_user **ret, struct wm_diag *diag);
void wm_stat_user_destroy(struct wm_stat_user *u); /* accepts NULL */

/*
 * Returns whether `name` refers to events of programs. `err` is why the kernel has no event with
 * this name; 0: the kernel's events were not searched.
 */
bool wm_stat_user_means(const struct wm_stat_user *u, const struct wm_event_space *space,
			const char *name, int err);
/*
 * Adds a rule, in order after `before` events of the kernel. Returns errors like wm_stat_choose().
 */
int wm_stat_user_add(struct wm_stat_user *u, const char *name,
		     const struct wm_stat_filters *filters, size_t before, const char **ret_text,
		     struct wm_diag *diag);
/*
 * Returns the plan for wm_counting_plan; NULL: no event of a program was named. `beside` is true
 * when kernel events are counted as well.
 */
const struct wm_recorder_plan *wm_stat_user_plan(struct wm_stat_user *u, bool beside);

#endif
