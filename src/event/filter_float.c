/* SPDX-License-Identifier: MIT */
/*
 * filter_float.c - the float operations of filters, and the entry point for programs that use them.
 * Guest code, but compiled with vector registers: in a traced program the caller saves them first.
 * No libc, no state.
 */
#include "event/filter.h"

#include "event/filter_program_int.h"

union bits {
	uint64_t u;
	double d;
};

static double as_double(uint64_t u)
{
	return (union bits){.u = u}.d;
}

static uint64_t as_bits(double d)
{
	return (union bits){.d = d}.u;
}

static double widen(uint64_t u)
{
	union {
		uint32_t u;
		float f;
	} bits = {.u = (uint32_t)u};

	return bits.f;
}

/* Returns false on division by zero, as integer division does. */
static bool arith(uint8_t op, double a, double b, uint64_t *ret)
{
	switch (op) {
	case WM_OP_MUL:
		*ret = as_bits(a * b);
		return true;
	case WM_OP_ADD:
		*ret = as_bits(a + b);
		return true;
	case WM_OP_SUB:
		*ret = as_bits(a - b);
		return true;
	default:
		if (b == 0)
			return false;
		*ret = as_bits(a / b);
		return true;
	}
}

/* Compares as C does: with a NaN, only != is true. */
static bool filter_float_compare(uint8_t op, double a, double b)
{
	switch (op) {
	case WM_OP_LT:
		return a < b;
	case WM_OP_LE:
		return a <= b;
	case WM_OP_GT:
		return a > b;
	case WM_OP_GE:
		return a >= b;
	case WM_OP_EQ:
		return a == b;
	default:
		return a != b;
	}
}

uint64_t *wm_filter_float_op(const struct wm_filter_insn *insn, uint64_t *sp)
{
	uint64_t *at;

	switch (insn->op) {
	case WM_INSN_FLOAT_WIDEN:
		sp[-1] = as_bits(widen(sp[-1]));
		return sp;
	case WM_INSN_FLOAT_FROM:
		at = sp - 1 - insn->kind;
		*at = as_bits(insn->offset ? (double)*at : (double)(int64_t)*at);
		return sp;
	case WM_INSN_FLOAT_ARITH:
		sp--;
		return arith(insn->kind, as_double(sp[-1]), as_double(*sp), sp - 1) ? sp : NULL;
	case WM_INSN_FLOAT_NEG:
		sp[-1] = as_bits(-as_double(sp[-1]));
		return sp;
	case WM_INSN_FLOAT_COMPARE:
		sp--;
		sp[-1] = filter_float_compare(insn->kind, as_double(sp[-1]), as_double(*sp));
		return sp;
	case WM_INSN_FLOAT_TRUTH:
		sp[-1] = as_double(sp[-1]) != 0;
		return sp;
	default:
		return NULL; /* the instruction does not exist */
	}
}

bool wm_filter_run_float(const struct wm_filter *f, const unsigned char *payload, size_t bytes,
			 const struct wm_filter_contexts *contexts)
{
	return wm_filter_exec(f, payload, bytes, contexts);
}
