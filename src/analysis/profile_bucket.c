/* SPDX-License-Identifier: MIT */
/*
 * profile_bucket.c - counters whose keys are sequences of words; see profile_int.h.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/profile_int.h"
#include "base/array.h"

void wm_buckets_init(struct wm_buckets *b, uint32_t nr_words)
{
	*b = (struct wm_buckets){.nr_words = nr_words};
	wm_table_init(&b->table);
}

void wm_buckets_done(struct wm_buckets *b)
{
	free(b->words);
	free(b->weights);
	free(b->counts);
	wm_table_done(&b->table);
	*b = (struct wm_buckets){0};
}

static bool bucket_grow(struct wm_buckets *b)
{
	uint32_t weights = b->room, counts = b->room;
	size_t words = (size_t)b->room * b->nr_words;

	if (b->nr == WM_PROFILE_BUCKETS_MAX ||
	    WM_ARRAY_GROW(b->weights, weights, (size_t)b->room + 1) ||
	    WM_ARRAY_GROW(b->counts, counts, weights) ||
	    WM_ARRAY_GROW(b->words, words, (size_t)weights * b->nr_words))
		return false;
	b->room = weights;
	return true;
}

uint32_t wm_buckets_get(struct wm_buckets *b, const uint64_t *words)
{
	uint64_t hash = wm_mix_words(b->table.seed, words, b->nr_words);
	struct wm_table_walk w = wm_table_walk(hash);
	size_t bytes = b->nr_words * sizeof(*words);

	while (wm_table_next(&b->table, &w))
		if (!memcmp(wm_buckets_words(b, w.index), words, bytes))
			return w.index;
	if ((b->nr == b->room && !bucket_grow(b)) || wm_table_add(&b->table, hash, b->nr))
		return UINT32_MAX;
	memcpy(b->words + (size_t)b->nr * b->nr_words, words, bytes);
	b->weights[b->nr] = b->counts[b->nr] = 0;
	return b->nr++;
}
