/* SPDX-License-Identifier: MIT */
/*
 * open_slices.h - what has begun and not ended while events go by: for who
 * draws beginnings and ends as one bar. Found again by a key; of several with
 * the same key the last that was opened comes first, as calls return.
 *
 * Memory is bounded, by number and by bytes: who adds takes the oldest out
 * while it is full.
 */
#ifndef WM_EXPORT_TIMELINE_OPEN_SLICES_H
#define WM_EXPORT_TIMELINE_OPEN_SLICES_H

#include "base/text.h"

#define WM_OPEN_SLICES_MAX       (1u << 16)
#define WM_OPEN_SLICES_BYTES_MAX ((size_t)64 << 20) /* of all their texts */

struct wm_open_key {
	uint64_t family; /* which kind of beginning */
	uint64_t who;    /* thread, processor, process */
	uint64_t id;     /* 0: there is none */
};

struct wm_open_slice {
	struct wm_open_key key;
	int64_t begin_ns;
	uint64_t row;         /* the owner's: where it is drawn */
	const char *title;    /* the owner's, or `label` */
	const char *category; /* the owner's */
	char label[40];
	struct wm_text values;              /* of its begin, as the format has them */
	size_t counted;                     /* bytes of it in the sum */
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

/* The newest one, `values` empty; NULL: out of memory. */
struct wm_open_slice *wm_open_slices_add(struct wm_open_slices *s, const struct wm_open_key *key);

/* After `values` was written: counts its bytes. */
void wm_open_slices_added(struct wm_open_slices *s, struct wm_open_slice *o);

/* The last one opened with that key; NULL: none. */
struct wm_open_slice *wm_open_slices_find(const struct wm_open_slices *s,
					  const struct wm_open_key *key);

/* The one opened before it with the same key; NULL: none. */
struct wm_open_slice *wm_open_slices_before(const struct wm_open_slice *o);

void wm_open_slices_remove(struct wm_open_slices *s, struct wm_open_slice *o);

#endif
