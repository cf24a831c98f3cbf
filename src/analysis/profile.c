/* SPDX-License-Identifier: MIT */
/*
 * profile.c - see profile.h: turns options into keys, events into buckets, and entries into rows.
 */
#include "analysis/profile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/profile_int.h"

/* --- keys ----------------------------------------------------------------------------------- */

static int add_key(struct wm_profile *p, const char *name, struct wm_diag *diag)
{
	int err;

	if (p->nr_keys == WM_KEYS_MAX)
		return wm_diag_set(diag, -EINVAL, NULL, -1,
				   "'%s' is one key too many: at most %u are possible", name,
				   WM_KEYS_MAX);
	err = wm_key_bind(&p->keys[p->nr_keys], p->pass, p->stacks,
			  p->v->branches ? &p->branch : NULL, name, diag);
	if (err) {
		wm_key_done(&p->keys[p->nr_keys]);
		return err;
	}
	p->of_frame |= p->keys[p->nr_keys].def->of_frame;
	p->nr_keys++;
	return 0;
}

static int profile_add_keys(struct wm_profile *p, const char *list, struct wm_diag *diag)
{
	char *copy = strdup(list), *save = NULL;
	int err = copy ? 0 : -ENOMEM;

	for (char *at = copy ? strtok_r(copy, ",", &save) : NULL; at && !err;
	     at = strtok_r(NULL, ",", &save))
		err = add_key(p, at, diag);
	free(copy);
	if (!err && !p->nr_keys)
		err = wm_diag_set(diag, -EINVAL, NULL, -1, "no key in '%.100s'", list);
	return err;
}

static bool has_key(const struct wm_profile *p, const char *name)
{
	for (uint32_t i = 0; i < p->nr_keys; i++)
		if (p->keys[i].def->name && !strcmp(p->keys[i].def->name, name))
			return true;
	return false;
}

/* --- making ----------------------------------------------------------------------------------- */

static const char *keys_of(const struct wm_profile *p, bool addresses)
{
	if (p->v->keys)
		return p->v->keys;
	if (p->v->branches)
		return "comm,dso_from,symbol_from,symbol_to,cycles";
	return addresses ? "comm,dso,sym" : "event,comm";
}

static int profile_bind(struct wm_profile *p, struct wm_diag *diag)
{
	bool addresses = p->samples.any_ip || p->samples.any_chain;
	/* one for the event, one for the stack, or two for the ends of a branch */
	uint32_t nr_words = p->v->branches ? 3 : 2;
	int err;

	err = profile_add_keys(p, keys_of(p, addresses), diag);
	if (!err && p->v->branches)
		err = wm_branches_bind(p, diag);
	if (err)
		return err;
	for (uint32_t i = 0; i < p->nr_keys; i++)
		if (!p->keys[i].def->of_frame)
			nr_words += p->keys[i].def->nr_words;
	if (!p->pass->is_part && (has_key(p, "sym") || has_key(p, "symbol") ||
				  has_key(p, "symbol_from") || has_key(p, "symbol_to")))
		wm_stacks_expect_names(p->stacks);
	p->children = p->of_frame && p->samples.any_chain && !p->v->no_children &&
		      !p->v->hierarchy && !p->v->branches;
	p->chains = p->children || (p->v->graph && p->samples.any_chain);
	/*
	 * The samples of different events measure different things, so their sum is meaningless.
	 * Events without an address are counted, and fields with the same name can be added.
	 */
	p->per_event = p->mode == WM_PROFILE_EVENTS && (addresses || p->samples.any_period) &&
		       !p->samples.weights && !has_key(p, "event");
	wm_buckets_init(&p->hidden, 1);
	wm_buckets_init(&p->buckets, nr_words);
	return 0;
}

int wm_profile_create(struct wm_pass *pass, enum wm_profile_mode mode,
		      const struct wm_profile_values *v, struct wm_profile **ret,
		      struct wm_diag *diag)
{
	struct wm_profile *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return -ENOMEM;
	p->pass = pass;
	p->mode = mode;
	p->v = v;
	p->unit = v->live ? WM_PROFILE_FINE : 1;
	p->stacks = wm_stacks_create(&pass->state.names, pass->spaces, pass->symbols, pass->lines,
				     v->inlines, pass->seed);
	err = p->stacks ? wm_samples_init(&p->samples, pass, v->weight, diag) : -ENOMEM;
	if (!err)
		err = profile_bind(p, diag);
	if (!err && mode != WM_PROFILE_EVENTS)
		err = wm_waits_create(pass, &p->waits);
	if (!err && wm_memo_fits(p))
		err = wm_memo_init(&p->memo, has_key(p, "cpu"));
	if (err) {
		wm_profile_destroy(p);
		return err;
	}
	*ret = p;
	return 0;
}

void wm_profile_destroy(struct wm_profile *p)
{
	if (!p)
		return;
	for (uint32_t i = 0; i < p->nr_keys; i++)
		wm_key_done(&p->keys[i]);
	wm_samples_done(&p->samples);
	wm_branches_done(p);
	wm_buckets_done(&p->buckets);
	wm_buckets_done(&p->hidden);
	wm_memo_done(&p->memo);
	wm_buckets_done(&p->entry_words);
	free(p->entries);
	free(p->refs);
	wm_stacks_destroy(p->stacks);
	wm_waits_destroy(p->waits, p->pass);
	free(p);
}

/* --- events --------------------------------------------------------------------------- */

bool wm_profile_words(const struct wm_profile *p, const struct wm_sight *s, uint64_t *words)
{
	*words++ = p->per_event ? wm_pass_event_id(p->pass, s) : 0;
	for (uint32_t i = 0; i < p->nr_keys; i++) {
		const struct wm_key_def *d = p->keys[i].def;

		if (d->of_frame)
			continue;
		if (!d->of_event(&p->keys[i], s, words))
			return false;
		words += d->nr_words;
	}
	return true;
}

uint32_t wm_profile_stack(struct wm_profile *p, const struct wm_sight *s)
{
	uint64_t chain[WM_CHAIN_MAX];
	uint32_t nr, id;
	int32_t pid = s->event->pid;

	if (!p->of_frame && !p->chains)
		return WM_STACK_NONE;
	nr = wm_samples_chain(&p->samples, s, p->chains, chain);
	if (!nr)
		return WM_STACK_NONE;
	if (pid < 0 && s->task)
		pid = s->task->pid;
	id = wm_stacks_chain(p->stacks, pid, s->event->mode, chain, nr);
	if (p->chains && id != UINT32_MAX)
		wm_samples_count_chain(&p->samples, s, wm_stacks_user(p->stacks, id));
	return id;
}

static bool profile_is_hidden(const struct wm_profile *p, const struct wm_sight *s)
{
	char pid[16];

	if (p->v->comms && !wm_profile_listed(p->v->comms, wm_state_comm(&p->pass->state, s->task)))
		return true;
	if (!p->v->pids)
		return false;
	(void)snprintf(pid, sizeof(pid), "%d",
		       s->event->pid < 0 && s->task ? s->task->pid : s->event->pid);
	return !wm_profile_listed(p->v->pids, pid);
}

/*
 * Adds a weight to a bucket. Returns 0, or -ENOMEM if the bucket is UINT32_MAX: there was no memory
 * for it.
 */
static int add_weight(const struct wm_profile *p, struct wm_buckets *b, uint32_t bucket,
		      uint64_t weight)
{
	if (bucket == UINT32_MAX)
		return -ENOMEM;
	b->weights[bucket] += weight * p->unit;
	b->counts[bucket] += p->unit;
	return 0;
}

/* Returns the event's bucket; UINT32_MAX: out of memory. */
static uint32_t profile_bucket_of(struct wm_profile *p, const struct wm_sight *s, uint64_t *words)
{
	uint32_t stack = wm_profile_stack(p, s);

	if (stack == UINT32_MAX)
		return UINT32_MAX;
	words[p->buckets.nr_words - 1] = stack;
	return wm_buckets_get(&p->buckets, words);
}

int wm_profile_feed(struct wm_profile *p, const struct wm_sight *s)
{
	uint64_t words[WM_PROFILE_WORDS_MAX], weight = 1;
	struct wm_memo_entry *like;
	uint32_t bucket;

	if (p->waits)
		return profile_is_hidden(p, s) ? 0 : wm_waits_feed(p, s);
	if (p->v->branches)
		return profile_is_hidden(p, s) ? 0 : wm_branches_feed(p, s);
	like = p->memo.entries ? wm_memo_find(p, s) : NULL;
	if ((!(like && like->known) && !wm_profile_words(p, s, words)) ||
	    (!p->samples.count && !wm_samples_weight(&p->samples, s, &weight))) {
		p->nr_unfit++;
		return 0;
	}
	if (like && like->known)
		return add_weight(p, &p->buckets, like->bucket, weight);
	if (profile_is_hidden(p, s))
		return add_weight(p, &p->hidden, wm_buckets_get(&p->hidden, words), weight);
	bucket = profile_bucket_of(p, s, words);
	if (like && bucket != UINT32_MAX) {
		like->bucket = bucket;
		like->known = true;
	}
	return add_weight(p, &p->buckets, bucket, weight);
}

/* --- live profiles -------------------------------------------------------------------- */

int wm_profile_rebind(struct wm_profile *p, struct wm_diag *diag)
{
	int err;

	wm_samples_done(&p->samples);
	err = wm_samples_init(&p->samples, p->pass, p->v->weight, diag);
	for (uint32_t i = 0; i < p->nr_keys && !err; i++)
		err = wm_key_rebind(&p->keys[i], diag);
	wm_memo_forget(&p->memo);
	return err;
}

static int decayed(const struct wm_buckets *from, double keep, struct wm_buckets *ret)
{
	int err = 0;

	wm_buckets_init(ret, from->nr_words);
	for (uint32_t i = 0; i < from->nr && !err; i++) {
		uint64_t count = (uint64_t)((double)from->counts[i] * keep);
		uint32_t to = count ? wm_buckets_get(ret, wm_buckets_words(from, i)) : 0;

		if (to == UINT32_MAX)
			err = -ENOMEM;
		else if (count) {
			ret->counts[to] = count;
			ret->weights[to] = (uint64_t)((double)from->weights[i] * keep);
		}
	}
	if (err)
		wm_buckets_done(ret);
	return err;
}

int wm_profile_decay(struct wm_profile *p, double keep)
{
	struct wm_buckets *const all[] = {&p->buckets, &p->hidden};

	wm_memo_forget(&p->memo); /* the cache has indices of buckets, which change */
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct wm_buckets less;

		if (decayed(all[i], keep, &less))
			return -ENOMEM;
		wm_buckets_done(all[i]);
		*all[i] = less;
	}
	return 0;
}

/* --- access to the buckets ------------------------------------------------------------------- */

uint32_t wm_profile_nr_buckets(const struct wm_profile *p)
{
	return p->buckets.nr;
}

struct wm_bucket wm_profile_bucket(const struct wm_profile *p, uint32_t index)
{
	const uint64_t *words = wm_buckets_words(&p->buckets, index);

	return (struct wm_bucket){p->buckets.weights[index], p->buckets.counts[index], words,
				  (uint32_t)words[p->buckets.nr_words - 1]};
}

struct wm_stacks *wm_profile_stacks(struct wm_profile *p)
{
	return p->stacks;
}
