/* SPDX-License-Identifier: MIT */
/* counts.c - the reader's side of counts.h. The memory is hostile, as in pool_reader.c. */
#include "ring/counts.h"

#include "base/atomic.h"

/* Calls fn for each chunk that may be in use. */
static void each_chunk(struct wm_pool *p, void (*fn)(struct wm_pool *p, uint32_t index, void *data),
		       void *data)
{
	uint32_t small, big;

	wm_pool_high(p, &small, &big);
	for (uint32_t i = 0; i < small; i++)
		fn(p, i, data);
	for (uint32_t i = 0; i < big; i++)
		fn(p, p->nr_small + i, data);
}

static void pin(struct wm_pool *p, uint32_t index, void *data)
{
	(void)data;
	(void)wm_pool_pin(p, index, wm_pool_state(p, index)); /* fails for chunks that are not
							       * sealed */
}

void wm_counts_pin(struct wm_pool *p)
{
	each_chunk(p, pin, NULL);
}

struct reading {
	uint32_t nr_ids;
	wm_counts_fn *fn;
	void *data;
};

static void counts_read_chunk(struct wm_pool *p, uint32_t index, void *data)
{
	const struct reading *r = data;
	struct wm_chunk *c = wm_pool_chunk(p, index);
	uint64_t *counts = (uint64_t *)(void *)((unsigned char *)c + WM_COUNTS_OFFSET);
	uint32_t room = (wm_pool_chunk_bytes(p, index) - WM_COUNTS_OFFSET) / 8, tid;
	uint64_t state = wm_pool_state(p, index);
	bool owned = wm_pool_state_of(state) == WM_CHUNK_OWNED;
	/* FULL: sealed after the pins were taken */
	bool sealed = wm_pool_state_of(state) == WM_CHUNK_READING;
	struct wm_commit commit;

	if (wm_pool_state_of(state) == WM_CHUNK_FREE)
		return;
	if (wm_pool_committed(p, index, state, &commit) == 0 && commit.count) {
		tid = owned ? wm_pool_state_tid(state) : wm_load_relaxed(&c->tid);
		for (uint32_t id = 0; id < r->nr_ids && id < room; id++) {
			uint64_t n = wm_load_relaxed(&counts[id]);

			if (n)
				r->fn(tid, id, n, sealed, r->data);
			if (n && sealed)
				wm_store_relaxed(&counts[id], 0);
		}
	}
	if (sealed)
		wm_pool_release(p, index, true);
}

void wm_counts_close(struct wm_pool *p)
{
	wm_store_relaxed(&wm_pool_header(p)->closing, 1);
}

void wm_counts_read(struct wm_pool *p, uint32_t nr_ids, wm_counts_fn *fn, void *data)
{
	struct reading r = {nr_ids, fn, data};

	each_chunk(p, counts_read_chunk, &r);
}
