/* SPDX-License-Identifier: MIT */
/*
 * filter_link.c - verifies a portable filter against one event's description and turns it into a
 * program (filter_program_int.h). Guest code: general registers only, no libc, no allocation, no
 * state, bounded stack. Every byte of the filter and the description is untrusted.
 *
 * Linking is one pass over the postfix code; filter_linker_int.h explains its stack of types.
 */
#include "event/filter.h"

#include "event/filter_code.h"
#include "event/filter_linker_int.h"
#include "event/filter_program_int.h"
#include "event/schema_int.h"

/* --- tests ----------------------------------------------------------- */

static void become_bool(struct value *v, uint8_t flags)
{
	v->type = TYPE_INT;
	v->flags = VALUE_BOOL | flags;
	v->chain = 0;
}

/*
 * Converts the value on top of the stack to 0 or 1. The value is a test, or has no pending jumps.
 */
static void make_test(struct linker *l, struct value *v)
{
	struct wm_filter_insn *insn;

	if (!linker_is_number(l, v) || v->flags & VALUE_BOOL)
		return;
	if (v->type == TYPE_FLOAT) {
		(void)linker_emit(l, WM_INSN_FLOAT_TRUTH);
		become_bool(v, 0);
		return;
	}
	if (is_const(l, v, 1)) {
		last(l)->x = last(l)->x != 0;
		become_bool(v, VALUE_LEAF);
		return;
	}
	insn = make_range(l, is_load(v)); /* the test is true when the value is not 0 */
	insn->x = insn->y = 0;
	insn->invert = 1;
	become_bool(v, VALUE_TEST);
}

/*
 * Begins && or ||: the left operand is complete, and the code of the right operand ends at `end`.
 */
static void filter_link_open_block(struct linker *l, bool when, uint32_t end)
{
	struct value v = pop_unsettled(l);
	uint32_t outer = l->nr_blocks ? l->blocks[l->nr_blocks - 1].end : l->code.code_bytes;
	struct wm_filter_insn *insn;
	struct block *block;

	if (v.chain && !!(v.flags & VALUE_WHEN) != when)
		linker_settle(l, &v);
	make_test(l, &v);
	if (end > outer || l->nr_blocks == WM_FILTER_NEST_MAX)
		linker_fail(l, -EBADMSG, WM_FAULT_CODE);
	if (l->err)
		return;
	insn = v.flags & VALUE_TEST ? last(l) : linker_emit(l, WM_INSN_JUMP);
	insn->when = when;
	insn->jump = v.chain;
	block = &l->blocks[l->nr_blocks++];
	block->end = (uint16_t)end;
	block->chain = (uint16_t)l->nr;
	block->when = when;
	block->depth = (uint8_t)l->depth;
}

/* Concatenates two chains: the jumps of `a`, then those of `b`. */
static uint16_t filter_link_join(struct linker *l, uint16_t a, uint16_t b)
{
	uint16_t at = a;

	while (l->insns[at - 1].jump)
		at = l->insns[at - 1].jump;
	l->insns[at - 1].jump = b;
	return a;
}

/* Ends && or || when its right operand is complete. */
static void filter_link_close_block(struct linker *l)
{
	const struct block *b = &l->blocks[l->nr_blocks - 1];
	struct value v = pop_unsettled(l);

	l->nr_blocks--;
	if (v.chain && !!(v.flags & VALUE_WHEN) != b->when)
		linker_settle(l, &v);
	make_test(l, &v);
	if (l->depth != b->depth)
		linker_fail(l, -EBADMSG, WM_FAULT_CODE);
	if (l->err)
		return;
	linker_push(l, TYPE_INT, VALUE_BOOL | (v.flags & VALUE_TEST) | (b->when ? VALUE_WHEN : 0));
	if (!l->err)
		l->stack[l->depth - 1].chain =
		    v.chain ? filter_link_join(l, v.chain, b->chain) : b->chain;
}

static void link_not(struct linker *l)
{
	struct value v = linker_pop(l);
	struct wm_filter_insn *insn;

	make_test(l, &v);
	if (l->err)
		return;
	if (is_const(l, &v, 1)) {
		last(l)->x = !last(l)->x;
	} else if (v.flags & VALUE_TEST) {
		last(l)->invert ^= 1;
	} else {
		insn = linker_emit(l, WM_INSN_RANGE); /* the test is true when the value is 0 */
		v.flags |= VALUE_TEST;
		insn->x = insn->y = 0;
	}
	linker_push(l, TYPE_INT, v.flags);
}

/* --- operators ------------------------------------------------------- */

/* Turns the operand that is `depth` values below the top into a double. */
static void filter_link_make_float(struct linker *l, const struct value *v, uint8_t depth)
{
	struct wm_filter_insn *insn;

	if (v->type == TYPE_FLOAT)
		return;
	insn = linker_emit(l, WM_INSN_FLOAT_FROM);
	insn->kind = depth;
	insn->offset = v->type == TYPE_UINT;
}

static void link_float(struct linker *l, uint8_t op, const struct value *left,
		       const struct value *right)
{
	bool compares = op >= WM_OP_LT;

	if (!compares && op != WM_OP_MUL && op != WM_OP_DIV && op != WM_OP_ADD && op != WM_OP_SUB) {
		linker_fail(l, -EINVAL, WM_FAULT_FLOAT);
		return;
	}
	filter_link_make_float(l, left, 1);
	filter_link_make_float(l, right, 0);
	linker_emit(l, compares ? WM_INSN_FLOAT_COMPARE : WM_INSN_FLOAT_ARITH)->kind = op;
	linker_push(l, compares ? TYPE_INT : TYPE_FLOAT, compares ? VALUE_BOOL : 0);
}

static void link_arith(struct linker *l, uint8_t op, const struct value *left,
		       const struct value *right)
{
	bool shift = op == WM_OP_SHL || op == WM_OP_SHR;
	bool is_unsigned = left->type == TYPE_UINT || (!shift && right->type == TYPE_UINT);
	enum type type = is_unsigned ? TYPE_UINT : TYPE_INT;
	struct wm_filter_insn *insn;
	uint64_t x;

	if (is_const(l, right, 1) && is_const(l, left, 2) &&
	    wm_filter_arith(op, is_unsigned, last(l)[-1].x, last(l)->x, &x)) {
		l->nr--;
		last(l)->x = x;
		linker_push(l, type, VALUE_LEAF);
		return;
	}
	insn = linker_emit(l, WM_INSN_ARITH);
	insn->kind = op;
	insn->offset = is_unsigned;
	linker_push(l, type, 0);
}

static void link_binary(struct linker *l, uint8_t op)
{
	struct value right = linker_pop(l), left = linker_pop(l);

	if (l->err)
		return;
	if (left.type == TYPE_STRING || right.type == TYPE_STRING)
		wm_filter_link_strings(l, op, &left, &right);
	else if (left.type == TYPE_FLOAT || right.type == TYPE_FLOAT)
		link_float(l, op, &left, &right);
	else if (op >= WM_OP_LT)
		wm_filter_link_ints(l, op, &left, &right);
	else
		link_arith(l, op, &left, &right);
}

static void link_unary(struct linker *l, uint8_t op)
{
	struct value v;

	if (op == WM_OP_NOT) {
		link_not(l);
		return;
	}
	v = linker_pop(l);
	if (l->err || !linker_is_number(l, &v))
		return;
	if (v.type == TYPE_FLOAT) {
		if (op == WM_OP_INV)
			linker_fail(l, -EINVAL, WM_FAULT_FLOAT);
		(void)linker_emit(l, WM_INSN_FLOAT_NEG);
		linker_push(l, TYPE_FLOAT, 0);
		return;
	}
	if (is_const(l, &v, 1)) {
		if (op == WM_OP_NEG && last(l)->x == 1ull << 63)
			v.type = TYPE_INT; /* the smallest integer can be written as a literal */
		last(l)->x = op == WM_OP_NEG ? 0 - last(l)->x : ~last(l)->x;
		linker_push(l, v.type, VALUE_LEAF);
		return;
	}
	if (op == WM_OP_INV) {
		(void)linker_emit(l, WM_INSN_INV);
	} else { /* computes -x as ~x + 1 */
		struct wm_filter_insn *insn;

		(void)linker_emit(l, WM_INSN_INV);
		linker_emit(l, WM_INSN_CONST)->x = 1;
		insn = linker_emit(l, WM_INSN_ARITH);
		insn->kind = WM_OP_ADD;
		insn->offset = v.type == TYPE_UINT;
	}
	linker_push(l, v.type, 0);
}

/* --- the whole program ----------------------------------------------- */

static void link_step(struct linker *l, const struct wm_filter_step *step, uint32_t pos)
{
	uint32_t offset;

	switch (step->op) {
	case WM_OP_INT:
	case WM_OP_UINT:
	case WM_OP_FLOAT:
		push_const(l,
			   step->op == WM_OP_INT    ? TYPE_INT
			   : step->op == WM_OP_UINT ? TYPE_UINT
						    : TYPE_FLOAT,
			   wm_load_u64(step->operand));
		break;
	case WM_OP_TEXT:
	case WM_OP_GLOB:
		offset = (uint32_t)((const unsigned char *)step->text - l->code.text);
		push_string(
		    l, wm_operand_make(step->op == WM_OP_TEXT ? WM_OPERAND_TEXT : WM_OPERAND_GLOB,
				       0, step->text_bytes, offset));
		break;
	case WM_OP_FIELD:
		wm_filter_link_field(l, step);
		break;
	case WM_OP_ELEMENT:
		wm_filter_link_element(l, step);
		break;
	case WM_OP_CONTEXT:
		wm_filter_link_context(l, *step->operand);
		break;
	case WM_OP_AND:
	case WM_OP_OR:
		filter_link_open_block(l, step->op == WM_OP_OR, pos + wm_load_u16(step->operand));
		break;
	case WM_OP_NEG:
	case WM_OP_NOT:
	case WM_OP_INV:
		link_unary(l, step->op);
		break;
	default:
		link_binary(l, step->op);
	}
}

static bool is_test(uint8_t op)
{
	return (op >= WM_INSN_RANGE_I1 && op <= WM_INSN_RANGE) || op == WM_INSN_STRING ||
	       op == WM_INSN_JUMP;
}

/*
 * When a test's result leads straight to the last instruction, the end, lets the test itself end
 * the program.
 */
static void filter_link_shorten(struct linker *l)
{
	struct wm_filter_insn *end = last(l), *insn;

	for (insn = l->insns; insn < end; insn++) {
		if (insn->op == WM_INSN_IN)
			insn += (insn->x + WM_INSN_VALUES - 1) / WM_INSN_VALUES;
		else if (!is_test(insn->op))
			continue;
		else if (insn->jump)
			insn->ends = &l->insns[insn->jump] == end ? 1 << insn->when : 0;
		else
			insn->ends = insn + 1 == end ? 3 : 0;
	}
}

static void link_code(struct linker *l)
{
	struct wm_filter_step step;
	uint32_t pos = 0, nr = 0;
	struct value v;
	int more;

	while ((more = wm_filter_code_next(&l->code, &pos, &step)) > 0 && !l->err) {
		l->fault->op = nr++;
		link_step(l, &step, pos);
		while (!l->err && l->nr_blocks && l->blocks[l->nr_blocks - 1].end <= pos) {
			if (l->blocks[l->nr_blocks - 1].end < pos)
				linker_fail(l, -EBADMSG, WM_FAULT_CODE);
			else if (step.op == WM_OP_AND || step.op == WM_OP_OR)
				/* An operator's right operand is missing. */
				linker_fail(l, -EBADMSG, WM_FAULT_CODE);
			else
				filter_link_close_block(l);
		}
	}
	if (more < 0 || (!l->err && (nr != l->code.nr_ops || l->nr_blocks || l->depth != 1)))
		linker_fail(l, -EBADMSG, WM_FAULT_CODE);
	if (l->err)
		return;
	v = pop_unsettled(l);
	make_test(l, &v);
	linker_settle(l, &v);
	(void)linker_emit(l, WM_INSN_END);
	if (!l->err)
		filter_link_shorten(l);
}

/* Walks the whole description once, to check it and to compute the minimum size of a payload. */
__attribute__((noinline)) static void measure_event(struct linker *l)
{
	struct wm_schema_field f;
	struct wm_schema s;
	int more = wm_schema_open(&s, l->desc, l->desc_bytes);

	if (!more) {
		while ((more = wm_schema_next(&s, &f)) > 0)
			l->f->min_bytes += wm_schema_least_bytes(&f);
	}
	if (more < 0)
		linker_fail(l, -EBADMSG, WM_FAULT_DESC);
}

/* Writes one walk step per anchor after the instructions; returns the size of the program. */
__attribute__((noinline)) static size_t write_walk(struct linker *l, size_t storage_bytes)
{
	struct place p;
	struct wm_filter_walk *walk;
	struct wm_schema s;

	p.anchor = p.offset = 0;
	l->f->walk = l->f->insns + l->nr * (uint32_t)sizeof(struct wm_filter_insn);
	if (l->f->walk + l->nr_anchors * sizeof(*walk) > storage_bytes) {
		linker_fail(l, -ENOSPC, WM_FAULT_SPACE);
		return 0;
	}
	walk = (struct wm_filter_walk *)((uintptr_t)l->f + l->f->walk);
	/* Cannot fail, because the description was walked before. */
	(void)wm_schema_open(&s, l->desc, l->desc_bytes);
	while (p.anchor < l->nr_anchors && wm_schema_next(&s, &p.field) > 0) {
		if (wm_schema_dynamic(&p.field)) {
			walk[p.anchor].offset = p.offset;
			walk[p.anchor].shape = p.field.shape;
			walk[p.anchor].bytes = p.field.bytes;
			walk[p.anchor].reserved = 0;
		}
		step_over(&p);
	}
	return l->f->walk + l->nr_anchors * sizeof(*walk);
}

/* Writes the head and the text; the instructions are written after them. */
static void open_program(struct linker *l, size_t storage_bytes)
{
	uint32_t text_bytes = (l->code.text_bytes + 7) & ~7u;
	char *text = (char *)(l->f + 1);

	if (storage_bytes > UINT16_MAX * sizeof(struct wm_filter_insn))
		storage_bytes = UINT16_MAX * sizeof(struct wm_filter_insn);
	if (storage_bytes < sizeof(*l->f) + text_bytes + 2 * sizeof(struct wm_filter_insn)) {
		linker_fail(l, -ENOSPC, WM_FAULT_SPACE);
		return;
	}
	l->f->needs = l->f->min_bytes = 0;
	l->f->uses_float = false;
	l->f->text = sizeof(*l->f);
	l->f->insns = l->f->text + text_bytes;
	l->f->walk = 0;
	for (uint32_t i = 0; i < l->code.text_bytes; i++)
		text[i] = (char)l->code.text[i];
	l->insns = wm_filter_insns(l->f);
	l->max = (uint32_t)((storage_bytes - l->f->insns) / sizeof(struct wm_filter_insn));
}

int64_t wm_filter_link_why(const void *code, size_t bytes, const void *desc, size_t desc_bytes,
			   void *storage, size_t storage_bytes, struct wm_filter_fault *ret_fault)
{
	struct linker l;
	size_t used = 0;

	l.f = storage;
	l.nr = l.nr_anchors = l.depth = l.nr_blocks = 0;
	l.err = 0;
	l.desc = desc;
	l.desc_bytes = desc_bytes;
	l.fault = ret_fault;
	ret_fault->what = WM_FAULT_NONE;
	ret_fault->op = ret_fault->field = ret_fault->name_bytes = 0;
	if ((uintptr_t)storage % 8)
		return -EINVAL;
	if (wm_filter_code_open(&l.code, code, bytes))
		linker_fail(&l, -EBADMSG, WM_FAULT_CODE);
	if (!l.err)
		open_program(&l, storage_bytes);
	if (!l.err)
		measure_event(&l);
	if (!l.err)
		link_code(&l);
	if (!l.err)
		used = write_walk(&l, storage_bytes);
	return l.err ? l.err : (int64_t)used;
}

int64_t wm_filter_link(const void *code, size_t bytes, const void *desc, size_t desc_bytes,
		       void *storage, size_t storage_bytes)
{
	struct wm_filter_fault fault;

	return wm_filter_link_why(code, bytes, desc, desc_bytes, storage, storage_bytes, &fault);
}
