/* SPDX-License-Identifier: MIT */
/* search_test.c - compares searches with a linear scan, in arrays of all small lengths. */
#include "base/search.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_all_lengths(void **unused)
{
	uint32_t keys[40];

	for (uint32_t k = 0; k < 40; k++)
		keys[k] = k / 3 * 2; /* 0 0 0 2 2 2 4 ... */
	for (uint32_t nr = 0; nr <= 40; nr++) {
		for (uint32_t key = 0; key < 30; key++) {
			uint32_t not_less = 0, greater = 0;

			while (not_less < nr && keys[not_less] < key)
				not_less++;
			while (greater < nr && keys[greater] <= key)
				greater++;
			assert_int_equal(WM_SEARCH(0, nr, i, keys[i] < key), not_less);
			assert_int_equal(WM_SEARCH(0, nr, i, keys[i] <= key), greater);
		}
	}
}

/* Only indices in the range are tried, even when it does not begin at 0 or is empty. */
static void test_ranges(void **unused)
{
	assert_int_equal(WM_SEARCH(5, 9, i, i < 5), 5);
	assert_int_equal(WM_SEARCH(5, 9, i, i < 7), 7);
	assert_int_equal(WM_SEARCH(5, 9, i, i < 20), 9);
	assert_int_equal(WM_SEARCH(1, 0, i, i < 20), 1);
	assert_int_equal(WM_SEARCH(UINT64_MAX - 3, UINT64_MAX, i, i < UINT64_MAX - 1),
			 UINT64_MAX - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_all_lengths),
	    cmocka_unit_test(test_ranges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
