/* SPDX-License-Identifier: MIT */
/* float.c - converts IEEE 754 floats without a portable C type to doubles; see decode.h. */
#include <string.h>

#include "read/ctf/decode.h"

#define DOUBLE_BIAS     1023
#define DOUBLE_FRACTION 52u
#define DOUBLE_INFINITE ((uint64_t)0x7ff << DOUBLE_FRACTION)
#define DOUBLE_QUIET    ((uint64_t)1 << (DOUBLE_FRACTION - 1))
#define HALF_BIAS       15
#define HALF_FRACTION   10u
#define HALF_SPECIAL    31u
#define HALF_LEAST      0x1p-24
#define QUAD_BIAS       16383
#define QUAD_FRACTION   112u
#define QUAD_SPECIAL    0x7fffu

uint64_t wm_ctf_half(uint16_t bits)
{
	uint64_t sign = (uint64_t)(bits >> 15) << 63, fraction = bits & ((1u << HALF_FRACTION) - 1);
	uint32_t exponent = bits >> HALF_FRACTION & HALF_SPECIAL;
	double small = (double)fraction * HALF_LEAST;

	if (!exponent) {
		memcpy(&fraction, &small, sizeof(fraction));
		return sign | fraction;
	}
	fraction <<= DOUBLE_FRACTION - HALF_FRACTION;
	if (exponent == HALF_SPECIAL)
		return sign | DOUBLE_INFINITE | fraction;
	return sign | (uint64_t)(exponent - HALF_BIAS + DOUBLE_BIAS) << DOUBLE_FRACTION | fraction;
}

/* Shifts right by 1 to 127 bits, rounding to nearest, ties to even. */
static uint64_t shift_rounded(unsigned __int128 v, uint32_t shift)
{
	unsigned __int128 rest = v & (((unsigned __int128)1 << shift) - 1);
	unsigned __int128 half = (unsigned __int128)1 << (shift - 1);
	uint64_t q = (uint64_t)(v >> shift);

	return q + (rest > half || (rest == half && (q & 1)));
}

/*
 * Rounding up can overflow the mantissa: the carry then increments the exponent, which is correct
 * and can yield infinity.
 */
uint64_t wm_ctf_quad(uint64_t high, uint64_t low)
{
	const uint32_t shift = QUAD_FRACTION - DOUBLE_FRACTION;
	const unsigned __int128 one = (unsigned __int128)1 << QUAD_FRACTION;
	unsigned __int128 fraction = ((unsigned __int128)high << 64 | low) & (one - 1);
	uint64_t sign = high & (uint64_t)1 << 63;
	uint32_t stored = high >> (QUAD_FRACTION - 64) & QUAD_SPECIAL;
	int exponent = (int)stored - QUAD_BIAS + DOUBLE_BIAS;

	if (stored == QUAD_SPECIAL && fraction)
		return sign | DOUBLE_INFINITE | DOUBLE_QUIET | (uint64_t)(fraction >> shift);
	if (exponent >= 2 * DOUBLE_BIAS + 1)
		return sign | DOUBLE_INFINITE;
	if (exponent > 0)
		return sign | (((uint64_t)(exponent - 1) << DOUBLE_FRACTION) +
			       shift_rounded(one | fraction, shift));
	if (exponent < -(int)DOUBLE_FRACTION)
		return sign; /* below half of the smallest subnormal: rounds to zero */
	return sign | shift_rounded(one | fraction, shift + 1 + (uint32_t)-exponent);
}
