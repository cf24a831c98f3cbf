/* SPDX-License-Identifier: MIT */
/*
 * arena.h - memory that is given piece by piece and taken back all at once,
 * for things that live and die together (a parsed document). Zeroed, aligned
 * to 16 bytes. A limit keeps hostile input from taking all there is.
 */
#ifndef WM_BASE_ARENA_H
#define WM_BASE_ARENA_H

#include <stddef.h>

struct wm_arena_block;

struct wm_arena {
	struct wm_arena_block *blocks;
	size_t used, limit; /* bytes handed out, and how many may be */
};

void wm_arena_init(struct wm_arena *a, size_t limit);
void wm_arena_done(struct wm_arena *a);

/* NULL when out of memory or over the limit. */
void *wm_arena_get(struct wm_arena *a, size_t bytes);

/* An array; NULL also when the product overflows. */
void *wm_arena_array(struct wm_arena *a, size_t count, size_t bytes);

/* Copies with a NUL behind. */
void *wm_arena_copy(struct wm_arena *a, const void *data, size_t bytes);

/*
 * Makes room for one more element behind `count` ones: returns `array` or a
 * copy of it with twice the room. Room is a power of two, so it is known from
 * the count; begin with NULL and 0.
 */
void *wm_arena_grow(struct wm_arena *a, void *array, size_t count, size_t bytes);

#endif
