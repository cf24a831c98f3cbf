/* SPDX-License-Identifier: MIT */
/* table.c - see table.h. Linear probing. */
#include "base/table.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_ROOM 64u
#define ROOM_MAX   (1u << 31)

void wm_table_init(struct wm_table *t)
{
	*t = (struct wm_table){.seed = wm_mix_seed()};
}

void wm_table_done(struct wm_table *t)
{
	free(t->slots);
	t->slots = NULL;
	t->nr = t->room = 0;
}

void wm_table_clear(struct wm_table *t)
{
	if (t->room)
		memset(t->slots, 0, t->room * sizeof(*t->slots));
	t->nr = 0;
}

static void table_place(struct wm_table *t, struct wm_table_slot slot)
{
	uint32_t at = slot.hash;

	while (t->slots[at &= t->room - 1].index)
		at++;
	t->slots[at] = slot;
}

static int table_grow(struct wm_table *t)
{
	struct wm_table old = *t;
	uint32_t room = t->room ? 2 * t->room : FIRST_ROOM;

	if (room > ROOM_MAX)
		return -ENOMEM;
	t->slots = calloc(room, sizeof(*t->slots));
	if (!t->slots) {
		*t = old;
		return -ENOMEM;
	}
	t->room = room;
	for (uint32_t i = 0; i < old.room; i++)
		if (old.slots[i].index)
			table_place(t, old.slots[i]);
	free(old.slots);
	return 0;
}

int wm_table_add(struct wm_table *t, uint64_t hash, uint32_t index)
{
	if (2 * (uint64_t)t->nr >= t->room && table_grow(t))
		return -ENOMEM;
	table_place(t, (struct wm_table_slot){wm_table_fold(hash), index + 1});
	t->nr++;
	return 0;
}

/* Fills the gap with a later slot whose search passes over it, and so on until no search does. */
static void close_gap(struct wm_table *t, uint32_t gap)
{
	uint32_t mask = t->room - 1;

	for (uint32_t at = (gap + 1) & mask; t->slots[at].index; at = (at + 1) & mask) {
		if (((at - t->slots[at].hash) & mask) < ((at - gap) & mask))
			continue;
		t->slots[gap] = t->slots[at];
		gap = at;
	}
	t->slots[gap] = (struct wm_table_slot){0, 0};
}

void wm_table_remove(struct wm_table *t, uint64_t hash, uint32_t index)
{
	struct wm_table_walk w = wm_table_walk(hash);

	while (wm_table_next(t, &w)) {
		if (w.index != index)
			continue;
		close_gap(t, (w.at - 1) & (t->room - 1));
		t->nr--;
		return;
	}
}
