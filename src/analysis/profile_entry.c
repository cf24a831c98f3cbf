/* SPDX-License-Identifier: MIT */
/* profile_entry.c - turns buckets into entries, which become rows; see profile_int.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/profile_int.h"
#include "base/array.h"

/*
 * Computes the words of the entry for frame `frame` of a bucket; for branches, that of the target.
 */
static void entry_words(const struct wm_profile *p, const uint64_t *bucket, uint32_t frame,
			uint64_t *words)
{
	uint32_t from = p->v->branches ? wm_branch_from(p, bucket) : WM_FRAME_NONE;

	*words++ = *bucket++; /* the event */
	for (uint32_t i = 0; i < p->nr_keys; i++) {
		const struct wm_key_def *d = p->keys[i].def;

		if (d->of_frame) {
			uint32_t end = d->branch == WM_KEY_SOURCE ? from : frame;

			*words = end == WM_FRAME_NONE ? d->none : d->of_stack(p->stacks, end);
		} else {
			memcpy(words, bucket, d->nr_words * sizeof(*words));
			bucket += d->nr_words;
		}
		words += d->nr_words;
	}
}

static bool grow_entries(struct wm_profile *p, uint32_t *room)
{
	return !WM_ARRAY_GROW_ZEROED(p->entries, *room, p->entry_words.room);
}

static bool add_ref(struct wm_profile *p, struct wm_entry *e, uint32_t bucket, uint32_t depth)
{
	if (WM_ARRAY_GROW(p->refs, p->room_refs, (size_t)p->nr_refs + 1))
		return false;
	p->refs[p->nr_refs++] = (struct wm_entry_ref){bucket, depth, e->refs};
	e->refs = p->nr_refs;
	return true;
}

bool wm_profile_listed(const char *list, const char *text)
{
	size_t bytes = strlen(text);

	while (list && *list) {
		size_t n = strcspn(list, ",");

		if (n == bytes && !memcmp(list, text, n))
			return true;
		list += n + (list[n] == ',');
	}
	return !list;
}

static bool entry_is_shown(const struct wm_profile *p, uint32_t frame)
{
	const struct wm_names *n = &p->pass->state.names;

	if (!p->v->dsos && !p->v->syms)
		return true;
	return frame != WM_FRAME_NONE &&
	       wm_profile_listed(p->v->dsos, wm_names_text(n, wm_stacks_dso(p->stacks, frame))) &&
	       wm_profile_listed(p->v->syms, wm_stacks_name(p->stacks, frame));
}

/* Adds one frame of a bucket's chain. */
static int add_frame(struct wm_profile *p, uint32_t bucket, uint32_t frame, uint32_t depth,
		     uint32_t *room)
{
	uint64_t words[WM_PROFILE_WORDS_MAX], weight = p->buckets.weights[bucket];
	struct wm_entry *e;
	uint32_t i;

	if (!entry_is_shown(p, frame))
		return 0;
	entry_words(p, wm_buckets_words(&p->buckets, bucket), frame, words);
	i = wm_buckets_get(&p->entry_words, words);
	if (i == UINT32_MAX || !grow_entries(p, room))
		return -ENOMEM;
	e = &p->entries[i];
	if (!depth) {
		e->self += weight;
		e->self_count += p->buckets.counts[bucket];
	}
	if (e->last_bucket == bucket + 1)
		return 0; /* recursion: already counted */
	e->last_bucket = bucket + 1;
	e->children += weight;
	e->count += p->buckets.counts[bucket];
	return !p->v->graph || add_ref(p, e, bucket, depth) ? 0 : -ENOMEM;
}

static int add_bucket(struct wm_profile *p, uint32_t bucket, uint32_t *room)
{
	const uint64_t *words = wm_buckets_words(&p->buckets, bucket);
	uint32_t stack = (uint32_t)words[p->buckets.nr_words - 1], nr;
	const uint32_t *frames = wm_stacks_frames(p->stacks, stack, &nr);
	int err = 0;

	if (!nr || !p->of_frame)
		return add_frame(p, bucket, nr ? frames[0] : WM_FRAME_NONE, 0, room);
	for (uint32_t i = 0; i < (p->children ? nr : 1) && !err; i++)
		err = add_frame(p, bucket, frames[i], i, room);
	return err;
}

int wm_profile_make_entries(struct wm_profile *p)
{
	uint32_t nr_words = 1, room = 0;
	int err = 0;

	wm_buckets_done(&p->entry_words); /* frees the words of an earlier result */
	free(p->entries);
	p->entries = NULL;
	p->nr_refs = 0;
	for (uint32_t i = 0; i < p->nr_keys; i++)
		nr_words += p->keys[i].def->nr_words;
	wm_buckets_init(&p->entry_words, nr_words);
	for (uint32_t i = 0; i < p->buckets.nr && !err; i++)
		err = add_bucket(p, i, &room);
	return err;
}
