/* SPDX-License-Identifier: MIT */
/*
 * list.h - declarations shared by the files that implement <waymark/list.h>:
 * list.c finds events and describes them, list_field.c describes an event's
 * fields and places.
 */
#ifndef WM_API_LIST_H
#define WM_API_LIST_H

#include <waymark/list.h>

#include "api/api.h"
#include "control/inventory.h"
#include "control/inventory_kernel.h"
#include "kernel/event_fields.h"

/* One event: of a program (all members but `def` are set) or of the kernel (`def`). */
struct wm_api_listed {
	const struct wm_inventory_group *group;
	const struct wm_inventory_member *member;
	const struct wm_inventory_event *event; /* NULL: a kernel event */
	const char *name;                       /* NULL: not built yet */
	/* definition of a kernel event; its exit event's may follow */
	const struct wm_event_def *def;
	uint32_t index; /* index of the event in its file */
};

/* The kernel's format of an event, read on demand. */
struct wm_api_list_format {
	struct wm_event_fields fields;
	bool is_read;
};

struct waymark_list {
	struct wm_inventory programs;
	struct wm_inventory_kernel kernel;
	char root[WM_EVENT_ROOT_BYTES];
	const char *glob;       /* belongs to the caller; used while the list is filled */
	struct wm_rules *rules; /* rules of the glob; NULL: all events are listed */
	struct wm_api_listed *entries;
	uint32_t nr;
	struct wm_arena arena; /* holds entries and names */
	/* The formats of event number `asked` and of its exit; NO_NUMBER: none has been read. */
	struct wm_api_list_format begin, end;
	uint32_t asked;
	char type[128]; /* type of the field that was described last */
};

void wm_api_list_forget_fields(struct waymark_list *l);

#endif
