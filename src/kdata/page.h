/* SPDX-License-Identifier: MIT */
/*
 * page.h - one page (sub-buffer) of the kernel's tracing ring as it is read
 * from trace_pipe_raw, mapped, or found in trace.dat: the time of every
 * record, where its payload lies, and what was lost before the page.
 *
 *   u64 time | long commit | data
 *   commit: bytes of data; bit 31: records were lost before this page,
 *           bit 30: how many is the long behind the data
 *   data:   records; each begins with a u32: type_len (5 bits), delta (27)
 *
 *   type_len 1-28   payload of 4 * type_len bytes
 *            0      a u32: the payload's bytes + 4; then the payload
 *            29     padding: delta 0: the rest of the page; else a u32 to skip
 *            30     a u32: bits 27 and up of the delta
 *            31     a u32: with delta the low 59 bits of the time itself
 *
 * Which offsets and widths the machine has that wrote the page is the layout,
 * read from the kernel's events/header_page. Everything is pure, thread-safe
 * and touches nothing outside the page, whatever it contains. The walk is
 * inline: the bytes of most records are what it costs.
 */
#ifndef WM_KDATA_PAGE_H
#define WM_KDATA_PAGE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/order.h"

#define WM_PAGE_BYTES_MAX    (64u << 20) /* the commit word has 27 bits; no kernel has such pages */
#define WM_PAGE_LOST_UNKNOWN UINT64_MAX

struct wm_page_layout {
	uint16_t commit_offset, data_offset;
	uint8_t long_bytes;  /* 4 or 8: of the commit word and of the count behind the data */
	uint32_t page_bytes; /* data_offset and the size of the data: the default of the kernel */
	bool big_endian, swap;
};

/* The layout of a 64-bit or 32-bit kernel that did not say: as all have had it since 2.6.31. */
void wm_page_layout_init(struct wm_page_layout *l, unsigned long_bytes, bool big_endian);

/*
 * The layout that the text of events/header_page describes. `text` need not
 * be NUL-terminated. -EBADMSG and `diag` (optional; its offset is in the
 * text) when it describes none that could be.
 */
int wm_page_layout_parse(const char *text, size_t bytes, bool big_endian,
			 struct wm_page_layout *ret, struct wm_diag *diag);

struct wm_page_cursor {
	/* Of the record last found. */
	uint64_t time;
	const unsigned char *data;
	uint32_t bytes;

	/* Of the page. */
	uint64_t begin;     /* its time stamp: not after its first record */
	uint64_t lost;      /* records before it: 0, a count, or WM_PAGE_LOST_UNKNOWN */
	uint32_t committed; /* bytes of data */
	bool big_endian, swap;

	const unsigned char *at, *end, *page;
};

/*
 * Starts on a page of `bytes` (of any page size; what lies behind the
 * committed part may be missing). -EBADMSG and `diag` (optional; its offset
 * is in the page) when it has no header or commits more than is there.
 */
int wm_page_open(struct wm_page_cursor *c, const struct wm_page_layout *l, const void *page,
		 size_t bytes, struct wm_diag *diag);

/* Where the cursor stands: the offset in the page of the next record, or of the damage. */
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

/* The time a stamp means: its low bits, the upper ones as they were, or one more. */
static inline uint64_t wm_page_stamp(uint64_t low, uint64_t before)
{
	const uint64_t upper = ~0ull << WM_PAGE_STAMP_BITS;
	uint64_t time = low | (before & upper);

	if ((before & upper) && time < before)
		time += 1ull << WM_PAGE_STAMP_BITS;
	return time;
}

/* The rare words: a length, padding, time. 1: `bytes` of payload follow at `at`; 2: nothing, go on.
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
 * The next record: 1 and c->time, data, bytes (a multiple of 4 as the ring
 * keeps them); 0 at the end of the page; -EBADMSG when what stands at
 * wm_page_offset() is no record: nothing behind it can be found.
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
