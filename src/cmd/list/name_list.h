/* SPDX-License-Identifier: MIT */
/*
 * name_list.h - names of events for shells: gathered, then printed in order,
 * each once, one a line. A shell puts what is chosen into the command line as
 * it is, so names with anything but letters, digits and _:.-+@/ are left out:
 * programs choose their names, and may mean harm.
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

/* Adds a whole name. 0 or -ENOMEM. */
int wm_name_list_add(struct wm_name_list *l, const char *name);

/*
 * Adds the name when it begins so; up to its first ':', when that is not
 * in `begin`: providers are chosen first. 0 or -ENOMEM.
 */
int wm_name_list_offer(struct wm_name_list *l, const char *name, const char *begin);

void wm_name_list_print(struct wm_name_list *l);

#endif
