/* SPDX-License-Identifier: MIT */
/* digits_test.c - digits against printf, at every power and in between. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>

#include "base/digits.h"

static void same(const char *got, const char *end, const char *wanted)
{
	assert_int_equal(end - got, strlen(wanted));
	assert_memory_equal(got, wanted, strlen(wanted));
}

static void check(uint64_t n)
{
	char got[WM_DIGITS_MAX], wanted[80];

	snprintf(wanted, sizeof(wanted), "%" PRIu64, n);
	same(got, wm_digits_u64(got, n), wanted);
	snprintf(wanted, sizeof(wanted), "%" PRId64, (int64_t)n);
	same(got, wm_digits_i64(got, (int64_t)n), wanted);
	snprintf(wanted, sizeof(wanted), "%" PRIx64, n);
	same(got, wm_digits_bits(got, n, 4, "0123456789abcdef"), wanted);
	snprintf(wanted, sizeof(wanted), "%" PRIo64, n);
	same(got, wm_digits_bits(got, n, 3, "01234567"), wanted);
	snprintf(wanted, sizeof(wanted), "%09" PRIu64, n % 1000000000);
	same(got, wm_digits_9(got, (uint32_t)(n % 1000000000)), wanted);
	snprintf(wanted, sizeof(wanted), "%08" PRIu64, n % 100000000);
	same(got, wm_digits_8(got, (uint32_t)(n % 100000000)), wanted);
}

static void test_all(void **unused)
{
	uint64_t random = 88172645463325252u, power = 1;

	for (int i = 0; i < 20; i++, power *= 10) {
		check(power - 1);
		check(power);
		check(power + 1);
		check(0 - power);
	}
	for (int i = 0; i < 64; i++) {
		check(1ull << i);
		check((1ull << i) - 1);
	}
	for (int i = 0; i < 20000; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		check(random >> (i % 64));
	}
}

static void test_binary(void **unused)
{
	char got[WM_DIGITS_MAX];

	same(got, wm_digits_bits(got, 10, 1, "01"), "1010");
	same(got, wm_digits_bits(got, 0, 1, "01"), "0");
	assert_int_equal(wm_digits_bits(got, UINT64_MAX, 1, "01") - got, 64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_all),
	    cmocka_unit_test(test_binary),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
