/* SPDX-License-Identifier: MIT */
/*
 * numbering_int.h - maps event ids to events, for a producer and for a stream class. Events are
 * interned, so two numberings agree on an id when both hold the same pointer.
 */
#ifndef WM_WRITE_NUMBERING_INT_H
#define WM_WRITE_NUMBERING_INT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "event/class.h"

#define WM_EVENT_IDS 65536u

/* An event with its contexts. Immutable except for mixed_id; lives as long as the store. */
struct wm_interned_event {
	struct wm_class *class;
	uint32_t contexts;
	uint32_t mixed_id; /* its id in mixed streams; UINT32_MAX: none yet */
};

struct wm_event_store {
	struct wm_interned_event **events;
	uint32_t room;
	struct wm_table table; /* of events */
};

void wm_numbering_store_init(struct wm_event_store *s);

/* Takes ownership of `class`, even on failure. NULL when out of memory. */
struct wm_interned_event *wm_numbering_intern(struct wm_event_store *s, struct wm_class *class,
					      uint32_t contexts);
void wm_numbering_store_done(struct wm_event_store *s);

/* Maps ids to events, and keeps the ids in order of arrival. */
struct wm_numbering {
	struct wm_interned_event **at; /* by id; NULL: unused */
	uint32_t room;
	uint16_t *order;
	uint32_t count, order_room;
};

static inline struct wm_interned_event *wm_numbering_get(const struct wm_numbering *n, uint32_t id)
{
	return id < n->room ? n->at[id] : NULL;
}

/* Assigns an unused id, below WM_EVENT_IDS, to the event. 0 or -ENOMEM. */
int wm_numbering_set(struct wm_numbering *n, uint32_t id, struct wm_interned_event *event);

/*
 * Compares the ids of `of`, from index `from` on, with `n`. Returns how many of them mean the same
 * event in both, or -EEXIST when one means another event in `n`.
 */
int64_t wm_numbering_shared(const struct wm_numbering *n, const struct wm_numbering *of,
			    uint32_t from);

void wm_numbering_done(struct wm_numbering *n);

#endif
