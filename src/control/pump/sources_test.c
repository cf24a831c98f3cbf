/* SPDX-License-Identifier: MIT */
/* sources_test.c - checks that every line in the table of sources is complete. */
#include "control/pump/sources.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void test_functions(void **state)
{
	for (unsigned i = 0; i < WM_SOURCES_NR; i++) {
		const struct wm_source_ops *ops = wm_sources[i];

		assert_non_null(ops->label);
		assert_non_null(ops->create);
		assert_non_null(ops->destroy);
		assert_non_null(ops->round);
		assert_non_null(ops->stop);
		assert_non_null(ops->finish);
		assert_non_null(ops->totals);
		/* forget() frees the options that want() creates, so both or none are set */
		assert_true(!ops->takes == !ops->want && !ops->want == !ops->forget);
	}
}

static void test_labels_differ(void **state)
{
	for (unsigned i = 0; i < WM_SOURCES_NR; i++)
		for (unsigned j = 0; j < i; j++)
			assert_string_not_equal(wm_sources[i]->label, wm_sources[j]->label);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_functions),
	    cmocka_unit_test(test_labels_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
