/* SPDX-License-Identifier: MIT */
/*
 * open_slices.h - the slices that have begun but not ended, for exporters that draw a begin event
 * and an end event as one bar. They are found by key; among several with the same key, the one
 * opened last is found, as with nested calls.
 *
 * Memory is bounded by number and by bytes: while the table is full, the caller removes the oldest
 * slice before it adds one.
 */
#ifndef WM_EXPORT_TIMELINE_OPEN_SLICES_H
#define WM_EXPORT_TIMELINE_OPEN_SLICES_H

#include "base/table.h"
#include "base/text.h"

#define WM_OPEN_SLICES_MAX       (1u << 16)
#define WM_OPEN_SLICES_BYTES_MAX ((size_t)64 << 20) /* maximum bytes of all their strings */

struct wm_open_key {
	uint64_t family; /* the kind of begin event */
	uint64_t who;    /* id of the thread, processor or process */
	uint64_t id;     /* 0: none */
};

struct wm_open_slice {
	struct wm_open_key key;
	uint64_t hash; /* of the key */
	int64_t begin_ns;
	uint64_t row;         /* set by the caller: the row in which it is drawn */
	const char *title;    /* set by the caller: its own text, or `label` */
	const char *category; /* set by the caller, not copied */
	char label[40];
	/* values of its begin event, encoded in the output format */
	struct wm_text values;
	size_t counted;                       /* bytes of `values` included in the total */
	struct wm_open_slice *before, *after; /* those with the same key */
	uint32_t index;                       /* in `all` */
	struct wm_open_slice *older, *newer;
};

struct wm_open_slices {
	struct wm_open_slice **all; /* all slices, used or not */
	uint32_t nr_all;
	struct wm_table table; /* the newest slice of each key */
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

/* Opens a slice, which becomes the newest, with `values` empty; NULL: out of memory. */
struct wm_open_slice *wm_open_slices_add(struct wm_open_slices *s, const struct wm_open_key *key);

/* Adds the bytes of `values` to the total; call it after writing them. */
void wm_open_slices_added(struct wm_open_slices *s, struct wm_open_slice *o);

/* Returns the slice with that key that was opened last; NULL: none. */
struct wm_open_slice *wm_open_slices_find(const struct wm_open_slices *s,
					  const struct wm_open_key *key);

/* Returns the slice with the same key that was opened before `o`; NULL: none. */
struct wm_open_slice *wm_open_slices_before(const struct wm_open_slice *o);

void wm_open_slices_remove(struct wm_open_slices *s, struct wm_open_slice *o);

#endif
