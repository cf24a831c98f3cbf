/* SPDX-License-Identifier: MIT */
/*
 * event_place.h - events at a place that the user names: in a program (event_place.c), in the
 * kernel or in memory (event_place_kernel.c). Private to event_name.c; event_name.h has the
 * grammar.
 */
#ifndef WM_KERNEL_PROBES_EVENT_PLACE_H
#define WM_KERNEL_PROBES_EVENT_PLACE_H

#include "kernel/event_def.h"
#include "kernel/event_space.h"

struct wm_event_place {
	const struct wm_event_space *space;
	const char *family;    /* the family as typed, such as "uprobe" */
	const char *text;      /* the text after the family and its ':', without arguments */
	const char *arguments; /* the text in parentheses that follows; NULL: none */
	struct wm_event_defs *defs;
	struct wm_diag *diag;
};

/*
 * Each function returns the number of events it added, or an error as wm_event_name_resolve() does.
 */
int wm_event_place_uprobe(const struct wm_event_place *p); /* uretprobe, too */
int wm_event_place_usdt(const struct wm_event_place *p);
int wm_event_place_function(const struct wm_event_place *p);
int wm_event_place_kprobe(const struct wm_event_place *p); /* kretprobe, too */
int wm_event_place_memory(const struct wm_event_place *p);
int wm_event_place_event(const struct wm_event_place *p); /* eprobe */

/* Resolves func:kernel:glob; `glob` is the last part. */
int wm_event_place_kernel_functions(const struct wm_event_place *p, const char *glob);

/* Sets the uprobe PMU's type and bits in `def`, and appends it to the list. */
int wm_event_place_add_uprobe(const struct wm_event_place *p, struct wm_event_def *def);

/*
 * Splits "function+0x10" into the length of the name and the offset (0: none). Returns -EINVAL if
 * the offset is not a number.
 */
int wm_event_place_offset(const char *text, size_t *ret_name_bytes, uint64_t *ret_offset);

#endif
