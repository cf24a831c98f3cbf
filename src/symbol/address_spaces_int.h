/* SPDX-License-Identifier: MIT */
/*
 * address_spaces_int.h - private to address spaces: mappings.c manages the mappings of one space,
 * address_spaces.c manages all spaces, address_spaces_feed.c reads the events.
 */
#ifndef WM_SYMBOL_ADDRESS_SPACES_INT_H
#define WM_SYMBOL_ADDRESS_SPACES_INT_H

#include "symbol/address_spaces.h"

/* Disjoint mappings in order of address. Immutable while several processes share it. */
struct wm_layout {
	uint32_t nr_users;
	uint32_t nr, room;
	struct wm_mapping mappings[];
};

/*
 * Adds a mapping to *layout (NULL: empty) and truncates those that it overlaps. Copies the layout
 * first if it has other users. Returns 0, -ENOMEM or -E2BIG.
 */
int wm_layout_map(struct wm_layout **layout, const struct wm_mapping *m);

/*
 * Removes [start, end). Returns errors like wm_layout_map(), since a hole can split a mapping in
 * two.
 */
int wm_layout_unmap(struct wm_layout **layout, uint64_t start, uint64_t end);

/* Drops a reference; accepts NULL. */
void wm_layout_put(struct wm_layout *layout);

/* Returns the index of the mapping that contains the address, or nr. */
uint32_t wm_layout_find(const struct wm_layout *layout, uint64_t address);

#define WM_SPACES_KINDS 256u /* entries of the cache, a power of two */

/*
 * The function that handles an event type. The entries form a direct-mapped cache: a type with the
 * same slot replaces the entry.
 */
struct wm_spaces_kind {
	const struct wm_event_type *type;
	/* the type's name, because the memory at `type` may have been reused */
	const char *name;
	/* NULL: the events do not describe address spaces */
	int (*learn)(struct wm_spaces *s, const struct wm_event *e);
};

/*
 * Returns the mapping of a process (-1: the kernel) that contains the address,
 * or NULL. Valid until the next change.
 */
const struct wm_mapping *wm_spaces_mapping(struct wm_spaces *s, int32_t pid, uint64_t address);

/*
 * Records that the kernel reports the process's mappings and execs, so that the process's own
 * records of them are ignored. Children inherit this.
 */
void wm_spaces_watch(struct wm_spaces *s, int32_t pid);
bool wm_spaces_is_watched(struct wm_spaces *s, int32_t pid);

struct wm_spaces_kind *wm_spaces_kinds(struct wm_spaces *s);

#endif
