/* SPDX-License-Identifier: MIT */
/*
 * filter_linker_int.h - the state of the linker: instructions being written, the stack of types,
 * and the rules that keep folding correct. Private to the files filter_link*.c. Guest code.
 *
 * Instructions are emitted immediately. The last ones can still be folded: two constants into one,
 * a field and a constant into a range test, && and || into the test before them. Two flags of a
 * value tell when folding is correct:
 *
 *   LEAF  one instruction pushes it, and when the value is the top of the
 *         stack that instruction is the last (of two leaves on top: the last two)
 *   TEST  the last instruction yields it as 0 or 1 and can carry a jump
 *
 * A value may have a chain: jumps that carry the value and whose target is the instruction where it
 * is complete. They are settled when the next value is pushed or this one is used, unless it is
 * used by the same operator, which passes them on.
 */
#ifndef WM_EVENT_FILTER_LINKER_INT_H
#define WM_EVENT_FILTER_LINKER_INT_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/glob.h"
#include "event/filter_code.h"
#include "event/filter_program_int.h"
#include "event/schema_int.h"

enum type { TYPE_INT, TYPE_UINT, TYPE_FLOAT, TYPE_STRING };

#define VALUE_LEAF 1u
#define VALUE_TEST 2u
#define VALUE_BOOL 4u  /* the value is 0 or 1 */
#define VALUE_ENUM 8u  /* the value of an enumeration, field `field` */
#define VALUE_WHEN 16u /* the chain's jumps carry 1 */

struct value {
	uint8_t type : 2, flags : 6;
	uint8_t field;
	/*
	 * Index + 1 of the last jump of its chain; each `jump` links to the previous one; 0: no
	 * chain.
	 */
	uint16_t chain;
};

/* The state of && or || while its right operand is being linked. */
struct block {
	uint16_t end; /* end of the operand in the code */
	uint16_t chain;
	uint8_t when, depth;
};

struct linker {
	struct wm_filter *f;
	struct wm_filter_insn *insns;
	uint32_t nr, max;
	struct wm_filter_code code;
	const void *desc;
	size_t desc_bytes;
	uint32_t nr_anchors; /* number of anchors in use, not counting the start of the payload */
	uint32_t depth, nr_blocks;
	int err;
	struct wm_filter_fault *fault;
	struct value stack[WM_FILTER_STACK_MAX];
	struct block blocks[WM_FILTER_NEST_MAX];
};

/* Records a fault. Only the first one is reported. */
static inline void linker_fail(struct linker *l, int err, enum wm_filter_what what)
{
	if (l->err)
		return;
	l->err = err;
	l->fault->what = what;
}

static inline void fail_name(struct linker *l, int err, enum wm_filter_what what,
			     const struct wm_filter_step *step)
{
	if (!l->err) {
		l->fault->name = step->text;
		l->fault->name_bytes = step->text_bytes;
	}
	linker_fail(l, err, what);
}

/* --- instructions and values ----------------------------------------- */

/* Returns a new instruction. When none is left, returns the last one and makes the link fail. */
static inline struct wm_filter_insn *linker_emit(struct linker *l, uint8_t op)
{
	struct wm_filter_insn *insn;

	if (l->nr == l->max) {
		linker_fail(l, -ENOSPC, WM_FAULT_SPACE);
		l->nr--;
	}
	insn = &l->insns[l->nr++];
	insn->op = op;
	insn->kind = insn->invert = insn->when = 0;
	insn->jump = insn->anchor = 0;
	insn->offset = 0;
	insn->ends = 0;
	insn->x = insn->y = 0;
	return insn;
}

static inline struct wm_filter_insn *last(struct linker *l)
{
	return &l->insns[l->nr - 1];
}

/* Makes all jumps in a value's chain target the next instruction. */
static inline void linker_settle(struct linker *l, struct value *v)
{
	uint16_t at = v->chain;

	while (at) {
		struct wm_filter_insn *insn = &l->insns[at - 1];

		at = insn->jump;
		insn->jump = (uint16_t)l->nr;
		/*
		 * Jumps now lead here, so the last instruction is not the only source of the value.
		 */
		v->flags &= ~VALUE_TEST;
	}
	v->chain = 0;
}

static inline uint32_t floor_of(const struct linker *l)
{
	return l->nr_blocks ? l->blocks[l->nr_blocks - 1].depth : 0;
}

/* Must be called before emitting an instruction that pushes a value. */
static inline void before_push(struct linker *l)
{
	if (!l->depth)
		return;
	linker_settle(l, &l->stack[l->depth - 1]);
	l->stack[l->depth - 1].flags &= ~VALUE_TEST;
}

static inline void linker_push(struct linker *l, enum type type, uint8_t flags)
{
	struct value *v;

	if (l->depth == WM_FILTER_STACK_MAX) {
		linker_fail(l, -EBADMSG, WM_FAULT_CODE);
		return;
	}
	if (type == TYPE_FLOAT)
		l->f->uses_float = true;
	v = &l->stack[l->depth++];
	v->type = type;
	v->flags = flags;
	v->field = 0;
	v->chain = 0;
}

/*
 * Pops the top value, which is complete at the next instruction. Returns an int when the stack is
 * empty.
 */
static inline struct value pop_unsettled(struct linker *l)
{
	struct value none;

	if (l->depth > floor_of(l))
		return l->stack[--l->depth];
	linker_fail(l, -EBADMSG, WM_FAULT_CODE);
	none.type = TYPE_INT;
	none.flags = none.field = 0;
	none.chain = 0;
	return none;
}

static inline struct value linker_pop(struct linker *l)
{
	struct value v = pop_unsettled(l);

	linker_settle(l, &v);
	return v;
}

static inline bool is_const(const struct linker *l, const struct value *v, uint32_t back)
{
	return (v->flags & VALUE_LEAF) && v->type != TYPE_STRING &&
	       l->insns[l->nr - back].op == WM_INSN_CONST;
}

static inline bool linker_is_int(const struct value *v)
{
	return v->type == TYPE_INT || v->type == TYPE_UINT;
}

static inline bool linker_is_number(struct linker *l, const struct value *v)
{
	if (v->type == TYPE_STRING)
		linker_fail(l, -EINVAL, WM_FAULT_TEXT_NUMBER);
	return v->type != TYPE_STRING;
}

static inline void push_const(struct linker *l, enum type type, uint64_t x)
{
	before_push(l);
	linker_emit(l, WM_INSN_CONST)->x = x;
	linker_push(l, type, VALUE_LEAF);
}

static inline void push_string(struct linker *l, uint64_t operand)
{
	before_push(l);
	linker_emit(l, WM_INSN_LEAF)->x = operand;
	linker_push(l, TYPE_STRING, VALUE_LEAF);
}

/* --- fields by name --------------------------------------------------- */

/* A field found by name, and where it is in the payload. */
struct place {
	struct wm_schema_field field;
	uint32_t anchor, offset;
};

static inline bool linker_same(const char *a, uint32_t a_bytes, const char *b, uint32_t b_bytes)
{
	if (a_bytes != b_bytes)
		return false;
	for (uint32_t i = 0; i < a_bytes; i++) {
		if (a[i] != b[i])
			return false;
	}
	return true;
}

/* Advances the place past a field. */
static inline void step_over(struct place *p)
{
	if (wm_schema_dynamic(&p->field)) {
		p->anchor++;
		p->offset = 0;
	} else {
		p->offset += wm_schema_least_bytes(&p->field);
	}
}

/* --- ranges ---------------------------------------------------------- */

/*
 * Emits a range test. If the last instruction is a load, turns it into a test of the loaded value;
 * otherwise the test applies to the top of the stack.
 */
static inline struct wm_filter_insn *make_range(struct linker *l, bool of_load)
{
	if (of_load) {
		last(l)->op = (uint8_t)(last(l)->op - WM_INSN_LOAD_I1 + WM_INSN_RANGE_I1);
		return last(l);
	}
	return linker_emit(l, WM_INSN_RANGE);
}

static inline bool is_load(const struct value *v)
{
	/* It is not a constant; the caller has checked. */
	return (v->flags & VALUE_LEAF) && linker_is_int(v);
}

/* --- the linker's other files ---------------------------------------- */

/* filter_link_field.c: pushes the value of the field, element or context that the step names. */
void wm_filter_link_field(struct linker *l, const struct wm_filter_step *step);
void wm_filter_link_element(struct linker *l,
			    const struct wm_filter_step *step); /* also pops the index */
void wm_filter_link_context(struct linker *l, uint8_t bit);

/* filter_link_compare.c: pushes the result of a comparison whose operands have been popped. */
void wm_filter_link_ints(struct linker *l, uint8_t op, const struct value *left,
			 const struct value *right);
void wm_filter_link_strings(struct linker *l, uint8_t op, const struct value *left,
			    const struct value *right); /* at least one operand is a string */

#endif
