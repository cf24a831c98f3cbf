/* SPDX-License-Identifier: MIT */
/*
 * arena.c - see arena.h. Block sizes double up to 1 MiB; a large piece gets its own block.
 */
#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

#define ARENA_ALIGN     16u
#define ARENA_BLOCK_MIN 4096u
#define ARENA_BLOCK_MAX (1u << 20)

struct wm_arena_block {
	struct wm_arena_block *next;
	size_t used, bytes;
	_Alignas(ARENA_ALIGN) unsigned char data[];
};

void wm_arena_init(struct wm_arena *a, size_t limit)
{
	*a = (struct wm_arena){.limit = limit};
}

void wm_arena_done(struct wm_arena *a)
{
	struct wm_arena_block *b, *next;

	for (b = a->blocks; b; b = next) {
		next = b->next;
		free(b);
	}
	a->blocks = NULL;
}

static struct wm_arena_block *add_block(struct wm_arena *a, size_t bytes)
{
	size_t size = a->blocks ? a->blocks->bytes * 2 : ARENA_BLOCK_MIN;
	struct wm_arena_block *b;

	if (size > ARENA_BLOCK_MAX)
		size = ARENA_BLOCK_MAX;
	if (size < bytes)
		size = bytes;
	b = calloc(1, sizeof(*b) + size);
	if (!b)
		return NULL;
	b->bytes = size;
	b->next = a->blocks;
	a->blocks = b;
	return b;
}

void *wm_arena_get(struct wm_arena *a, size_t bytes)
{
	struct wm_arena_block *b = a->blocks;
	void *piece;

	if (bytes > a->limit - a->used)
		return NULL;
	a->used += bytes;
	bytes = (bytes + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
	if (!b || b->bytes - b->used < bytes) {
		b = add_block(a, bytes);
		if (!b)
			return NULL;
	}
	piece = b->data + b->used;
	b->used += bytes;
	return piece;
}

void *wm_arena_array(struct wm_arena *a, size_t count, size_t bytes)
{
	size_t all;

	return __builtin_mul_overflow(count, bytes, &all) ? NULL : wm_arena_get(a, all);
}

void *wm_arena_copy(struct wm_arena *a, const void *data, size_t bytes)
{
	unsigned char *piece = bytes < (size_t)-1 ? wm_arena_get(a, bytes + 1) : NULL;

	if (piece && bytes)
		memcpy(piece, data, bytes);
	return piece;
}

void *wm_arena_grow(struct wm_arena *a, void *array, size_t count, size_t bytes)
{
	size_t room = count ? count * 2 : 1;
	void *larger;

	if (count & (count - 1))
		return array; /* `count` is not a power of two, so the array has spare room */
	larger = wm_arena_array(a, room, bytes);
	if (larger && count)
		memcpy(larger, array, count * bytes);
	return larger;
}
