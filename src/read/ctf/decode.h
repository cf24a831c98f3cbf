/* SPDX-License-Identifier: MIT */
/*
 * decode.h - runs the programs of plan.h over a window of a packet and
 * makes items. Reads no file; stays inside what it is given whatever the bytes
 * say, but for WM_CTF_SLACK bytes behind it.
 */
#ifndef WM_READ_CTF_DECODE_H
#define WM_READ_CTF_DECODE_H

#include "read/ctf/plan.h"

#define WM_CTF_SLACK     16u         /* bytes behind a window that may be read */
#define WM_CTF_ITEMS_MAX (1u << 21)  /* of one event */
#define WM_CTF_EMPTY_MAX 65536u      /* elements without a bit, of one packet */
#define WM_CTF_WIDE_MAX  (64u << 20) /* bytes of converted strings in a batch */

enum wm_ctf_status {
	WM_CTF_OK,
	WM_CTF_MORE, /* the window ends before the field does */
	WM_CTF_BAD,  /* see `reason` */
	WM_CTF_NO_MEMORY
};

struct wm_ctf_loop {
	uint64_t left, begin; /* elements; position where this one began */
	uint32_t item;
};

struct wm_ctf_decoder {
	const struct wm_ctf_op *ops; /* of the stream class */
	const unsigned char *data;
	uint64_t pos, end; /* bits from data: the next one; behind the last one in the window */
	uint64_t limit;    /* where the packet's content ends, >= end */
	uint64_t *slots;
	uint64_t clock;                  /* of the stream, in ticks */
	uint32_t first_item;             /* of the event */
	uint32_t nr_empty;               /* elements without a bit met in this packet */
	struct wm_arena wide;            /* of converted strings; empty it with the batch */
	const char *reason;              /* of BAD */
	const struct wm_member *culprit; /* the field; NULL: unknown */
	struct wm_ctf_loop loops[WM_CTF_FRAMES_MAX];
	uint32_t open[WM_CTF_FRAMES_MAX]; /* items whose parts are being made */
};

/* Items are added to `b` unless it is NULL. */
enum wm_ctf_status wm_ctf_decode(struct wm_ctf_decoder *d, struct wm_ctf_program p,
				 struct wm_batch *b);

/*
 * The same for several programs, one behind the other; NULL ones decode
 * nothing. With `b`, parts[i] gets the items of the i-th.
 */
enum wm_ctf_status wm_ctf_decode_all(struct wm_ctf_decoder *d, const struct wm_ctf_op *const *p,
				     uint32_t nr, struct wm_batch *b, struct wm_part_range *parts);

/* The quick header at d->pos; false: it is another one, or not whole. Nothing was done then. */
bool wm_ctf_decode_quick(struct wm_ctf_decoder *d, const struct wm_ctf_quick *q);

/*
 * Converts a string to UTF-8 in `a`; up to a zero unit. What is no character
 * becomes U+FFFD. NULL: no memory, or too much.
 */
char *wm_ctf_wide_text(struct wm_arena *a, enum wm_ctf_encoding encoding, const unsigned char *data,
		       uint64_t bytes, uint32_t *ret_bytes);

/* Floats of 16 and 128 bits as a double's bits, rounded to the nearest. */
uint64_t wm_ctf_half(uint16_t bits);
uint64_t wm_ctf_quad(uint64_t high, uint64_t low);

/* Bytes up to and with the zero unit; 0: none there. */
uint64_t wm_ctf_wide_bytes(enum wm_ctf_encoding encoding, const unsigned char *data,
			   uint64_t bytes);

#endif
