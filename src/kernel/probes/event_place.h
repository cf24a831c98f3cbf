/* SPDX-License-Identifier: MIT */
/*
 * event_place.h - events at a place that somebody names: in a program
 * (event_place.c), in the kernel or in memory (event_place_kernel.c). Private
 * to event_name.c, whose grammar is in event_name.h.
 */
#ifndef WM_KERNEL_PROBES_EVENT_PLACE_H
#define WM_KERNEL_PROBES_EVENT_PLACE_H

#include "kernel/event_def.h"
#include "kernel/event_space.h"

struct wm_event_place {
	const struct wm_event_space *space;
	const char *family;    /* "uprobe", as typed */
	const char *text;      /* what follows it and its ':', without arguments */
	const char *arguments; /* what stood in parentheses behind it; NULL: none did */
	struct wm_event_defs *defs;
	struct wm_diag *diag;
};

/* Each returns how many it added, or as wm_event_name_resolve(). */
int wm_event_place_uprobe(const struct wm_event_place *p); /* uretprobe, too */
int wm_event_place_usdt(const struct wm_event_place *p);
int wm_event_place_function(const struct wm_event_place *p);
int wm_event_place_kprobe(const struct wm_event_place *p); /* kretprobe, too */
int wm_event_place_memory(const struct wm_event_place *p);
int wm_event_place_event(const struct wm_event_place *p); /* eprobe */

/* func:kernel:glob; `glob` is the last part. */
int wm_event_place_kernel_functions(const struct wm_event_place *p, const char *glob);

/* Type and bits of the kernel's uprobe PMU put into `def`, which is added to the list. */
int wm_event_place_add_uprobe(const struct wm_event_place *p, struct wm_event_def *def);

/* Splits "function+0x10": the name's length, and the offset (0: none). -EINVAL: no number. */
int wm_event_place_offset(const char *text, size_t *ret_name_bytes, uint64_t *ret_offset);

#endif
