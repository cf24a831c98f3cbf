/* SPDX-License-Identifier: MIT */
/*
 * group_count.h - events counted apart by the values of their fields, kind by
 * kind, as they come: for who reads a stream and keeps none of it. Memory is
 * bounded by the number of different keys; what comes with one more is counted
 * as left over.
 *
 * A name is a field's, of the event's own or of its contexts, or, when there is
 * none of that name, pid, tid, comm or cpu; with a $ in front always these.
 */
#ifndef WM_ANALYSIS_GROUP_COUNT_H
#define WM_ANALYSIS_GROUP_COUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/analysis.h"

#define WM_APART_PARTS_MAX  8u
#define WM_APART_TEXT_BYTES 64u    /* of a text in a key, NUL included: cut there */
#define WM_APART_KEYS_MAX   16384u /* of one kind of events */

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
	const char *name; /* of the events, as the trace has it; ours */
	uint64_t total, left_over;
	bool lacks; /* they have no such field: all are left over */
	uint32_t nr_rows, room, *slots, nr_slots;
	struct wm_apart_row *rows;
};

/* Values of wm_analysis_apart; `fields` as "comm,count". */
struct wm_apart_values {
	const char *fields;
	bool totals; /* `fields` may be empty: all of a kind are one row */
	bool (*counts)(const void *data, const char *name); /* which kinds; NULL: all */
	const void *data;
};

/* Only create, feed and destroy: its result are the kinds. */
extern const struct wm_analysis wm_analysis_apart;

/* What was counted; valid until the next feed. */
unsigned wm_apart_parts(const void *own);
struct wm_apart_kind *wm_apart_kinds(void *own, size_t *ret_nr);

/* Rows with most first; after that nothing is fed before the reset, which begins at 0. */
void wm_apart_sort(struct wm_apart_kind *k);
void wm_apart_reset(void *own);

/* The trace's types are others now. */
void wm_apart_rebind(void *own);

#endif
