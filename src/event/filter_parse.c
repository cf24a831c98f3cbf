/* SPDX-License-Identifier: MIT */
/*
 * filter_parse.c - compiles a filter's text to the portable code of filter_code.h: precedence
 * climbing that writes postfix directly. Tool side. Knows nothing about events: names and types are
 * left to the linker, except that a quoted string is always a string.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event/filter.h"
#include "event/filter_code.h"
#include "event/filter_lex_int.h"

#define DEPTH_MAX 100u /* nesting limit of brackets and prefix operators */
#define OPS_MAX   (WM_FILTER_BYTES_MAX / 3)

struct parser {
	struct wm_lexer x;
	struct wm_token t; /* the next token */
	uint32_t depth, stack, nest;
	uint32_t code_bytes, text_bytes, nr_ops;
	unsigned char code[WM_FILTER_BYTES_MAX], text[WM_FILTER_BYTES_MAX];
	uint16_t columns[OPS_MAX];
};

/* The properties of an expression that follow from the filter's text alone. */
struct operand {
	uint32_t offset; /* offset in the filter's text */
	uint32_t code;   /* offset in the code */
	bool is_text;    /* the expression is a quoted string */
};

struct binary {
	uint64_t punct;
	uint8_t binding, op, mirrored;
};

static const struct binary binaries[] = {
    {WM_PUNCT('|', '|'), 1, WM_OP_OR, 0},        {WM_PUNCT('&', '&'), 2, WM_OP_AND, 0},
    {WM_PUNCT('|', 0), 3, WM_OP_BITOR, 0},       {WM_PUNCT('^', 0), 4, WM_OP_XOR, 0},
    {WM_PUNCT('&', 0), 5, WM_OP_BITAND, 0},      {WM_PUNCT('=', '='), 6, WM_OP_EQ, WM_OP_EQ},
    {WM_PUNCT('!', '='), 6, WM_OP_NE, WM_OP_NE}, {WM_PUNCT('<', 0), 7, WM_OP_LT, WM_OP_GT},
    {WM_PUNCT('<', '='), 7, WM_OP_LE, WM_OP_GE}, {WM_PUNCT('>', 0), 7, WM_OP_GT, WM_OP_LT},
    {WM_PUNCT('>', '='), 7, WM_OP_GE, WM_OP_LE}, {WM_PUNCT('<', '<'), 8, WM_OP_SHL, 0},
    {WM_PUNCT('>', '>'), 8, WM_OP_SHR, 0},       {WM_PUNCT('+', 0), 9, WM_OP_ADD, 0},
    {WM_PUNCT('-', 0), 9, WM_OP_SUB, 0},         {WM_PUNCT('*', 0), 10, WM_OP_MUL, 0},
    {WM_PUNCT('/', 0), 10, WM_OP_DIV, 0},        {WM_PUNCT('%', 0), 10, WM_OP_MOD, 0},
};

static bool at(const struct parser *p, char a)
{
	return p->t.kind == WM_TOKEN_PUNCT && p->t.value == WM_PUNCT(a, 0);
}

static int advance(struct parser *p)
{
	return wm_filter_lex(&p->x, &p->t);
}

/* --- writing code ---------------------------------------------------- */

static int too_long(struct parser *p)
{
	return wm_filter_wrong(&p->x, p->t.offset,
			       "the filter is too long: it compiles to more than %u bytes",
			       WM_FILTER_BYTES_MAX);
}

static int filter_parse_emit(struct parser *p, uint8_t op, const void *operand, uint32_t bytes,
			     uint32_t offset)
{
	uint32_t total =
	    WM_FILTER_HEAD_BYTES + p->code_bytes + 1 + bytes + p->text_bytes + 2 * (p->nr_ops + 1);

	if (total > WM_FILTER_BYTES_MAX || p->nr_ops == OPS_MAX)
		return too_long(p);
	p->columns[p->nr_ops++] = (uint16_t)offset;
	p->code[p->code_bytes++] = op;
	if (bytes)
		memcpy(p->code + p->code_bytes, operand, bytes);
	p->code_bytes += bytes;
	return 0;
}

/* Emits an op that pushes a value. */
static int emit_push(struct parser *p, uint8_t op, const void *operand, uint32_t bytes,
		     uint32_t offset)
{
	if (++p->stack > WM_FILTER_STACK_MAX)
		return wm_filter_wrong(
		    &p->x, offset,
		    "the expression is too complex: more than %u operands wait for the "
		    "rest of their operations here; use fewer parentheses",
		    WM_FILTER_STACK_MAX);
	return filter_parse_emit(p, op, operand, bytes, offset);
}

/*
 * Returns the offset of a string in the text part of the bytecode, where equal strings are stored
 * once.
 */
static int intern(struct parser *p, const char *s, uint32_t bytes, uint16_t ret[2])
{
	unsigned char *found = bytes ? memmem(p->text, p->text_bytes, s, bytes) : p->text;

	if (!found) {
		if (WM_FILTER_HEAD_BYTES + p->code_bytes + p->text_bytes + bytes + 2 * p->nr_ops >
		    WM_FILTER_BYTES_MAX)
			return too_long(p);
		found = p->text + p->text_bytes;
		memcpy(found, s, bytes);
		p->text_bytes += bytes;
	}
	ret[0] = (uint16_t)(found - p->text);
	ret[1] = (uint16_t)bytes;
	return 0;
}

/* --- the grammar ----------------------------------------------------- */

static int parse_expression(struct parser *p, unsigned binding, struct operand *ret);

static int deeper(struct parser *p)
{
	if (++p->depth > DEPTH_MAX)
		return wm_filter_wrong(&p->x, p->t.offset, "more than %u levels of nesting",
				       DEPTH_MAX);
	return 0;
}

/* Parses "NAME" or "NAME[index]". */
static int filter_parse_name(struct parser *p)
{
	uint32_t offset = p->t.offset, bracket;
	struct operand index;
	uint16_t name[2];
	int err = intern(p, p->t.text, p->t.text_bytes, name);

	if (err || (err = advance(p)))
		return err;
	if (!at(p, '['))
		return emit_push(p, WM_OP_FIELD, name, sizeof(name), offset);
	bracket = p->t.offset;
	if ((err = deeper(p)) || (err = advance(p)) || (err = parse_expression(p, 1, &index)))
		return err;
	if (index.is_text)
		return wm_filter_wrong(&p->x, index.offset, "an index must be a number");
	if (!at(p, ']'))
		return wm_filter_wrong(&p->x, p->t.offset, "expected ']' for the '[' at column %u",
				       bracket + 1);
	p->depth--;
	err = filter_parse_emit(p, WM_OP_ELEMENT, name, sizeof(name), offset);
	return err ? err : advance(p);
}

static int parse_parenthesis(struct parser *p, struct operand *ret)
{
	uint32_t offset = p->t.offset;
	int err;

	if ((err = deeper(p)) || (err = advance(p)) || (err = parse_expression(p, 1, ret)))
		return err;
	if (!at(p, ')'))
		return wm_filter_wrong(&p->x, p->t.offset, "expected ')' for the '(' at column %u",
				       offset + 1);
	p->depth--;
	return advance(p);
}

static int parse_literal(struct parser *p, struct operand *ret)
{
	uint16_t text[2];
	uint8_t bit = (uint8_t)p->t.value;
	int err;

	switch (p->t.kind) {
	case WM_TOKEN_INT:
		err = emit_push(p, p->t.is_unsigned ? WM_OP_UINT : WM_OP_INT, &p->t.value, 8,
				p->t.offset);
		break;
	case WM_TOKEN_FLOAT:
		err = emit_push(p, WM_OP_FLOAT, &p->t.value, 8, p->t.offset);
		break;
	case WM_TOKEN_CONTEXT:
		err = emit_push(p, WM_OP_CONTEXT, &bit, 1, p->t.offset);
		break;
	case WM_TOKEN_TEXT:
		ret->is_text = true;
		err = intern(p, p->t.text, p->t.text_bytes, text);
		if (!err)
			err = emit_push(p, p->t.is_glob ? WM_OP_GLOB : WM_OP_TEXT, text,
					sizeof(text), p->t.offset);
		break;
	case WM_TOKEN_END:
		return wm_filter_wrong(&p->x, p->t.offset,
				       p->t.offset ? "the filter ends where a value is expected"
						   : "the filter is empty");
	default:
		return wm_filter_wrong(&p->x, p->t.offset, "expected a value");
	}
	return err ? err : advance(p);
}

static int parse_unary(struct parser *p, struct operand *ret)
{
	uint32_t offset = p->t.offset;
	uint8_t op = at(p, '-') ? WM_OP_NEG : at(p, '!') ? WM_OP_NOT : at(p, '~') ? WM_OP_INV : 0;
	int err;

	ret->offset = offset;
	ret->code = p->code_bytes;
	ret->is_text = false;
	if (!op) {
		if (p->t.kind == WM_TOKEN_NAME)
			return filter_parse_name(p);
		return at(p, '(') ? parse_parenthesis(p, ret) : parse_literal(p, ret);
	}
	if ((err = deeper(p)) || (err = advance(p)) || (err = parse_unary(p, ret)))
		return err;
	p->depth--;
	ret->offset = offset;
	if (ret->is_text)
		return wm_filter_wrong(&p->x, offset, "a string can only be compared");
	return filter_parse_emit(p, op, NULL, 0, offset);
}

static const struct binary *binary_here(const struct parser *p)
{
	for (size_t i = 0; i < sizeof(binaries) / sizeof(binaries[0]); i++) {
		if (p->t.kind == WM_TOKEN_PUNCT && p->t.value == binaries[i].punct)
			return &binaries[i];
	}
	return NULL;
}

/* Parses `left && right` or `left || right`; stores the size of the right operand between them. */
static int parse_logic(struct parser *p, const struct binary *b, uint32_t offset,
		       struct operand *left, struct operand *right)
{
	uint16_t bytes = 0;
	uint32_t start;
	int err;

	if (++p->nest > WM_FILTER_NEST_MAX)
		return wm_filter_wrong(
		    &p->x, offset,
		    "more than %u levels of && and || in parentheses on the right side of "
		    "another; put the parentheses on the left side",
		    WM_FILTER_NEST_MAX);
	err = filter_parse_emit(p, b->op, &bytes, sizeof(bytes), offset);
	p->stack--;
	start = p->code_bytes;
	if (err || (err = parse_expression(p, b->binding + 1u, right)))
		return err;
	p->nest--;
	if (left->is_text || right->is_text)
		return wm_filter_wrong(&p->x, left->is_text ? left->offset : right->offset,
				       "a string can only be compared");
	bytes = (uint16_t)(p->code_bytes - start);
	memcpy(p->code + start - sizeof(bytes), &bytes, sizeof(bytes));
	return 0;
}

/* For "text" == name, moves the push of the string after the other operand. */
static void swap_text(struct parser *p, uint32_t code, uint32_t first_op)
{
	enum { PUSH_BYTES = 5 };
	unsigned char push[PUSH_BYTES];
	uint16_t column = p->columns[first_op];
	uint32_t rest = p->code_bytes - code - PUSH_BYTES, ops = p->nr_ops - first_op - 1;

	memcpy(push, p->code + code, PUSH_BYTES);
	memmove(p->code + code, p->code + code + PUSH_BYTES, rest);
	memcpy(p->code + code + rest, push, PUSH_BYTES);
	memmove(p->columns + first_op, p->columns + first_op + 1, ops * sizeof(column));
	p->columns[first_op + ops] = column;
}

static int parse_binary(struct parser *p, const struct binary *b, uint32_t offset,
			struct operand *left, struct operand *right)
{
	/* The op that pushes the string, if the left operand is one. */
	uint32_t first_op = p->nr_ops - 1;
	uint8_t op = b->op;
	int err = parse_expression(p, b->binding + 1u, right);

	if (err)
		return err;
	if (!b->mirrored && (left->is_text || right->is_text))
		return wm_filter_wrong(&p->x, left->is_text ? left->offset : right->offset,
				       "a string can only be compared");
	if (left->is_text && right->is_text)
		return wm_filter_wrong(&p->x, offset, "both sides are constants");
	if (left->is_text) {
		swap_text(p, left->code, first_op);
		op = b->mirrored;
	}
	p->stack--;
	return filter_parse_emit(p, op, NULL, 0, offset);
}

/* Parses an expression whose operators bind at least this tightly. */
static int parse_expression(struct parser *p, unsigned binding, struct operand *ret)
{
	const struct binary *b;
	struct operand right;
	uint32_t offset;
	int err = parse_unary(p, ret);

	while (!err && (b = binary_here(p)) && b->binding >= binding) {
		offset = p->t.offset;
		err = advance(p);
		if (!err)
			err = b->binding <= 2 ? parse_logic(p, b, offset, ret, &right)
					      : parse_binary(p, b, offset, ret, &right);
		ret->is_text = false;
	}
	return err;
}

static int filter_parse_all(struct parser *p)
{
	struct operand all;
	int err = advance(p);

	if (!err)
		err = parse_expression(p, 1, &all);
	if (err)
		return err;
	if (p->t.kind != WM_TOKEN_END)
		return wm_filter_wrong(&p->x, p->t.offset,
				       at(p, ')')   ? "unmatched ')'"
				       : at(p, '[') ? "an index must directly follow a field's name"
						    : "expected an operator");
	if (all.is_text)
		return wm_filter_wrong(&p->x, all.offset, "a string can only be compared");
	return 0;
}

static int filter_parse_finish(const struct parser *p, unsigned char **ret_code, size_t *ret_bytes)
{
	struct wm_filter_head head = {
	    .magic = WM_FILTER_MAGIC,
	    .code_bytes = (uint16_t)p->code_bytes,
	    .text_bytes = (uint16_t)p->text_bytes,
	    .nr_ops = (uint16_t)p->nr_ops,
	};
	size_t bytes = WM_FILTER_HEAD_BYTES + p->code_bytes + p->text_bytes + 2 * p->nr_ops;
	unsigned char *code = malloc(bytes), *to = code;

	if (!code)
		return -ENOMEM;
	memcpy(to, &head, WM_FILTER_HEAD_BYTES);
	to += WM_FILTER_HEAD_BYTES;
	memcpy(to, p->code, p->code_bytes);
	to += p->code_bytes;
	memcpy(to, p->text, p->text_bytes);
	to += p->text_bytes;
	memcpy(to, p->columns, 2 * p->nr_ops);
	*ret_code = code;
	*ret_bytes = bytes;
	return 0;
}

int wm_filter_parse(const char *text, unsigned char **ret_code, size_t *ret_bytes,
		    struct wm_diag *diag)
{
	struct wm_lexer x = {.text = text, .diag = diag};
	struct parser *p;
	int err;

	if (strnlen(text, WM_FILTER_TEXT_MAX) == WM_FILTER_TEXT_MAX)
		return wm_filter_wrong(&x, 0, "the filter is too long: the limit is %u characters",
				       WM_FILTER_TEXT_MAX - 1);
	p = calloc(1, sizeof(*p));
	if (!p)
		return wm_diag_set(diag, -ENOMEM, "filter", -1, "out of memory");
	p->x = x;
	err = filter_parse_all(p);
	if (!err)
		err = filter_parse_finish(p, ret_code, ret_bytes);
	if (err == -ENOMEM)
		(void)wm_diag_set(diag, -ENOMEM, "filter", -1, "out of memory");
	free(p);
	return err;
}
