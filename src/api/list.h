/* SPDX-License-Identifier: MIT */
/*
 * list.h - what the files behind <waymark/list.h> share: list.c finds events and
 * tells of each, list_field.c tells what an event carries and where it is.
 */
#ifndef WM_API_LIST_H
#define WM_API_LIST_H

#include <waymark/list.h>

#include "api/api.h"
#include "control/inventory.h"
#include "control/inventory_kernel.h"
#include "kernel/event_fields.h"

/* One event: of a program (all but `def` are set) or of the kernel (`def`). */
struct wm_api_listed {
	const struct wm_inventory_group *group;
	const struct wm_inventory_member *member;
	const struct wm_inventory_event *event; /* NULL: of the kernel */
	const char *name;                       /* NULL: not asked for yet */
	const struct wm_event_def *def;         /* its first place; the exit may follow */
	uint32_t index;                         /* of the event in its file */
};

/* The kernel's format of an event, read when it is asked for. */
struct wm_api_list_format {
	struct wm_event_fields fields;
	bool is_read;
};

struct waymark_list {
	struct wm_inventory programs;
	struct wm_inventory_kernel kernel;
	char root[WM_EVENT_ROOT_BYTES];
	const char *glob;       /* the caller's, while the list is filled */
	struct wm_rules *rules; /* of that glob; NULL: all events are wanted */
	struct wm_api_listed *entries;
	uint32_t nr;
	struct wm_arena arena; /* of entries and names */
	/* Of the event `asked`, and of what ends it; NO_NUMBER: of none. */
	struct wm_api_list_format begin, end;
	uint32_t asked;
	char type[128]; /* of the field told last */
};

void wm_api_list_forget_fields(struct waymark_list *l);

#endif
