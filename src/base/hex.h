/* SPDX-License-Identifier: MIT */
/*
 * hex.h - reads hexadecimal digits, eight at a time, for lists of a hundred thousand addresses.
 */
#ifndef WM_BASE_HEX_H
#define WM_BASE_HEX_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Reads eight digits. Each byte is compared by adding to it what sets its highest bit when it is
 * not less, which no addition carries out of, as all bytes are below 0x80. False: there are other
 * characters among the eight.
 */
static inline bool wm_hex_eight(const char *at, uint64_t *ret)
{
	const uint64_t each = 0x0101010101010101u, high = 0x80 * each;
	uint64_t c, lower, is_digit, is_letter;

	memcpy(&c, at, 8);
	c = be64toh(c);
	lower = c | 0x20 * each;
	is_digit = (c + (0x80 - '0') * each) & ~(c + (0x80 - '9' - 1) * each);
	is_letter = (lower + (0x80 - 'a') * each) & ~(lower + (0x80 - 'f' - 1) * each);
	if (c & high || ((is_digit | is_letter) & high) != high)
		return false;
	c = (c & 0x0f * each) + 9 * (c >> 6 & each);
	c = (c | c >> 4) & 0x00ff00ff00ff00ffu;
	c = (c | c >> 8) & 0x0000ffff0000ffffu;
	*ret = (c | c >> 16) & 0xffffffffu;
	return true;
}

/*
 * Reads the digits that [from, end) begins with, of either case. Returns their number; beyond 16 of
 * them, the value has the last 16.
 */
static inline size_t wm_hex_read(const char *from, const char *end, uint64_t *ret)
{
	uint64_t value = 0, eight;
	const char *at = from;

	for (; end - at >= 8 && wm_hex_eight(at, &eight); at += 8)
		value = value << 32 | eight;
	for (; at < end; at++) {
		unsigned digit = (unsigned)*at - '0';

		if (digit > 9) {
			digit = ((unsigned)*at | 32u) - 'a';
			if (digit > 5)
				break;
			digit += 10;
		}
		value = value << 4 | digit;
	}
	*ret = value;
	return (size_t)(at - from);
}

#endif
