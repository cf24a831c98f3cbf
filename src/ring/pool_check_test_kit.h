/* SPDX-License-Identifier: MIT */
/*
 * pool_check_test_kit.h - for tests of the ring only: the invariants of a pool at rest.
 */
#ifndef WM_RING_POOL_CHECK_TEST_KIT_H
#define WM_RING_POOL_CHECK_TEST_KIT_H

#include "ring/pool.h"

static inline const char *pool_check_chunk(const struct wm_pool *p, uint32_t index, bool used)
{
	const struct wm_chunk *c = wm_pool_chunk(p, index);
	uint64_t word = wm_pool_state(p, index);
	enum wm_chunk_state state = wm_pool_state_of(word);
	enum wm_shelf shelf = index < p->nr_small ? WM_SHELF_SMALL : WM_SHELF_BIG;
	uint32_t fills = (uint32_t)wm_load_relaxed(&wm_pool_header(p)->shelf[shelf].order);
	struct wm_commit commit;

	if (state > WM_CHUNK_READING || (state != WM_CHUNK_OWNED && (word & 0xf0)))
		return "the state is unknown";
	if (!used)
		return word ? "used, but above the high mark" : NULL;
	if (word & WM_STATE_REUSED) {
		if (p->mode != WM_POOL_OVERWRITE)
			return "reused, but not in overwrite mode";
		if (state == WM_CHUNK_READING)
			/* The process died in a reclaim: there are no records to read. */
			return NULL;
		if (state != WM_CHUNK_OWNED)
			return "reused, but not taken";
	}
	if (wm_pool_committed(p, index, word, &commit) < 0)
		return "the commit word has an impossible value";
	if (state == WM_CHUNK_OWNED)
		return NULL;
	if (state == WM_CHUNK_FREE)
		return wm_pool_state_order(word) ? "free, but with a fill order" : NULL;
	if (!commit.count)
		return "full, but without records";
	if (c->generation != wm_pool_state_generation(word))
		return "full, but its generation does not match";
	if (c->index != index || c->small != (index < p->nr_small))
		return "the chunk's header has a wrong index or size";
	if ((int32_t)(wm_pool_state_order(word) - fills) >= 0)
		return "the fill order is not assigned yet";
	return NULL;
}

/*
 * Checks every invariant of a pool that no thread or process is changing. Returns NULL if all hold,
 * else the violated one and the index of the chunk.
 */
static inline const char *pool_check(const struct wm_pool *p, uint32_t *ret_index)
{
	struct wm_pool again;
	const char *wrong = NULL;
	uint32_t small, big, i;

	*ret_index = 0;
	if (wm_pool_attach(&again, p->map, p->bytes) < 0 || again.nr_small != p->nr_small ||
	    again.nr_big != p->nr_big || again.mode != p->mode)
		return "the pool's header changed";
	wm_pool_high(p, &small, &big);
	for (i = 0; i < wm_pool_nr_chunks(p) && !wrong; i++) {
		wrong = pool_check_chunk(p, i, i < p->nr_small ? i < small : i - p->nr_small < big);
		*ret_index = i;
	}
	return wrong;
}

#endif
