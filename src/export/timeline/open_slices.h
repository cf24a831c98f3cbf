/* SPDX-License-Identifier: MIT */
/*
 * open_slices.h - the slices that have begun but not ended, for exporters that
 * draw a begin and an end as one bar. They are found by key; of several with
 * the same key the last one opened comes first, as with nested calls.
 *
 * Memory is bounded by number and by bytes: while the table is full, the caller
 * removes the oldest slice before it adds one.
 */
#ifndef WM_EXPORT_TIMELINE_OPEN_SLICES_H
#define WM_EXPORT_TIMELINE_OPEN_SLICES_H

#include "base/text.h"

#define WM_OPEN_SLICES_MAX       (1u << 16)
#define WM_OPEN_SLICES_BYTES_MAX ((size_t)64 << 20) /* of all their texts */

struct wm_open_key {
	uint64_t family; /* the kind of begin */
	uint64_t who;    /* thread, processor, process */
	uint64_t id;     /* 0: none */
};

struct wm_open_slice {
	struct wm_open_key key;
	int64_t begin_ns;
	uint64_t row;         /* the caller's: where it is drawn */
	const char *title;    /* the caller's, or `label` */
	const char *category; /* the caller's */
	char label[40];
	struct wm_text values;              /* of its begin, encoded in the output format */
	size_t counted;                     /* bytes of `values` in the total */
	struct wm_open_slice *same, **slot; /* by key */
	struct wm_open_slice *older, *newer;
};

struct wm_open_slices {
	struct wm_open_slice **slots;
	struct wm_open_slice *oldest, *newest, *unused;
	uint32_t nr;
	size_t bytes;
};

/* 0 or -ENOMEM. */
int wm_open_slices_init(struct wm_open_slices *s);
void wm_open_slices_done(struct wm_open_slices *s);

static inline bool wm_open_slices_full(const struct wm_open_slices *s)
{
	return s->nr >= WM_OPEN_SLICES_MAX || s->bytes >= WM_OPEN_SLICES_BYTES_MAX;
}

/* Opens the newest slice, with `values` empty; NULL: out of memory. */
struct wm_open_slice *wm_open_slices_add(struct wm_open_slices *s, const struct wm_open_key *key);

/* Counts the bytes of `values`; call it after writing them. */
void wm_open_slices_added(struct wm_open_slices *s, struct wm_open_slice *o);

/* Returns the last one opened with that key; NULL: none. */
struct wm_open_slice *wm_open_slices_find(const struct wm_open_slices *s,
					  const struct wm_open_key *key);

/* Returns the one opened before it with the same key; NULL: none. */
struct wm_open_slice *wm_open_slices_before(const struct wm_open_slice *o);

void wm_open_slices_remove(struct wm_open_slices *s, struct wm_open_slice *o);

#endif
