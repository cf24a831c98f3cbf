/* SPDX-License-Identifier: MIT */
/*
 * inventory_kernel.h - which events the kernel has, and USDT probes of files
 * and processes: what a name means, all there is, and the families.
 * Not thread safe; prints nothing.
 */
#ifndef WM_CONTROL_INVENTORY_KERNEL_H
#define WM_CONTROL_INVENTORY_KERNEL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/diag.h"
#include "kernel/event_def.h"
#include "kernel/event_space.h"

struct wm_inventory_kernel {
	struct wm_event_space space;
	struct wm_event_defs defs;
	bool fields;
};

/* `search` as of wm_event_space_open(). 0 or -ENOMEM. */
int wm_inventory_kernel_open(struct wm_inventory_kernel *k, bool fields, const char *search);
void wm_inventory_kernel_close(struct wm_inventory_kernel *k);

/* Is it a name of the kernel's that could be taken for a file: "usdt:./app:*:*"? */
bool wm_inventory_kernel_names(const char *word);

/*
 * Adds what a name means: how many, 0 when it is a program's event or nothing;
 * < 0 with a sentence as wm_event_name_resolve().
 */
int wm_inventory_kernel_find(struct wm_inventory_kernel *k, const char *name, struct wm_diag *diag);

/* Adds all there is without a place being named. 0 or -errno with a sentence. */
int wm_inventory_kernel_find_all(struct wm_inventory_kernel *k, struct wm_diag *diag);

/* Adds the USDT probes of a file or a running process that match (NULL: all). Says nothing. */
void wm_inventory_kernel_add_file(struct wm_inventory_kernel *k, const char *path,
				  const char *glob);
void wm_inventory_kernel_add_process(struct wm_inventory_kernel *k, pid_t pid, const char *glob);

/* "tracepoint", "system-call", "usdt"... */
const char *wm_inventory_kernel_kind(const struct wm_event_def *d);

/* What a software or hardware event counts; "" for others. */
const char *wm_inventory_kernel_help(const struct wm_event_def *d);

/* A family of events, and how it is asked for. */
#define WM_INVENTORY_FAMILIES 10u
struct wm_inventory_family {
	const char *name, *what;
	const char *example; /* a command that shows some */
	const char *missing; /* why it cannot be used here; NULL: it can */
	bool is_counted;     /* else they are put where one wants them */
	uint32_t nr_events;
};
void wm_inventory_kernel_families(const struct wm_inventory_kernel *k,
				  struct wm_inventory_family ret[WM_INVENTORY_FAMILIES]);

#endif
