/* SPDX-License-Identifier: MIT */
/* stacks_int.h - what stacks.c (making) and stacks_name.c (naming) share. */
#ifndef WM_ANALYSIS_STACKS_INT_H
#define WM_ANALYSIS_STACKS_INT_H

#include "analysis/stacks.h"

#define WM_STACKS_CORRUPT_MAX (1u << 18)        /* that are told apart */
#define WM_STACKS_MARKERS     ((uint64_t)-4095) /* from here on: no address */

struct wm_id_table {
	uint64_t *hashes;
	uint32_t *ids; /* + 1; 0: empty */
	uint32_t nr, nr_slots;
};

struct wm_frame {
	struct wm_place place;              /* module NULL: nothing known is there */
	const struct wm_elf_frame *inlined; /* NULL: the function the compiler made */
	char level;                         /* 'k', '.', 'H', 'g', 'u', as perf shows it */
	uint32_t symbol;                    /* of the functions; UINT32_MAX: nobody has asked */
	uint32_t stack;                     /* that of this frame alone; WM_STACK_NONE: not made */
};

/* A function, or an address without one. */
struct wm_function {
	const struct wm_symbol *symbol; /* NULL: none is known */
	const char *inlined;            /* name of a function inlined in it; NULL: itself */
	const struct wm_module *module; /* of the first frame; NULL: of none */
	uint64_t address;               /* without a symbol */
	char level;
};

struct wm_stack {
	uint32_t first, nr; /* of the pool */
};

struct wm_stacks {
	struct wm_names *names;
	struct wm_spaces *spaces;
	struct wm_symbols *symbols;
	struct wm_lines *lines;
	bool inlines;
	bool names_ahead; /* of frames' functions */
	uint64_t seed;
	struct wm_id_table chain_table, stack_table, frame_table, function_table;
	uint32_t *scratch; /* frames of the chain in work */
	struct wm_stack *stacks;
	uint32_t nr_stacks, room_stacks;
	uint32_t *pool; /* frames of all stacks, one after the other */
	uint32_t nr_pool, room_pool;
	struct wm_frame *frames;
	uint32_t nr_frames, room_frames;
	struct wm_function *functions;
	uint32_t nr_functions, room_functions;
	struct wm_id_table corrupt_table; /* of different chains that were cut to their ends */
};

/* The next id of that hash from slot *at on (begin with the hash); UINT32_MAX: no more. */
uint32_t wm_id_next(const struct wm_id_table *t, uint64_t hash, uint32_t *at);
bool wm_id_add(struct wm_id_table *t, uint64_t hash, uint32_t id); /* false: no memory */

/* The frame's id; UINT32_MAX: no memory. */
uint32_t wm_stacks_frame(struct wm_stacks *s, const struct wm_frame *f);

/* Notes the chain of that hash as cut to its end; false: no memory. */
bool wm_stacks_note_corrupt(struct wm_stacks *s, uint64_t hash);

/* Makes room for one more element; false: no memory. */
bool wm_stacks_grow(void **array, uint32_t nr, uint32_t *room, size_t bytes);

uint32_t wm_stacks_add(struct wm_stacks *s, const uint32_t *frames, uint32_t nr);

#endif
