/* SPDX-License-Identifier: MIT */
/*
 * kernel.h - the kernel's part of `waymark list` as text and JSON: the families of
 * events, and the events that a name matches. The lists come from
 * control/inventory_kernel.h.
 */
#ifndef WM_CMD_LIST_KERNEL_H
#define WM_CMD_LIST_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"
#include "control/inventory_kernel.h"

/* Print the matching events; return their number. */
uint32_t wm_list_kernel_text(const struct wm_inventory_kernel *k, bool blank);
uint32_t wm_list_kernel_json(const struct wm_inventory_kernel *k, struct wm_json *j);

/* Print the families, the number of events in each, and how to list them. */
void wm_list_families_text(const struct wm_inventory_kernel *k);
void wm_list_families_json(const struct wm_inventory_kernel *k, struct wm_json *j);

#endif
