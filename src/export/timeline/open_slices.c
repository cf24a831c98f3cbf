/* SPDX-License-Identifier: MIT */
/*
 * open_slices.c - see open_slices.h. Slices are in one list per key, and in a list ordered by age.
 */
#include "export/timeline/open_slices.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define KEEP_BYTES_MAX 4096u /* maximum size of a text buffer that is kept for reuse */

int wm_open_slices_init(struct wm_open_slices *s)
{
	*s = (struct wm_open_slices){0};
	wm_table_init(&s->table);
	s->all = calloc(WM_OPEN_SLICES_MAX, sizeof(*s->all));
	return s->all ? 0 : -ENOMEM;
}

void wm_open_slices_done(struct wm_open_slices *s)
{
	for (uint32_t i = 0; i < s->nr_all; i++) {
		wm_text_done(&s->all[i]->values);
		free(s->all[i]);
	}
	free(s->all);
	wm_table_done(&s->table);
	*s = (struct wm_open_slices){0};
}

static uint64_t open_slices_hash_of(const struct wm_open_slices *s, const struct wm_open_key *key)
{
	return wm_mix(wm_mix(s->table.seed ^ key->id, s->table.seed ^ key->who), key->family);
}

static struct wm_open_slice *open_slices_find(const struct wm_open_slices *s,
					      const struct wm_open_key *key, uint64_t hash)
{
	struct wm_table_walk w = wm_table_walk(hash);

	while (wm_table_next(&s->table, &w)) {
		const struct wm_open_key *k = &s->all[w.index]->key;

		if (k->id == key->id && k->who == key->who && k->family == key->family)
			return s->all[w.index];
	}
	return NULL;
}

static struct wm_open_slice *take_unused(struct wm_open_slices *s)
{
	struct wm_open_slice *o = s->unused;

	if (o) {
		s->unused = o->older;
		return o;
	}
	o = s->nr_all < WM_OPEN_SLICES_MAX ? calloc(1, sizeof(*o)) : NULL;
	if (o) {
		o->index = s->nr_all;
		s->all[s->nr_all++] = o;
	}
	return o;
}

static void put_unused(struct wm_open_slices *s, struct wm_open_slice *o)
{
	o->older = s->unused;
	s->unused = o;
}

/* Makes the slice the newest one with its key. */
static int join_key(struct wm_open_slices *s, struct wm_open_slice *o)
{
	o->hash = open_slices_hash_of(s, &o->key);
	o->before = open_slices_find(s, &o->key, o->hash);
	if (o->before)
		wm_table_remove(&s->table, o->hash, o->before->index);
	if (wm_table_add(&s->table, o->hash, o->index))
		return -ENOMEM; /* never after a removal, which left room */
	if (o->before)
		o->before->after = o;
	return 0;
}

static void leave_key(struct wm_open_slices *s, struct wm_open_slice *o)
{
	if (o->before)
		o->before->after = o->after;
	if (o->after) {
		o->after->before = o->before;
		return;
	}
	wm_table_remove(&s->table, o->hash, o->index);
	if (o->before)
		(void)wm_table_add(&s->table, o->hash, o->before->index); /* cannot fail */
}

struct wm_open_slice *wm_open_slices_add(struct wm_open_slices *s, const struct wm_open_key *key)
{
	struct wm_open_slice *o = take_unused(s);
	struct wm_text values;

	if (!o)
		return NULL;
	values = o->values;
	wm_text_cut(&values, 0);
	*o = (struct wm_open_slice){.key = *key, .values = values, .index = o->index};
	if (join_key(s, o)) {
		put_unused(s, o);
		return NULL;
	}
	o->older = s->newest;
	if (s->newest)
		s->newest->newer = o;
	else
		s->oldest = o;
	s->newest = o;
	s->nr++;
	return o;
}

void wm_open_slices_added(struct wm_open_slices *s, struct wm_open_slice *o)
{
	s->bytes += o->values.bytes - o->counted;
	o->counted = o->values.bytes;
}

struct wm_open_slice *wm_open_slices_find(const struct wm_open_slices *s,
					  const struct wm_open_key *key)
{
	return open_slices_find(s, key, open_slices_hash_of(s, key));
}

struct wm_open_slice *wm_open_slices_before(const struct wm_open_slice *o)
{
	return o->before;
}

void wm_open_slices_remove(struct wm_open_slices *s, struct wm_open_slice *o)
{
	leave_key(s, o);
	if (o->older)
		o->older->newer = o->newer;
	else
		s->oldest = o->newer;
	if (o->newer)
		o->newer->older = o->older;
	else
		s->newest = o->older;
	s->nr--;
	s->bytes -= o->counted;
	if (o->values.room > KEEP_BYTES_MAX)
		wm_text_done(&o->values);
	put_unused(s, o);
}
