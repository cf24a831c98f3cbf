/* SPDX-License-Identifier: MIT */
/* digits_test.c - compares the digits with printf's, at every power and in between. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/digits.h"
#include "base/suite_test_kit.h"

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

static void test_hex_last(void **unused)
{
	char got[WM_DIGITS_MAX], want[24];

	for (uint32_t nr = 1; nr <= 16; nr++)
		for (uint32_t shift = 0; shift < 64; shift++) {
			uint64_t n = 0xfedcba9876543210u >> shift;

			snprintf(want, sizeof(want), "%016llx", (unsigned long long)n);
			assert_ptr_equal(wm_digits_hex_last(got, n, nr), got + nr);
			assert_memory_equal(got, want + 16 - nr, nr);
		}
}

static void test_hex_wide(void **unused)
{
	uint64_t n = 0x0123456789abcdefu;
	char got[17] = "", wanted[17];

	for (int i = 0; i < 17; i++, n >>= 4) {
		assert_ptr_equal(wm_digits_hex_wide(got, n), got + 16);
		snprintf(wanted, sizeof(wanted), "%16llx", (unsigned long long)n);
		assert_string_equal(got, wanted);
	}
	(void)wm_digits_hex_wide(got, 0xffffffff81a0fe9cu);
	assert_string_equal(got, "ffffffff81a0fe9c");
}

static void check_g(double d)
{
	char got[WM_DIGITS_MAX], wanted[80];
	char *end = wm_digits_g(got, d);

	snprintf(wanted, sizeof(wanted), "%g", d);
	if ((size_t)(end - got) != strlen(wanted) || memcmp(got, wanted, strlen(wanted)) != 0)
		fail_msg("%a: %.*s, not %s", d, (int)(end - got), got, wanted);
}

static void test_floats(void **unused)
{
	static const double cases[] = {
	    0,         -0.0,      1,        0.5,       1e-4,     9.9999e-5, 0.00012345,
	    0.1,       1.5,       999999,   999999.5,  999998.5, 99999.95,  9.9999995,
	    9.999995,  1e6,       1e-300,   1e300,     123456.5, 12345.65,  1.000005,
	    1.0000005, 0.1 + 0.2, INFINITY, -INFINITY, NAN,      -3.25,     0.30000005,
	    1e-17,     9.99e-18,  1e22,     9.9e21,    1e100,    5e-324,    1000005};
	uint64_t random = 4711;
	uint32_t rounds = kit_rounds(30000, 300000);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		check_g(cases[i]);
		check_g(-cases[i]);
	}
	for (uint32_t i = 0; i < rounds; i++) {
		double d;

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		memcpy(&d, &random, sizeof(d));
		check_g(d);                              /* a double of any size */
		check_g((double)(int64_t)random / 1e13); /* a double of ordinary size */
		check_g((double)(int32_t)random / 1000);
		check_g((double)(random % 20000001) / 2 / 1e1); /* ties */
		check_g((double)(float)((double)(random % 9999999) / 1e7));
		/* a tie between two results, printed with an exponent */
		check_g((double)(random % 2000001) * 5 * 1e7);
		check_g(ldexp((double)(random % 1000), -(int)(random >> 60)));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_all),      cmocka_unit_test(test_binary),
	    cmocka_unit_test(test_hex_last), cmocka_unit_test(test_hex_wide),
	    cmocka_unit_test(test_floats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
