/* SPDX-License-Identifier: MIT */
/* digits.c - the tables of digits.h, and floating point. */
#include "base/digits.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define ROW(d) d, '0', d, '1', d, '2', d, '3', d, '4', d, '5', d, '6', d, '7', d, '8', d, '9'

const char wm_digit_pairs[200] = {ROW('0'), ROW('1'), ROW('2'), ROW('3'), ROW('4'),
				  ROW('5'), ROW('6'), ROW('7'), ROW('8'), ROW('9')};

/* The smallest numbers of 1, 2, 3... digits. */
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

#define POWER_MIN (-17) /* 10^(5 - POWER_MIN) is the largest power that is exact */
#define POWER_MAX 22

static const double powers[] = {1e-17, 1e-16, 1e-15, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8,
				1e-7,  1e-6,  1e-5,  1e-4,  1e-3,  1e-2,  1e-1,  1e0,   1e1,  1e2,
				1e3,   1e4,   1e5,   1e6,   1e7,   1e8,   1e9,   1e10,  1e11, 1e12,
				1e13,  1e14,  1e15,  1e16,  1e17,  1e18,  1e19,  1e20,  1e21, 1e22};

static inline double power(int n)
{
	return powers[n - POWER_MIN];
}

/*
 * Returns the exponent of the largest power of ten that does not exceed `a`. It may be one too
 * small for values just above 10^n; the caller allows for that.
 */
static inline int exponent_of(double a)
{
	uint64_t bits;
	int two, ten;

	memcpy(&bits, &a, sizeof(bits));
	two = (int)(bits >> 52) - 1023;
	ten = (two * 1233) >> 12; /* 1233 / 4096 is about log10(2); rounds down */
	return ten + (ten < POWER_MAX && a >= power(ten + 1));
}

/*
 * The product or quotient with an exact power has a relative error of at most 2^-53: 2^-33 of the
 * sixth digit. A value close to halfway between two results is decided here only when it is exactly
 * halfway: to even, as in printf.
 */
bool wm_digits_six(double d, struct wm_six *ret)
{
	double a = fabs(d), v, part;
	int e;

	if (!(a >= power(POWER_MIN) && a < power(POWER_MAX)))
		return false;
	e = exponent_of(a);
	v = e <= 5 ? a * power(5 - e) : a / power(e - 5);
	ret->digits = (uint32_t)v;
	part = v - ret->digits;
	if (part > 0.499999 && part < 0.500001) {
		bool is_middle = part == 0.5 && (e <= 5 ? fma(a, power(5 - e), -v)
							: fma(v, power(e - 5), -a)) == 0;

		if (!is_middle)
			return false;
		ret->digits += ret->digits & 1;
	} else {
		ret->digits += part > 0.5;
	}
	ret->exponent = e;
	if (ret->digits == 1000000) { /* 9.999999 is rounded to 10.0000 */
		ret->digits = 100000;
		ret->exponent++;
	}
	return ret->digits >= 100000;
}

/* The digits after the point, without trailing zeros; no point when no digits remain. */
static char *digits_fraction(char *at, uint32_t part, int digits)
{
	if (!part)
		return at;
	while (part % 10 == 0) {
		part /= 10;
		digits--;
	}
	*at++ = '.';
	for (int i = digits - 1; i >= 0; i--, part /= 10)
		at[i] = (char)('0' + part % 10);
	return at + digits;
}

static char *scientific(char *at, const struct wm_six *n)
{
	uint32_t e = (uint32_t)abs(n->exponent);

	*at++ = (char)('0' + n->digits / 100000);
	at = digits_fraction(at, n->digits % 100000, 5);
	*at++ = 'e';
	*at++ = n->exponent < 0 ? '-' : '+';
	return wm_digits_pair(at, e);
}

char *wm_digits_g(char *at, double d)
{
	struct wm_six n;
	uint32_t scale;

	if (!wm_digits_six(d, &n))
		return at + snprintf(at, 40, "%g", d);
	if (d < 0)
		*at++ = '-';
	if (n.exponent < -4 || n.exponent > 5)
		return scientific(at, &n);
	scale = (uint32_t)wm_digit_powers[5 - n.exponent];
	at = wm_digits_u64(at, n.digits / scale);
	return digits_fraction(at, n.digits % scale, 5 - n.exponent);
}
