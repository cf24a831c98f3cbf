/* SPDX-License-Identifier: MIT */
/*
 * filter_program_int.h - the linked form of a filter: filter_link.c writes it, filter_run.c and
 * filter_float.c run it. Private to them; position-independent; trusted, because only the linker
 * generates it.
 *
 *   struct wm_filter | text | struct wm_filter_insn[nr_insns] | struct wm_filter_walk[]
 *
 * A stack of 64-bit words; strings are never on it. Instructions that yield 0 or 1 ("tests") may
 * carry a jump: when the result is `when`, it is pushed and the jump is taken; otherwise nothing is
 * pushed. So `a > 1 && b < 2` consists of two tests and an end. Because both results of the second
 * test and one of the first lead to the end, these tests end the program themselves.
 *
 * Places: a field after k variable-size fields is at anchor k plus a fixed offset; anchor 0 is the
 * payload's start, anchor k the end of the k-th such field. Anchors are computed when first needed.
 * Fields at anchor 0 need no check at run time: a payload has at least min_bytes.
 */
#ifndef WM_EVENT_FILTER_PROGRAM_INT_H
#define WM_EVENT_FILTER_PROGRAM_INT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/filter.h"
#include "event/filter_code.h"

struct wm_filter {
	uint32_t needs;
	uint32_t min_bytes;         /* minimum size of a payload */
	uint32_t insns, walk, text; /* offsets from the start of this struct */
	bool uses_float;
};

enum wm_insn_op {
	WM_INSN_END,
	/* offset: in the payload; x, y: first value and span of the range */
	WM_INSN_RANGE_I1,
	WM_INSN_RANGE_U1,
	WM_INSN_RANGE_I2,
	WM_INSN_RANGE_U2,
	WM_INSN_RANGE_I4,
	WM_INSN_RANGE_U4,
	WM_INSN_RANGE_W8,
	WM_INSN_RANGE_B1,
	WM_INSN_RANGE, /* as above, for the value on top of the stack */
	/* offset: in the payload; same order as the range tests */
	WM_INSN_LOAD_I1,
	WM_INSN_LOAD_U1,
	WM_INSN_LOAD_I2,
	WM_INSN_LOAD_U2,
	WM_INSN_LOAD_I4,
	WM_INSN_LOAD_U4,
	WM_INSN_LOAD_W8,
	WM_INSN_LOAD_B1,
	WM_INSN_CONST,    /* x */
	WM_INSN_LOAD_FAR, /* loads a field at an anchor; kind, anchor, offset */
	/*
	 * Pops an index and pushes that element. kind, anchor, offset: as for LOAD_FAR; x: number
	 * of elements, if fixed; y: enum wm_field_shape.
	 */
	WM_INSN_ELEMENT,
	WM_INSN_CONTEXT, /* pushes a context; kind: its bit number */
	WM_INSN_JUMP,    /* when the top equals `when`, keeps it and jumps; else drops it */
	WM_INSN_ARITH,   /* kind: enum wm_filter_op; offset: 1 when unsigned */
	WM_INSN_INV,
	/*
	 * kind: enum wm_filter_op; offset: bit 0: the left operand is unsigned, bit 1: the right
	 * one.
	 */
	WM_INSN_COMPARE,
	WM_INSN_STRING, /* a test of two strings; x, y: operands */
	/* x: number of values that follow, four in the space of an instruction. */
	WM_INSN_IN,
	WM_INSN_LEAF, /* exists only while linking: a string operand, x */
	/* Floats: in filter_float.c */
	WM_INSN_FLOAT_WIDEN, /* converts the bits of a float to a double */
	/* Converts the integer `kind` values below the top; offset: 1 when it is unsigned. */
	WM_INSN_FLOAT_FROM,
	WM_INSN_FLOAT_ARITH, /* float arithmetic; kind: enum wm_filter_op */
	WM_INSN_FLOAT_NEG,
	WM_INSN_FLOAT_COMPARE, /* comparison of floats; kind: enum wm_filter_op */
	WM_INSN_FLOAT_TRUTH,
};

struct wm_filter_insn {
	uint8_t op;
	uint8_t kind; /* for a load: WM_INSN_LOAD_*; else see the op */
	uint8_t invert;
	uint8_t when;
	uint16_t jump; /* index of the instruction to jump to; 0: none */
	uint16_t anchor;
	uint32_t offset;
	uint8_t ends; /* for a test: bit r is set if result r decides the filter */
	uint8_t reserved[3];
	uint64_t x, y;
};

#define WM_INSN_VALUES                                                                             \
	4u /* number of WM_INSN_IN values that fit in the space of an instruction                  \
	    */

/* A variable-size field, and the bytes between it and the previous anchor. */
struct wm_filter_walk {
	uint32_t offset;
	uint8_t shape, bytes; /* enum wm_field_shape; size of an element */
	uint16_t reserved;
};

/* The kind of a string operand; an operand is one 64-bit word. */
enum wm_operand_kind {
	WM_OPERAND_STRING,
	WM_OPERAND_CHARS,
	WM_OPERAND_COMM,
	WM_OPERAND_TEXT,
	WM_OPERAND_GLOB,
	WM_OPERAND_PREFIX, /* text, a prefix that must match */
};

/*
 * Packs an operand. `bytes` is at most 65535: for CHARS it is one less than the size of the array.
 */
static inline uint64_t wm_operand_make(enum wm_operand_kind kind, uint32_t anchor, uint32_t bytes,
				       uint32_t offset)
{
	return (uint64_t)kind | (uint64_t)(anchor & 0x1ff) << 3 | (uint64_t)(bytes & 0xffff) << 12 |
	       (uint64_t)offset << 28;
}
static inline enum wm_operand_kind wm_operand_kind(uint64_t o)
{
	return (enum wm_operand_kind)(o & 7);
}
static inline uint32_t wm_operand_anchor(uint64_t o)
{
	return (uint32_t)(o >> 3) & 0x1ff;
}
static inline uint32_t wm_operand_bytes(uint64_t o)
{
	return (uint32_t)(o >> 12) & 0xffff;
}
static inline uint32_t wm_operand_offset(uint64_t o)
{
	return (uint32_t)(o >> 28);
}

/* Number of bytes that WM_INSN_LOAD_<kind> loads. */
static inline uint32_t wm_load_bytes(uint8_t kind)
{
	static const uint8_t bytes[] = {1, 1, 2, 2, 4, 4, 8, 1};

	return bytes[kind - WM_INSN_LOAD_I1];
}

/*
 * Integer arithmetic as described in filter.h; wraps as two's complement. Returns false when there
 * is no result (division by zero). Shifts by 64 and more shift out all bits.
 */
static inline bool wm_filter_arith(uint8_t op, bool is_unsigned, uint64_t a, uint64_t b,
				   uint64_t *ret)
{
	int64_t sa = (int64_t)a, sb = (int64_t)b;

	switch (op) {
	case WM_OP_MUL:
		*ret = a * b;
		return true;
	case WM_OP_ADD:
		*ret = a + b;
		return true;
	case WM_OP_SUB:
		*ret = a - b;
		return true;
	case WM_OP_DIV:
		if (!b)
			return false;
		*ret = is_unsigned ? a / b : sb == -1 ? 0 - a : (uint64_t)(sa / sb);
		return true;
	case WM_OP_MOD:
		if (!b)
			return false;
		*ret = is_unsigned ? a % b : sb == -1 ? 0 : (uint64_t)(sa % sb);
		return true;
	case WM_OP_SHL:
		*ret = b < 64 ? a << b : 0;
		return true;
	case WM_OP_SHR:
		if (is_unsigned)
			*ret = b < 64 ? a >> b : 0;
		else
			*ret = (uint64_t)(sa >> (b < 64 ? b : 63));
		return true;
	case WM_OP_BITAND:
		*ret = a & b;
		return true;
	case WM_OP_XOR:
		*ret = a ^ b;
		return true;
	default:
		*ret = a | b;
		return true;
	}
}

/* The result of a comparison operator whose operands compare as `order` (-1, 0 or 1). */
static inline bool wm_filter_order(uint8_t op, int order)
{
	switch (op) {
	case WM_OP_LT:
		return order < 0;
	case WM_OP_LE:
		return order <= 0;
	case WM_OP_GT:
		return order > 0;
	case WM_OP_GE:
		return order >= 0;
	case WM_OP_EQ:
		return order == 0;
	default:
		return order != 0;
	}
}

/* Compares two integers, each signed or unsigned, by their mathematical values. */
static inline int wm_filter_compare(uint64_t a, bool a_unsigned, uint64_t b, bool b_unsigned)
{
	bool a_negative = !a_unsigned && (int64_t)a < 0, b_negative = !b_unsigned && (int64_t)b < 0;

	if (a_negative != b_negative)
		return a_negative ? -1 : 1;
	return a < b ? -1 : a > b; /* the signs are equal, so the bits compare directly */
}

/*
 * Runs one float instruction on a stack whose top is at sp[-1]; returns the
 * new top, or NULL: the filter is false. Uses vector registers.
 */
uint64_t *wm_filter_float_op(const struct wm_filter_insn *insn, uint64_t *sp);

/* filter_run.c: runs any program. */
bool wm_filter_exec(const struct wm_filter *f, const unsigned char *payload, size_t bytes,
		    const struct wm_filter_contexts *contexts);

static inline struct wm_filter_insn *wm_filter_insns(const struct wm_filter *f)
{
	return (struct wm_filter_insn *)((uintptr_t)f + f->insns);
}
static inline const struct wm_filter_walk *wm_filter_walks(const struct wm_filter *f)
{
	return (const struct wm_filter_walk *)((uintptr_t)f + f->walk);
}

#endif
