/* SPDX-License-Identifier: MIT */
/*
 * page.h - reads one page (sub-buffer) of the kernel's tracing ring, whether read from
 * trace_pipe_raw, mapped, or stored in trace.dat: the time of every record, its payload, and how
 * many records were lost before the page.
 *
 *   u64 time | long commit | data
 *   commit: bytes of data; bit 31: records were lost before this page,
 *           bit 30: their number is the long after the data
 *   data:   records; each begins with a u32: type_len (5 bits), delta (27)
 *
 *   type_len 1-28   payload of 4 * type_len bytes
 *            0      a u32: the payload's bytes + 4; then the payload
 *            29     padding: delta 0: the rest of the page; else a u32 to skip
 *            30     a u32: bits 27 and up of the delta
 *            31     a u32: with delta the low 59 bits of the time itself
 *
 * The layout holds the offsets and widths of the machine that wrote the page; it is read from the
 * kernel's events/header_page. All functions are pure and thread-safe, and access nothing outside
 * the page, whatever it contains. The walk is inline: most records cost no more than reading their
 * bytes.
 */
#ifndef WM_KDATA_PAGE_H
#define WM_KDATA_PAGE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/order.h"

/* Limited by the commit word's 27 bits; no kernel uses more. */
#define WM_PAGE_BYTES_MAX    (64u << 20)
#define WM_PAGE_LOST_UNKNOWN UINT64_MAX

struct wm_page_layout {
	uint16_t commit_offset, data_offset;
	/* 4 or 8: size of the commit word, and of the loss count after the data. */
	uint8_t long_bytes;
	uint32_t page_bytes; /* data_offset + size of the data, by the kernel's default */
	bool big_endian, swap;
};

/*
 * Sets the default layout of a 64-bit or 32-bit kernel, which has been the same in all kernels
 * since 2.6.31.
 */
void wm_page_layout_init(struct wm_page_layout *l, unsigned long_bytes, bool big_endian);

/*
 * Parses the text of events/header_page, which describes the layout. `text` need not be
 * NUL-terminated. Returns -EBADMSG and `diag` (optional; its offset is in the text) when the
 * described layout is impossible.
 */
int wm_page_layout_parse(const char *text, size_t bytes, bool big_endian,
			 struct wm_page_layout *ret, struct wm_diag *diag);

struct wm_page_cursor {
	/* The record found last. */
	uint64_t time;
	const unsigned char *data;
	uint32_t bytes;

	/* The page. */
	uint64_t begin;     /* timestamp of the page, not later than its first record */
	uint64_t lost;      /* number of records lost before the page, 0, or WM_PAGE_LOST_UNKNOWN */
	uint32_t committed; /* number of bytes of data */
	bool big_endian, swap;

	const unsigned char *at, *end, *page;
};

/*
 * Starts on a page of `bytes` bytes; bytes after the committed part may be missing. Returns
 * -EBADMSG and `diag` (optional; its offset is in the page) when the page has no complete header or
 * commits more bytes than `bytes`.
 */
int wm_page_open(struct wm_page_cursor *c, const struct wm_page_layout *l, const void *page,
		 size_t bytes, struct wm_diag *diag);

/* Returns the cursor's position: the offset in the page of the next record, or of the damage. */
static inline size_t wm_page_offset(const struct wm_page_cursor *c)
{
	return (size_t)(c->at - c->page);
}

enum wm_page_type {
	WM_PAGE_LONG = 0, /* the length is in the next word */
	WM_PAGE_DATA_MAX = 28,
	WM_PAGE_PADDING = 29,
	WM_PAGE_TIME_EXTEND = 30,
	WM_PAGE_TIME_STAMP = 31,
};

#define WM_PAGE_DELTA_BITS 27
#define WM_PAGE_STAMP_BITS 59

/*
 * Computes a full time from its low bits: takes the upper bits of the previous time, plus 1 if the
 * result would be earlier.
 */
static inline uint64_t wm_page_stamp(uint64_t low, uint64_t before)
{
	const uint64_t upper = ~0ull << WM_PAGE_STAMP_BITS;
	uint64_t time = low | (before & upper);

	if ((before & upper) && time < before)
		time += 1ull << WM_PAGE_STAMP_BITS;
	return time;
}

/*
 * Handles the rare types: a long length, padding, times. Returns 1: a record was found; 2: no
 * record, continue; 0: end of the page; or -EBADMSG.
 */
static inline int wm_page_rare(struct wm_page_cursor *c, unsigned type, uint32_t delta)
{
	uint32_t word;

	if (type == WM_PAGE_PADDING && delta == 0) {
		c->at = c->end;
		return 0;
	}
	if (c->end - c->at < 8)
		return -EBADMSG;
	word = wm_get_u32(c->at + 4, c->swap);
	switch (type) {
	case WM_PAGE_TIME_EXTEND:
		c->time += delta + ((uint64_t)word << WM_PAGE_DELTA_BITS);
		c->at += 8;
		return 2;
	case WM_PAGE_TIME_STAMP:
		c->time = wm_page_stamp(delta + ((uint64_t)word << WM_PAGE_DELTA_BITS), c->time);
		c->at += 8;
		return 2;
	case WM_PAGE_PADDING:
		if (word < 4 || word > (size_t)(c->end - c->at) - 4)
			return -EBADMSG;
		c->time += delta;
		c->at += 4 + word;
		return 2;
	default: /* WM_PAGE_LONG */
		if (word < 4 || word > (size_t)(c->end - c->at) - 4)
			return -EBADMSG;
		c->time += delta;
		c->data = c->at + 8;
		c->bytes = word - 4;
		word = (word + 3) & ~3u;
		c->at = word > (size_t)(c->end - c->at) - 4 ? c->end : c->at + 4 + word;
		return 1;
	}
}

/*
 * Finds the next record. Returns 1 and sets c->time, data and bytes (a multiple of 4, as stored in
 * the ring); 0 at the end of the page; or -EBADMSG when the bytes at wm_page_offset() are not a
 * record, in which case no later record can be found.
 */
static inline int wm_page_next(struct wm_page_cursor *c)
{
	for (;;) {
		uint32_t word, delta;
		unsigned type;
		int got;

		if (c->end - c->at < 4)
			return c->end == c->at ? 0 : -EBADMSG;
		word = wm_get_u32(c->at, c->swap);
		type = c->big_endian ? word >> WM_PAGE_DELTA_BITS : word & 31;
		delta = c->big_endian ? word & ((1u << WM_PAGE_DELTA_BITS) - 1) : word >> 5;
		if (__builtin_expect(type - 1 < WM_PAGE_DATA_MAX, 1)) {
			if (__builtin_expect(4 * type > (size_t)(c->end - c->at) - 4, 0))
				return -EBADMSG;
			c->time += delta;
			c->data = c->at + 4;
			c->bytes = 4 * type;
			c->at += 4 + 4 * type;
			return 1;
		}
		got = wm_page_rare(c, type, delta);
		if (got != 2)
			return got;
	}
}

#endif
