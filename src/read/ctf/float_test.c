/* SPDX-License-Identifier: MIT */
/*
 * 16-bit and 128-bit floats converted to double, compared with known values and, where the compiler
 * supports these types, with its own conversions.
 */
#include "read/ctf/decode.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static double value(uint64_t bits)
{
	double d;

	memcpy(&d, &bits, sizeof(d));
	return d;
}

static void test_halves(void **state)
{
	static const struct {
		uint16_t bits;
		double value;
	} cases[] = {
	    {0x0000, 0.0},        {0x3c00, 1.0},       {0xc000, -2.0},        {0x7bff, 65504.0},
	    {0x3555, 0x1.554p-2}, {0x0400, 0x1p-14},   {0x03ff, 0x1.ff8p-15}, {0x8001, -0x1p-24},
	    {0x7c00, INFINITY},   {0xfc00, -INFINITY},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_true(value(wm_ctf_half(cases[i].bits)) == cases[i].value);
	assert_true(wm_ctf_half(0x8000) == UINT64_C(1) << 63);
	assert_true(isnan(value(wm_ctf_half(0x7e01))));
}

#define TOP(exponent) ((uint64_t)(exponent + 16383) << 48)

static void test_quads(void **state)
{
	static const struct {
		uint64_t high, low;
		double value;
	} cases[] = {
	    {0, 0, 0.0},
	    {TOP(0), 0, 1.0},
	    {TOP(1) | UINT64_C(1) << 63, 0, -2.0},
	    {TOP(0) | 0x5555555555555555 >> 16, 0x5555555555555555, 0x1.5555555555555p0},
	    /* A tie rounds to even on both sides; slightly more rounds up. */
	    {TOP(0), UINT64_C(1) << 59, 1.0},
	    {TOP(0), UINT64_C(3) << 59, 0x1.0000000000002p0},
	    {TOP(0), UINT64_C(1) << 59 | 1, 0x1.0000000000001p0},
	    /*
	     * A mantissa of all ones rounds up into the exponent; the largest exponent yields
	     * infinity.
	     */
	    {TOP(0) | 0xffffffffffff, UINT64_MAX, 2.0},
	    {TOP(1023) | 0xffffffffffff, UINT64_MAX, INFINITY},
	    {TOP(1023) | 0xffffffffffff, UINT64_C(0xf) << 60, 0x1.fffffffffffffp1023},
	    {TOP(1024), 0, INFINITY},
	    {TOP(16384), 0, INFINITY},
	    /* Small values: subnormals, the smallest one, half of it, zero. */
	    {TOP(-1022), 0, 0x1p-1022},
	    {TOP(-1023) | 0xffffffffffff, UINT64_MAX, 0x1p-1022},
	    {TOP(-1023) | 0x800000000000, 0, 0x1.8p-1023},
	    {TOP(-1074), 0, 0x1p-1074},
	    {TOP(-1075), 0, 0.0},
	    {TOP(-1075), 1, 0x1p-1074},
	    {TOP(-1076) | 0xffffffffffff, UINT64_MAX, 0.0},
	    {1, 1, 0.0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_true(value(wm_ctf_quad(cases[i].high, cases[i].low)) == cases[i].value);
	assert_true(isnan(value(wm_ctf_quad(TOP(16384), 1))));
	assert_true(isnan(value(wm_ctf_quad(TOP(16384) | 0x800000000000, 0))));
}

#if defined(__SIZEOF_FLOAT128__) && defined(__FLT16_MAX__)
static uint64_t next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static void test_against_the_compiler(void **state)
{
	uint64_t seed = 88172645463325252;

	(void)state;
	for (uint32_t i = 0; i <= UINT16_MAX; i++) {
		uint16_t bits = (uint16_t)i;
		_Float16 half;

		memcpy(&half, &bits, sizeof(half));
		assert_true(isnan((double)half) ? isnan(value(wm_ctf_half(bits)))
						: value(wm_ctf_half(bits)) == (double)half);
	}
	for (int i = 0; i < 100000; i++) {
		/* Exponents close to those of doubles; few bits set, so that ties are frequent. */
		uint64_t exponent = 16383 - 1100 + next(&seed) % 2200;
		uint64_t high = (next(&seed) & 0x8000ffffffffffff) | exponent << 48;
		uint64_t low = next(&seed) << next(&seed) % 64;
		unsigned __int128 bits = (unsigned __int128)high << 64 | low;
		__float128 quad;
		double want;

		memcpy(&quad, &bits, sizeof(quad));
		want = (double)quad;
		assert_true(value(wm_ctf_quad(high, low)) == want);
	}
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_halves),
		cmocka_unit_test(test_quads),
#if defined(__SIZEOF_FLOAT128__) && defined(__FLT16_MAX__)
		cmocka_unit_test(test_against_the_compiler),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
