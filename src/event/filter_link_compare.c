/* SPDX-License-Identifier: MIT */
/*
 * filter_link_compare.c - how the linker translates comparisons: a comparison with a constant
 * becomes a range test, one with text a string test, and enumeration labels are replaced by their
 * values. See filter_link.c.
 */
#include "event/filter_linker_int.h"

#include "base/glob.h"
#include "event/filter_program_int.h"
#include "event/schema_int.h"

/* Writes the test `value op c` as "first <= value <= first + span" or the negation of that. */
static void set_range(struct wm_filter_insn *insn, uint8_t op, bool value_unsigned, uint64_t c,
		      bool c_unsigned)
{
	uint64_t lowest = value_unsigned ? 0 : (uint64_t)INT64_MIN;
	int beyond = 0; /* -1 or 1 when c is below or above all values of the type */

	if (value_unsigned && !c_unsigned && (int64_t)c < 0)
		beyond = -1;
	if (!value_unsigned && c_unsigned && c > INT64_MAX)
		beyond = 1;
	if (beyond || (c == lowest && (op == WM_OP_LT || op == WM_OP_GE))) {
		/*
		 * The result does not depend on the value: for example, every value is >= the
		 * lowest one.
		 */
		insn->x = 0;
		insn->y = UINT64_MAX;
		insn->invert = !wm_filter_order(op, beyond ? -beyond : 1);
		return;
	}
	if (op == WM_OP_EQ || op == WM_OP_NE) {
		insn->x = c;
		insn->y = 0;
		insn->invert = op == WM_OP_NE;
		return;
	}
	insn->x = lowest;
	insn->y = c - lowest - (op == WM_OP_LT || op == WM_OP_GE);
	insn->invert = op == WM_OP_GT || op == WM_OP_GE;
}

/* Returns the operator op' for which `b op' a` equals `a op b`. */
static uint8_t link_compare_mirrored(uint8_t op)
{
	switch (op) {
	case WM_OP_LT:
		return WM_OP_GT;
	case WM_OP_LE:
		return WM_OP_GE;
	case WM_OP_GT:
		return WM_OP_LT;
	case WM_OP_GE:
		return WM_OP_LE;
	default:
		return op;
	}
}

void wm_filter_link_ints(struct linker *l, uint8_t op, const struct value *left,
			 const struct value *right)
{
	bool left_const = is_const(l, left, 2) && (right->flags & VALUE_LEAF);
	bool right_const = is_const(l, right, 1);
	bool lu = left->type == TYPE_UINT, ru = right->type == TYPE_UINT;
	struct wm_filter_insn *insn;
	uint64_t c;

	if (left_const && right_const) {
		c = wm_filter_order(op, wm_filter_compare(last(l)[-1].x, lu, last(l)->x, ru));
		l->nr--;
		last(l)->x = c;
		linker_push(l, TYPE_INT, VALUE_LEAF | VALUE_BOOL);
		return;
	}
	if (right_const) {
		c = last(l)->x;
		l->nr--;
		set_range(make_range(l, is_load(left)), op, lu, c, ru);
		linker_push(l, TYPE_INT, VALUE_BOOL | VALUE_TEST);
		return;
	}
	if (left_const) { /* the right operand is a load */
		c = last(l)[-1].x;
		last(l)[-1] = *last(l);
		l->nr--;
		set_range(make_range(l, true), link_compare_mirrored(op), ru, c, lu);
		linker_push(l, TYPE_INT, VALUE_BOOL | VALUE_TEST);
		return;
	}
	insn = linker_emit(l, WM_INSN_COMPARE);
	insn->kind = op;
	insn->offset = (uint32_t)lu | (uint32_t)ru << 1;
	linker_push(l, TYPE_INT, VALUE_BOOL);
}

static bool link_compare_is_literal(uint64_t operand)
{
	return wm_operand_kind(operand) == WM_OPERAND_TEXT ||
	       wm_operand_kind(operand) == WM_OPERAND_GLOB;
}

/* Turns a pattern whose only special byte is a final '*' into a prefix. */
static uint64_t simplify_pattern(const struct linker *l, uint64_t operand)
{
	uint32_t bytes = wm_operand_bytes(operand), offset = wm_operand_offset(operand);
	const char *text = (const char *)l->f + l->f->text + offset;

	if (wm_operand_kind(operand) != WM_OPERAND_GLOB || !bytes || text[bytes - 1] != '*' ||
	    wm_glob_is_pattern(text, bytes - 1))
		return operand;
	return wm_operand_make(WM_OPERAND_PREFIX, 0, bytes - 1, offset);
}

/* Compares two strings; strings are always leaves. The parser put a literal on the right. */
static void link_compare_texts(struct linker *l, uint8_t op)
{
	uint64_t left = last(l)[-1].x, right = last(l)->x;
	struct wm_filter_insn *insn;

	if (op != WM_OP_EQ && op != WM_OP_NE)
		linker_fail(l, -EINVAL, WM_FAULT_TEXT_ORDER);
	if (link_compare_is_literal(left))
		linker_fail(l, -EINVAL, WM_FAULT_TEXT_TEXT);
	if (l->err)
		return;
	l->nr -= 2;
	insn = linker_emit(l, WM_INSN_STRING);
	insn->x = left;
	insn->y = simplify_pattern(l, right);
	insn->invert = op == WM_OP_NE;
	linker_push(l, TYPE_INT, VALUE_BOOL | VALUE_TEST);
}

/* Finds an enumeration's field a second time, by its index. */
static bool find_labels(const struct linker *l, uint8_t index, struct wm_schema *s,
			struct wm_schema_field *f)
{
	if (wm_schema_open(s, l->desc, l->desc_bytes))
		return false;
	while (wm_schema_next(s, f) > 0) {
		if (f->index == index)
			return f->nr_labels;
	}
	return false;
}

/*
 * Appends to the program, as data after the last instruction, the values of all labels that an
 * operand matches; returns their number.
 */
__attribute__((noinline)) static uint32_t collect_labels(struct linker *l, uint8_t field,
							 uint64_t operand)
{
	const char *text = (const char *)l->f + l->f->text + wm_operand_offset(operand);
	uint32_t bytes = wm_operand_bytes(operand), nr = 0, n;
	uint64_t *values = (uint64_t *)&l->insns[l->nr];
	uint64_t room = (uint64_t)(l->max - l->nr) * WM_INSN_VALUES;
	struct wm_schema_field f;
	struct wm_schema s;
	bool match;

	if (!find_labels(l, field, &s, &f))
		return 0;
	for (uint32_t i = 0; i < f.nr_labels; i++, f.labels += n + 2) {
		for (n = 0; f.labels[n] != '#';)
			n++;
		match = wm_operand_kind(operand) == WM_OPERAND_GLOB
			    ? wm_glob_match(text, bytes, f.labels, n)
			    : linker_same(f.labels, n, text, bytes);
		if (!match)
			continue;
		if (nr == room) {
			linker_fail(l, -ENOSPC, WM_FAULT_SPACE);
			return nr;
		}
		values[nr++] = (uint64_t)wm_schema_fit(wm_schema_value(&s, f.first_value + i),
						       f.scalar, f.bytes);
	}
	return nr;
}

/*
 * Compares an enumeration with a string: compares the number with the values of all labels that
 * match the string.
 */
static void link_compare_label(struct linker *l, uint8_t op, const struct value *left)
{
	uint64_t operand = last(l)->x;
	struct wm_filter_insn *insn;
	struct value c = *left;
	uint32_t nr;

	if (!link_compare_is_literal(operand)) {
		linker_fail(l, -EINVAL, WM_FAULT_TEXT_COMPARE);
		return;
	}
	l->nr--;
	insn = linker_emit(l, WM_INSN_IN);
	nr = collect_labels(l, left->field, operand);
	if (!nr || (nr > 1 && op != WM_OP_EQ && op != WM_OP_NE)) {
		l->fault->field = left->field;
		l->fault->name = (const char *)l->code.text + wm_operand_offset(operand);
		l->fault->name_bytes = wm_operand_bytes(operand);
		linker_fail(l, -EINVAL, nr ? WM_FAULT_LABEL_ORDER : WM_FAULT_LABEL);
	}
	if (l->err)
		return;
	if (nr == 1) {
		insn->op = WM_INSN_CONST;
		insn->x = *(uint64_t *)(insn + 1);
		c.flags = VALUE_LEAF;
		wm_filter_link_ints(l, op, left, &c);
		return;
	}
	insn->x = nr;
	insn->invert = op == WM_OP_NE;
	l->nr += (nr + WM_INSN_VALUES - 1) / WM_INSN_VALUES;
	linker_push(l, TYPE_INT, VALUE_BOOL);
}

void wm_filter_link_strings(struct linker *l, uint8_t op, const struct value *left,
			    const struct value *right)
{
	if (op < WM_OP_LT)
		linker_fail(l, -EINVAL, WM_FAULT_TEXT_NUMBER);
	else if (left->type == right->type)
		link_compare_texts(l, op);
	else if (left->flags & VALUE_ENUM)
		link_compare_label(l, op, left);
	else
		linker_fail(l, -EINVAL, WM_FAULT_TEXT_COMPARE);
}
