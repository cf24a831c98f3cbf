/* SPDX-License-Identifier: MIT */
/*
 * snapshot.c - reads a flight recorder's buffers while the program continues.
 *
 * FULL chunks are pinned, oldest first, because the program reuses them in that order; a chunk that
 * the program reuses first counts as overwritten. The committed part of an OWNED chunk is copied,
 * and the copy is dropped if the chunk has another generation afterwards. So all records in a part
 * are from one generation, and nothing is consumed.
 */
#include "collect/pool_source_int.h"

#include <errno.h>
#include <stdlib.h>

#include "base/atomic.h"

struct candidate {
	uint64_t state;
	uint32_t chunk;
	/* Number of chunks that became FULL after the oldest possible one and before this one. */
	uint32_t age;
};

struct candidates {
	struct candidate *full, *owned; /* one allocation, filled from both ends */
	uint32_t nr_full, nr_owned;
	uint32_t fills; /* the shelf's count of FULL chunks when the scan began */
};

/*
 * Credits records of a chunk whose generation differs from the one read before, so it was reused:
 * the records written earlier are in the trace, although the pool counts them as overwritten.
 */
static void credit(struct wm_pump_source *s, uint32_t chunk, uint64_t state)
{
	struct wm_chunk_progress *p = &s->progress[chunk];

	if (!p->end_bytes || p->generation == wm_pool_state_generation(state))
		return;
	s->credit = wm_sum(s->credit, p->count);
	*p = (struct wm_chunk_progress){0};
}

static void snapshot_look_at(struct wm_pump_source *s, uint32_t chunk, struct candidates *c)
{
	uint64_t state = wm_pool_state(&s->pool, chunk);

	credit(s, chunk, state);
	if (wm_pool_state_of(state) == WM_CHUNK_FULL)
		c->full[c->nr_full++] =
		    (struct candidate){state, chunk, wm_pool_state_order(state) - c->fills};
	else if (wm_pool_state_of(state) == WM_CHUNK_OWNED)
		*(c->owned - ++c->nr_owned) = (struct candidate){state, chunk, 0};
}

static void look_at_shelf(struct wm_pump_source *s, enum wm_shelf shelf, uint32_t first,
			  uint32_t nr, struct candidates *c)
{
	c->fills = (uint32_t)wm_load_relaxed(&wm_pool_header(&s->pool)->shelf[shelf].order);
	for (uint32_t i = first; i < first + nr; i++)
		snapshot_look_at(s, i, c);
}

/* Sorts by age, because fill orders wrap: the one just above the current count is the oldest. */
static int by_age(const void *a, const void *b)
{
	uint32_t x = ((const struct candidate *)a)->age, y = ((const struct candidate *)b)->age;

	return x < y ? -1 : x > y;
}

static void take_full(struct wm_pump_source *s, const struct candidate *c, bool guest,
		      struct wm_parts *l)
{
	const unsigned char *base = (const unsigned char *)wm_pool_chunk(&s->pool, c->chunk);
	struct wm_fresh f;

	if (!wm_pool_pin(&s->pool, c->chunk, c->state))
		return;
	if (wm_source_fresh(s, c->chunk, c->state, guest, &f) == 1)
		wm_source_part(s, c->chunk, c->state, &f, base + f.from.end_bytes, guest, l)
		    ->pinned = true;
	else
		wm_pool_release(&s->pool, c->chunk, false);
}

/*
 * Copies whole words while a new owner may be writing them. The race is intended: the copy is
 * validated afterwards.
 */
#if defined(__clang__) || defined(__SANITIZE_THREAD__)
__attribute__((no_sanitize("thread")))
#endif
static void
copy_words(uint64_t *to, const volatile uint64_t *from, size_t bytes)
{
	for (size_t i = 0; i < bytes / sizeof(*to); i++)
		to[i] = from[i];
}

/*
 * Collects an OWNED chunk. Meanwhile it may become FULL or get a new owner. wm_source_fresh() and
 * wm_pool_still() ensure that a copy that is kept has the generation of `c`.
 */
static int take_owned(struct wm_pump_source *s, const struct candidate *c, bool guest,
		      struct wm_parts *l)
{
	const unsigned char *base = (const unsigned char *)wm_pool_chunk(&s->pool, c->chunk);
	struct wm_chunk_progress before = s->progress[c->chunk];
	uint64_t clamped = s->clamped;
	struct wm_part *part;
	struct wm_fresh f;
	size_t bytes;
	void *copy;

	if (wm_source_fresh(s, c->chunk, c->state, guest, &f) != 1)
		return 0;
	bytes = f.commit.end_bytes - f.from.end_bytes;
	copy = malloc(bytes);
	if (!copy)
		return -ENOMEM;
	copy_words(copy, (const volatile uint64_t *)(base + f.from.end_bytes), bytes);
	part = wm_source_part(s, c->chunk, c->state, &f, copy, guest, l);
	part->copy = copy;
	if (wm_pool_still(&s->pool, c->chunk, c->state))
		return 0;
	l->nr--;
	s->progress[c->chunk] = before;
	s->clamped = clamped;
	free(copy);
	return 0;
}

static int take_all(struct wm_pump_source *s, struct candidates *c, bool guest, struct wm_parts *l)
{
	int err = 0;

	qsort(c->full, c->nr_full, sizeof(*c->full), by_age);
	for (uint32_t i = 0; i < c->nr_full && !s->fault; i++)
		take_full(s, &c->full[i], guest, l);
	for (uint32_t i = 1; i <= c->nr_owned && !err && !s->fault; i++)
		err = take_owned(s, c->owned - i, guest, l);
	return err;
}

int wm_snapshot_collect(struct wm_pump_source *s, bool guest, struct wm_parts *l)
{
	struct candidates c = {0};
	uint32_t small, big;
	int err;

	if (s->fault)
		return 0;
	wm_pool_high(&s->pool, &small, &big);
	if (!small && !big)
		return 0;
	c.full = malloc((small + big) * sizeof(*c.full));
	if (!c.full || !wm_parts_reserve(l, small + big)) {
		free(c.full);
		return -ENOMEM;
	}
	c.owned = c.full + small + big;
	look_at_shelf(s, WM_SHELF_SMALL, 0, small, &c);
	look_at_shelf(s, WM_SHELF_BIG, s->pool.nr_small, big, &c);
	err = take_all(s, &c, guest, l);
	free(c.full);
	return err;
}
