/* SPDX-License-Identifier: MIT */
/* moment_test.c - tests every form, malformed variants of it, and the extremes of the range. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/moment.h"
#include "base/suite_test_kit.h"

#define DAY_NS (1795219200000000000 + 5) /* 2026-11-21 00:00:00 UTC and 5 ns */

static void test_forms(void **unused)
{
	static const struct {
		const char *text;
		int err;
		int64_t ns;
	} cases[] = {
	    {"0", 0, 0},
	    {"1.5", 0, 1500000000},
	    {"-1.5", 0, -1500000000},
	    {"-0.000000001", 0, -1},
	    {"1795221541.123456789", 0, 1795221541123456789},
	    {"9223372036.854775807", 0, INT64_MAX},
	    {"9223372036.854775808", -ERANGE, 0},
	    {"99999999999999999999", -ERANGE, 0},
	    {"1.", -EINVAL, 0},
	    {".5", -EINVAL, 0},
	    {"1.1234567890", -EINVAL, 0},
	    {"", -EINVAL, 0},
	    {"-", -EINVAL, 0},
	    {"1s", -EINVAL, 0},
	    {"1970-01-01 00:00Z", 0, 0},
	    {"2026-11-22 14:05Z", 0, 1795356300000000000},
	    {"2026-11-22T14:05:30.25Z", 0, 1795356330250000000},
	    {"2026-11-22 14:05", 0, 1795356300000000000 - 3600000000000}, /* one hour east of UTC */
	    {"14:05Z", 0, 1795269900000000000},
	    {"14:05:01.000000001Z", 0, 1795269901000000001},
	    {"14:05", 0, 1795266300000000000},
	    {"2028-02-29 00:00Z", 0, 1835395200000000000},
	    {"2026-02-29 00:00Z", -EINVAL, 0},
	    {"2026-13-01 00:00Z", -EINVAL, 0},
	    {"2026-1-01 00:00Z", -EINVAL, 0},
	    {"24:00Z", -EINVAL, 0},
	    {"12:60Z", -EINVAL, 0},
	    {"1:00Z", -EINVAL, 0},
	    {"12:00:00.Z", -EINVAL, 0},
	    {"12:00Zx", -EINVAL, 0},
	    {"9999-11-22 14:05Z", -ERANGE, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int64_t ns = 0;
		int err = wm_moment_parse(cases[i].text, DAY_NS, &ns);

		if (err != cases[i].err || ns != cases[i].ns)
			fail_msg("%s: %d, %ld", cases[i].text, err, ns);
	}
}

/* Compared with the C library: some days of each year (one or two in `make check`), and the
 * extremes of the range. */
static void test_utc_without_a_lock(void **unused)
{
	char ours[32], theirs[32];
	int64_t step = kit_rounds(8, 1);
	struct tm tm;

	for (int64_t s = 0; s < 253402300800;
	     s += step * (s % 7 ? 86400 * 29 + 3601 : 86400 * 31 - 1)) {
		assert_non_null(gmtime_r(&(time_t){(time_t)s}, &tm));
		assert_true(strftime(theirs, sizeof(theirs), "%Y-%m-%dT%H:%M:%SZ", &tm));
		assert_int_equal(wm_moment_print_utc(s, ours, sizeof(ours)), 0);
		assert_string_equal(ours, theirs);
	}
	assert_int_equal(wm_moment_print_utc(1709164800, ours, 21), 0);
	assert_string_equal(ours, "2024-02-29T00:00:00Z");
	assert_int_equal(wm_moment_print_utc(4107542399, ours, 21), 0);
	assert_string_equal(ours, "2100-02-28T23:59:59Z");
	assert_int_equal(wm_moment_print_utc(253402300799, ours, 21), 0);
	assert_string_equal(ours, "9999-12-31T23:59:59Z");
	assert_int_equal(wm_moment_print_utc(253402300800, ours, 21), -EINVAL);
	assert_int_equal(wm_moment_print_utc(INT64_MAX, ours, 21), -EINVAL);
	assert_int_equal(wm_moment_print_utc(-1, ours, 21), -EINVAL);
	assert_int_equal(wm_moment_print_utc(0, ours, 20), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_forms),
					   cmocka_unit_test(test_utc_without_a_lock)};

	setenv("TZ", "XXX-1", 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
