/* SPDX-License-Identifier: MIT */
/*
 * decode.h - runs the programs of plan.h over a window of a packet and makes items. Reads no files;
 * whatever the bytes are, reads at most WM_CTF_SLACK bytes beyond the window.
 */
#ifndef WM_READ_CTF_DECODE_H
#define WM_READ_CTF_DECODE_H

#include "read/ctf/plan.h"

#define WM_CTF_SLACK     16u         /* bytes after a window that may be read */
#define WM_CTF_ITEMS_MAX (1u << 21)  /* items of one event */
#define WM_CTF_EMPTY_MAX 65536u      /* zero-size elements of one packet */
#define WM_CTF_WIDE_MAX  (64u << 20) /* bytes of converted strings in a batch */

enum wm_ctf_status {
	WM_CTF_OK,
	WM_CTF_MORE, /* the window ends before the field does */
	WM_CTF_BAD,  /* see `reason` */
	WM_CTF_NO_MEMORY
};

struct wm_ctf_loop {
	uint64_t left, begin; /* elements; position at the begin of the current one */
	uint32_t item;
};

struct wm_ctf_decoder {
	const struct wm_ctf_op *ops; /* of the stream class */
	const unsigned char *data;
	uint64_t pos, end; /* in bits from data: the next bit; the end of the window */
	uint64_t limit;    /* end of the packet's content, >= end */
	uint64_t *slots;
	uint64_t clock;                  /* of the stream, in ticks */
	uint32_t first_item;             /* of the event */
	uint32_t nr_empty;               /* zero-size elements met in this packet */
	struct wm_arena wide;            /* converted strings; emptied with the batch */
	const char *reason;              /* of BAD */
	const struct wm_member *culprit; /* the field, or NULL */
	struct wm_ctf_loop loops[WM_CTF_FRAMES_MAX];
	uint32_t open[WM_CTF_FRAMES_MAX]; /* items whose parts are being decoded */
};

/* Items are added to `b` unless it is NULL. */
enum wm_ctf_status wm_ctf_decode(struct wm_ctf_decoder *d, struct wm_ctf_program p,
				 struct wm_batch *b);

/*
 * The same for several programs in sequence; NULL programs decode nothing. With `b`, parts[i] gets
 * the items of the i-th.
 */
enum wm_ctf_status wm_ctf_decode_all(struct wm_ctf_decoder *d, const struct wm_ctf_op *const *p,
				     uint32_t nr, struct wm_batch *b, struct wm_part_range *parts);

/*
 * Decodes the header at d->pos in the quick way. False, without any effect, when the header has
 * another form or is not complete.
 */
bool wm_ctf_decode_quick(struct wm_ctf_decoder *d, const struct wm_ctf_quick *q);

/*
 * Converts a string, up to a zero unit, to UTF-8 in `a`. Invalid characters become U+FFFD. NULL:
 * out of memory, or too long.
 */
char *wm_ctf_wide_text(struct wm_arena *a, enum wm_ctf_encoding encoding, const unsigned char *data,
		       uint64_t bytes, uint32_t *ret_bytes);

/* Floats of 16 and 128 bits as the bits of a double, rounded to nearest. */
uint64_t wm_ctf_half(uint16_t bits);
uint64_t wm_ctf_quad(uint64_t high, uint64_t low);

/* Number of bytes up to and including the zero unit; 0 when it is missing. */
uint64_t wm_ctf_wide_bytes(enum wm_ctf_encoding encoding, const unsigned char *data,
			   uint64_t bytes);

#endif
