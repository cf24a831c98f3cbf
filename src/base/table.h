/* SPDX-License-Identifier: MIT */
/*
 * table.h - the tools' hash table: it stores indices into an array that the caller owns. The caller
 * keeps the keys there and compares them:
 *
 *   uint64_t hash = wm_table_hash(&t, id);
 *   struct wm_table_walk w = wm_table_walk(hash);
 *
 *   while (wm_table_next(&t, &w))
 *           if (entries[w.index].id == id)
 *                   return &entries[w.index];
 *   ... append an entry, then wm_table_add(&t, hash, its index)
 *
 * A caller may compute another hash with wm_mix() (base/mix.h) if it depends on a random seed. The
 * seed is random, so nobody can craft a file whose keys collide. Slots keep 32 bits of the hash, so
 * most candidates are equal keys, and growing and removing need no callback.
 * Open addressing; at most half of the slots are used; 8 bytes per slot. One key may have several
 * entries; a walk finds them in no particular order.
 *
 * Several threads may read at once while none changes the table. Code that runs in traced programs
 * must not use it, because it allocates.
 */
#ifndef WM_BASE_TABLE_H
#define WM_BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mix.h"

#define WM_TABLE_FACTOR 0x9fb21c651e98df25ull /* odd, with about as many ones as zeros */

struct wm_table_slot {
	uint32_t hash;  /* wm_table_fold() of the hash; its low bits choose the slot */
	uint32_t index; /* index + 1; 0: the slot is free */
};

struct wm_table {
	struct wm_table_slot *slots; /* NULL until the first entry */
	uint32_t nr, room;           /* `room`: number of slots, a power of two or 0 */
	uint64_t seed;
};

void wm_table_init(struct wm_table *t);
void wm_table_done(struct wm_table *t); /* may also be called on a zeroed table */

/* Adds an index below UINT32_MAX. Returns 0 or -ENOMEM, which leaves the table unchanged. */
int wm_table_add(struct wm_table *t, uint64_t hash, uint32_t index);

/* Removes the entry with that hash and index. Invalidates walks. */
void wm_table_remove(struct wm_table *t, uint64_t hash, uint32_t index);

/* Removes all entries, but keeps the memory and the seed. */
void wm_table_clear(struct wm_table *t);

/* Returns the hash of a number or a pointer. */
static inline uint64_t wm_table_hash(const struct wm_table *t, uint64_t key)
{
	return wm_mix(t->seed ^ key, t->seed);
}

static inline uint64_t wm_table_hash_bytes(const struct wm_table *t, const void *data, size_t bytes)
{
	return wm_mix_bytes(t->seed, data, bytes);
}

/*
 * Reduces a hash to 32 bits. One step of wm_mix() is not enough for equally spaced keys, such as
 * addresses of pages: for one seed in a hundred, searches took 20 or more steps when half of its
 * result was used unchanged.
 */
static inline uint32_t wm_table_fold(uint64_t hash)
{
	return (uint32_t)(hash * WM_TABLE_FACTOR >> 32);
}

struct wm_table_walk {
	uint32_t at, hash;
	uint32_t index; /* index of the candidate */
};

/* Begins a walk through the entries that may have this hash. */
static inline struct wm_table_walk wm_table_walk(uint64_t hash)
{
	uint32_t folded = wm_table_fold(hash);

	return (struct wm_table_walk){.at = folded, .hash = folded};
}

/* Sets w->index to the next candidate. Returns false when there is none. */
static inline bool wm_table_next(const struct wm_table *t, struct wm_table_walk *w)
{
	const struct wm_table_slot *s;

	if (!t->room)
		return false;
	do {
		s = &t->slots[w->at++ & (t->room - 1)];
		if (!s->index)
			return false;
	} while (s->hash != w->hash);
	w->index = s->index - 1;
	return true;
}

#endif
