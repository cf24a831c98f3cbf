/* SPDX-License-Identifier: MIT */
/*
 * name_list.h - event names for shell completion. They are collected, sorted, and printed one per
 * line without duplicates. A shell inserts the chosen name into the command line unquoted, and
 * hostile programs may choose the names, so names with characters other than letters, digits and
 * _:.-+@/ are left out.
 */
#ifndef WM_CMD_LIST_NAME_LIST_H
#define WM_CMD_LIST_NAME_LIST_H

#include "base/arena.h"

struct wm_name_list {
	struct wm_arena arena;
	const char **names;
	size_t nr;
};

void wm_name_list_init(struct wm_name_list *l);
void wm_name_list_done(struct wm_name_list *l);

/* Adds a complete name. Returns 0 or -ENOMEM. */
int wm_name_list_add(struct wm_name_list *l, const char *name);

/*
 * Adds the name if it starts with `begin`; if `begin` has no ':', only the part up to the first
 * ':', so that providers are completed first. Returns 0 or -ENOMEM.
 */
int wm_name_list_offer(struct wm_name_list *l, const char *name, const char *begin);

void wm_name_list_print(struct wm_name_list *l);

#endif
