/* SPDX-License-Identifier: MIT */
/*
 * pb.h - streams messages in the wire format of Protocol Buffers: no schema, no tree. Fields are
 * added to a wm_text by number; a nested message is begun, written and ended, and its length is
 * filled in at the end.
 *
 *   size_t at = wm_pb_begin(t, 2);
 *   wm_pb_u64(t, 1, 150);
 *   wm_pb_string(t, 3, "x", 1);
 *   wm_pb_end(t, at);
 *
 * A length always takes four bytes: the format allows leading zeros, and nothing has to be moved. A
 * message therefore has at most WM_PB_BYTES_MAX bytes; a longer one marks the text as failed.
 */
#ifndef WM_BASE_PB_H
#define WM_BASE_PB_H

#include <string.h>

#include "base/text.h"

#define WM_PB_BYTES_MAX ((1u << 28) - 1)
#define WM_PB_ROOM      24u /* a tag and a number */

enum wm_pb_wire {
	WM_PB_VARINT = 0,
	WM_PB_FIXED64 = 1,
	WM_PB_BYTES = 2,
};

static inline char *wm_pb_varint(char *at, uint64_t n)
{
	while (n >= 0x80) {
		*at++ = (char)(n | 0x80);
		n >>= 7;
	}
	*at++ = (char)n;
	return at;
}

/*
 * Reserves room for a tag, a number and `more` bytes and returns the end of the text; NULL when out
 * of memory.
 */
static inline char *wm_pb_room(struct wm_text *t, size_t more)
{
	if (t->room - t->bytes <= WM_PB_ROOM + more && !wm_text_reserve(t, WM_PB_ROOM + more))
		return NULL;
	return t->data + t->bytes;
}

static inline void wm_pb_done(struct wm_text *t, const char *at)
{
	t->bytes = (size_t)(at - t->data);
}

/* For fields of type uint64, uint32, bool and enum. */
static inline void wm_pb_u64(struct wm_text *t, uint32_t field, uint64_t n)
{
	char *at = wm_pb_room(t, 0);

	if (at)
		wm_pb_done(t, wm_pb_varint(wm_pb_varint(at, field << 3 | WM_PB_VARINT), n));
}

/* For fields of type int64 and int32; negative values take ten bytes. */
static inline void wm_pb_i64(struct wm_text *t, uint32_t field, int64_t n)
{
	wm_pb_u64(t, field, (uint64_t)n);
}

static inline void wm_pb_double(struct wm_text *t, uint32_t field, double d)
{
	char *at = wm_pb_room(t, 0);
	uint64_t bits;

	if (!at)
		return;
	at = wm_pb_varint(at, field << 3 | WM_PB_FIXED64);
	memcpy(&bits, &d, sizeof(bits));
	for (int i = 0; i < 8; i++)
		*at++ = (char)(bits >> 8 * i);
	wm_pb_done(t, at);
}

/* For bytes, and for strings that are known to be UTF-8; see wm_pb_utf8() for others. */
static inline void wm_pb_string(struct wm_text *t, uint32_t field, const void *data, size_t bytes)
{
	char *at = wm_pb_room(t, bytes);

	if (!at)
		return;
	at = wm_pb_varint(wm_pb_varint(at, field << 3 | WM_PB_BYTES), bytes);
	if (bytes)
		memcpy(at, data, bytes);
	wm_pb_done(t, at + bytes);
}

/* A string of unknown origin: bytes that are not UTF-8, and NULs, become U+FFFD. */
void wm_pb_utf8(struct wm_text *t, uint32_t field, const void *data, size_t bytes);

/* Begins a nested message; returns the position of its length, for wm_pb_end(). */
static inline size_t wm_pb_begin(struct wm_text *t, uint32_t field)
{
	char *at = wm_pb_room(t, 0);
	size_t length;

	if (!at)
		return 0;
	at = wm_pb_varint(at, field << 3 | WM_PB_BYTES);
	length = (size_t)(at - t->data);
	wm_pb_done(t, at + 4);
	return length;
}

static inline void wm_pb_end(struct wm_text *t, size_t length)
{
	size_t bytes = t->bytes - length - 4;
	char *at = t->data + length;

	if (t->failed || bytes > WM_PB_BYTES_MAX) {
		t->failed = true;
		return;
	}
	for (int i = 0; i < 3; i++)
		at[i] = (char)((bytes >> 7 * i & 0x7f) | 0x80);
	at[3] = (char)(bytes >> 21);
}

#endif
