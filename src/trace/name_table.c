/* SPDX-License-Identifier: MIT */
/* name_table.c - see name_table.h. Strings are never removed. */
#include "trace/name_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

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
	uint32_t texts = n->room, bytes = n->room;

	if (WM_ARRAY_GROW(n->texts, texts, (size_t)n->nr + 1) ||
	    WM_ARRAY_GROW(n->bytes, bytes, texts))
		return false;
	n->room = texts;
	return true;
}

static uint32_t name_table_add(struct wm_names *n, const char *text, size_t bytes, uint64_t hash)
{
	char *copy;

	if (n->nr == WM_NAMES_MAX || bytes > UINT32_MAX)
		return WM_NAMES_NONE;
	if (!grow_texts(n))
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
