/* SPDX-License-Identifier: MIT */
/*
 * order.h - reads and writes integers in data that may come from another machine: any alignment,
 * either byte order. `swap` is true when the byte order is not this machine's; a constant false
 * costs nothing.
 */
#ifndef WM_BASE_ORDER_H
#define WM_BASE_ORDER_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Whether integers of this byte order must be swapped on this machine. */
static inline bool wm_order_swap(bool big_endian)
{
	return big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

static inline uint16_t wm_get_u16(const void *p, bool swap)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap16(v) : v;
}

static inline uint32_t wm_get_u32(const void *p, bool swap)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap32(v) : v;
}

static inline uint64_t wm_get_u64(const void *p, bool swap)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap64(v) : v;
}

/* Reads an unsigned integer of 1, 2, 4 or 8 bytes; returns 0 for any other width. */
static inline uint64_t wm_get_uint(const void *p, unsigned bytes, bool swap)
{
	switch (bytes) {
	case 1:
		return *(const uint8_t *)p;
	case 2:
		return wm_get_u16(p, swap);
	case 4:
		return wm_get_u32(p, swap);
	case 8:
		return wm_get_u64(p, swap);
	default:
		return 0;
	}
}

/* Like wm_get_uint(), sign-extended. */
static inline int64_t wm_get_int(const void *p, unsigned bytes, bool swap)
{
	switch (bytes) {
	case 1:
		return *(const int8_t *)p;
	case 2:
		return (int16_t)wm_get_u16(p, swap);
	case 4:
		return (int32_t)wm_get_u32(p, swap);
	default:
		return (int64_t)wm_get_uint(p, bytes, swap);
	}
}

#endif
