/* SPDX-License-Identifier: MIT */
/* name_table.c - see name_table.h. Open addressing; strings are never removed. */
#include "trace/name_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mix.h"

#define FIRST_SLOTS 256u

int wm_names_init(struct wm_names *n)
{
	*n = (struct wm_names){.nr_slots = FIRST_SLOTS, .seed = wm_mix_seed()};
	wm_arena_init(&n->arena, WM_NAMES_ARENA_MAX);
	n->slots = calloc(n->nr_slots, sizeof(*n->slots));
	if (n->slots && wm_names_id(n, "", 0) == 0)
		return 0;
	wm_names_done(n);
	return -ENOMEM;
}

void wm_names_done(struct wm_names *n)
{
	free(n->slots);
	free(n->texts);
	free(n->bytes);
	wm_arena_done(&n->arena);
	*n = (struct wm_names){0};
}

/* The slot that holds these bytes, or the empty one for them. */
static uint32_t find_slot(const struct wm_names *n, const char *text, size_t bytes)
{
	uint32_t mask = n->nr_slots - 1, i = (uint32_t)wm_mix_bytes(n->seed, text, bytes) & mask;

	for (; n->slots[i]; i = (i + 1) & mask) {
		uint32_t id = n->slots[i] - 1;

		if (n->bytes[id] == bytes && !memcmp(n->texts[id], text, bytes))
			break;
	}
	return i;
}

static bool grow_slots(struct wm_names *n)
{
	uint32_t nr = n->nr_slots * 2, *slots = calloc(nr, sizeof(*slots));

	if (!slots)
		return false;
	free(n->slots);
	n->slots = slots;
	n->nr_slots = nr;
	for (uint32_t id = 0; id < n->nr; id++)
		slots[find_slot(n, n->texts[id], n->bytes[id])] = id + 1;
	return true;
}

static bool grow_texts(struct wm_names *n)
{
	uint32_t room = n->room ? n->room * 2 : FIRST_SLOTS;
	const char **texts = realloc(n->texts, room * sizeof(*texts));
	uint32_t *bytes;

	if (!texts)
		return false;
	n->texts = texts;
	bytes = realloc(n->bytes, room * sizeof(*bytes));
	if (!bytes)
		return false;
	n->bytes = bytes;
	n->room = room;
	return true;
}

static uint32_t add(struct wm_names *n, const char *text, size_t bytes)
{
	char *copy;

	if (n->nr == WM_NAMES_MAX || bytes > UINT32_MAX)
		return WM_NAMES_NONE;
	if (n->nr == n->room && !grow_texts(n))
		return WM_NAMES_NONE;
	if ((n->nr + 1) * 2 > n->nr_slots && !grow_slots(n))
		return WM_NAMES_NONE;
	copy = wm_arena_copy(&n->arena, text, bytes);
	if (!copy)
		return WM_NAMES_NONE;
	n->slots[find_slot(n, text, bytes)] = n->nr + 1;
	n->texts[n->nr] = copy;
	n->bytes[n->nr] = (uint32_t)bytes;
	return n->nr++;
}

uint32_t wm_names_id(struct wm_names *n, const char *text, size_t bytes)
{
	uint32_t taken = n->slots[find_slot(n, text, bytes)];

	return taken ? taken - 1 : add(n, text, bytes);
}
