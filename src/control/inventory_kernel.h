/* SPDX-License-Identifier: MIT */
/*
 * inventory_kernel.h - lists kernel events, and USDT probes in files and processes: resolves names,
 * lists all events, describes the families. Not thread-safe; prints nothing.
 */
#ifndef WM_CONTROL_INVENTORY_KERNEL_H
#define WM_CONTROL_INVENTORY_KERNEL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/diag.h"
#include "kernel/event_def.h"
#include "kernel/event_space.h"
#include "kernel/probe_variables.h"

struct wm_inventory_kernel {
	struct wm_event_space space;
	struct wm_event_defs defs;
	struct wm_probe_variables *variables; /* to list probes' variables; NULL without `fields` */
	bool fields;
};

/* `search` as for wm_event_space_open(). Returns 0 or -ENOMEM. */
int wm_inventory_kernel_open(struct wm_inventory_kernel *k, bool fields, const char *search);
void wm_inventory_kernel_close(struct wm_inventory_kernel *k);

/*
 * Whether a word that looks like a file name is the name of a kernel event, such as
 * "usdt:./app:*:*".
 */
bool wm_inventory_kernel_names(const char *word);

/*
 * Adds the events that a name selects. Returns their number; 0 for a program event or an unknown
 * name; or -errno with diag as from wm_event_name_resolve().
 */
int wm_inventory_kernel_find(struct wm_inventory_kernel *k, const char *name, struct wm_diag *diag);

/*
 * Adds all events that can be named without a place (a file or an address). Returns 0, or -errno
 * with diag.
 */
int wm_inventory_kernel_find_all(struct wm_inventory_kernel *k, struct wm_diag *diag);

/*
 * Adds the matching USDT probes in a file or a running process (NULL: all probes). Reports no
 * errors.
 */
void wm_inventory_kernel_add_file(struct wm_inventory_kernel *k, const char *path,
				  const char *glob);
void wm_inventory_kernel_add_process(struct wm_inventory_kernel *k, pid_t pid, const char *glob);

/* An event's kind: "tracepoint", "system-call", "usdt" and so on. */
const char *wm_inventory_kernel_kind(const struct wm_event_def *d);

/* What a software or hardware event counts; "" for other events. */
const char *wm_inventory_kernel_help(const struct wm_event_def *d);

/* A family of events, with an example of how to list its events. */
#define WM_INVENTORY_FAMILIES 10u
struct wm_inventory_family {
	const char *name, *what;
	const char *example; /* a command that lists the family's events */
	const char *missing; /* the reason why it is not available here; NULL: it is */
	bool is_counted;     /* false when its events are created at places that the user names */
	uint32_t nr_events;
};
void wm_inventory_kernel_families(const struct wm_inventory_kernel *k,
				  struct wm_inventory_family ret[WM_INVENTORY_FAMILIES]);

#endif
