/* SPDX-License-Identifier: MIT */
/*
 * plan_header.c - recognizes common forms of event headers. It follows the header's program as a
 * decoder would for a small id, and notes the offsets of id and time. When there is any other
 * field, the header is decoded by its program.
 */
#include <string.h>

#include "read/ctf/plan.h"

#define STEPS_MAX 64u

struct follow {
	struct wm_ctf_quick q;
	const struct wm_ctf_op *id; /* the last operation that loads an id */
	uint32_t run; /* bit offset of the operations that follow, up to the next run */
};

static bool plan_header_number(struct follow *f, const struct wm_ctf_op *op, uint32_t at)
{
	bool is_id = op->role == WM_CTF_EVENT_ID, is_time = op->flags & WM_CTF_FLAG_CLOCK;
	bool is_big = op->flags & WM_CTF_FLAG_BIG;

	if (op->flags &
	    (WM_CTF_FLAG_SIGNED | WM_CTF_FLAG_BOOL | WM_CTF_FLAG_FLOAT | WM_CTF_FLAG_TURNED))
		return !is_id && !is_time && !op->slot;
	if ((op->slot && !is_id) || (is_id && f->id) || (is_time && f->q.time_bits))
		return false;
	if (is_id) {
		f->id = op;
		f->q.id_at = at;
		f->q.id_bits = op->bits;
		f->q.id_big = is_big;
		f->q.id_slot = op->slot;
	}
	if (is_time) {
		f->q.time_at = at;
		f->q.time_bits = op->bits;
		f->q.time_big = is_big;
	}
	return true;
}

/* Returns the option chosen by the smallest ids. */
static const struct wm_ctf_op *plan_header_choose(struct follow *f, const struct wm_ctf_op *ops,
						  const struct wm_ctf_op *op)
{
	const struct wm_ctf_choice *c = op->choice;

	if (!f->id || op->slot != f->id->slot || !c->nr_ranges || c->bias ||
	    f->q.high != UINT64_MAX)
		return NULL;
	f->q.low = c->ranges[0].low;
	f->q.high = c->ranges[0].high;
	return ops + c->ranges[0].at;
}

static bool plan_header_run(struct follow *f, const struct wm_ctf_op *op, bool is_first)
{
	uint32_t align = 1u << op->shift;

	if (is_first)
		f->q.shift = op->shift;
	if (op->shift > f->q.shift || op->length > 4096)
		return false;
	f->q.bits = (f->q.bits + align - 1) & ~(align - 1);
	f->run = f->q.bits & ~7u;
	f->q.bits += (uint32_t)op->length;
	return true;
}

static bool plan_header_follow(struct follow *f, const struct wm_ctf_op *ops,
			       const struct wm_ctf_op *op)
{
	bool is_first = true;

	for (uint32_t i = 0; i < STEPS_MAX && op; i++) {
		switch ((enum wm_ctf_code)op->code) {
		case WM_CTF_OP_END:
			return true;
		case WM_CTF_OP_RUN:
			if (!plan_header_run(f, op, is_first))
				return false;
			is_first = false;
			op++;
			break;
		case WM_CTF_OP_STRUCT:
		case WM_CTF_OP_OPEN:
		case WM_CTF_OP_CLOSE:
			op++;
			break;
		case WM_CTF_OP_CHOOSE:
			op = plan_header_choose(f, ops, op);
			break;
		case WM_CTF_OP_JUMP:
			op = ops + op->at;
			break;
		default:
			if (op->code > WM_CTF_OP_BITS ||
			    !plan_header_number(
				f, op, f->run + (op->code == WM_CTF_OP_BITS ? op->at : op->at * 8)))
				return false;
			op++;
		}
	}
	return false;
}

static uint64_t mask(uint32_t bits)
{
	return bits ? UINT64_MAX >> (64 - bits) : 0;
}

/* Sets is_word when id and time are both within the first 64 bits of the header. */
static void plan_header_word(struct wm_ctf_quick *q)
{
	q->is_word = q->bits <= 64 && q->time_bits && q->time_bits < 64 && !q->time_big &&
		     !q->id_big && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
	q->id_mask = mask(q->id_bits);
	q->time_mask = mask(q->time_bits);
}

void wm_ctf_quick_make(struct wm_ctf_stream_plan *p)
{
	struct follow f = {.q.high = UINT64_MAX};

	if (!p->event_header.ops || !plan_header_follow(&f, p->ops, p->event_header.ops))
		return;
	/* A header whose first run begins inside a byte cannot use the quick way. */
	if (f.q.shift < 3 || !f.q.bits)
		return;
	f.q.is_usable = true;
	plan_header_word(&f.q);
	p->quick = f.q;
}
