/* SPDX-License-Identifier: MIT */
/*
 * list.h - prints program events as text and JSON (print.c), from the inventory
 * (control/inventory.h).
 */
#ifndef WM_CMD_LIST_LIST_H
#define WM_CMD_LIST_LIST_H

#include <stdint.h>

#include "control/inventory.h"

struct wm_json;

/*
 * names.c: prints the names that start with `begin`, one per line, for shells. Returns
 * an exit status.
 */
int wm_list_names(const char *begin);

/*
 * Print the events that match `rules` (NULL: all events); return their number. JSON is added to an
 * open array.
 */
uint32_t wm_list_print_text(const struct wm_inventory *l, const struct wm_rules *rules);
uint32_t wm_list_print_json(const struct wm_inventory *l, const struct wm_rules *rules,
			    struct wm_json *j);

#endif
