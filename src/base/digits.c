/* SPDX-License-Identifier: MIT */
/* digits.c - the tables of digits.h, and floating point. */
#include "base/digits.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#define ROW(d) d, '0', d, '1', d, '2', d, '3', d, '4', d, '5', d, '6', d, '7', d, '8', d, '9'

const char wm_digit_pairs[200] = {ROW('0'), ROW('1'), ROW('2'), ROW('3'), ROW('4'),
				  ROW('5'), ROW('6'), ROW('7'), ROW('8'), ROW('9')};

/* The least numbers of 1, 2, 3... digits. */
const uint64_t wm_digit_powers[20] = {1,
				      10,
				      100,
				      1000,
				      10000,
				      100000,
				      1000000,
				      10000000,
				      100000000,
				      1000000000,
				      10000000000,
				      100000000000,
				      1000000000000,
				      10000000000000,
				      100000000000000,
				      1000000000000000,
				      10000000000000000,
				      100000000000000000,
				      1000000000000000000,
				      10000000000000000000u};

/* --- floating point ------------------------------------------------------------------ */

/* Six digits and where the point is: d = digits / 10^(5 - exponent). */
struct six {
	uint32_t digits;
	int exponent; /* -4 .. 5 */
};

/*
 * False when that cannot be said for certain here: too small or large for
 * digits without an exponent, or as good as in the middle between two of them.
 * A product with a power of ten below 2^64 is off by at most one in 2^64.
 */
static bool six_digits(double a, struct six *ret)
{
	static const double least[] = {1e-4, 1e-3, 1e-2, 1e-1, 1e0, 1e1, 1e2, 1e3, 1e4, 1e5};
	int e = 5;
	long double v;
	double part;

	if (!(a >= 1e-4 && a < 999999))
		return false;
	while (a < least[e + 4])
		e--;
	v = (long double)a * (long double)wm_digit_powers[5 - e];
	ret->digits = (uint32_t)v;
	part = (double)(v - ret->digits);
	if (part > 0.499999 && part < 0.500001)
		return false;
	ret->digits += part > 0.5;
	ret->exponent = e;
	if (ret->digits == 1000000) { /* 9.999999 is 10.0000 */
		ret->digits = 100000;
		ret->exponent++;
	}
	return ret->digits >= 100000 && ret->exponent <= 5;
}

char *wm_digits_g(char *at, double d)
{
	uint32_t whole, part, scale;
	int after; /* digits behind the point */
	struct six n;

	if (!six_digits(fabs(d), &n))
		return at + snprintf(at, 40, "%g", d);
	if (d < 0)
		*at++ = '-';
	after = 5 - n.exponent;
	scale = (uint32_t)wm_digit_powers[after];
	whole = n.digits / scale;
	part = n.digits % scale;
	at = wm_digits_u64(at, whole);
	if (!part)
		return at;
	while (part % 10 == 0) {
		part /= 10;
		after--;
	}
	*at++ = '.';
	for (int i = after - 1; i >= 0; i--, part /= 10)
		at[i] = (char)('0' + part % 10);
	return at + after;
}
