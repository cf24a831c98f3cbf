/* SPDX-License-Identifier: MIT */
/*
 * stacks_join.c - joins stacks that were created separately for parts of the same traces; see
 * stacks.h. Equal stacks have equal frames, and equal frames have the same module and address; only
 * their ids differ.
 */
#include <errno.h>
#include <stdlib.h>

#include "analysis/stacks_int.h"

/* Maps the frames of `later` to those of `s`. NULL: out of memory. */
static uint32_t *join_frames(struct wm_stacks *s, const struct wm_stacks *later,
			     struct wm_module *const *modules)
{
	uint32_t *map = malloc((later->nr_frames + 1) * sizeof(*map));
	bool all = map;

	for (uint32_t i = 0; i < later->nr_frames && all; i++) {
		struct wm_frame f = later->frames[i];

		f.symbol = UINT32_MAX;
		f.stack = WM_STACK_NONE;
		if (f.place.module)
			f.place.module = modules[f.place.module->index];
		map[i] = wm_stacks_frame(s, &f);
		all = map[i] != UINT32_MAX;
	}
	if (all)
		return map;
	free(map);
	return NULL;
}

/* Allocates room for the frames of the longest stack. */
static uint32_t *make_scratch(const struct wm_stacks *later)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < later->nr_stacks; i++)
		nr = later->stacks[i].nr > nr ? later->stacks[i].nr : nr;
	return malloc((nr + 1) * sizeof(uint32_t));
}

static bool join_corrupt(struct wm_stacks *s, const struct wm_stacks *later)
{
	bool all = true;

	for (uint32_t i = 0; i < later->corrupt_table.nr && all; i++)
		all = wm_stacks_note_corrupt(s, later->corrupt[i]);
	return all;
}

int wm_stacks_join(struct wm_stacks *s, const struct wm_stacks *later,
		   struct wm_module *const *modules, uint32_t **ret)
{
	uint32_t *frames = join_frames(s, later, modules), *scratch = make_scratch(later);
	uint32_t *map = malloc((later->nr_stacks + 1) * sizeof(*map));
	bool all = frames && scratch && map && join_corrupt(s, later);

	for (uint32_t i = 0; i < later->nr_stacks && all; i++) {
		const struct wm_stack *stack = &later->stacks[i];

		for (uint32_t k = 0; k < stack->nr; k++)
			scratch[k] = frames[later->pool[stack->first + k]];
		map[i] = wm_stacks_add(s, scratch, stack->nr);
		all = map[i] != UINT32_MAX;
		if (all && stack->user > s->stacks[map[i]].user)
			s->stacks[map[i]].user = stack->user;
	}
	free(frames);
	free(scratch);
	if (!all) {
		free(map);
		return -ENOMEM;
	}
	*ret = map;
	return 0;
}
