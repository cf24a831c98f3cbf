/* SPDX-License-Identifier: MIT */
/*
 * arena.h - memory allocated in pieces and freed all at once, for objects that share one lifetime
 * (a parsed document). Zeroed, aligned to 16 bytes. A limit keeps hostile input from exhausting
 * memory.
 */
#ifndef WM_BASE_ARENA_H
#define WM_BASE_ARENA_H

#include <stddef.h>

struct wm_arena_block;

struct wm_arena {
	struct wm_arena_block *blocks;
	size_t used, limit; /* bytes handed out, and their maximum */
};

void wm_arena_init(struct wm_arena *a, size_t limit);
void wm_arena_done(struct wm_arena *a);

/* Returns NULL when out of memory or over the limit. */
void *wm_arena_get(struct wm_arena *a, size_t bytes);

/* Allocates an array; returns NULL also when the product overflows. */
void *wm_arena_array(struct wm_arena *a, size_t count, size_t bytes);

/* Copies the data and appends a NUL. */
void *wm_arena_copy(struct wm_arena *a, const void *data, size_t bytes);

/*
 * Makes room for one more element after the first `count`: returns `array`, or a copy of it with
 * twice the capacity. The capacity is always a power of two, so `count` determines it; start with
 * NULL and 0.
 */
void *wm_arena_grow(struct wm_arena *a, void *array, size_t count, size_t bytes);

#endif
