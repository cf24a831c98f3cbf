/* SPDX-License-Identifier: MIT */
/*
 * address_spaces_int.h - the inside of address spaces: mappings.c keeps the mappings of
 * one of them, address_spaces.c all of them, address_spaces_feed.c knows the events.
 */
#ifndef WM_SYMBOL_ADDRESS_SPACES_INT_H
#define WM_SYMBOL_ADDRESS_SPACES_INT_H

#include "symbol/address_spaces.h"

/* Mappings by ascending address, disjoint. Shared between processes, then never changed. */
struct wm_layout {
	uint32_t nr_users;
	uint32_t nr, room;
	struct wm_mapping mappings[];
};

/*
 * Puts a mapping in, cutting what is there, into *layout (NULL: empty), which
 * is copied first when it has other users. 0, -ENOMEM, -E2BIG.
 */
int wm_layout_map(struct wm_layout **layout, const struct wm_mapping *m);

/* Takes [start, end) out. 0 or as above: a hole can make two of one. */
int wm_layout_unmap(struct wm_layout **layout, uint64_t start, uint64_t end);

/* Gives up a use; NULL is fine. */
void wm_layout_put(struct wm_layout *layout);

/* The index of the mapping with that address, or nr. */
uint32_t wm_layout_find(const struct wm_layout *layout, uint64_t address);

#define WM_SPACES_KINDS 256u /* a power of two */

/* What an event type says, found once. Open to collisions: a type takes another's place. */
struct wm_spaces_kind {
	const struct wm_event_type *type;
	const char *name; /* of the type: what lies there may have become another */
	int (*learn)(struct wm_spaces *s, const struct wm_event *e); /* NULL: nothing */
};

/* The mapping of a process (-1: the kernel) with that address; NULL. Until it changes. */
const struct wm_mapping *wm_spaces_mapping(struct wm_spaces *s, int32_t pid, uint64_t address);

/*
 * The kernel itself tells of what the process maps and when it calls exec: what
 * the process says of itself is no news then. Children are watched as well.
 */
void wm_spaces_watch(struct wm_spaces *s, int32_t pid);
bool wm_spaces_is_watched(struct wm_spaces *s, int32_t pid);

struct wm_spaces_kind *wm_spaces_kinds(struct wm_spaces *s);

#endif
