/* SPDX-License-Identifier: MIT */
/*
 * profile_join.c - joins the profile of one time range with that of the following one; see
 * profile_int.h. New buckets of the latter are appended in order, so that the result is the same as
 * without parts.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/profile_int.h"

/*
 * Profiles of waits cannot be divided, because a wait may begin in one part and end in another.
 * Profiles with inlined functions, or with callers found from a copy of the stack, are not divided,
 * because each part would have to open the programs' files again.
 */
bool wm_profile_divides(const struct wm_profile *p)
{
	return !p->waits && !p->v->inlines && !p->samples.any_stack && !p->v->live;
}

static void join_words(const struct wm_profile *p, const struct wm_join *j, uint64_t *words)
{
	*words = j->names[*words]; /* the event */
	words++;
	for (uint32_t i = 0; i < p->nr_keys; i++) {
		const struct wm_key_def *d = p->keys[i].def;

		if (d->of_frame)
			continue;
		if (d->join)
			d->join(j, words);
		words += d->nr_words;
	}
}

static int profile_join_add(struct wm_buckets *to, const uint64_t *words,
			    const struct wm_buckets *from, uint32_t i)
{
	uint32_t bucket = wm_buckets_get(to, words);

	if (bucket == UINT32_MAX)
		return -ENOMEM;
	to->weights[bucket] += from->weights[i];
	to->counts[bucket] += from->counts[i];
	return 0;
}

static int join_buckets(struct wm_profile *p, const struct wm_buckets *from,
			const struct wm_join *j, const uint32_t *stacks)
{
	uint64_t words[WM_PROFILE_WORDS_MAX];
	int err = 0;

	for (uint32_t i = 0; i < from->nr && !err; i++) {
		memcpy(words, wm_buckets_words(from, i), from->nr_words * sizeof(*words));
		join_words(p, j, words);
		words[from->nr_words - 1] = stacks[words[from->nr_words - 1]];
		if (p->v->branches)
			words[from->nr_words - 2] = stacks[words[from->nr_words - 2]];
		err = profile_join_add(&p->buckets, words, from, i);
	}
	return err;
}

static int join_hidden(struct wm_profile *p, const struct wm_buckets *from, const struct wm_join *j)
{
	int err = 0;

	for (uint32_t i = 0; i < from->nr && !err; i++) {
		uint64_t event = j->names[*wm_buckets_words(from, i)];

		err = profile_join_add(&p->hidden, &event, from, i);
	}
	return err;
}

int wm_profile_join(struct wm_profile *p, const struct wm_profile *later, const struct wm_join *j)
{
	uint32_t *stacks;
	int err = wm_stacks_join(p->stacks, later->stacks, j->modules, &stacks);

	if (err)
		return err;
	err = join_buckets(p, &later->buckets, j, stacks);
	free(stacks);
	p->nr_unfit += later->nr_unfit;
	wm_samples_join(&p->samples, &later->samples);
	return err ? err : join_hidden(p, &later->hidden, j);
}
