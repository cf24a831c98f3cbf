/* SPDX-License-Identifier: MIT */
/* array_test.c - growth by one, by many, to the limit of the room's type, and beyond it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/suite_test_kit.h"

struct large {
	char bytes[1000];
};

static void test_by_one(void **unused)
{
	uint32_t *at = NULL, room = 0, times = 0;

	for (uint32_t i = 0; i < 100000; i++) {
		uint32_t before = room;

		assert_int_equal(WM_ARRAY_ROOM_OF(at, i), room);
		assert_int_equal(WM_ARRAY_GROW(at, room, i + 1), 0);
		assert_true(room > i && room >= before);
		times += room != before;
		at[i] = i;
	}
	assert_in_range(times, 1, 17);
	for (uint32_t i = 0; i < 100000; i++)
		assert_int_equal(at[i], i);
	free(at);
}

static void test_by_many(void **unused)
{
	struct large *large = NULL;
	size_t room = 0;

	assert_int_equal(WM_ARRAY_GROW(large, room, 0), 0);
	assert_null(large);
	assert_int_equal(WM_ARRAY_GROW(large, room, 1), 0);
	assert_int_equal(room, 16);
	assert_int_equal(WM_ARRAY_GROW(large, room, 1000), 0);
	assert_int_equal(room, 1000);
	assert_int_equal(WM_ARRAY_GROW(large, room, 1001), 0);
	assert_int_equal(room, 2000);
	free(large);
}

static void test_zeroed(void **unused)
{
	static const struct large zero;
	struct large *at = NULL;
	uint32_t room = 0;

	for (uint32_t need = 1; need < 500; need = 3 * room) {
		uint32_t from = room;

		assert_int_equal(WM_ARRAY_GROW_ZEROED(at, room, need), 0);
		for (uint32_t i = from; i < room; i++)
			assert_memory_equal(&at[i], &zero, sizeof(zero));
		memset(at, 0xff, room * sizeof(*at));
	}
	free(at);
}

static void test_limit_of_type(void **unused)
{
	uint16_t room = 40000;
	char *at = malloc(room), *was = at;

	assert_non_null(at);
	assert_int_equal(WM_ARRAY_GROW(at, room, 65536), -ENOMEM);
	assert_int_equal(room, 40000);
	assert_ptr_equal(at, was);
	assert_int_equal(WM_ARRAY_GROW(at, room, 40001), 0); /* twice that would be too many */
	assert_int_equal(room, 65535);
	assert_int_equal(WM_ARRAY_GROW(at, room, 65536), -ENOMEM);
	free(at);
}

static void test_overflow(void **unused)
{
	struct large *at = NULL;
	size_t room = 0;
	uint32_t few = 0;

	assert_int_equal(WM_ARRAY_GROW(at, room, SIZE_MAX), -ENOMEM);
	assert_int_equal(WM_ARRAY_GROW(at, room, SIZE_MAX / 1000 + 1), -ENOMEM);
	assert_int_equal(WM_ARRAY_GROW_ZEROED(at, few, (size_t)UINT32_MAX + 1), -ENOMEM);
	assert_null(at);
	assert_int_equal(room + few, 0);
	room = SIZE_MAX / 2 + 2; /* cannot be doubled */
	assert_int_equal(WM_ARRAY_GROW(at, room, SIZE_MAX), -ENOMEM);
	assert_int_equal(room, SIZE_MAX / 2 + 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_by_one),   cmocka_unit_test(test_by_many),
	    cmocka_unit_test(test_zeroed),   cmocka_unit_test(test_limit_of_type),
	    cmocka_unit_test(test_overflow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
