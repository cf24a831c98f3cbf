/* SPDX-License-Identifier: MIT */
/*
 * table.h - the hash table of the tools: it stores indices into an array that the caller owns. The
 * caller hashes a key (base/mix.h, beginning with the table's seed), walks the candidates and
 * compares keys itself:
 *
 *   uint64_t hash = wm_mix(t.seed ^ id, 0);
 *   struct wm_table_walk w;
 *
 *   for (uint32_t i = wm_table_first(&t, hash, &w); i != WM_TABLE_NONE; i = wm_table_next(&t, &w))
 *           if (entry[i].id == id)
 *                   return &entry[i];
 *   ... append an entry, then wm_table_add(&t, hash, its index)
 *
 * Entries are added and never removed. Slots keep 32 bits of the hash, so most
 * candidates are equal keys, and growing needs no callback. The seed differs from run to run, so
 * nobody can write a file whose keys collide. Open addressing; at most half of the slots are used;
 * 8 bytes a slot. Several threads may read at once while none adds.
 */
#ifndef WM_BASE_TABLE_H
#define WM_BASE_TABLE_H

#include <stdint.h>

#include "base/mix.h"

#define WM_TABLE_NONE UINT32_MAX

struct wm_table_slot {
	uint32_t hash;  /* upper half of the hash; its low bits choose the slot */
	uint32_t index; /* index + 1; 0: the slot is free */
};

struct wm_table {
	struct wm_table_slot *slots; /* NULL until the first entry */
	uint32_t nr, room;           /* `room`: number of slots, a power of two or 0 */
	uint64_t seed;
};

struct wm_table_walk {
	uint32_t at, hash;
};

void wm_table_init(struct wm_table *t);
void wm_table_done(struct wm_table *t); /* may also be called on a zeroed table */

/* Adds an index below UINT32_MAX. Returns 0 or -ENOMEM, which leaves the table unchanged. */
int wm_table_add(struct wm_table *t, uint64_t hash, uint32_t index);

static inline uint32_t wm_table_next(const struct wm_table *t, struct wm_table_walk *w)
{
	for (;; w->at++) {
		const struct wm_table_slot *s = &t->slots[w->at &= t->room - 1];

		if (!s->index)
			return WM_TABLE_NONE;
		if (s->hash == w->hash) {
			w->at++;
			return s->index - 1;
		}
	}
}

/* Returns the first index whose entry may have this hash, or WM_TABLE_NONE when there is none. */
static inline uint32_t wm_table_first(const struct wm_table *t, uint64_t hash,
				      struct wm_table_walk *w)
{
	*w = (struct wm_table_walk){(uint32_t)(hash >> 32), (uint32_t)(hash >> 32)};
	return t->room ? wm_table_next(t, w) : WM_TABLE_NONE;
}

#endif
