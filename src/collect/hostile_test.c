/* SPDX-License-Identifier: MIT */
/*
 * hostile_test.c - programs that break every rule about their own shared memory while the pump
 * reads it: the pump must survive, and the totals of other programs must be exact.
 */
#include "collect/pump_world_test_kit.h"

#include <pthread.h>

#define ROUNDS 12000

struct vandal {
	struct program g;
	uint64_t header[WM_POOL_PAGE / 8]; /* copy of the original header */
	uint64_t seed;
	uint32_t stop;
};

/* Returns a damaged word: either nearly right, so that every check is needed, or random. */
static uint64_t spoil(uint64_t word, uint64_t *seed)
{
	uint64_t r = next_random(seed);
	unsigned shift = (unsigned)(r >> 8) % 3 * WAYMARK_COMMIT_END_BITS;

	switch (r % 8) {
	case 0:
	case 1:
	case 2: /* for a commit word: changes end, last or count slightly */
		return word + ((r >> 32 & 1 ? r >> 33 & 31 : -(r >> 33 & 31)) << shift);
	case 3:
	case 4: /* for a state word: another state */
		return (word & ~(uint64_t)7) | (r >> 32 & 3);
	case 5:
		return word ^ (uint64_t)1 << (r >> 32 & 63);
	case 6:
		return r >> 32 & 1 ? 0 : UINT64_MAX;
	default:
		return r;
	}
}

static void scribble(struct vandal *v)
{
	unsigned char *map = v->g.pool.map;
	uint64_t r = next_random(&v->seed);
	uint32_t chunk = (uint32_t)(r >> 8) % wm_pool_nr_chunks(&v->g.pool);
	uint64_t *base = (uint64_t *)wm_pool_chunk(&v->g.pool, chunk);
	uint64_t *word = base;

	switch (r % 8) {
	case 0: /* anywhere */
		word = (uint64_t *)map + (r >> 8) % (v->g.pool.bytes / 8);
		break;
	case 1: /* the pool's counters */
		word = (uint64_t *)map + 16 + (r >> 8) % 48;
		break;
	case 2:
	case 3:
		word = wm_pool_states(&v->g.pool) + chunk;
		break;
	case 4: /* chunk and record headers */
		word = base + (r >> 40) % 20;
	}
	wm_store_relaxed(word, spoil(wm_load_relaxed(word), &v->seed));
}

/* Emits like other programs, then damages a word. */
static void misbehave(struct vandal *v)
{
	for (int i = 0; i < 12; i++)
		thread_emit(&v->g, &v->g.thread[i % 3], 3);
	if (next_random(&v->seed) % 4 == 0)
		thread_seal(&v->g, &v->g.thread[0]);
	scribble(v);
}

static void *misbehave_on(void *data)
{
	struct vandal *v = data;

	while (!wm_load_relaxed(&v->stop))
		misbehave(v);
	return NULL;
}

/*
 * Repairs the header so that the pump opens the pool again. Uses atomic stores, because the thread
 * may write it at the same time.
 */
static struct wm_pump_source *come_back(struct vandal *v, struct wm_pump *pump,
					struct wm_producer *producer)
{
	struct wm_pump_source *s;
	struct wm_pool pool;

	do {
		for (uint32_t i = 0; i < sizeof(v->header) / 8; i++)
			wm_store_relaxed((uint64_t *)v->g.pool.map + i, v->header[i]);
		for (uint32_t i = 0; i < 8; i++)
			wm_store_relaxed(wm_pool_states(&v->g.pool) + i, 0); /* FREE */
	} while (wm_pool_open(&pool, v->g.fd) < 0);
	assert_int_equal(wm_pump_add(pump, &pool, producer, 666, &s), 0);
	return s;
}

/* Returns how often the pump detected damage. */
static uint32_t among_vandals(uint32_t mode, bool concurrent)
{
	struct wm_producer good = {0}, bad = {.hostile = true};
	struct wm_pump *pump = pump_make(NULL, NULL);
	struct vandal *v = calloc(1, sizeof(*v));
	struct wm_pump_source *honest, *vandal;
	struct wm_pump_totals t;
	struct program g;
	pthread_t thread;

	program_make(&g, WM_POOL_DISCARD, 2, 4, 3);
	program_make(&v->g, mode, 3, 5, 3);
	v->seed = 99 + mode;
	memcpy(v->header, v->g.pool.map, sizeof(v->header));
	honest = program_join(&g, pump, &good);
	vandal = come_back(v, pump, &bad);
	if (concurrent)
		assert_int_equal(pthread_create(&thread, NULL, misbehave_on, v), 0);
	for (int i = 0; i < ROUNDS; i++) {
		thread_emit(&g, &g.thread[i % 3], 3 + (uint32_t)i % 7);
		if (!concurrent)
			misbehave(v);
		if (i % 16 == 0 && mode == WM_POOL_OVERWRITE)
			(void)wm_pump_snapshot(pump, NULL, NULL); /* may return any result */
		(void)wm_pump_round(pump, i % 3 == 0);
		if (wm_pump_source_fault(vandal) || i % 64 == 63) {
			assert_int_equal(wm_pump_finish(pump, vandal, NULL), 0);
			vandal = come_back(v, pump, &bad);
		}
	}
	if (concurrent) {
		wm_store_relaxed(&v->stop, 1);
		pthread_join(thread, NULL);
	}
	assert_null(wm_pump_source_fault(honest));
	assert_int_equal(wm_pump_finish(pump, honest, NULL), 0);
	assert_int_equal(good.events + lost_sum(good.lost), ROUNDS);
	assert_int_equal(lost_sum(good.lost),
			 g.thread[0].lost_full + g.thread[1].lost_full + g.thread[2].lost_full);
	assert_true(good.events >= ROUNDS / 2);
	wm_pump_totals(pump, &t);
	wm_pump_destroy(pump);
	program_free(&g);
	program_free(&v->g);
	free(v);
	return t.quarantined;
}

static void test_vandals(void **state)
{
	for (uint32_t mode = 0; mode < WM_POOL_NR_MODES; mode++) {
		assert_true(among_vandals(mode, false) > 20);
		(void)among_vandals(mode, true); /* the number of detections is random */
	}
}

/* --- each rule on its own --------------------------------------------------------- */

static uint64_t commit(uint64_t end, uint64_t last, uint64_t count)
{
	return end | last << WAYMARK_COMMIT_END_BITS | count << WAYMARK_COMMIT_COUNT_SHIFT;
}

static void test_each_lie(void **state)
{
	static const struct {
		/* In words; each case follows 10 valid records of 3 words. */
		uint64_t end, last, count;
		bool caught;
	} lies[] = {
	    {8 + 30, 8 + 27, 10, false},  /* correct */
	    {8 + 33, 8 + 30, 11, false},  /* one more record */
	    {8 + 27, 8 + 24, 9, true},    /* backwards */
	    {8 + 33, 8 + 30, 10, true},   /* `end` grows, but no record is added */
	    {8 + 30, 8 + 27, 11, true},   /* a record is added, but `end` does not grow */
	    {8 + 33, 8 + 27, 11, true},   /* the last record begins before the new part */
	    {8 + 33, 8 + 33, 11, true},   /* the last record begins at the end */
	    {8 + 33, 8 + 30, 14, true},   /* too many records for the bytes */
	    {513, 510, 100, true},        /* the end is beyond the chunk */
	    {(1 << 20) - 1, 8, 50, true}, /* far beyond */
	    {8 + 33, 0, 11, true},        /* the last record begins in the header */
	    {8, 0, 0, true},
	};

	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		struct wm_producer producer = {.hostile = true};
		struct wm_pump *pump = pump_make(NULL, NULL);
		struct wm_pump_source *s;
		struct wm_pump_totals t;
		struct program g;

		program_make(&g, WM_POOL_DISCARD, 1, 1, 1);
		s = program_join(&g, pump, &producer);
		for (int k = 0; k < 10; k++)
			thread_emit(&g, &g.thread[0], 3);
		assert_int_equal(wm_pump_round(pump, true), 1);
		wm_store_release((uint64_t *)wm_pool_chunk(&g.pool, 0),
				 commit(lies[i].end, lies[i].last, lies[i].count));
		assert_true(wm_pump_round(pump, true) >= 0);
		assert_int_equal(wm_pump_source_fault(s) != NULL, lies[i].caught);
		wm_pump_totals(pump, &t);
		assert_int_equal(t.quarantined, lies[i].caught);
		assert_int_equal(t.events, i == 1 ? 11 : 10); /* valid records are kept */
		assert_int_equal(wm_pump_finish(pump, s, NULL), 0);
		wm_pump_totals(pump, &t);
		assert_int_equal(t.quarantined, lies[i].caught);
		wm_pump_destroy(pump);
		program_free(&g);
	}
}

static void test_counters_that_lie(void **state)
{
	struct wm_producer producer = {.hostile = true};
	struct wm_pump *pump = pump_make(NULL, NULL);
	struct wm_pump_source *s;
	struct wm_pump_totals t;
	struct program g;
	uint64_t *lost;

	program_make(&g, WM_POOL_DISCARD, 1, 1, 1);
	s = program_join(&g, pump, &producer);
	lost = wm_pool_header(&g.pool)->lost;
	lost[WM_LOST_FULL] = 7;
	assert_int_equal(wm_pump_round(pump, true), 0);
	lost[WM_LOST_FULL] = 3; /* counters never decrease */
	assert_int_equal(wm_pump_round(pump, true), 0);
	assert_null(wm_pump_source_fault(s));
	/* An impossible value that would corrupt all totals: quarantined. */
	lost[WM_LOST_EARLY] = UINT64_MAX;
	assert_int_equal(wm_pump_round(pump, true), 0);
	assert_non_null(wm_pump_source_fault(s));
	wm_pump_totals(pump, &t);
	assert_true(t.lost[WM_LOST_FULL] == 7);
	assert_true(t.lost[WM_LOST_EARLY] == 0);
	assert_int_equal(wm_pump_finish(pump, s, NULL), 0);
	wm_pump_destroy(pump);
	program_free(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_vandals),
	    cmocka_unit_test(test_each_lie),
	    cmocka_unit_test(test_counters_that_lie),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
