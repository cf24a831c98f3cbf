/* SPDX-License-Identifier: MIT */
/*
 * step.h - functions and macros for the loops in loop.h: loads, the clock, capacity checks,
 * lengths. All positions are in bits from the window's start; before every load, its end is
 * compared with `end`.
 */
#ifndef WM_READ_CTF_STEP_H
#define WM_READ_CTF_STEP_H

#include <string.h>

#include "read/ctf/decode.h"

#define likely(x)     __builtin_expect(!!(x), 1)
#define unlikely(x)   __builtin_expect(!!(x), 0)
#define inline_always static inline __attribute__((always_inline))

/* --- loads ------------------------------------------------------------------------------ */

#define DEFINE_LOAD(bits)                                                                          \
	inline_always uint##bits##_t load##bits(const unsigned char *p)                            \
	{                                                                                          \
		uint##bits##_t v;                                                                  \
		memcpy(&v, p, sizeof(v));                                                          \
		return v;                                                                          \
	}                                                                                          \
	inline_always uint##bits##_t swap##bits(const unsigned char *p)                            \
	{                                                                                          \
		return __builtin_bswap##bits(load##bits(p));                                       \
	}
DEFINE_LOAD(16)
DEFINE_LOAD(32)
DEFINE_LOAD(64)

inline_always uint64_t bits_of_double(double d)
{
	uint64_t v;

	memcpy(&v, &d, sizeof(v));
	return v;
}

inline_always double double_of(uint64_t bits)
{
	double d;

	memcpy(&d, &bits, sizeof(d));
	return d;
}

inline_always uint64_t float32(uint32_t bits)
{
	float f;

	memcpy(&f, &bits, sizeof(f));
	return bits_of_double((double)f);
}

inline_always uint64_t load64_little(const unsigned char *p)
{
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? load64(p) : swap64(p);
}

inline_always uint64_t load64_big(const unsigned char *p)
{
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? swap64(p) : load64(p);
}

/* Loads 1 to 64 bits starting at bit `at`, in either bit order. Reads up to 9 bytes. */
inline_always uint64_t load_bits(const unsigned char *p, uint64_t at, uint32_t bits, bool big)
{
	uint32_t skew = at % 8;
	uint64_t v;

	p += at / 8;
	if (big) {
		v = load64_big(p) << skew;
		if (skew + bits > 64)
			v |= p[8] >> (8 - skew);
		return v >> (64 - bits);
	}
	v = load64_little(p) >> skew;
	if (skew + bits > 64)
		v |= (uint64_t)p[8] << (64 - skew);
	return v & (UINT64_MAX >> (64 - bits));
}

static uint64_t turn_round(uint64_t v, uint32_t bits)
{
	uint64_t turned = 0;

	for (uint32_t i = 0; i < bits; i++, v >>= 1)
		turned = turned << 1 | (v & 1);
	return turned;
}

/* Loads a float and returns it as the bits of a double. */
static uint64_t load_real(const unsigned char *p, uint64_t at, const struct wm_ctf_op *op)
{
	bool big = op->flags & WM_CTF_FLAG_BIG, turned = op->flags & WM_CTF_FLAG_TURNED;
	uint32_t bits = op->bits < 64 ? op->bits : 64;
	uint64_t v = load_bits(p, at, bits, big), next;

	v = turned ? turn_round(v, bits) : v;
	switch (op->bits) {
	case 16:
		return wm_ctf_half((uint16_t)v);
	case 32:
		return float32((uint32_t)v);
	case 128:
		next = load_bits(p, at + 64, 64, big);
		next = turned ? turn_round(next, 64) : next;
		return big != turned ? wm_ctf_quad(v, next) : wm_ctf_quad(next, v);
	default:
		return v;
	}
}

/* Loads a number of any kind. */
static uint64_t load_any(const unsigned char *p, uint64_t at, const struct wm_ctf_op *op)
{
	uint64_t v;

	if (op->flags & WM_CTF_FLAG_FLOAT)
		return load_real(p, at, op);
	v = load_bits(p, at, op->bits, op->flags & WM_CTF_FLAG_BIG);
	if (op->flags & WM_CTF_FLAG_TURNED)
		v = turn_round(v, op->bits);
	if (op->flags & WM_CTF_FLAG_BOOL)
		return v != 0;
	if (op->flags & WM_CTF_FLAG_SIGNED)
		return (uint64_t)((int64_t)(v << (64 - op->bits)) >> (64 - op->bits));
	return v;
}

/*
 * Loads a LEB128 number of up to 64 bits. Returns its size, 0 when it continues beyond `bytes`
 * bytes, or -1 when it is too large.
 */
static int load_leb(const unsigned char *p, uint64_t bytes, bool is_signed, uint64_t *ret)
{
	uint64_t v = 0;
	uint32_t shift = 0, n = 0;

	do {
		uint64_t part;

		if (n == bytes)
			return 0;
		part = p[n] & 0x7f;
		if (shift == 63 && part != 0 && part != (is_signed ? 0x7f : 1))
			return -1;
		if (shift < 64)
			v |= part << shift;
		shift += 7;
	} while (p[n++] & 0x80 && n < 10);
	if (p[n - 1] & 0x80)
		return -1;
	if (is_signed && shift < 64 && (p[n - 1] & 0x40))
		v |= UINT64_MAX << shift;
	*ret = v;
	return (int)n;
}

/* --- items of plain lists ------------------------------------------------------------------ */

#define ELEMENTS(code, step, value)                                                                \
	case code:                                                                                 \
		for (uint32_t i = 0; i < count; i++, p += (step), to++)                            \
			*to = (struct wm_item){                                                    \
			    .member = element, .u = (value), .next = first + i + 1};               \
		break

static void plain_elements(struct wm_item *to, uint32_t first, const struct wm_member *element,
			   uint64_t code, const unsigned char *p, uint32_t count)
{
	switch (code) {
		ELEMENTS(WM_CTF_OP_U8, 1, p[0]);
		ELEMENTS(WM_CTF_OP_U16, 2, load16(p));
		ELEMENTS(WM_CTF_OP_U32, 4, load32(p));
		ELEMENTS(WM_CTF_OP_U64, 8, load64(p));
		ELEMENTS(WM_CTF_OP_U16_SWAP, 2, swap16(p));
		ELEMENTS(WM_CTF_OP_U32_SWAP, 4, swap32(p));
		ELEMENTS(WM_CTF_OP_U64_SWAP, 8, swap64(p));
		ELEMENTS(WM_CTF_OP_S8, 1, (uint64_t)(int8_t)p[0]);
		ELEMENTS(WM_CTF_OP_S16, 2, (uint64_t)(int16_t)load16(p));
		ELEMENTS(WM_CTF_OP_S32, 4, (uint64_t)(int32_t)load32(p));
		ELEMENTS(WM_CTF_OP_S64, 8, load64(p));
		ELEMENTS(WM_CTF_OP_S16_SWAP, 2, (uint64_t)(int16_t)swap16(p));
		ELEMENTS(WM_CTF_OP_S32_SWAP, 4, (uint64_t)(int32_t)swap32(p));
		ELEMENTS(WM_CTF_OP_S64_SWAP, 8, swap64(p));
		ELEMENTS(WM_CTF_OP_F32, 4, float32(load32(p)));
		ELEMENTS(WM_CTF_OP_F64, 8, load64(p));
		ELEMENTS(WM_CTF_OP_F32_SWAP, 4, float32(swap32(p)));
		ELEMENTS(WM_CTF_OP_F64_SWAP, 8, swap64(p));
	default:
		break;
	}
}

/* --- the loop ------------------------------------------------------------------------------- */

/*
 * Replaces the low bits of the clock. When the result is smaller than before, those bits have
 * wrapped once.
 */
inline_always uint64_t clock_after(uint64_t clock, uint64_t v, uint64_t mask)
{
	uint64_t next = (clock & ~mask) | (v & mask);

	return next < clock ? next + mask + 1 : next; /* 64 bits: the value itself */
}

/* Advances the clock by a field that has WM_CTF_FLAG_CLOCK. */
inline_always void move_clock(struct wm_ctf_decoder *d, uint64_t v, uint32_t bits)
{
	d->clock = clock_after(d->clock, v, bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX);
}

static enum wm_ctf_status bad(struct wm_ctf_decoder *d, const struct wm_ctf_op *op,
			      const char *reason)
{
	d->reason = reason;
	d->culprit = op->member;
	return WM_CTF_BAD;
}

/*
 * Called when the window ends inside a field. The reason is reported if the packet ends here as
 * well.
 */
static enum wm_ctf_status more(struct wm_ctf_decoder *d, const struct wm_ctf_op *op)
{
	d->culprit = op->member;
	d->reason = "extends past the packet's content";
	return WM_CTF_MORE;
}

struct loop_state {
	struct wm_item *items;
	uint32_t n, nr_open, nr_loops;
};

inline_always bool room(struct wm_batch *b, struct loop_state *s, uint32_t count)
{
	if (likely(b->room_items - s->n >= count))
		return true;
	b->nr_items = s->n;
	if (!wm_batch_grow(b, count))
		return false;
	s->items = b->items;
	return true;
}

inline_always struct wm_item *add(struct loop_state *s, const struct wm_ctf_op *op)
{
	struct wm_item *i = &s->items[s->n++];

	i->member = op->member;
	i->count = 0;
	i->next = s->n;
	return i;
}

/* Sets the number of elements or bytes, and checks it against the rest of the packet. */
inline_always bool length(struct wm_ctf_decoder *d, const struct wm_ctf_op *op, uint64_t bits,
			  uint64_t *ret)
{
	uint64_t n = op->flags & WM_CTF_FLAG_INPUT ? d->slots[op->slot] : op->n;

	*ret = n;
	return !__builtin_mul_overflow(n, bits, &n) && n <= d->limit - d->pos;
}

/* Decodes text of any encoding, or bytes: terminated by a zero, or of a given length. */
static enum wm_ctf_status step_span(struct wm_ctf_decoder *d, const struct wm_ctf_op *op,
				    struct wm_item *i)
{
	const unsigned char *p;
	uint64_t bytes = 0;

	d->pos = (d->pos + 7) & ~UINT64_C(7);
	if (d->pos > d->end)
		return more(d, op);
	p = d->data + d->pos / 8;
	if (op->code == WM_CTF_OP_STRING) {
		const unsigned char *nul = memchr(p, 0, (d->end - d->pos) / 8);

		if (!nul)
			return more(d, op);
		bytes = (uint64_t)(nul - p) + 1;
	} else if (op->code == WM_CTF_OP_WIDE) {
		bytes = wm_ctf_wide_bytes((enum wm_ctf_encoding)op->bits, p, (d->end - d->pos) / 8);
		if (!bytes)
			return more(d, op);
	} else if (!length(d, op, 8, &bytes)) {
		return bad(d, op, "is longer than the rest of the packet");
	}
	if (bytes > (d->end - d->pos) / 8)
		return more(d, op);
	d->pos += bytes * 8;
	if (!i)
		return WM_CTF_OK;
	i->bytes = p;
	i->count = (uint32_t)bytes;
	if (op->code == WM_CTF_OP_STRING)
		i->count--;
	else if (op->code == WM_CTF_OP_TEXT_N)
		i->count = (uint32_t)strnlen((const char *)p, bytes);
	else if (op->code != WM_CTF_OP_BYTES_N)
		i->text =
		    wm_ctf_wide_text(&d->wide, (enum wm_ctf_encoding)op->bits, p, bytes, &i->count);
	return i->text ? WM_CTF_OK : WM_CTF_NO_MEMORY;
}

/* Starts the next element of a list; false when there were too many zero-size elements. */
inline_always bool not_empty(struct wm_ctf_decoder *d, const struct wm_ctf_loop *l)
{
	return likely(d->pos != l->begin) || ++d->nr_empty < WM_CTF_EMPTY_MAX;
}

inline_always bool quick_id(struct wm_ctf_decoder *d, const struct wm_ctf_quick *q, uint64_t id)
{
	if (unlikely(id < q->low || id > q->high))
		return false;
	d->slots[q->id_slot] = id;
	d->slots[WM_CTF_EVENT_ID] = id;
	return true;
}

inline_always bool quick_header(struct wm_ctf_decoder *d, const struct wm_ctf_quick *q)
{
	uint64_t mask = (UINT64_C(1) << q->shift) - 1, pos = (d->pos + mask) & ~mask, word;
	const unsigned char *p = d->data + pos / 8;

	if (unlikely(pos > d->end || q->bits > d->end - pos))
		return false;
	if (likely(q->is_word)) {
		word = load64(p);
		if (q->id_bits && !quick_id(d, q, word >> q->id_at & q->id_mask))
			return false;
		d->clock = clock_after(d->clock, word >> q->time_at, q->time_mask);
	} else {
		if (q->id_bits && !quick_id(d, q, load_bits(p, q->id_at, q->id_bits, q->id_big)))
			return false;
		if (q->time_bits)
			move_clock(d, load_bits(p, q->time_at, q->time_bits, q->time_big),
				   q->time_bits);
	}
	d->pos = pos + q->bits;
	return true;
}

/* --- the steps ------------------------------------------------------------------------------- */

#define SHOWN (ITEMS && !(op->flags & WM_CTF_FLAG_HIDDEN))

#define ROOM(count)                                                                                \
	do {                                                                                       \
		if (unlikely(!room(b, &s, (count))))                                               \
			return WM_CTF_NO_MEMORY;                                                   \
	} while (0)
#define NEXT                                                                                       \
	do {                                                                                       \
		op++;                                                                              \
		goto *labels[op->code];                                                            \
	} while (0)
/* Stores a number in its slots and, when it is shown, in an item. */
#define STORE                                                                                      \
	do {                                                                                       \
		d->slots[op->slot] = v;                                                            \
		d->slots[op->role] = v;                                                            \
		if (SHOWN)                                                                         \
			add(&s, op)->u = v;                                                        \
	} while (0)
#define NUMBER(code, value)                                                                        \
	code:                                                                                      \
	v = (uint64_t)(value);                                                                     \
	if (unlikely(op->flags & WM_CTF_FLAG_CLOCK))                                               \
		move_clock(d, v, op->bits);                                                        \
	STORE;                                                                                     \
	NEXT
#define REAL(code, value)                                                                          \
	code:                                                                                      \
	v = (value);                                                                               \
	STORE;                                                                                     \
	NEXT
#define LABEL(code) [code] = &&code

#endif
