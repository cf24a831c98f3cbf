/* SPDX-License-Identifier: MIT */
/*
 * significance_test.c - checks the results against numerically integrated values (Welch's t test)
 * and against erfc().
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/significance_int.h"

static void near(double got, double wanted)
{
	assert_true(fabs(got - wanted) < 1e-4);
}

static void means_are_welchs(void **state)
{
	static const double a[] = {1, 2, 3, 4, 5}, b[] = {2, 4, 6, 8, 10}, c[] = {7, 7, 7};

	near(wm_significance_means(a, 5, b, 5), 0.10753);
	near(wm_significance_means(b, 5, a, 5), 0.10753);
	near(wm_significance_means(a, 5, a, 5), 1);
	near(wm_significance_means(c, 3, c, 3), 1);
	near(wm_significance_means(a, 2, b, 2), 0.34989); /* {1, 2} and {2, 4} */
	assert_true(isnan(wm_significance_means(a, 1, b, 5)));
}

static void counts_are_of_proportions(void **state)
{
	near(wm_significance_counts(15, 100, 30, 100), 0.011085);
	near(wm_significance_counts(5, 100, 5, 100), 1);
	near(wm_significance_counts(0, 100, 0, 50), 1);
	near(wm_significance_counts(100, 100, 50, 50), 1);
	assert_true(isnan(wm_significance_counts(0, 0, 1, 2)));
	assert_true(wm_significance_counts(100, 1000, 300, 1000) < 1e-20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(means_are_welchs),
	    cmocka_unit_test(counts_are_of_proportions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
