/* SPDX-License-Identifier: MIT */
/* name_table.c - see name_table.h. Strings are never removed. */
#include "trace/name_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 256u

int wm_names_init(struct wm_names *n)
{
	*n = (struct wm_names){0};
	wm_arena_init(&n->arena, WM_NAMES_ARENA_MAX);
	wm_table_init(&n->table);
	if (wm_names_id(n, "", 0) == 0)
		return 0;
	wm_names_done(n);
	return -ENOMEM;
}

void wm_names_done(struct wm_names *n)
{
	wm_table_done(&n->table);
	free(n->texts);
	free(n->bytes);
	wm_arena_done(&n->arena);
	*n = (struct wm_names){0};
}

static bool grow_texts(struct wm_names *n)
{
	uint32_t room = n->room ? n->room * 2 : FIRST_ROOM;
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

static uint32_t name_table_add(struct wm_names *n, const char *text, size_t bytes, uint64_t hash)
{
	char *copy;

	if (n->nr == WM_NAMES_MAX || bytes > UINT32_MAX)
		return WM_NAMES_NONE;
	if (n->nr == n->room && !grow_texts(n))
		return WM_NAMES_NONE;
	copy = wm_arena_copy(&n->arena, text, bytes);
	if (!copy || wm_table_add(&n->table, hash, n->nr))
		return WM_NAMES_NONE;
	n->texts[n->nr] = copy;
	n->bytes[n->nr] = (uint32_t)bytes;
	return n->nr++;
}

uint32_t wm_names_id(struct wm_names *n, const char *text, size_t bytes)
{
	uint64_t hash = wm_table_hash_bytes(&n->table, text, bytes);
	struct wm_table_walk w = wm_table_walk(hash);

	while (wm_table_next(&n->table, &w))
		if (n->bytes[w.index] == bytes && !memcmp(n->texts[w.index], text, bytes))
			return w.index;
	return name_table_add(n, text, bytes, hash);
}
