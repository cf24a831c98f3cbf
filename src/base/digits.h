/* SPDX-License-Identifier: MIT */
/*
 * digits.h - numbers as digits, eight at a time, for those who write millions of
 * lines. All write at `at` and return where they ended; no NUL. The caller has
 * the room, WM_DIGITS_MAX bytes, all of which may be written to.
 */
#ifndef WM_BASE_DIGITS_H
#define WM_BASE_DIGITS_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define WM_DIGITS_MAX 72u /* 64 binary digits with their prefix */

extern const char wm_digit_pairs[200]; /* "00" "01" ... "99" */
extern const uint64_t wm_digit_powers[20];

static inline char *wm_digits_pair(char *at, uint32_t n)
{
	memcpy(at, wm_digit_pairs + 2 * n, 2);
	return at + 2;
}

/* The eight digits of a number below 10^8, a byte each, the first in the lowest. */
static inline uint64_t wm_digits_bytes(uint32_t n)
{
	uint64_t v = n / 10000 | (uint64_t)(n % 10000) << 32, high;

	high = (v * 10486) >> 20 & 0x0000007f0000007fu; /* / 100, of both halves */
	v = high | (v - 100 * high) << 16;
	high = (v * 103) >> 10 & 0x000f000f000f000fu; /* / 10, of all four */
	return high | (v - 10 * high) << 8;
}

/* The bytes of `digits` as characters; eight are written, whatever their count. */
static inline void wm_digits_store(char *at, uint64_t digits)
{
	digits = htole64(digits + 0x3030303030303030u);
	memcpy(at, &digits, 8);
}

/* Exactly eight. */
static inline char *wm_digits_8(char *at, uint32_t n)
{
	wm_digits_store(at, wm_digits_bytes(n));
	return at + 8;
}

/* Exactly nine, as of nanoseconds. */
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

/* Of a number below 10^8: all eight, from the first that is not 0 on. */
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

/* Digits of 2, 8 or 16 by `bits` a digit (1, 3, 4), without a prefix or leading zeros. */
static inline char *wm_digits_bits(char *at, uint64_t n, uint32_t bits, const char *digits)
{
	uint32_t nr = n ? (63u - (uint32_t)__builtin_clzll(n)) / bits + 1 : 1;
	char *end = at + nr;

	for (char *p = end; p > at; n >>= bits)
		*--p = digits[n & ((1u << bits) - 1)];
	return end;
}

/* Eight hexadecimal digits, all at once: a nibble to a byte, and letters from 10 on. */
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

/* Hexadecimal digits at the right end of sixteen characters, blanks before them. */
static inline char *wm_digits_hex_wide(char *at, uint64_t n)
{
	uint32_t blanks = (uint32_t)__builtin_clzll(n | 1) / 4;

	wm_digits_hex_8(at, (uint32_t)(n >> 32));
	wm_digits_hex_8(at + 8, (uint32_t)n);
	memset(at, ' ', blanks);
	return at + 16;
}

/* What printf's %g shows of a number, but for its sign: digits * 10^(exponent - 5). */
struct wm_six {
	uint32_t digits; /* six of them, the first not 0 */
	int exponent;
};

/* False: not finite, 0, very large or small, or too near to the middle of two such numbers. */
bool wm_digits_six(double d, struct wm_six *ret);

/* A double as printf's %g has it, in a fraction of the time for numbers of daily life. */
char *wm_digits_g(char *at, double d);

#endif
