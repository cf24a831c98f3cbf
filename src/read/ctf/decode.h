/* SPDX-License-Identifier: MIT */
/*
 * decode.h - runs the programs of plan.h over a window of a packet and produces items. Never reads
 * more than WM_CTF_SLACK bytes beyond the window, whatever the bytes are.
 */
#ifndef WM_READ_CTF_DECODE_H
#define WM_READ_CTF_DECODE_H

#include "read/ctf/plan.h"

#define WM_CTF_SLACK     16u         /* bytes after a window that may be read */
#define WM_CTF_ITEMS_MAX (1u << 21)  /* maximum number of items per event */
#define WM_CTF_EMPTY_MAX 65536u      /* maximum number of zero-size elements per packet */
#define WM_CTF_WIDE_MAX  (64u << 20) /* maximum bytes of converted strings per batch */

enum wm_ctf_status {
	WM_CTF_OK,
	WM_CTF_MORE, /* the window ends before the field does */
	WM_CTF_BAD,  /* the data is damaged: see `reason` */
	WM_CTF_NO_MEMORY
};

struct wm_ctf_loop {
	uint64_t left, begin; /* elements left; start of the current element */
	uint32_t item;
};

struct wm_ctf_decoder {
	const struct wm_ctf_op *ops; /* operations of the stream class */
	const unsigned char *data;
	uint64_t pos, end; /* bit offsets from `data`: next bit to decode; end of the window */
	uint64_t limit;    /* end of the packet's content, >= end */
	uint64_t *slots;
	uint64_t clock;                  /* current time of the stream, in ticks */
	uint32_t first_item;             /* index of the event's first item */
	uint32_t nr_empty;               /* zero-size elements decoded in this packet */
	struct wm_arena wide;            /* converted strings; emptied with the batch */
	const char *reason;              /* with WM_CTF_BAD: what is wrong */
	const struct wm_member *culprit; /* with WM_CTF_BAD: the damaged field, or NULL */
	struct wm_ctf_loop loops[WM_CTF_FRAMES_MAX];
	uint32_t open[WM_CTF_FRAMES_MAX]; /* items whose parts are being decoded */
};

/* Items are added to `b` unless it is NULL. */
enum wm_ctf_status wm_ctf_decode(struct wm_ctf_decoder *d, struct wm_ctf_program p,
				 struct wm_batch *b);

/*
 * Like wm_ctf_decode() for several programs in sequence; programs without operations are skipped.
 * If `b` is not NULL, parts[i] is set to the range of the i-th program's items.
 */
enum wm_ctf_status wm_ctf_decode_all(struct wm_ctf_decoder *d, const struct wm_ctf_op *const *p,
				     uint32_t nr, struct wm_batch *b, struct wm_part_range *parts);

/*
 * Decodes the event header at d->pos without a program. Returns false, and changes nothing, when
 * the header has another form or is incomplete.
 */
bool wm_ctf_decode_quick(struct wm_ctf_decoder *d, const struct wm_ctf_quick *q);

/*
 * Converts a UTF-16 or UTF-32 string, up to its terminating zero, to UTF-8 allocated in `a`.
 * Invalid characters become U+FFFD. NULL: out of memory, or too long.
 */
char *wm_ctf_wide_text(struct wm_arena *a, enum wm_ctf_encoding encoding, const unsigned char *data,
		       uint64_t bytes, uint32_t *ret_bytes);

/* Convert 16-bit and 128-bit floats to the bits of a double, rounding to nearest. */
uint64_t wm_ctf_half(uint16_t bits);
uint64_t wm_ctf_quad(uint64_t high, uint64_t low);

/* Returns the size of the string including its terminating zero; 0 when that is missing. */
uint64_t wm_ctf_wide_bytes(enum wm_ctf_encoding encoding, const unsigned char *data,
			   uint64_t bytes);

#endif
