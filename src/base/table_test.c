/* SPDX-License-Identifier: MIT */
/*
 * table_test.c - tests that entries are found whatever their hashes, while the table grows and
 * shrinks, and that keys made to collide do not.
 */
#include "base/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/table_test_kit.h"

#define MANY 100000u
#define NONE UINT32_MAX

static uint32_t find(const struct wm_table *t, uint64_t hash, const uint64_t *keys, uint64_t key)
{
	struct wm_table_walk w = wm_table_walk(hash);

	while (wm_table_next(t, &w))
		if (keys[w.index] == key)
			return w.index;
	return NONE;
}

static void test_many(void **unused)
{
	static uint64_t keys[MANY];
	struct wm_table t;

	wm_table_init(&t);
	assert_int_equal(find(&t, 1, keys, 0), NONE);
	for (uint32_t i = 0; i < MANY; i++) {
		keys[i] = (uint64_t)i << 32; /* all keys have the same low bits */
		assert_int_equal(wm_table_add(&t, wm_table_hash(&t, keys[i]), i), 0);
	}
	assert_int_equal(t.nr, MANY);
	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(find(&t, wm_table_hash(&t, keys[i]), keys, keys[i]), i);
	assert_int_equal(find(&t, wm_table_hash(&t, 1), keys, 1), NONE);
	wm_table_done(&t);
}

/* All entries with the same hash are candidates, in any order. */
static void test_equal_hashes(void **unused)
{
	uint64_t keys[200];
	struct wm_table t;

	wm_table_init(&t);
	for (uint32_t i = 0; i < 200; i++) {
		keys[i] = i;
		assert_int_equal(wm_table_add(&t, UINT64_MAX, i), 0);
	}
	for (uint32_t i = 0; i < 200; i++)
		assert_int_equal(find(&t, UINT64_MAX, keys, i), i);
	assert_int_equal(find(&t, UINT64_MAX, keys, 200), NONE);
	wm_table_clear(&t);
	assert_int_equal(find(&t, UINT64_MAX, keys, 1), NONE);
	wm_table_done(&t);
	assert_int_equal(find(&t, UINT64_MAX, keys, 1), NONE);
}

/* Returns a hash that wm_table_fold() reduces to `folded`. */
static uint64_t hash_of(uint32_t folded)
{
	const uint64_t inverse = 0x2ab9c720d1024adu; /* of WM_TABLE_FACTOR */

	return ((uint64_t)folded << 32) * inverse;
}

/*
 * A few different hashes make long runs of slots, some of which wrap around the end of the table.
 */
static void test_remove(void **unused)
{
	uint64_t keys[200], hashes[200], random = 1;
	bool in[200] = {false};
	struct wm_table t;

	wm_table_init(&t);
	for (uint32_t i = 0; i < 200; i++) {
		keys[i] = i;
		hashes[i] = hash_of(0u - 4 + i % 9);
		assert_int_equal(wm_table_fold(hashes[i]), 0u - 4 + i % 9);
	}
	for (uint32_t round = 0; round < 20000; round++) {
		uint32_t k = (uint32_t)((random = wm_mix(random, round)) % 200), nr = 0;

		if (in[k])
			wm_table_remove(&t, hashes[k], k);
		else
			assert_int_equal(wm_table_add(&t, hashes[k], k), 0);
		in[k] = !in[k];
		for (uint32_t i = 0; i < 200; i++) {
			nr += in[i];
			if (round % 16 == 0)
				assert_int_equal(find(&t, hashes[i], keys, i), in[i] ? i : NONE);
		}
		assert_int_equal(t.nr, nr);
	}
	wm_table_done(&t);
}

/*
 * Spreads equally spaced keys with many seeds: numbers, addresses of words and of pages, and keys
 * that a multiplication by the golden ratio would map to one slot.
 */
static void test_spread(void **unused)
{
	const uint64_t inverse = 0xf1de83e19937733du; /* of 0x9e3779b97f4a7c15 */
	const uint64_t steps[] = {1, 8, 4096, (uint64_t)1 << 32, inverse};

	assert_int_equal(inverse * 0x9e3779b97f4a7c15u, 1);
	for (size_t k = 0; k < 100 * sizeof(steps) / sizeof(steps[0]); k++) {
		struct wm_table t;

		wm_table_init(&t);
		for (uint32_t i = 0; i < MANY / 20; i++)
			assert_int_equal(wm_table_add(&t, wm_table_hash(&t, i * steps[k / 100]), i),
					 0);
		KIT_ASSERT_LINEAR(&t);
		wm_table_done(&t);
	}
}

/*
 * Chooses keys that collide in a table whose seed is known. They do not collide in another table,
 * because its seed is different.
 */
static void test_crafted(void **unused)
{
	struct wm_table known, other;
	uint64_t before;
	uint32_t nr = 0;

	wm_table_init(&known);
	wm_table_init(&other);
	assert_int_not_equal(known.seed, other.seed);
	for (uint64_t key = 0; nr < 10000; key++) {
		uint64_t hash = wm_table_hash(&known, key);

		if (wm_table_fold(hash) % 256)
			continue;
		assert_int_equal(wm_table_add(&known, hash, nr), 0);
		assert_int_equal(wm_table_add(&other, wm_table_hash(&other, key), nr++), 0);
	}
	before = kit_table_probes(&known);
	assert_true(before > 20 * (uint64_t)nr);
	KIT_ASSERT_LINEAR(&other);
	wm_table_done(&known);
	wm_table_done(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_many),    cmocka_unit_test(test_equal_hashes),
	    cmocka_unit_test(test_remove),  cmocka_unit_test(test_spread),
	    cmocka_unit_test(test_crafted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
