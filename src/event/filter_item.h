/* SPDX-License-Identifier: MIT */
/*
 * filter_item.h - the filter language of filter.h for events from any tracer: the same bytecode is
 * bound to the types of an event's parts (item.h) instead of a description, and run on the event's
 * items. Tool side.
 *
 * A name is looked up in the event's own fields first, then in its contexts, from the event's
 * outwards to the packet's. 64-bit unsigned integers are unsigned, all others signed; labels with
 * ranges compare as ranges. The rules are those of filter.h; filter_cases_test_kit.h tests both
 * evaluators against them.
 */
#ifndef WM_EVENT_FILTER_ITEM_H
#define WM_EVENT_FILTER_ITEM_H

#include "event/filter.h"
#include "event/item.h"

struct wm_item_filter;

/*
 * Binds bytecode to an event whose parts have these types (NULL: the part is absent). Returns 0 and
 * a program that the caller destroys and that refers to the types; -ENOENT when the event lacks a
 * field, -EINVAL for a type error, -EBADMSG or -ENOMEM; `diag` has the reason and the column.
 * `name` is the event's name, for the message.
 */
int wm_item_filter_bind(const unsigned char *code, size_t bytes, const char *name,
			const struct wm_type *const parts[WM_NR_PARTS], struct wm_item_filter **ret,
			struct wm_diag *diag);
void wm_item_filter_destroy(struct wm_item_filter *f);

/* Returns bits of enum wm_filter_context. */
uint32_t wm_item_filter_needs(const struct wm_item_filter *f);

/* Context values. A filter that reads an unknown one is false. */
struct wm_item_contexts {
	int64_t pid, tid, cpu, time_ns;
	const char *comm;
	uint32_t comm_bytes;
	uint32_t known; /* bits of enum wm_filter_context */
};

/* Runs the filter; `at` holds the index of each part's first item. Thread-safe. */
bool wm_item_filter_run(const struct wm_item_filter *f, const struct wm_item *items,
			const uint32_t at[WM_NR_PARTS], const struct wm_item_contexts *contexts);

#endif
