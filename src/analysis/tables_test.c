/* SPDX-License-Identifier: MIT */
/* tables_test.c - names, tasks and buckets: each is stored once, and still found after growth. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/profile_int.h"
#include "trace/name_table.h"
#include "trace/tasks.h"

#define MANY 50000u

static void names_are_kept_once(void **state)
{
	struct wm_names n;
	char text[16];
	uint32_t a, b;

	assert_int_equal(wm_names_init(&n), 0);
	assert_int_equal(wm_names_id(&n, "", 0), 0);
	a = wm_names_id(&n, "make", 4);
	b = wm_names_id(&n, "make2", 5);
	assert_int_not_equal(a, b);
	assert_int_equal(wm_names_id(&n, "make2", 4), a); /* only 4 bytes are compared */
	assert_string_equal(wm_names_text(&n, b), "make2");
	for (unsigned i = 0; i < MANY; i++)
		assert_int_equal(
		    wm_names_id(&n, text, (size_t)snprintf(text, sizeof(text), "t%u", i)), i + 3);
	for (unsigned i = 0; i < MANY; i++)
		assert_int_equal(
		    wm_names_id(&n, text, (size_t)snprintf(text, sizeof(text), "t%u", i)), i + 3);
	assert_int_equal(wm_names_id(&n, "make", 4), a);
	assert_string_equal(wm_names_text(&n, n.nr), "");
	wm_names_done(&n);
}

static void names_may_have_nuls_inside(void **state)
{
	struct wm_names n;

	assert_int_equal(wm_names_init(&n), 0);
	assert_int_not_equal(wm_names_id(&n, "a\0b", 3), wm_names_id(&n, "a\0c", 3));
	wm_names_done(&n);
}

static void tasks_stay_where_they_are(void **state)
{
	struct wm_tasks t;
	struct wm_task *first;

	assert_int_equal(wm_tasks_init(&t), 0);
	assert_null(wm_tasks_find(&t, 7));
	first = wm_tasks_get(&t, 7);
	assert_non_null(first);
	assert_int_equal(first->pid, -1);
	for (int32_t tid = 0; tid < (int32_t)MANY; tid++)
		assert_int_equal(wm_tasks_get(&t, tid * 3)->tid, tid * 3);
	assert_ptr_equal(wm_tasks_find(&t, 7), first);
	first = wm_tasks_get(&t, INT32_MAX);
	assert_ptr_equal(wm_tasks_find(&t, INT32_MAX), first);
	for (uint32_t i = 0; i < t.nr; i++)
		assert_int_equal(wm_tasks_at(&t, i)->index, i);
	wm_tasks_done(&t);
}

static void ids_below_zero_are_nobodys(void **state)
{
	struct wm_tasks t;

	assert_int_equal(wm_tasks_init(&t), 0);
	assert_ptr_equal(wm_tasks_get(&t, -1), &t.others);
	assert_ptr_equal(wm_tasks_get(&t, INT32_MIN), &t.others);
	assert_int_equal(t.nr, 0);
	wm_tasks_done(&t);
}

static void buckets_are_found_again(void **state)
{
	struct wm_buckets b;

	wm_buckets_init(&b, 3);
	for (uint64_t i = 0; i < MANY; i++) {
		uint64_t words[3] = {i % 100, i / 100, UINT64_MAX - i};

		assert_int_equal(wm_buckets_get(&b, words), i);
	}
	for (uint64_t i = 0; i < MANY; i++) {
		uint64_t words[3] = {i % 100, i / 100, UINT64_MAX - i};

		assert_int_equal(wm_buckets_get(&b, words), i);
		assert_memory_equal(wm_buckets_words(&b, (uint32_t)i), words, sizeof(words));
	}
	wm_buckets_done(&b);
}

static void lists_name_whole_words(void **state)
{
	assert_true(wm_profile_listed(NULL, "x"));
	assert_true(wm_profile_listed("make,cc1", "cc1"));
	assert_true(wm_profile_listed("make", "make"));
	assert_false(wm_profile_listed("make,cc1", "cc"));
	assert_false(wm_profile_listed("make,cc1", ""));
	assert_true(wm_profile_listed("a,,b", ""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(names_are_kept_once),
	    cmocka_unit_test(names_may_have_nuls_inside),
	    cmocka_unit_test(tasks_stay_where_they_are),
	    cmocka_unit_test(ids_below_zero_are_nobodys),
	    cmocka_unit_test(buckets_are_found_again),
	    cmocka_unit_test(lists_name_whole_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
