/* SPDX-License-Identifier: MIT */
/*
 * filter_bind.c - binds a portable filter to an event's types: one pass over the postfix code with
 * a stack of types, like filter_link.c for descriptions, but without folding. See filter_item.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "base/nearest.h"
#include "event/filter_code.h"
#include "event/filter_item_int.h"

enum value_type { VALUE_INT, VALUE_UINT, VALUE_FLOAT, VALUE_TEXT };

struct value {
	enum value_type type;
	/* The value is a constant, pushed by the last instruction. */
	bool is_const;
	const struct wm_type *enumeration; /* NULL: none */
	uint32_t operand;                  /* TEXT: index of the string operand */
};

/* The state of && or || while its right operand is being bound. */
struct block {
	uint32_t end, jump; /* where the operand's code ends; index of the jump over it */
	uint32_t depth;
};

struct binder {
	struct wm_item_filter *f;
	struct wm_filter_code code;
	const struct wm_type *const *parts;
	const char *name;
	struct wm_diag *diag;
	uint32_t nr_insns, nr_operands, depth, nr_blocks, op;
	struct value stack[WM_FILTER_STACK_MAX];
	struct block blocks[WM_FILTER_NEST_MAX];
	int err;
};

/* --- errors ----------------------------------------------------------------------- */

/* Reports an error at the column of the current operation. Only the first error is recorded. */
static void bind_fail(struct binder *b, int err, const char *sentence, const char *name)
{
	if (b->err)
		return;
	b->err = wm_diag_set(b->diag, err, "filter", -1, sentence, name, name);
	if (b->diag && b->op < b->code.nr_ops) {
		b->diag->offset = wm_load_u16(b->code.columns + 2 * b->op);
		b->diag->line = 1;
		b->diag->column = (uint32_t)b->diag->offset + 1;
	}
}

static void bind_damaged(struct binder *b)
{
	bind_fail(b, -EBADMSG, "the compiled filter is damaged%.0s%.0s", "");
}

/* Suggests the closest field names. */
static void no_field(struct binder *b, const char *wanted)
{
	char near_words[WM_DIAG_SENTENCE / 2], sentence[2 * WM_DIAG_SENTENCE];
	struct wm_nearest near;

	wm_nearest_init(&near, wanted);
	for (int part = WM_NR_PARTS - 1; part >= 0; part--)
		for (uint32_t i = 0; b->parts[part] && i < b->parts[part]->nr_members; i++)
			wm_nearest_offer(&near, b->parts[part]->members[i].name);
	(void)wm_nearest_sentence(&near, "", near_words, sizeof(near_words));
	(void)snprintf(sentence, sizeof(sentence), "%.80s has no field '%.80s'%s%s", b->name,
		       wanted, near_words[0] ? "; " : "", near_words);
	bind_fail(b, -ENOENT, "%s%.0s", sentence);
}

/* --- instructions and values --------------------------------------------------------- */

static struct wm_filter_insn *bind_emit(struct binder *b, int op)
{
	/* wm_item_filter_bind() allocated room for all instructions. */
	struct wm_filter_insn *insn = &b->f->insns[b->nr_insns++];

	*insn = (struct wm_filter_insn){.op = (uint8_t)op};
	return insn;
}

static void bind_push(struct binder *b, struct value v)
{
	if (b->depth == WM_FILTER_STACK_MAX)
		bind_damaged(b);
	else
		b->stack[b->depth++] = v;
}

static struct value bind_pop(struct binder *b)
{
	uint32_t floor = b->nr_blocks ? b->blocks[b->nr_blocks - 1].depth : 0;

	if (b->depth > floor)
		return b->stack[--b->depth];
	bind_damaged(b);
	return (struct value){VALUE_INT};
}

static uint32_t operand(struct binder *b, struct operand o)
{
	b->f->operands[b->nr_operands] = o;
	return b->nr_operands++;
}

static bool bind_is_int(const struct value *v)
{
	return v->type == VALUE_INT || v->type == VALUE_UINT;
}

static void need_number(struct binder *b, const struct value *v)
{
	if (v->type == VALUE_TEXT)
		bind_fail(b, -EINVAL, "a string can only be compared%.0s%.0s", "");
}

/* Emits an instruction that turns the value into 0 or 1. */
static void truth(struct binder *b, const struct value *v)
{
	need_number(b, v);
	(void)bind_emit(b, v->type == VALUE_FLOAT ? (int)WM_INSN_FLOAT_TRUTH : (int)ITEM_TRUTH);
}

/* --- fields ------------------------------------------------------------------------------ */

static bool bind_find_member(struct binder *b, const struct wm_filter_step *step,
			     struct operand *ret, char name[WM_SCHEMA_NAME_MAX + 1])
{
	if (step->text_bytes > WM_SCHEMA_NAME_MAX) {
		bind_damaged(b);
		return false;
	}
	memcpy(name, step->text, step->text_bytes);
	name[step->text_bytes] = 0;
	for (int part = WM_NR_PARTS - 1; part >= 0; part--)
		for (uint32_t i = 0; b->parts[part] && i < b->parts[part]->nr_members; i++)
			if (!strcmp(b->parts[part]->members[i].name, name)) {
				*ret = (struct operand){OPERAND_MEMBER,
							b->parts[part]->members[i].type, part, i};
				return true;
			}
	no_field(b, name);
	return false;
}

static bool bind_is_number(const struct wm_type *t)
{
	return t->kind == WM_TYPE_UNSIGNED || t->kind == WM_TYPE_SIGNED ||
	       t->kind == WM_TYPE_BOOL || t->kind == WM_TYPE_FLOAT;
}

static void push_number(struct binder *b, const struct wm_type *t)
{
	struct value v = {VALUE_INT};

	if (t->kind == WM_TYPE_FLOAT)
		v.type = VALUE_FLOAT;
	else if (t->kind == WM_TYPE_UNSIGNED && t->bits == 64)
		v.type = VALUE_UINT;
	if (t->is_enum)
		v.enumeration = t;
	bind_push(b, v);
}

static void bind_field(struct binder *b, const struct wm_filter_step *step)
{
	char name[WM_SCHEMA_NAME_MAX + 1];
	struct operand o;

	if (!bind_find_member(b, step, &o, name))
		return;
	if (o.type->kind == WM_TYPE_STRING) {
		bind_push(b, (struct value){VALUE_TEXT, .operand = operand(b, o)});
	} else if (bind_is_number(o.type)) {
		bind_emit(b, o.type->kind == WM_TYPE_FLOAT ? ITEM_REAL : ITEM_NUMBER)->x =
		    operand(b, o);
		push_number(b, o.type);
	} else if (o.type->kind == WM_TYPE_LIST || o.type->kind == WM_TYPE_BYTES) {
		bind_fail(b, -EINVAL, "'%s' has several elements: choose one, as in %s[0]", name);
	} else {
		bind_fail(b, -EINVAL, "'%s' is neither a number nor a string%.0s", name);
	}
}

static void bind_element(struct binder *b, const struct wm_filter_step *step)
{
	static const struct wm_type byte = {.kind = WM_TYPE_UNSIGNED, .bits = 8};
	char name[WM_SCHEMA_NAME_MAX + 1];
	struct value index = bind_pop(b);
	const struct wm_type *element = &byte;
	struct operand o;

	if (!bind_find_member(b, step, &o, name))
		return;
	if (o.type->kind == WM_TYPE_LIST)
		element = o.type->element.type;
	else if (o.type->kind != WM_TYPE_STRING && o.type->kind != WM_TYPE_BYTES)
		bind_fail(b, -EINVAL, "'%s' has no elements%.0s", name);
	if (!bind_is_number(element))
		bind_fail(b, -EINVAL, "the elements of '%s' are not numbers%.0s", name);
	if (!bind_is_int(&index))
		bind_fail(b, -EINVAL, "the index of '%s' must be an integer%.0s", name);
	if (!b->err && index.is_const && o.type->fixed &&
	    b->f->insns[b->nr_insns - 1].x >= o.type->length)
		bind_fail(b, -EINVAL, "'%s' has no element with this index%.0s", name);
	bind_emit(b, ITEM_ELEMENT)->x = operand(b, o);
	push_number(b, element);
}

static void bind_context(struct binder *b, uint8_t bit)
{
	if (bit > 4) {
		bind_damaged(b);
		return;
	}
	b->f->needs |= 1u << bit;
	if (1u << bit == WM_FILTER_COMM) {
		bind_push(b, (struct value){VALUE_TEXT,
					    .operand = operand(b, (struct operand){OPERAND_COMM})});
		return;
	}
	bind_emit(b, WM_INSN_CONTEXT)->kind = bit;
	bind_push(b, (struct value){VALUE_INT});
}

/* --- operators ------------------------------------------------------------------------------ */

static bool bind_is_literal(const struct operand *o)
{
	return o->kind == OPERAND_LITERAL || o->kind == OPERAND_PATTERN;
}

static void bind_compare_texts(struct binder *b, uint8_t op, const struct value *left,
			       const struct value *right)
{
	struct wm_filter_insn *insn;

	if (op != WM_OP_EQ && op != WM_OP_NE)
		bind_fail(b, -EINVAL, "strings can be compared with == and != only%.0s%.0s", "");
	if (bind_is_literal(&b->f->operands[left->operand]))
		bind_fail(b, -EINVAL, "both sides are constants%.0s%.0s", "");
	insn = bind_emit(b, ITEM_TEXT);
	insn->x = left->operand;
	insn->y = right->operand;
	insn->invert = op == WM_OP_NE;
	bind_push(b, (struct value){VALUE_INT});
}

bool wm_item_label_matches(const struct operand *o, const char *name)
{
	size_t n = strlen(name);

	return o->kind == OPERAND_PATTERN ? wm_glob_match(o->text, o->bytes, name, n)
					  : o->bytes == n && !memcmp(o->text, name, n);
}

static void bind_compare_label(struct binder *b, uint8_t op, const struct value *left,
			       const struct value *right)
{
	struct operand *o = &b->f->operands[right->operand];
	const struct wm_type *t = left->enumeration;
	uint32_t nr = 0;
	struct wm_filter_insn *insn;

	if (!bind_is_literal(o)) {
		bind_fail(b, -EINVAL, "a string cannot be compared with a number%.0s%.0s", "");
		return;
	}
	for (uint32_t i = 0; i < t->nr_labels; i++)
		nr += wm_item_label_matches(o, t->labels[i].name);
	if (!nr)
		bind_fail(b, -EINVAL, "there is no label '%s'%.0s", o->text);
	if (nr > 1 && op != WM_OP_EQ && op != WM_OP_NE)
		bind_fail(b, -EINVAL, "'%s' matches several values: use == or !=%.0s", o->text);
	o->type = t;
	insn = bind_emit(b, ITEM_LABEL);
	insn->x = right->operand;
	insn->kind = op;
	bind_push(b, (struct value){VALUE_INT});
}

static void bind_make_float(struct binder *b, const struct value *v, uint8_t depth)
{
	struct wm_filter_insn *insn;

	if (v->type == VALUE_FLOAT)
		return;
	insn = bind_emit(b, WM_INSN_FLOAT_FROM);
	insn->kind = depth;
	insn->offset = v->type == VALUE_UINT;
}

static void bind_float(struct binder *b, uint8_t op, const struct value *left,
		       const struct value *right)
{
	bool compares = op >= WM_OP_LT;

	if (!compares && op != WM_OP_MUL && op != WM_OP_DIV && op != WM_OP_ADD && op != WM_OP_SUB)
		bind_fail(b, -EINVAL,
			  "this operator does not accept floating-point numbers%.0s%.0s", "");
	bind_make_float(b, left, 1);
	bind_make_float(b, right, 0);
	bind_emit(b, compares ? WM_INSN_FLOAT_COMPARE : WM_INSN_FLOAT_ARITH)->kind = op;
	bind_push(b, (struct value){compares ? VALUE_INT : VALUE_FLOAT});
}

static void bind_ints(struct binder *b, uint8_t op, const struct value *left,
		      const struct value *right)
{
	bool lu = left->type == VALUE_UINT, ru = right->type == VALUE_UINT;
	bool shift = op == WM_OP_SHL || op == WM_OP_SHR, is_unsigned = lu || (!shift && ru);
	struct wm_filter_insn *insn =
	    bind_emit(b, op >= WM_OP_LT ? WM_INSN_COMPARE : WM_INSN_ARITH);

	insn->kind = op;
	insn->offset = op >= WM_OP_LT ? (uint32_t)lu | (uint32_t)ru << 1 : is_unsigned;
	bind_push(b, (struct value){op < WM_OP_LT && is_unsigned ? VALUE_UINT : VALUE_INT});
}

static void bind_binary(struct binder *b, uint8_t op)
{
	struct value right = bind_pop(b), left = bind_pop(b);

	if (b->err)
		return;
	if (left.type == VALUE_TEXT || right.type == VALUE_TEXT) {
		if (op < WM_OP_LT)
			need_number(b, left.type == VALUE_TEXT ? &left : &right);
		else if (left.type == right.type)
			bind_compare_texts(b, op, &left, &right);
		else if (left.enumeration)
			bind_compare_label(b, op, &left, &right);
		else
			bind_fail(b, -EINVAL, "a string cannot be compared with a number%.0s%.0s",
				  "");
	} else if (left.type == VALUE_FLOAT || right.type == VALUE_FLOAT) {
		bind_float(b, op, &left, &right);
	} else {
		bind_ints(b, op, &left, &right);
	}
}

static void bind_negative(struct binder *b, const struct value *v)
{
	struct wm_filter_insn *last = &b->f->insns[b->nr_insns - 1], *insn;
	enum value_type type = v->type;

	if (v->is_const) {
		if (last->x == 1ull << 63)
			type = VALUE_INT; /* the smallest integer can be written as a literal */
		last->x = 0 - last->x;
		bind_push(b, (struct value){type, true});
		return;
	}
	(void)bind_emit(b, WM_INSN_INV); /* computes -x as ~x + 1 */
	bind_emit(b, WM_INSN_CONST)->x = 1;
	insn = bind_emit(b, WM_INSN_ARITH);
	insn->kind = WM_OP_ADD;
	insn->offset = type == VALUE_UINT;
	bind_push(b, (struct value){type});
}

static void bind_unary(struct binder *b, uint8_t op)
{
	struct value v = bind_pop(b);

	need_number(b, &v);
	if (op == WM_OP_INV && v.type == VALUE_FLOAT)
		bind_fail(b, -EINVAL,
			  "this operator does not accept floating-point numbers%.0s%.0s", "");
	if (b->err)
		return;
	if (op == WM_OP_NOT) {
		truth(b, &v);
		(void)bind_emit(b, ITEM_NOT);
		bind_push(b, (struct value){VALUE_INT});
	} else if (v.type == VALUE_FLOAT) {
		(void)bind_emit(b, WM_INSN_FLOAT_NEG);
		bind_push(b, (struct value){VALUE_FLOAT});
	} else if (op == WM_OP_NEG) {
		bind_negative(b, &v);
	} else {
		(void)bind_emit(b, WM_INSN_INV);
		bind_push(b, (struct value){v.type});
	}
}

/*
 * Begins && or ||: the left operand is complete, and the code of the right operand ends at `end`.
 */
static void bind_open_block(struct binder *b, bool when, uint32_t end)
{
	uint32_t outer = b->nr_blocks ? b->blocks[b->nr_blocks - 1].end : b->code.code_bytes;
	struct value v = bind_pop(b);

	truth(b, &v);
	if (end > outer || b->nr_blocks == WM_FILTER_NEST_MAX)
		bind_damaged(b);
	if (b->err)
		return;
	b->blocks[b->nr_blocks++] = (struct block){end, b->nr_insns, b->depth};
	bind_emit(b, WM_INSN_JUMP)->when = when;
}

static void bind_close_block(struct binder *b)
{
	struct value v = bind_pop(b);
	const struct block *block = &b->blocks[--b->nr_blocks];

	truth(b, &v);
	if (b->depth != block->depth)
		bind_damaged(b);
	b->f->insns[block->jump].jump = (uint16_t)b->nr_insns;
	bind_push(b, (struct value){VALUE_INT});
}

/* --- the whole filter
 * --------------------------------------------------------------------------- */

static void bind_literal(struct binder *b, const struct wm_filter_step *step)
{
	struct operand o = {step->op == WM_OP_TEXT ? OPERAND_LITERAL : OPERAND_PATTERN};

	o.text = b->f->text + ((const unsigned char *)step->text - b->code.text);
	o.bytes = step->text_bytes;
	bind_push(b, (struct value){VALUE_TEXT, .operand = operand(b, o)});
}

static void bind_step(struct binder *b, const struct wm_filter_step *step, uint32_t pos)
{
	static const enum value_type of_const[] = {
	    [WM_OP_INT] = VALUE_INT, [WM_OP_UINT] = VALUE_UINT, [WM_OP_FLOAT] = VALUE_FLOAT};

	switch (step->op) {
	case WM_OP_INT:
	case WM_OP_UINT:
	case WM_OP_FLOAT:
		bind_emit(b, WM_INSN_CONST)->x = wm_load_u64(step->operand);
		bind_push(b, (struct value){of_const[step->op], step->op != WM_OP_FLOAT});
		break;
	case WM_OP_TEXT:
	case WM_OP_GLOB:
		bind_literal(b, step);
		break;
	case WM_OP_FIELD:
		bind_field(b, step);
		break;
	case WM_OP_ELEMENT:
		bind_element(b, step);
		break;
	case WM_OP_CONTEXT:
		bind_context(b, *step->operand);
		break;
	case WM_OP_AND:
	case WM_OP_OR:
		bind_open_block(b, step->op == WM_OP_OR, pos + wm_load_u16(step->operand));
		break;
	case WM_OP_NEG:
	case WM_OP_NOT:
	case WM_OP_INV:
		bind_unary(b, step->op);
		break;
	default:
		bind_binary(b, step->op);
	}
}

static void bind_code(struct binder *b)
{
	struct wm_filter_step step;
	uint32_t pos = 0, nr = 0;
	struct value v;
	int more;

	while ((more = wm_filter_code_next(&b->code, &pos, &step)) > 0 && !b->err) {
		b->op = nr++;
		bind_step(b, &step, pos);
		while (!b->err && b->nr_blocks && b->blocks[b->nr_blocks - 1].end <= pos) {
			if (b->blocks[b->nr_blocks - 1].end < pos || step.op >= WM_OP_AND)
				bind_damaged(b);
			else
				bind_close_block(b);
		}
	}
	if (more < 0 || (!b->err && (nr != b->code.nr_ops || b->nr_blocks || b->depth != 1)))
		bind_damaged(b);
	if (b->err)
		return;
	v = bind_pop(b);
	truth(b, &v);
	(void)bind_emit(b, WM_INSN_END);
}

int wm_item_filter_bind(const unsigned char *code, size_t bytes, const char *name,
			const struct wm_type *const parts[WM_NR_PARTS], struct wm_item_filter **ret,
			struct wm_diag *diag)
{
	struct binder b = {.parts = parts, .name = name, .diag = diag};
	size_t room;

	if (wm_filter_code_open(&b.code, code, bytes)) {
		b.code.nr_ops = 0;
		bind_damaged(&b);
		return b.err;
	}
	room = 4 * (size_t)b.code.code_bytes + 8; /* a step emits at most four instructions */
	b.f = calloc(1, sizeof(*b.f));
	if (b.f) {
		b.f->insns = calloc(room, sizeof(*b.f->insns));
		b.f->operands = calloc(b.code.code_bytes + 1, sizeof(*b.f->operands));
		b.f->text = malloc(b.code.text_bytes + 1);
	}
	if (!b.f || !b.f->insns || !b.f->operands || !b.f->text) {
		wm_item_filter_destroy(b.f);
		return wm_diag_set(diag, -ENOMEM, "filter", -1, "out of memory");
	}
	memcpy(b.f->text, b.code.text, b.code.text_bytes);
	b.f->text[b.code.text_bytes] = 0;
	bind_code(&b);
	if (b.err) {
		wm_item_filter_destroy(b.f);
		return b.err;
	}
	*ret = b.f;
	return 0;
}

void wm_item_filter_destroy(struct wm_item_filter *f)
{
	if (!f)
		return;
	free(f->insns);
	free(f->operands);
	free(f->text);
	free(f);
}

uint32_t wm_item_filter_needs(const struct wm_item_filter *f)
{
	return f->needs;
}
