/* SPDX-License-Identifier: MIT */
/*
 * filter_run.c - runs linked filters. Guest code: general registers only, no
 * libc, no state, less than 512 bytes of stack, no recursion. Relies on the linker having checked
 * types, stack depth and jumps; trusts no byte of a payload.
 */
#include "event/filter.h"

#include "base/glob.h"
#include "event/filter_program_int.h"
#include "event/schema_int.h"

#define ANCHORS_KEPT 16u /* the offsets of later anchors are computed each time */

struct frame {
	const struct wm_filter *f;
	const unsigned char *payload;
	uint64_t bytes;
	const struct wm_filter_contexts *contexts;
	uint32_t nr_anchors;
	uint32_t anchors[ANCHORS_KEPT];
};

/*
 * Returns the index of the first NUL at or after pos, or fr->bytes when none follows. Reads eight
 * bytes at a time.
 */
static uint64_t find_nul(const struct frame *fr, uint64_t pos)
{
	const uint64_t ones = 0x0101010101010101ull;

	while (fr->bytes - pos >= 8) {
		uint64_t w = wm_load_u64(fr->payload + pos);
		uint64_t zero = (w - ones) & ~w & (ones << 7);

		if (zero)
			return pos + (uint64_t)(__builtin_ctzll(zero) >> 3);
		pos += 8;
	}
	while (pos < fr->bytes && fr->payload[pos])
		pos++;
	return pos;
}

/* Finds the offset of anchor `k`; returns false when the payload ends before it. */
static bool find_anchor(struct frame *fr, uint32_t k, uint64_t *ret)
{
	const struct wm_filter_walk *walk = wm_filter_walks(fr->f);
	uint32_t i = k < fr->nr_anchors ? k : fr->nr_anchors - 1;
	uint64_t pos = fr->anchors[i];

	for (; i < k; i++) {
		pos += walk[i].offset;
		if (pos > fr->bytes)
			return false;
		if (walk[i].shape == WM_SHAPE_STRING) {
			pos = find_nul(fr, pos);
			if (pos == fr->bytes)
				return false;
			pos++;
		} else {
			if (fr->bytes - pos < 4)
				return false;
			pos += 4 + (uint64_t)wm_load_u32(fr->payload + pos) * walk[i].bytes;
			if (pos > fr->bytes)
				return false;
		}
		if (i + 1 == fr->nr_anchors && fr->nr_anchors < ANCHORS_KEPT)
			fr->anchors[fr->nr_anchors++] = (uint32_t)pos;
	}
	*ret = pos;
	return true;
}

static uint64_t filter_run_load(const unsigned char *p, uint8_t kind)
{
	switch (kind) {
	case WM_INSN_LOAD_I1:
		return (uint64_t)(int8_t)*p;
	case WM_INSN_LOAD_U1:
		return *p;
	case WM_INSN_LOAD_I2:
		return (uint64_t)(int16_t)wm_load_u16(p);
	case WM_INSN_LOAD_U2:
		return wm_load_u16(p);
	case WM_INSN_LOAD_I4:
		return (uint64_t)(int32_t)wm_load_u32(p);
	case WM_INSN_LOAD_U4:
		return wm_load_u32(p);
	case WM_INSN_LOAD_B1:
		return *p != 0;
	default:
		return wm_load_u64(p);
	}
}

/* Loads a scalar that comes after variable-size fields. */
static bool load_far(struct frame *fr, const struct wm_filter_insn *insn, uint64_t *ret)
{
	uint64_t pos;

	if (!find_anchor(fr, insn->anchor, &pos))
		return false;
	pos += insn->offset;
	if (pos + wm_load_bytes(insn->kind) > fr->bytes)
		return false;
	*ret = filter_run_load(fr->payload + pos, insn->kind);
	return true;
}

static bool load_element(struct frame *fr, const struct wm_filter_insn *insn, uint64_t index,
			 uint64_t *ret)
{
	uint64_t pos, count = insn->x, element = wm_load_bytes(insn->kind);

	if (!find_anchor(fr, insn->anchor, &pos))
		return false;
	pos += insn->offset;
	if (pos > fr->bytes)
		return false;
	if (insn->y == WM_SHAPE_STRING) {
		count = find_nul(fr, pos) - pos;
		if (pos + count == fr->bytes)
			return false;
	} else if (insn->y == WM_SHAPE_SEQUENCE || insn->y == WM_SHAPE_BLOB) {
		if (fr->bytes - pos < 4)
			return false;
		count = wm_load_u32(fr->payload + pos);
		pos += 4;
	}
	if (count * element > fr->bytes - pos || index >= count)
		return false;
	*ret = filter_run_load(fr->payload + pos + index * element, insn->kind);
	return true;
}

/* Finds the bytes of a string operand. */
static bool find_string(struct frame *fr, uint64_t operand, const char **ret, uint64_t *ret_bytes)
{
	uint32_t most = 0, n = 0;
	uint64_t pos;

	switch (wm_operand_kind(operand)) {
	case WM_OPERAND_TEXT:
	case WM_OPERAND_GLOB:
	case WM_OPERAND_PREFIX:
		*ret = (const char *)fr->f + fr->f->text + wm_operand_offset(operand);
		*ret_bytes = wm_operand_bytes(operand);
		return true;
	case WM_OPERAND_COMM:
		*ret = fr->contexts->comm;
		most = sizeof(fr->contexts->comm);
		break;
	default:
		if (!find_anchor(fr, wm_operand_anchor(operand), &pos))
			return false;
		pos += wm_operand_offset(operand);
		if (pos > fr->bytes)
			return false;
		*ret = (const char *)fr->payload + pos;
		if (wm_operand_kind(operand) == WM_OPERAND_STRING) {
			*ret_bytes = find_nul(fr, pos) - pos;
			return pos + *ret_bytes < fr->bytes;
		}
		most = wm_operand_bytes(operand) + 1;
		if (fr->bytes - pos < most)
			return false;
	}
	while (n < most && (*ret)[n])
		n++;
	*ret_bytes = n;
	return true;
}

static bool compare_strings(struct frame *fr, const struct wm_filter_insn *insn, bool *ret)
{
	const char *left, *right;
	uint64_t left_bytes, right_bytes;

	if (!find_string(fr, insn->x, &left, &left_bytes) ||
	    !find_string(fr, insn->y, &right, &right_bytes))
		return false;
	if (wm_operand_kind(insn->y) == WM_OPERAND_GLOB) {
		*ret = wm_glob_match(right, right_bytes, left, left_bytes);
		return true;
	}
	if (wm_operand_kind(insn->y) == WM_OPERAND_PREFIX)
		*ret = left_bytes >= right_bytes;
	else
		*ret = left_bytes == right_bytes;
	for (uint64_t i = 0; *ret && i < right_bytes; i++)
		*ret = left[i] == right[i];
	return true;
}

static bool filter_run_is_member(const struct wm_filter_insn *insn, uint64_t value)
{
	const uint64_t *values = (const uint64_t *)(insn + 1);

	for (uint64_t i = 0; i < insn->x; i++) {
		if (values[i] == value)
			return true;
	}
	return false;
}

static uint64_t filter_run_context(const struct wm_filter_contexts *c, uint8_t bit)
{
	switch (1u << bit) {
	case WM_FILTER_PID:
		return (uint64_t)c->pid;
	case WM_FILTER_TID:
		return (uint64_t)c->tid;
	case WM_FILTER_CPU:
		return (uint64_t)c->cpu;
	default:
		return (uint64_t)c->time_ns;
	}
}

/*
 * Runs an instruction that is not a test: pops values and pushes one. Returns the new end of the
 * stack, or NULL when there is no value. Advances *at past the values of a set (WM_INSN_IN).
 */
__attribute__((always_inline)) static inline uint64_t *
evaluate(struct frame *fr, const struct wm_filter_insn **at, uint64_t *sp)
{
	const struct wm_filter_insn *insn = *at;

	switch (insn->op) {
	case WM_INSN_LOAD_I1:
	case WM_INSN_LOAD_U1:
	case WM_INSN_LOAD_I2:
	case WM_INSN_LOAD_U2:
	case WM_INSN_LOAD_I4:
	case WM_INSN_LOAD_U4:
	case WM_INSN_LOAD_W8:
	case WM_INSN_LOAD_B1:
		*sp = filter_run_load(fr->payload + insn->offset, insn->op);
		return sp + 1;
	case WM_INSN_CONST:
		*sp = insn->x;
		return sp + 1;
	case WM_INSN_LOAD_FAR:
		return load_far(fr, insn, sp) ? sp + 1 : NULL;
	case WM_INSN_ELEMENT:
		return load_element(fr, insn, sp[-1], sp - 1) ? sp : NULL;
	case WM_INSN_CONTEXT:
		*sp = filter_run_context(fr->contexts, insn->kind);
		return sp + 1;
	case WM_INSN_ARITH:
		sp--;
		return wm_filter_arith(insn->kind, insn->offset, sp[-1], *sp, sp - 1) ? sp : NULL;
	case WM_INSN_INV:
		sp[-1] = ~sp[-1];
		return sp;
	case WM_INSN_COMPARE:
		sp--;
		sp[-1] = wm_filter_order(
		    insn->kind, wm_filter_compare(sp[-1], insn->offset & 1, *sp, insn->offset & 2));
		return sp;
	case WM_INSN_IN:
		sp[-1] = filter_run_is_member(insn, sp[-1]) != insn->invert;
		*at += (insn->x + WM_INSN_VALUES - 1) / WM_INSN_VALUES;
		return sp;
	default:
		return wm_filter_float_op(insn, sp);
	}
}

#define RANGE(value)                                                                               \
	do {                                                                                       \
		test = ((uint64_t)(value)-insn->x <= insn->y) != insn->invert;                     \
		goto tested;                                                                       \
	} while (0)

/*
 * The values on the stack are stack[0 .. sp). A test continues at `tested`. An operation without a
 * value (division by zero, an index out of range, a truncated payload) makes the whole filter
 * false.
 */
bool wm_filter_exec(const struct wm_filter *f, const unsigned char *payload, size_t bytes,
		    const struct wm_filter_contexts *contexts)
{
	const struct wm_filter_insn *insns = wm_filter_insns(f), *insn = insns;
	uint64_t stack[WM_FILTER_STACK_MAX], *sp = stack;
	struct frame fr;
	bool test;

	if (bytes < f->min_bytes || bytes > INT32_MAX)
		return false;
	fr.f = f;
	fr.payload = payload;
	fr.bytes = bytes;
	fr.contexts = contexts;
	fr.nr_anchors = 1;
	fr.anchors[0] = 0;
	for (;; insn++) {
		switch (insn->op) {
		case WM_INSN_END:
			return sp[-1] != 0;
		case WM_INSN_RANGE_I1:
			RANGE((int8_t)payload[insn->offset]);
		case WM_INSN_RANGE_U1:
			RANGE(payload[insn->offset]);
		case WM_INSN_RANGE_I2:
			RANGE((int16_t)wm_load_u16(payload + insn->offset));
		case WM_INSN_RANGE_U2:
			RANGE(wm_load_u16(payload + insn->offset));
		case WM_INSN_RANGE_I4:
			RANGE((int32_t)wm_load_u32(payload + insn->offset));
		case WM_INSN_RANGE_U4:
			RANGE(wm_load_u32(payload + insn->offset));
		case WM_INSN_RANGE_W8:
			RANGE(wm_load_u64(payload + insn->offset));
		case WM_INSN_RANGE_B1:
			RANGE(payload[insn->offset] != 0);
		case WM_INSN_RANGE:
			sp--;
			RANGE(*sp);
		case WM_INSN_STRING:
			if (!compare_strings(&fr, insn, &test))
				return false;
			test = test != insn->invert;
			goto tested;
		case WM_INSN_JUMP:
			sp--;
			test = *sp != 0;
			goto tested;
		default:
			sp = evaluate(&fr, &insn, sp);
			if (!sp)
				return false;
			continue;
		}
	tested:
		if (insn->ends >> test & 1)
			return test;
		if (!insn->jump) {
			*sp++ = test;
		} else if (test == insn->when) {
			*sp++ = test;
			insn = insns + insn->jump - 1; /* -1, because the loop adds one */
		}
	}
}

bool wm_filter_run(const struct wm_filter *f, const unsigned char *payload, size_t bytes,
		   const struct wm_filter_contexts *contexts)
{
	if (__builtin_expect(f->uses_float, 0)) {
#ifdef WM_GUEST
		return false; /* the caller did not save the vector registers */
#else
		return wm_filter_run_float(f, payload, bytes, contexts);
#endif
	}
	return wm_filter_exec(f, payload, bytes, contexts);
}

uint32_t wm_filter_needs(const struct wm_filter *f)
{
	return f->needs;
}

bool wm_filter_uses_float(const struct wm_filter *f)
{
	return f->uses_float;
}

bool wm_filter_quick(const struct wm_filter *f, struct wm_filter_quick *ret)
{
	const struct wm_filter_insn *insn = wm_filter_insns(f);

	ret->kind = insn->op == WM_INSN_RANGE_I4   ? WM_FILTER_QUICK_I4
		    : insn->op == WM_INSN_RANGE_U4 ? WM_FILTER_QUICK_U4
		    : insn->op == WM_INSN_RANGE_W8 ? WM_FILTER_QUICK_W8
						   : WM_FILTER_QUICK_NONE;
	ret->offset = insn->offset;
	ret->first = insn->x;
	ret->span = insn->y;
	/* A value outside the range passes the inverted test, unless no value is outside. */
	if (insn->invert) {
		ret->first = insn->x + insn->y + 1;
		ret->span = 0 - insn->y - 2;
		if (insn->y == UINT64_MAX)
			ret->kind = WM_FILTER_QUICK_NONE;
	}
	return ret->kind != WM_FILTER_QUICK_NONE && (insn->ends & 1);
}
