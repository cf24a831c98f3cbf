/* SPDX-License-Identifier: MIT */
/* filter_item.c - runs bound filters over items; see filter_item.h. */
#include "event/filter_item.h"

#include <string.h>

#include "base/glob.h"
#include "event/filter_item_int.h"

struct frame {
	const struct wm_item_filter *f;
	const struct wm_item *items;
	const uint32_t *at;
	const struct wm_item_contexts *contexts;
};

static const struct wm_item *filter_item_member(const struct frame *fr, const struct operand *o)
{
	uint32_t at = fr->at[o->part];

	for (uint32_t i = 0; i < o->index; i++)
		at = fr->items[at].next;
	return &fr->items[at];
}

static uint64_t filter_item_bits_of(double d)
{
	uint64_t u;

	memcpy(&u, &d, sizeof(u));
	return u;
}

static uint64_t filter_item_number(const struct wm_item *i)
{
	return i->member->type->kind == WM_TYPE_FLOAT ? filter_item_bits_of(i->f) : i->u;
}

/* Loads an element of an array; returns false when it does not exist. */
static bool filter_item_element(const struct frame *fr, const struct operand *o, uint64_t index,
				uint64_t *ret)
{
	const struct wm_item *i = filter_item_member(fr, o);

	if (o->type->kind == WM_TYPE_LIST) {
		if (index >= i->count)
			return false;
		*ret = filter_item_number(i + 1 + index);
		return true;
	}
	if (index < i->count) {
		*ret = i->bytes[index];
		return true;
	}
	*ret = 0; /* a char array has NULs after its text */
	return o->type->fixed && index < o->type->length;
}

static bool filter_item_text_of(const struct frame *fr, const struct operand *o, const char **ret,
				uint32_t *ret_bytes)
{
	const struct wm_item *i;

	switch (o->kind) {
	case OPERAND_MEMBER:
		i = filter_item_member(fr, o);
		*ret = i->text;
		*ret_bytes = i->count;
		return true;
	case OPERAND_COMM:
		*ret = fr->contexts->comm;
		*ret_bytes = fr->contexts->comm_bytes;
		return fr->contexts->known & WM_FILTER_COMM;
	default:
		*ret = o->text;
		*ret_bytes = o->bytes;
		return true;
	}
}

static bool filter_item_compare_texts(const struct frame *fr, const struct wm_filter_insn *insn,
				      uint64_t *ret)
{
	const struct operand *right = &fr->f->operands[insn->y];
	const char *a, *b;
	uint32_t a_bytes, b_bytes;
	bool same;

	if (!filter_item_text_of(fr, &fr->f->operands[insn->x], &a, &a_bytes) ||
	    !filter_item_text_of(fr, right, &b, &b_bytes))
		return false;
	if (right->kind == OPERAND_PATTERN)
		same = wm_glob_match(b, b_bytes, a, a_bytes);
	else
		same = a_bytes == b_bytes && !memcmp(a, b, a_bytes);
	*ret = same != insn->invert;
	return true;
}

/* Returns -1, 0 or 1: the value is below, in or above the label's range. */
static int order_of(const struct wm_type *t, const struct wm_type_label *l, uint64_t n)
{
	if (t->kind == WM_TYPE_SIGNED)
		return (int64_t)n < l->low ? -1 : (int64_t)n > l->high;
	return n < (uint64_t)l->low ? -1 : n > (uint64_t)l->high;
}

/*
 * Compares a number with a label. For operators other than == and !=, the binder has ensured that
 * exactly one label matches.
 */
static bool filter_item_compare_label(const struct operand *o, uint8_t op, uint64_t n)
{
	const struct wm_type *t = o->type;
	bool in = false;

	for (uint32_t i = 0; i < t->nr_labels; i++) {
		if (!wm_item_label_matches(o, t->labels[i].name))
			continue;
		if (op != WM_OP_EQ && op != WM_OP_NE)
			return wm_filter_order(op, order_of(t, &t->labels[i], n));
		in |= order_of(t, &t->labels[i], n) == 0;
	}
	return in == (op == WM_OP_EQ);
}

static bool filter_item_context(const struct wm_item_contexts *c, uint8_t bit, uint64_t *ret)
{
	const int64_t values[] = {c->pid, c->tid, c->cpu, c->time_ns};

	*ret = (uint64_t)values[bit];
	return c->known >> bit & 1;
}

/*
 * Runs an instruction that pushes a value or replaces the top one. Returns the new top, or NULL
 * when the filter is false.
 */
static uint64_t *filter_item_step(const struct frame *fr, const struct wm_filter_insn *insn,
				  uint64_t *sp)
{
	const struct operand *operands = fr->f->operands;

	switch (insn->op) {
	case WM_INSN_CONST:
		*sp = insn->x;
		return sp + 1;
	case ITEM_NUMBER:
	case ITEM_REAL:
		*sp = filter_item_number(filter_item_member(fr, &operands[insn->x]));
		return sp + 1;
	case WM_INSN_CONTEXT:
		return filter_item_context(fr->contexts, insn->kind, sp) ? sp + 1 : NULL;
	case ITEM_ELEMENT:
		return filter_item_element(fr, &operands[insn->x], sp[-1], sp - 1) ? sp : NULL;
	case ITEM_TEXT:
		return filter_item_compare_texts(fr, insn, sp) ? sp + 1 : NULL;
	case ITEM_LABEL:
		sp[-1] = filter_item_compare_label(&operands[insn->x], insn->kind, sp[-1]);
		return sp;
	case ITEM_TRUTH:
		sp[-1] = sp[-1] != 0;
		return sp;
	case ITEM_NOT:
		sp[-1] = !sp[-1];
		return sp;
	case WM_INSN_INV:
		sp[-1] = ~sp[-1];
		return sp;
	case WM_INSN_ARITH:
		sp--;
		return wm_filter_arith(insn->kind, insn->offset, sp[-1], *sp, sp - 1) ? sp : NULL;
	case WM_INSN_COMPARE:
		sp--;
		sp[-1] = wm_filter_order(
		    insn->kind, wm_filter_compare(sp[-1], insn->offset & 1, *sp, insn->offset & 2));
		return sp;
	default:
		return wm_filter_float_op(insn, sp);
	}
}

bool wm_item_filter_run(const struct wm_item_filter *f, const struct wm_item *items,
			const uint32_t at[WM_NR_PARTS], const struct wm_item_contexts *contexts)
{
	struct frame fr = {f, items, at, contexts};
	uint64_t stack[WM_FILTER_STACK_MAX + 2], *sp = stack;
	const struct wm_filter_insn *insn = f->insns;

	while (insn->op != WM_INSN_END) {
		if (insn->op != WM_INSN_JUMP) {
			sp = filter_item_step(&fr, insn++, sp);
			if (!sp)
				return false;
		} else if (!!sp[-1] == insn->when) {
			insn = f->insns + insn->jump;
		} else {
			sp--;
			insn++;
		}
	}
	return sp[-1] != 0;
}
