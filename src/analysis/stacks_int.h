/* SPDX-License-Identifier: MIT */
/*
 * stacks_int.h - shared by stacks.c (which creates stacks) and stacks_name.c (which names frames).
 */
#ifndef WM_ANALYSIS_STACKS_INT_H
#define WM_ANALYSIS_STACKS_INT_H

#include "analysis/stacks.h"
#include "base/table.h"

#define WM_STACKS_CORRUPT_MAX (1u << 18) /* maximum number of distinct chains counted */
/* values from here on are markers, not addresses */
#define WM_STACKS_MARKERS ((uint64_t)-4095)

struct wm_frame {
	/* place.module is NULL when there is no known mapping */
	struct wm_place place;
	const struct wm_elf_frame *inlined; /* NULL: the function that the compiler emitted */
	char level;                         /* 'k', '.', 'H', 'g', 'u', as in perf */
	/* index of its function; UINT32_MAX: not looked up yet */
	uint32_t symbol;
	/* the stack of this frame alone; WM_STACK_NONE: not created yet */
	uint32_t stack;
};

/* A function, or an address without a function. */
struct wm_function {
	const struct wm_symbol *symbol; /* NULL: unknown */
	/* name of a function inlined in it; NULL: the function itself */
	const char *inlined;
	const struct wm_module *module; /* module of its first frame; may be NULL */
	uint64_t address;               /* the address, if there is no symbol */
	char level;
};

struct wm_stack {
	uint32_t first, nr; /* range in the pool */
	unsigned char user; /* enum wm_stacks_user */
};

struct wm_chain {
	uint64_t hash; /* hash of the whole chain */
	uint32_t stack;
};

struct wm_stacks {
	struct wm_names *names;
	struct wm_spaces *spaces;
	struct wm_symbols *symbols;
	struct wm_lines *lines;
	bool inlines;
	bool names_ahead; /* symbols are read in the background */
	uint64_t seed;
	struct wm_table chain_table, stack_table, frame_table, function_table, corrupt_table;
	uint32_t *scratch; /* frames of the current chain */
	struct wm_stack *stacks;
	uint32_t nr_stacks, room_stacks;
	uint32_t *pool; /* frames of all stacks, consecutive */
	uint32_t nr_pool, room_pool;
	struct wm_frame *frames;
	uint32_t nr_frames, room_frames;
	struct wm_function *functions;
	uint32_t nr_functions, room_functions;
	struct wm_chain *chains; /* cached: chain_table.nr of them */
	uint32_t room_chains;
	uint64_t *corrupt; /* hashes of the distinct chains that were truncated */
	uint32_t room_corrupt;
};

/* Returns the frame's id; UINT32_MAX: no memory. */
uint32_t wm_stacks_frame(struct wm_stacks *s, const struct wm_frame *f);

/* Counts the chain with that hash as truncated to its innermost frame; false: out of memory. */
bool wm_stacks_note_corrupt(struct wm_stacks *s, uint64_t hash);

/* Makes room for one more element; false: no memory. */
bool wm_stacks_grow(void **array, uint32_t nr, uint32_t *room, size_t bytes);

uint32_t wm_stacks_add(struct wm_stacks *s, const uint32_t *frames, uint32_t nr);

#endif
