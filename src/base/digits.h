/* SPDX-License-Identifier: MIT */
/*
 * digits.h - fast conversion of numbers to digits, eight at a time, for writers of millions of
 * lines. All functions write at `at`, return the end of the digits and append no NUL. The caller
 * provides WM_DIGITS_MAX bytes, all of which may be overwritten.
 */
#ifndef WM_BASE_DIGITS_H
#define WM_BASE_DIGITS_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define WM_DIGITS_MAX 72u /* binary is longest: 64 digits and a prefix */

extern const char wm_digit_pairs[200]; /* "00" "01" ... "99" */
extern const uint64_t wm_digit_powers[20];

static inline char *wm_digits_pair(char *at, uint32_t n)
{
	memcpy(at, wm_digit_pairs + 2 * n, 2);
	return at + 2;
}

/* The eight digits of a number below 10^8, one per byte, the first in the lowest byte. */
static inline uint64_t wm_digits_bytes(uint32_t n)
{
	uint64_t v = n / 10000 | (uint64_t)(n % 10000) << 32, high;

	high = (v * 10486) >> 20 & 0x0000007f0000007fu; /* divides both halves by 100 */
	v = high | (v - 100 * high) << 16;
	high = (v * 103) >> 10 & 0x000f000f000f000fu; /* divides all four parts by 10 */
	return high | (v - 10 * high) << 8;
}

/* Stores `digits` as characters; always writes eight. */
static inline void wm_digits_store(char *at, uint64_t digits)
{
	digits = htole64(digits + 0x3030303030303030u);
	memcpy(at, &digits, 8);
}

/* Writes exactly eight digits. */
static inline char *wm_digits_8(char *at, uint32_t n)
{
	wm_digits_store(at, wm_digits_bytes(n));
	return at + 8;
}

/* Writes exactly nine digits, as for nanoseconds. */
static inline char *wm_digits_9(char *at, uint32_t n)
{
	*at++ = (char)('0' + n / 100000000);
	return wm_digits_8(at, n % 100000000);
}

static inline uint32_t wm_digits_count(uint64_t n)
{
	uint32_t about = (uint32_t)(64 - __builtin_clzll(n | 1)) * 1233 >> 12;

	return n ? about + (n >= wm_digit_powers[about]) : 1;
}

/* Writes a number below 10^8 without leading zeros, by shifting them out of the eight digits. */
static inline char *wm_digits_u32(char *at, uint32_t n)
{
	uint64_t v = wm_digits_bytes(n);
	uint32_t zeroes = (uint32_t)__builtin_ctzll(v | 1ull << 56) / 8;

	wm_digits_store(at, v >> 8 * zeroes);
	return at + 8 - zeroes;
}

static inline char *wm_digits_u64(char *at, uint64_t n)
{
	if (__builtin_expect(n < 100000000, 1))
		return wm_digits_u32(at, (uint32_t)n);
	if (n >= 10000000000000000u) {
		at = wm_digits_u32(at, (uint32_t)(n / 10000000000000000u));
		at = wm_digits_8(at, (uint32_t)(n / 100000000 % 100000000));
	} else {
		at = wm_digits_u32(at, (uint32_t)(n / 100000000));
	}
	return wm_digits_8(at, (uint32_t)(n % 100000000));
}

static inline char *wm_digits_i64(char *at, int64_t n)
{
	if (n < 0)
		*at++ = '-';
	return wm_digits_u64(at, n < 0 ? 0 - (uint64_t)n : (uint64_t)n);
}

/* Writes digits in base 2, 8 or 16; `bits` per digit is 1, 3 or 4. No prefix, no leading zeros. */
static inline char *wm_digits_bits(char *at, uint64_t n, uint32_t bits, const char *digits)
{
	uint32_t nr = n ? (63u - (uint32_t)__builtin_clzll(n)) / bits + 1 : 1;
	char *end = at + nr;

	for (char *p = end; p > at; n >>= bits)
		*--p = digits[n & ((1u << bits) - 1)];
	return end;
}

/*
 * Writes eight hexadecimal digits at once: puts one nibble into each byte, then turns values from
 * 10 up into letters.
 */
static inline void wm_digits_hex_8(char *at, uint32_t n)
{
	uint64_t v = n, letters;

	v = (v | v << 16) & 0x0000ffff0000ffffu;
	v = (v | v << 8) & 0x00ff00ff00ff00ffu;
	v = (v | v << 4) & 0x0f0f0f0f0f0f0f0fu;
	letters = (v + 0x0606060606060606u) >> 4 & 0x0101010101010101u;
	v += 0x3030303030303030u + letters * ('a' - '0' - 10);
	v = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_bswap64(v) : v;
	memcpy(at, &v, 8);
}

/*
 * Writes the last `nr` of sixteen hexadecimal digits, 1 to 16. They are shifted left before they
 * are written, because reading back digits that were just stored would wait for the store.
 */
static inline char *wm_digits_hex_last(char *at, uint64_t n, uint32_t nr)
{
	if (nr <= 8) {
		wm_digits_hex_8(at, (uint32_t)n << (32 - 4 * nr));
		return at + nr;
	}
	wm_digits_hex_8(at, (uint32_t)(n >> 32) << (64 - 4 * nr));
	wm_digits_hex_8(at + nr - 8, (uint32_t)n);
	return at + nr;
}

/* Writes hexadecimal digits, right-aligned in sixteen characters and padded with blanks. */
static inline char *wm_digits_hex_wide(char *at, uint64_t n)
{
	uint32_t blanks = (uint32_t)__builtin_clzll(n | 1) / 4;

	wm_digits_hex_8(at, (uint32_t)(n >> 32));
	wm_digits_hex_8(at + 8, (uint32_t)n);
	memset(at, ' ', blanks);
	return at + 16;
}

/* The six digits that printf's %g shows, without the sign: digits * 10^(exponent - 5). */
struct wm_six {
	uint32_t digits; /* six decimal digits; the first is not 0 */
	int exponent;
};

/*
 * Returns false for infinity, NaN, 0, very large or small numbers, and numbers too close to halfway
 * between two results.
 */
bool wm_digits_six(double d, struct wm_six *ret);

/* Writes a double as printf's %g does, but much faster for numbers of ordinary size. */
char *wm_digits_g(char *at, double d);

#endif
