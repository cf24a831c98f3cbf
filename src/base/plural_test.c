/* SPDX-License-Identifier: MIT */
/* plural_test.c - only a count of 1 takes the singular. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/plural.h"
#include "base/suite_test_kit.h"

static void test_forms(void **unused)
{
	(void)unused;
	assert_string_equal(wm_plural(0, "event", "events"), "events");
	assert_string_equal(wm_plural(1, "event", "events"), "event");
	assert_string_equal(wm_plural(2, "event", "events"), "events");
	assert_string_equal(wm_plural(UINT64_MAX, "process", "processes"), "processes");
	assert_string_equal(wm_plural((1ull << 32) + 1, "event", "events"), "events");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_forms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
