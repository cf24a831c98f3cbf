/* SPDX-License-Identifier: MIT */
/*
 * group_count.h - counts events grouped by the values of their fields, per event type, as they
 * arrive: for readers of a stream that do not store events. Memory is bounded by the number of
 * distinct keys: when there are too many, events with new keys are counted as left over.
 *
 * A name refers to a field of the event or its contexts. When the event lacks it, pid, tid, comm
 * and cpu mean its thread and CPU; with a $ before the name, they always do.
 */
#ifndef WM_ANALYSIS_GROUP_COUNT_H
#define WM_ANALYSIS_GROUP_COUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/analysis.h"
#include "base/table.h"

#define WM_APART_PARTS_MAX 8u
#define WM_APART_TEXT_BYTES                                                                        \
	64u /* size of a string in a key, including the NUL: longer ones are truncated */
#define WM_APART_KEYS_MAX 16384u /* maximum keys per event type */

struct wm_apart_part {
	char name[64];
	bool is_text, is_signed;
	int64_t number;
	char text[WM_APART_TEXT_BYTES];
};

struct wm_apart_row {
	uint64_t count;
	struct wm_apart_part parts[WM_APART_PARTS_MAX];
};

struct wm_apart_kind {
	const char *name; /* the event type's name as in the trace; a copy */
	uint64_t total, left_over;
	bool lacks; /* the event type lacks a field: all its events are left over */
	uint32_t nr_rows, room;
	struct wm_apart_row *rows;
	struct wm_table table; /* rows; invalid after wm_apart_sort() */
};

/* Values of wm_analysis_apart; `fields` is a comma-separated list such as "comm,count". */
struct wm_apart_values {
	const char *fields;
	bool totals; /* `fields` may be empty: one row per event type */
	/* selects event types by name; NULL: all */
	bool (*counts)(const void *data, const char *name);
	const void *data;
};

/* Implements only create, feed and destroy: its result is the kinds. */
extern const struct wm_analysis wm_analysis_apart;

/* Return the counts, which are valid until the next feed(). */
unsigned wm_apart_parts(const void *own);
struct wm_apart_kind *wm_apart_kinds(void *own, size_t *ret_nr);

/*
 * Sorts rows by descending count. No events may be fed between this call and wm_apart_reset(),
 * which zeroes the counts.
 */
void wm_apart_sort(struct wm_apart_kind *k);
void wm_apart_reset(void *own);

/* Must be called when the trace's types have changed. */
void wm_apart_rebind(void *own);

#endif
