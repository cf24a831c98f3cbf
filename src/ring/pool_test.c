// SPDX-License-Identifier: MIT
/*
 * pool_test.c - the pool in small worlds (a few chunks of 4 KiB), one thread: geometry, every
 * transition, exhaustion, reuse in order, and takes interrupted by a death. Calls pool_check()
 * after each step.
 */
#include "ring/pool_world_test_kit.h"

/* --- geometry ----------------------------------------------------------- */

static void test_geometry(void **unused)
{
	static const struct {
		struct wm_pool_options o;
		uint64_t bytes;
	} table[] = {
	    {{.buffer_bytes = 1, .big_bytes = 4096, .nr_small = 1}, 4096 * 4},
	    {{.buffer_bytes = 4097, .big_bytes = 4096, .nr_small = 1}, 4096 * 5},
	    /* One page holds 409 states and queue entries; one more needs another page. */
	    {{.buffer_bytes = 4096 * 200, .big_bytes = 4096, .nr_small = 209}, 4096 * 411},
	    {{.buffer_bytes = 4096 * 201, .big_bytes = 4096, .nr_small = 209}, 4096 * 413},
	    {{.buffer_bytes = 1}, 4096 + 65536 * 10 + 4096 + 65536ull * 4096 + 65536},
	    {{.buffer_bytes = 1, .big_bytes = 1 << 22, .nr_small = 1}, 4096 * 3 + (1 << 22)},
	    {{.buffer_bytes = 1, .big_bytes = 1 << 23, .nr_small = 1}, 0},
	    {{.buffer_bytes = 1, .big_bytes = 2048, .nr_small = 1}, 0},
	    {{.buffer_bytes = 1, .big_bytes = 12288, .nr_small = 1}, 0},
	    {{.buffer_bytes = 0, .big_bytes = 4096, .nr_small = 1}, 0},
	    {{.buffer_bytes = 1, .nr_small = WM_POOL_SMALL_MAX + 1}, 0},
	    {{.buffer_bytes = 1, .mode = WM_POOL_NR_MODES}, 0},
	    {{.buffer_bytes = (65536ull << 12) + 1, .big_bytes = 4096, .nr_small = 1}, 0},
	    {{.buffer_bytes = WM_POOL_BYTES_MAX, .big_bytes = 1 << 20, .nr_small = 1}, 0},
	    {{.buffer_bytes = WM_POOL_BYTES_MAX + 1, .big_bytes = 1 << 22, .nr_small = 1}, 0},
	    {{.buffer_bytes = UINT64_MAX, .big_bytes = 1 << 22, .nr_small = 1}, 0},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (wm_pool_size(&table[i].o) != table[i].bytes)
			fail_msg("row %zu: %lu bytes", i, wm_pool_size(&table[i].o));
}

static void test_init_refuses(void **unused)
{
	struct wm_pool_options good = {.buffer_bytes = 1, .big_bytes = 4096, .nr_small = 1};
	struct wm_pool_options bad = {.buffer_bytes = 0};
	unsigned char *page = aligned_alloc(4096, 4096 * 4);
	struct wm_pool p;

	assert_int_equal(wm_pool_init(&p, page + 8, &good), -EINVAL);
	assert_int_equal(wm_pool_init(&p, page, &bad), -EINVAL);
	free(page);
}

/* --- transitions, one thread --------------------------------------------- */

static void test_walk(void **unused)
{
	struct world w;
	struct writer a = {.pool = &w.pool};
	struct reader r = {.strict = true};
	uint64_t state;

	world_make(&w, 2, 2, WM_POOL_DISCARD);
	r.pool = w.pool;
	assert_true(writer_take(&a, true));
	assert_int_equal(a.index, 0);
	assert_int_equal(wm_pool_state(&w.pool, 0), wm_pool_state_make(WM_CHUNK_OWNED, 1, 0));
	check(&w.pool);

	assert_true(writer_emit(&a, 3));
	check(&w.pool);
	reader_round(&r, false); /* the open chunk, in discard mode */
	assert_int_equal(r.recorded, 1);
	assert_true(writer_emit(&a, 5));
	writer_put(&a, 9); /* written but not committed */
	writer_seal(&a);
	check(&w.pool);
	state = wm_pool_state(&w.pool, 0);
	assert_int_equal(state, wm_pool_state_make(WM_CHUNK_FULL, 1, 0));

	assert_false(wm_pool_pin(&w.pool, 0, wm_pool_state_make(WM_CHUNK_FULL, 2, 0)));
	assert_false(wm_pool_pin(&w.pool, 0, wm_pool_state_make(WM_CHUNK_OWNED, 1, 0)));
	assert_true(wm_pool_pin(&w.pool, 0, state));
	assert_false(wm_pool_pin(&w.pool, 0, state));
	check(&w.pool);
	wm_pool_release(&w.pool, 0, false);
	assert_int_equal(wm_pool_state(&w.pool, 0), state);

	reader_round(&r, false); /* reads only the new part, and only once */
	assert_int_equal(r.recorded, 2);
	assert_int_equal(wm_pool_state(&w.pool, 0), wm_pool_state_make(WM_CHUNK_FREE, 1, 0));
	wm_pool_release(&w.pool, 0, true); /* the state is not READING: no effect */
	wm_pool_seal(&w.pool, 0);          /* the state is not OWNED: no effect */
	wm_pool_seal(&w.pool, 99);
	assert_int_equal(wm_pool_state(&w.pool, 0), wm_pool_state_make(WM_CHUNK_FREE, 1, 0));

	assert_true(writer_take(&a, true)); /* a FREE chunk is reused before chunk 1 is taken */
	assert_int_equal(a.index, 0);
	assert_int_equal(a.generation, 2);
	writer_seal(&a); /* without records: FREE at once */
	assert_int_equal(wm_pool_state(&w.pool, 0), wm_pool_state_make(WM_CHUNK_FREE, 2, 0));
	check(&w.pool);
	world_drop(&w);
}

static void test_small_before_high(void **unused)
{
	struct world w;
	struct writer a[3];
	uint32_t small, big;

	world_make(&w, 8, 2, WM_POOL_DISCARD);
	for (unsigned i = 0; i < 3; i++) {
		a[i] = (struct writer){.pool = &w.pool, .thread = i};
		assert_true(writer_take(&a[i], true));
		assert_int_equal(a[i].index, i);
	}
	writer_seal(&a[1]);
	assert_true(writer_take(&a[1], true));
	assert_int_equal(a[1].index, 1);
	wm_pool_high(&w.pool, &small, &big);
	assert_int_equal(small, 3);
	assert_int_equal(big, 0);
	check(&w.pool);
	world_drop(&w);
}

static void test_exhaustion(void **unused)
{
	struct world w;
	struct writer a[5];
	struct reader r = {.strict = true};
	struct wm_pool_shelf *shelf;

	world_make(&w, 1, 4, WM_POOL_DISCARD);
	r.pool = w.pool;
	shelf = &wm_pool_header(&w.pool)->shelf[WM_SHELF_BIG];
	for (unsigned i = 0; i < 5; i++) {
		a[i] = (struct writer){.pool = &w.pool, .thread = i};
		assert_true(writer_emit(&a[i], 4) == (i < 4));
	}
	assert_int_equal(wm_pool_lost_count(&w.pool, WM_LOST_FULL), 1);
	/* From now on a search stops at the hint, so it does not find even this chunk. */
	assert_int_equal(shelf->none_free, shelf->freed + 1);
	wm_pool_states(&w.pool)[1] ^= WM_CHUNK_OWNED;
	assert_false(writer_emit(&a[4], 4));
	wm_pool_states(&w.pool)[1] ^= WM_CHUNK_OWNED;
	check(&w.pool);

	writer_seal(&a[2]);
	assert_false(writer_emit(&a[4], 4)); /* a FULL chunk cannot be taken in discard mode */
	reader_round(&r, false);
	assert_true(writer_emit(&a[4], 4));
	assert_int_equal(a[4].index, a[2].index);
	assert_false(writer_emit(&a[2], 4));
	check(&w.pool);
	reader_round(&r, true);
	assert_int_equal(r.recorded, 5);
	assert_int_equal(lost_total(&w.pool), 4);
	world_drop(&w);
}

static void test_generation_wraps(void **unused)
{
	struct world w;
	struct writer a = {.pool = &w.pool};

	world_make(&w, 1, 1, WM_POOL_DISCARD);
	assert_true(writer_take(&a, true));
	writer_seal(&a);
	wm_pool_states(&w.pool)[0] = wm_pool_state_make(WM_CHUNK_FREE, 0xffffff, 0);
	wm_pool_chunk(&w.pool, 0)->generation = 0xffffff;
	assert_true(writer_take(&a, true));
	assert_int_equal(a.generation, 0);
	assert_true(writer_emit(&a, 3));
	writer_seal(&a);
	check(&w.pool);
	world_drop(&w);
}

/* --- overwrite mode ------------------------------------------------------- */

/* `order0` is the pool's initial fill order, chosen to test that it may wrap. */
static void overwrite_in_order(uint64_t order0)
{
	struct world w;
	struct writer a = {.pool = &w.pool};
	struct reader r = {.strict = true};
	uint32_t sealed[64], nr = 0;
	uint64_t seed = 7;

	world_make(&w, 1, 5, WM_POOL_OVERWRITE);
	r.pool = w.pool;
	wm_pool_header(&w.pool)->shelf[WM_SHELF_BIG].order = order0;
	for (unsigned i = 0; i < 40; i++) {
		assert_true(writer_take(&a, false));
		check(&w.pool);
		/* With five chunks, the one sealed five seals ago is the oldest. */
		if (nr >= 5)
			assert_int_equal(a.index, sealed[nr - 5]);
		for (unsigned n = 1 + next_random(&seed) % 20; n; n--)
			assert_true(writer_emit(&a, 3 + next_random(&seed) % 5));
		sealed[nr++] = a.index;
		writer_seal(&a);
		check(&w.pool);
		reader_round(&r, false); /* a reader that does not consume changes no chunk */
		assert_int_equal(r.recorded, 0);
	}
	reader_round(&r, true);
	assert_int_equal(a.sequence, r.recorded + lost_total(&w.pool));
	assert_true(r.recorded >= 5);
	assert_int_equal(lost_total(&w.pool), wm_pool_lost_count(&w.pool, WM_LOST_OVERWRITTEN));
	world_drop(&w);
}

static void test_overwrite_order(void **unused)
{
	overwrite_in_order(0);
	overwrite_in_order(0x7ffffff0);
	overwrite_in_order(0xfffffff0);
}

/* Takes a chunk, writes a little and seals it; returns the index of the big chunk. */
static uint32_t fill_one(struct writer *a)
{
	uint32_t index;

	assert_true(writer_take(a, false));
	assert_true(writer_emit(a, 3));
	index = a->index - a->pool->nr_small;
	writer_seal(a);
	return index;
}

/* A chunk that fills during a search is not mistaken for a very old one. */
static void test_overwrite_newer(void **unused)
{
	struct world w;
	struct writer a = {.pool = &w.pool};

	world_make(&w, 1, 5, WM_POOL_OVERWRITE);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(fill_one(&a), i);
	/* The fill order that the search would have loaded. */
	wm_pool_header(&w.pool)->shelf[WM_SHELF_BIG].order = 2;
	assert_int_equal(fill_one(&a), 0);
	world_drop(&w);
}

/* A chunk that is missing from the queue is found again within one turn. */
static void test_overwrite_out_of_turn(void **unused)
{
	struct world w;
	struct writer a = {.pool = &w.pool};
	bool reused = false;

	world_make(&w, 1, 5, WM_POOL_OVERWRITE);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(fill_one(&a), i % 5);
	assert_true(wm_pool_pin(&w.pool, 1 + 3, wm_pool_state(&w.pool, 1 + 3)));
	assert_int_equal(fill_one(&a), 4);
	wm_pool_release(&w.pool, 1 + 3, false);
	for (unsigned i = 0; i < 5; i++)
		reused |= fill_one(&a) == 3;
	assert_true(reused);
	/* A queue of random indices causes a search but no error. */
	for (unsigned i = 0; i < 6; i++)
		wm_pool_queue(&w.pool)[i] = (uint16_t)(i * 13001);
	for (unsigned i = 0; i < 20; i++)
		fill_one(&a);
	check(&w.pool);
	assert_int_equal(wm_pool_lost_count(&w.pool, WM_LOST_OVERWRITTEN), a.sequence - 5);
	world_drop(&w);
}

static void test_overwrite_all_owned(void **unused)
{
	struct world w;
	struct writer a[3];
	struct wm_pool_shelf *shelf;

	world_make(&w, 1, 2, WM_POOL_OVERWRITE);
	shelf = &wm_pool_header(&w.pool)->shelf[WM_SHELF_BIG];
	for (unsigned i = 0; i < 3; i++) {
		a[i] = (struct writer){.pool = &w.pool, .thread = i};
		assert_true(writer_emit(&a[i], 4) == (i < 2));
	}
	assert_int_equal(shelf->none_full, shelf->filled + 1);
	writer_seal(&a[0]);
	assert_true(writer_emit(&a[2], 4)); /* after a seal the search runs again */
	assert_int_equal(a[2].index, a[0].index);
	assert_false(writer_emit(&a[0], 4));
	writer_seal(&a[2]);
	assert_true(wm_pool_pin(&w.pool, a[2].index, wm_pool_state(&w.pool, a[2].index)));
	assert_false(writer_emit(&a[0], 4));
	wm_pool_release(&w.pool, a[2].index, false); /* the chunk is FULL again and can be reused */
	assert_true(writer_emit(&a[0], 4));
	assert_int_equal(a[0].index, a[2].index);
	assert_int_equal(wm_pool_lost_count(&w.pool, WM_LOST_OVERWRITTEN), 2);
	check(&w.pool);
	world_drop(&w);
}

/*
 * Short-lived threads leave small FULL chunks. They are kept up to a quarter of the pool and then
 * reused.
 */
static void test_overwrite_small(void **unused)
{
	struct world w;
	struct writer a = {.pool = &w.pool}, held[6];
	uint32_t small, big;

	world_make(&w, 12, 16, WM_POOL_OVERWRITE);
	for (unsigned i = 0; i < 10; i++) {
		assert_true(writer_take(&a, true));
		assert_int_equal(a.index, i % 4);
		assert_true(writer_emit(&a, 3));
		writer_seal(&a);
		check(&w.pool);
	}
	assert_int_equal(wm_pool_lost_count(&w.pool, WM_LOST_OVERWRITTEN), 6);
	/* Live threads get small chunks beyond the quarter. */
	for (unsigned i = 0; i < 6; i++) {
		held[i] = (struct writer){.pool = &w.pool};
		assert_true(writer_take(&held[i], true));
	}
	wm_pool_high(&w.pool, &small, &big);
	assert_int_equal(small, 6);
	assert_int_equal(wm_pool_lost_count(&w.pool, WM_LOST_OVERWRITTEN), 10);
	check(&w.pool);
	world_drop(&w);
}

/* --- death ------------------------------------------------------------------ */

static void test_reclaim(void **unused)
{
	struct world w;
	struct writer a = {.pool = &w.pool}, b = {.pool = &w.pool, .thread = 1};
	struct reader r = {.strict = true};
	uint64_t state;

	world_make(&w, 2, 2, WM_POOL_DISCARD);
	r.pool = w.pool;
	assert_true(writer_take(&a, false));
	assert_true(writer_emit(&a, 4));
	writer_put(&a, 7); /* dies here */
	state = wm_pool_state(&w.pool, a.index);
	assert_true(wm_pool_reclaim(&w.pool, a.index, state));
	assert_false(wm_pool_reclaim(&w.pool, a.index, state));
	check(&w.pool);
	reader_round(&r, false);
	assert_int_equal(r.recorded, 1);

	/* Another thread has taken the chunk meanwhile: the old state word must not affect it. */
	assert_true(writer_take(&b, false));
	assert_int_equal(b.index, a.index);
	assert_false(wm_pool_reclaim(&w.pool, a.index, state));
	state = wm_pool_state(&w.pool, b.index);
	assert_true(wm_pool_reclaim(&w.pool, b.index, state)); /* has no records */
	assert_int_equal(wm_pool_state_of(wm_pool_state(&w.pool, b.index)), WM_CHUNK_FREE);
	assert_false(wm_pool_reclaim(&w.pool, 99, state));
	check(&w.pool);
	world_drop(&w);
}

/*
 * Reclaims only the dead thread's chunks, only those at the level that was left, and also chunks
 * the thread had not yet learned of.
 */
static void test_reclaim_thread(void **unused)
{
	struct world w;
	struct writer a = {.pool = &w.pool, .thread = 70000}, b = {.pool = &w.pool, .thread = 2};
	int64_t unknown, level2;
	uint64_t state;

	world_make(&w, 4, 4, WM_POOL_DISCARD);
	assert_true(writer_take(&a, true));
	assert_true(writer_emit(&a, 4));
	assert_true(writer_take(&b, true));
	unknown = wm_pool_take(&w.pool, false, 70000, 0, 0);
	level2 = wm_pool_take(&w.pool, false, 70000, 2, 0);
	state = wm_pool_state(&w.pool, (uint32_t)level2);
	assert_int_equal(state, wm_pool_state_owned(1, 70000, 2));
	assert_int_equal(wm_pool_state_tid(state), 70000);
	assert_int_equal(wm_pool_state_level(state), 2);
	assert_int_equal(wm_pool_reclaim_thread(&w.pool, 70000, 0), 2);
	assert_int_equal(wm_pool_state_of(wm_pool_state(&w.pool, a.index)), WM_CHUNK_FULL);
	assert_int_equal(wm_pool_state_of(wm_pool_state(&w.pool, (uint32_t)unknown)),
			 WM_CHUNK_FREE);
	assert_int_equal(wm_pool_state(&w.pool, (uint32_t)level2), state);
	assert_int_equal(wm_pool_reclaim_thread(&w.pool, 70000, WM_POOL_ALL_LEVELS), 1);
	assert_int_equal(wm_pool_reclaim_thread(&w.pool, 70000, WM_POOL_ALL_LEVELS), 0);
	assert_int_equal(wm_pool_state_of(wm_pool_state(&w.pool, b.index)), WM_CHUNK_OWNED);
	check(&w.pool);
	world_drop(&w);
}

/*
 * Interrupts the take of a FULL chunk: its owner dies after the state changed and after `stage` of
 * the stores that follow. Whichever process reads or cleans up, the chunk's two old records are
 * lost exactly once, and no record is read from it.
 */
static void take_cut_short(unsigned stage, bool reclaim)
{
	struct world w;
	struct writer a = {.pool = &w.pool};
	struct reader r = {.strict = true};
	struct wm_commit commit;
	struct wm_chunk *c;
	uint64_t state;

	world_make(&w, 1, 1, WM_POOL_OVERWRITE);
	r.pool = w.pool;
	assert_true(writer_emit(&a, 4));
	assert_true(writer_emit(&a, 4));
	writer_seal(&a);
	c = wm_pool_chunk(&w.pool, 1);
	state = WM_STATE_REUSED | wm_pool_state_make(WM_CHUNK_OWNED, 2, 0);
	wm_pool_states(&w.pool)[1] = state;
	if (stage > 0)
		c->overwritten = 2ull << 40 | 2;
	if (stage > 1)
		c->committed = 0;
	if (stage > 2)
		c->generation = 2;

	assert_int_equal(wm_pool_committed(&w.pool, 1, state, &commit), 0);
	assert_int_equal(commit.count, 0);
	assert_int_equal(wm_pool_lost_count(&w.pool, WM_LOST_OVERWRITTEN), 2);
	check(&w.pool);
	if (reclaim) {
		assert_true(wm_pool_reclaim(&w.pool, 1, state));
		assert_int_equal(wm_pool_state_of(wm_pool_state(&w.pool, 1)), WM_CHUNK_FREE);
		assert_true(writer_emit(&a, 4));
		writer_seal(&a);
	}
	reader_round(&r, true);
	assert_int_equal(r.recorded, reclaim);
	assert_int_equal(wm_pool_lost_count(&w.pool, WM_LOST_OVERWRITTEN), 2);
	check(&w.pool);
	world_drop(&w);
}

static void test_take_cut_short(void **unused)
{
	for (unsigned stage = 0; stage < 4; stage++) {
		take_cut_short(stage, false);
		take_cut_short(stage, true);
	}
}

/* A reader with an old state word never mistakes the new owner's records for the old owner's. */
static void test_stale(void **unused)
{
	struct world w;
	struct writer a = {.pool = &w.pool};
	struct wm_commit commit;
	uint64_t state;

	world_make(&w, 1, 1, WM_POOL_OVERWRITE);
	assert_true(writer_emit(&a, 4));
	state = wm_pool_state(&w.pool, 1);
	assert_int_equal(wm_pool_committed(&w.pool, 1, state, &commit), 0);
	assert_int_equal(commit.count, 1);
	assert_int_equal(commit.last_bytes, WM_CHUNK_HEADER_BYTES);
	assert_int_equal(commit.end_bytes, WM_CHUNK_HEADER_BYTES + 32);
	assert_true(wm_pool_still(&w.pool, 1, state));
	writer_seal(&a);
	assert_true(wm_pool_still(&w.pool, 1, state));
	assert_true(writer_emit(&a, 4));
	assert_false(wm_pool_still(&w.pool, 1, state));
	assert_int_equal(wm_pool_committed(&w.pool, 1, state, &commit), -ESTALE);
	world_drop(&w);
}

static void test_names(void **unused)
{
	for (unsigned i = 0; i < WM_LOST_NR; i++) {
		assert_string_not_equal(wm_lost_name((enum wm_lost)i), "unknown");
		for (unsigned j = 0; j < i; j++)
			assert_string_not_equal(wm_lost_name((enum wm_lost)i),
						wm_lost_name((enum wm_lost)j));
	}
	assert_string_equal(wm_lost_name(WM_LOST_NR), "unknown");
}

/* pool_check() itself must be able to fail. */
static void test_check_fails(void **unused)
{
	struct world w;
	struct writer a = {.pool = &w.pool};
	uint64_t *state, good, word;
	uint32_t index;

	world_make(&w, 2, 2, WM_POOL_DISCARD);
	assert_true(writer_emit(&a, 5));
	writer_seal(&a);
	check(&w.pool);
	state = &wm_pool_states(&w.pool)[2];
	good = *state;
	const uint64_t wrong[] = {
	    good | 7,          good | 0x10,      good | WM_STATE_REUSED,
	    good | 5ull << 32, good ^ 1ull << 8, wm_pool_state_make(WM_CHUNK_FREE, 1, 1),
	};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		*state = wrong[i];
		assert_non_null(pool_check(&w.pool, &index));
		assert_int_equal(index, 2);
	}
	*state = good;
	word = a.pool->map[w.pool.big_offset];
	w.pool.map[w.pool.big_offset] = 1; /* a commit word whose end is before the first record */
	assert_non_null(pool_check(&w.pool, &index));
	w.pool.map[w.pool.big_offset] = (unsigned char)word;
	wm_pool_states(&w.pool)[1] = wm_pool_state_make(WM_CHUNK_OWNED, 1, 0);
	assert_non_null(pool_check(&w.pool, &index));
	wm_pool_states(&w.pool)[1] = 0;
	check(&w.pool);
	wm_pool_header(&w.pool)->nr_big = 1;
	assert_non_null(pool_check(&w.pool, &index));
	world_drop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_geometry),
	    cmocka_unit_test(test_init_refuses),
	    cmocka_unit_test(test_walk),
	    cmocka_unit_test(test_small_before_high),
	    cmocka_unit_test(test_exhaustion),
	    cmocka_unit_test(test_generation_wraps),
	    cmocka_unit_test(test_overwrite_order),
	    cmocka_unit_test(test_overwrite_newer),
	    cmocka_unit_test(test_overwrite_out_of_turn),
	    cmocka_unit_test(test_overwrite_all_owned),
	    cmocka_unit_test(test_overwrite_small),
	    cmocka_unit_test(test_reclaim),
	    cmocka_unit_test(test_reclaim_thread),
	    cmocka_unit_test(test_take_cut_short),
	    cmocka_unit_test(test_stale),
	    cmocka_unit_test(test_names),
	    cmocka_unit_test(test_check_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
