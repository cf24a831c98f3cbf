/* SPDX-License-Identifier: MIT */
/* text_test.c - growth, cutting, extreme numbers, sticky failure. */
#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_building(void **state)
{
	struct wm_text t;

	wm_text_init(&t);
	wm_text_str(&t, "a");
	wm_text_char(&t, ' ');
	wm_text_u64(&t, UINT64_MAX);
	wm_text_char(&t, ' ');
	wm_text_i64(&t, INT64_MIN);
	wm_text_f(&t, " %s %d", "x", 7);
	assert_string_equal(t.data, "a 18446744073709551615 -9223372036854775808 x 7");
	assert_int_equal(t.bytes, strlen(t.data));
	wm_text_cut(&t, 1);
	assert_string_equal(t.data, "a");
	wm_text_i64(&t, 0);
	assert_string_equal(t.data, "a0");
	wm_text_done(&t);
	assert_null(t.data);
}

static void test_long_format(void **state)
{
	struct wm_text t;
	char big[1000];

	memset(big, 'b', sizeof(big));
	big[999] = '\0';
	wm_text_init(&t);
	wm_text_f(&t, "%s|%s|", big, big);
	wm_text_f(&t, "%d", 1);
	assert_int_equal(t.bytes, 2 * 999 + 3);
	assert_string_equal(t.data + 2 * 999, "b|1");
	wm_text_done(&t);
}

static void test_growth(void **state)
{
	struct wm_text t;
	uint32_t i;

	wm_text_init(&t);
	for (i = 0; i < 10000; i++)
		wm_text_add(&t, &i, sizeof(i));
	assert_int_equal(t.bytes, 40000);
	for (i = 0; i < 10000; i++)
		assert_memory_equal(t.data + 4 * i, &i, 4);
	assert_true(t.room <= 2 * t.bytes);
	wm_text_done(&t);
}

static void test_failure_is_sticky(void **state)
{
	struct wm_text t;

	wm_text_init(&t);
	wm_text_str(&t, "kept");
	wm_text_add(&t, "", SIZE_MAX);
	assert_true(t.failed);
	wm_text_str(&t, "ignored");
	assert_string_equal(t.data, "kept");
	wm_text_cut(&t, 4);
	wm_text_str(&t, "!");
	assert_string_equal(t.data, "kept!");
	wm_text_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_building),
	    cmocka_unit_test(test_long_format),
	    cmocka_unit_test(test_growth),
	    cmocka_unit_test(test_failure_is_sticky),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
