/* SPDX-License-Identifier: MIT */
/*
 * profile_bucket.c - a hash table of counters, whose keys are sequences of words; see
 * profile_int.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/profile_int.h"
#include "base/mix.h"

#define FIRST_ROOM 1024u

int wm_buckets_init(struct wm_buckets *b, uint32_t nr_words)
{
	*b = (struct wm_buckets){
	    .nr_words = nr_words, .nr_slots = FIRST_ROOM * 2, .seed = wm_mix_seed()};
	b->slots = calloc(b->nr_slots, sizeof(*b->slots));
	return b->slots ? 0 : -ENOMEM;
}

void wm_buckets_done(struct wm_buckets *b)
{
	free(b->words);
	free(b->weights);
	free(b->counts);
	free(b->slots);
	*b = (struct wm_buckets){0};
}

static uint32_t find_slot(const struct wm_buckets *b, const uint64_t *words)
{
	uint32_t mask = b->nr_slots - 1;
	uint32_t i = (uint32_t)wm_mix_words(b->seed, words, b->nr_words) & mask;

	while (b->slots[i] && memcmp(wm_buckets_words(b, b->slots[i] - 1), words,
				     b->nr_words * sizeof(*words)) != 0)
		i = (i + 1) & mask;
	return i;
}

static bool grow_array(uint64_t **array, size_t count)
{
	uint64_t *more = realloc(*array, count * sizeof(*more));

	if (more)
		*array = more;
	return more;
}

static bool grow(struct wm_buckets *b)
{
	uint32_t room = b->room ? b->room * 2 : FIRST_ROOM;

	if (b->nr == WM_PROFILE_BUCKETS_MAX || !grow_array(&b->words, (size_t)room * b->nr_words) ||
	    !grow_array(&b->weights, room) || !grow_array(&b->counts, room))
		return false;
	b->room = room;
	return true;
}

static bool grow_slots(struct wm_buckets *b)
{
	uint32_t nr = b->nr_slots * 2, *slots = calloc(nr, sizeof(*slots));

	if (!slots)
		return false;
	free(b->slots);
	b->slots = slots;
	b->nr_slots = nr;
	for (uint32_t i = 0; i < b->nr; i++)
		slots[find_slot(b, wm_buckets_words(b, i))] = i + 1;
	return true;
}

uint32_t wm_buckets_get(struct wm_buckets *b, const uint64_t *words)
{
	uint32_t slot = find_slot(b, words);

	if (b->slots[slot])
		return b->slots[slot] - 1;
	if (b->nr == b->room && !grow(b))
		return UINT32_MAX;
	if ((b->nr + 1) * 2 > b->nr_slots) {
		if (!grow_slots(b))
			return UINT32_MAX;
		slot = find_slot(b, words);
	}
	memcpy(b->words + (size_t)b->nr * b->nr_words, words, b->nr_words * sizeof(*words));
	b->weights[b->nr] = b->counts[b->nr] = 0;
	b->slots[slot] = b->nr + 1;
	return b->nr++;
}
