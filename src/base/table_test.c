/* SPDX-License-Identifier: MIT */
/*
 * table_test.c - tests that entries are found whatever their hashes and while the table grows;
 * measures memory and misses.
 */
#include "base/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define MANY 100000u

static uint32_t find(const struct wm_table *t, uint64_t hash, const uint64_t *keys, uint64_t key)
{
	struct wm_table_walk w;

	for (uint32_t i = wm_table_first(t, hash, &w); i != WM_TABLE_NONE; i = wm_table_next(t, &w))
		if (keys[i] == key)
			return i;
	return WM_TABLE_NONE;
}

static void test_many(void **unused)
{
	static uint64_t keys[MANY];
	struct wm_table t;

	wm_table_init(&t);
	assert_int_equal(find(&t, 1, keys, 0), WM_TABLE_NONE);
	for (uint32_t i = 0; i < MANY; i++) {
		keys[i] = (uint64_t)i << 32; /* all keys have the same low bits */
		assert_int_equal(wm_table_add(&t, wm_mix(t.seed ^ keys[i], 0), i), 0);
	}
	assert_int_equal(t.nr, MANY);
	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(find(&t, wm_mix(t.seed ^ keys[i], 0), keys, keys[i]), i);
	assert_int_equal(find(&t, wm_mix(t.seed ^ 1, 0), keys, 1), WM_TABLE_NONE);
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
	assert_int_equal(find(&t, UINT64_MAX, keys, 200), WM_TABLE_NONE);
	wm_table_done(&t);
	assert_int_equal(find(&t, UINT64_MAX, keys, 1), WM_TABLE_NONE);
}

/* The longest run of slots in use, which bounds the work of a search. */
static uint32_t longest_run(const struct wm_table *t)
{
	uint32_t longest = 0;

	for (uint32_t at = 0, run = 0; at < t->room; at++) {
		run = t->slots[at].index ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	return longest;
}

/*
 * Spreads consecutive keys, and keys that a multiplication by the golden ratio would map to one
 * slot.
 */
static void test_spread(void **unused)
{
	const uint64_t inverse = 0xf1de83e19937733du; /* of 0x9e3779b97f4a7c15 */
	const uint64_t steps[] = {1, (uint64_t)1 << 32, inverse};

	assert_int_equal(inverse * 0x9e3779b97f4a7c15u, 1);
	for (size_t k = 0; k < sizeof(steps) / sizeof(steps[0]); k++) {
		struct wm_table t;

		wm_table_init(&t);
		for (uint32_t i = 0; i < MANY; i++)
			assert_int_equal(wm_table_add(&t, wm_mix(t.seed ^ i * steps[k], 0), i), 0);
		assert_in_range(longest_run(&t), 1, 200);
		wm_table_done(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_many),
	    cmocka_unit_test(test_equal_hashes),
	    cmocka_unit_test(test_spread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
