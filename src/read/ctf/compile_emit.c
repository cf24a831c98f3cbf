/* SPDX-License-Identifier: MIT */
/*
 * compile_emit.c - appends operations, and tracks the position of the next field and the current
 * run. See compile.h.
 */
#include <errno.h>

#include "base/array.h"
#include "read/ctf/compile.h"

#define NONE UINT32_MAX

/* --- operations ------------------------------------------------------------------- */

/* Returns c->trash after an error, so that callers need no check. */
struct wm_ctf_op *wm_ctf_emit(struct wm_ctf_compiler *c, enum wm_ctf_code code,
			      const struct wm_member *member)
{
	struct wm_ctf_op *op = &c->trash;

	if (!c->err && c->nr_ops == c->max_ops)
		(void)wm_ctf_compile_fail(
		    c, NULL, -E2BIG, "types that expand to more than %u steps", WM_CTF_OPS_MAX);
	if (!c->err && WM_ARRAY_GROW(c->ops, c->room_ops, (size_t)c->nr_ops + 1))
		(void)wm_ctf_compile_fail(c, NULL, -ENOMEM, "out of memory for the plan");
	if (!c->err)
		op = &c->ops[c->nr_ops++];
	*op = (struct wm_ctf_op){.code = (uint8_t)code};
	if (member)
		op->member = member;
	else
		op->flags = WM_CTF_FLAG_HIDDEN;
	return op;
}

struct wm_ctf_op *wm_ctf_op_at(struct wm_ctf_compiler *c, uint32_t index)
{
	return c->err || index >= c->nr_ops ? &c->trash : &c->ops[index];
}

uint8_t wm_ctf_log2(uint32_t power)
{
	return (uint8_t)__builtin_ctz(power);
}

/* --- positions -------------------------------------------------------------------- */

void wm_ctf_end_run(struct wm_ctf_compiler *c)
{
	c->run = NONE;
}

void wm_ctf_move(struct wm_ctf_compiler *c, uint64_t bits)
{
	c->place.mod = (uint32_t)(c->place.mod + bits) & (c->place.known - 1);
	c->min_bits += bits;
}

static void compile_emit_begin_run(struct wm_ctf_compiler *c, uint32_t align)
{
	struct wm_ctf_op *op = wm_ctf_emit(c, WM_CTF_OP_RUN, NULL);

	if (align > c->place.known)
		c->place = (struct wm_ctf_place){.known = align};
	else
		c->place.mod = (c->place.mod + align - 1) & ~(align - 1) & (c->place.known - 1);
	op->shift = wm_ctf_log2(align);
	c->run = c->nr_ops - 1;
	c->run_bits = 0;
	c->run_skew = c->place.mod % 8;
}

int64_t wm_ctf_place_bits(struct wm_ctf_compiler *c, uint32_t align, uint64_t bits)
{
	uint32_t pad = (align - 1) & (0 - c->place.mod);
	int64_t at;

	if (align > c->place.known || c->run == NONE ||
	    c->run_bits + pad + bits > WM_CTF_RUN_BITS_MAX) {
		if (align < 8 && c->place.known < 8) {
			wm_ctf_end_run(c);
			return -1;
		}
		compile_emit_begin_run(c, align);
		pad = 0;
	}
	c->run_bits += pad;
	at = (int64_t)c->run_bits + c->run_skew;
	c->run_bits += (uint32_t)bits;
	wm_ctf_op_at(c, c->run)->length = c->run_bits;
	wm_ctf_move(c, pad + bits);
	return at;
}

void wm_ctf_align(struct wm_ctf_compiler *c, uint32_t align)
{
	if (align > 1 && wm_ctf_place_bits(c, align, 0) < 0) {
		wm_ctf_emit(c, WM_CTF_OP_ALIGN, NULL)->shift = wm_ctf_log2(align);
		if (align > c->place.known)
			c->place = (struct wm_ctf_place){.known = align};
		else
			c->place.mod =
			    (c->place.mod + align - 1) & ~(align - 1) & (c->place.known - 1);
	}
}

void wm_ctf_place_unknown(struct wm_ctf_compiler *c, uint32_t known)
{
	wm_ctf_end_run(c);
	c->place = (struct wm_ctf_place){.known = known};
}

struct wm_ctf_place wm_ctf_join(struct wm_ctf_place a, struct wm_ctf_place b)
{
	uint32_t known = a.known < b.known ? a.known : b.known;

	while (known > 1 && (a.mod & (known - 1)) != (b.mod & (known - 1)))
		known /= 2;
	return (struct wm_ctf_place){known, a.mod & (known - 1), a.order == b.order ? a.order : 0};
}
