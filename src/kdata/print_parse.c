/* SPDX-License-Identifier: MIT */
/*
 * print_parse.c - parses the expressions in a print form: operators with C's precedence, numbers
 * with C's types, and fields of the record.
 */
#include <errno.h>

#include "kdata/print_tree_int.h"

static struct wm_knode *print_parse_unary(struct wm_kparser *p);

struct wm_knode *wm_kparser_node(struct wm_kparser *p, enum wm_knode_kind kind)
{
	struct wm_knode *n;

	if (p->why || p->nr_nodes >= WM_KPRINT_NODES_MAX)
		return wm_kparser_fail(p, "it is too long");
	n = wm_arena_get(p->arena, sizeof(*n));
	if (!n) {
		p->no_memory = true;
		return wm_kparser_fail(p, "out of memory");
	}
	p->nr_nodes++;
	n->kind = (uint8_t)kind;
	n->bytes = p->machine->long_bytes;
	return n;
}

static bool print_parse_is_number(const struct wm_knode *n)
{
	return !n || n->kind == WM_KNODE_NUMBER;
}

/* Computes a node's value if its operands are constant. */
static void print_parse_fold(struct wm_kparser *p, struct wm_knode *n)
{
	const struct wm_krun none = {.print = &(struct wm_kprint){.machine = *p->machine}};
	bool is_truth = n->kind == WM_KNODE_BINARY && n->number;

	if (n->kind != WM_KNODE_CAST && n->kind != WM_KNODE_UNARY && n->kind != WM_KNODE_BINARY)
		return;
	if (!print_parse_is_number(n->a) || !print_parse_is_number(n->b))
		return;
	n->number = wm_krun_number(&none, n);
	n->kind = WM_KNODE_NUMBER;
	n->a = n->b = NULL;
	n->height = 0;
	if (is_truth) {
		n->bytes = 4;
		n->is_signed = true;
	}
}

struct wm_knode *wm_kparser_whole(struct wm_kparser *p, struct wm_knode *n)
{
	const struct wm_knode *part[] = {n ? n->a : NULL, n ? n->b : NULL, n ? n->c : NULL};

	for (int i = 0; i < 3; i++) {
		if (part[i] && part[i]->height >= n->height)
			n->height = (uint16_t)(part[i]->height + 1);
	}
	if (n && n->height > WM_KPRINT_HEIGHT_MAX)
		return wm_kparser_fail(p, "too many operators in a row");
	if (n)
		print_parse_fold(p, n);
	return n;
}

struct wm_knode *wm_kparser_number(struct wm_kparser *p, uint64_t value, uint8_t bytes,
				   bool is_signed)
{
	struct wm_knode *n = wm_kparser_node(p, WM_KNODE_NUMBER);

	if (n) {
		n->number = value;
		n->bytes = bytes;
		n->is_signed = is_signed;
	}
	return n;
}

struct wm_knode *wm_kparser_unknown(struct wm_kparser *p)
{
	p->nr_unknown++;
	return wm_kparser_number(p, 0, 8, false);
}

static struct wm_knode *field_node(struct wm_kparser *p, const struct wm_ktoken *name)
{
	struct wm_knode *n = wm_kparser_node(p, WM_KNODE_FIELD);

	for (unsigned i = 0; n && i < p->format->nr_fields; i++) {
		const struct wm_kfield *f = &p->format->fields[i];

		if (strlen(f->name) != name->length || memcmp(f->name, name->at, name->length) != 0)
			continue;
		n->field = f;
		if (f->flags & WM_KFIELD_ARRAY || !f->element_bytes)
			n->kind = WM_KNODE_BYTES;
		if (f->element_bytes)
			n->bytes = f->element_bytes;
		n->is_signed = f->flags & WM_KFIELD_SIGNED;
		return n;
	}
	return n ? wm_kparser_fail(p, "the event has no such field") : NULL;
}

/* Parses what follows REC: -> and the name of a field. */
static struct wm_knode *record_field(struct wm_kparser *p)
{
	struct wm_ktoken name;

	if (!wm_kparser_skip(p, WM_KOP_ARROW))
		return NULL;
	name = p->token;
	if (name.kind != WM_KTOKEN_NAME)
		return wm_kparser_fail(p, "REC without a field");
	wm_kparser_next(p);
	return field_node(p, &name);
}

/* Parses a string; adjacent strings are concatenated. */
static struct wm_knode *text_node(struct wm_kparser *p)
{
	struct wm_knode *n = wm_kparser_node(p, WM_KNODE_TEXT);

	if (!n)
		return NULL;
	n->text = p->token.text;
	wm_kparser_next(p);
	while (p->token.kind == WM_KTOKEN_TEXT) {
		size_t have = strlen(n->text), more = strlen(p->token.text);
		char *both = wm_arena_get(p->arena, have + more + 1);

		if (!both) {
			p->no_memory = true;
			return wm_kparser_fail(p, "out of memory");
		}
		memcpy(both, n->text, have);
		memcpy(both + have, p->token.text, more);
		n->text = both;
		wm_kparser_next(p);
	}
	return n;
}

/* Returns the value of a constant whose name old kernels left in their print forms. */
static struct wm_knode *old_name(struct wm_kparser *p, const struct wm_ktoken *name)
{
	static const struct {
		const char *name;
		uint8_t value;
	} olds[] = {
	    {"HI_SOFTIRQ", 0},       {"TIMER_SOFTIRQ", 1},   {"NET_TX_SOFTIRQ", 2},
	    {"NET_RX_SOFTIRQ", 3},   {"BLOCK_SOFTIRQ", 4},   {"BLOCK_IOPOLL_SOFTIRQ", 5},
	    {"IRQ_POLL_SOFTIRQ", 5}, {"TASKLET_SOFTIRQ", 6}, {"SCHED_SOFTIRQ", 7},
	    {"HRTIMER_SOFTIRQ", 8},  {"RCU_SOFTIRQ", 9},     {"HRTIMER_NORESTART", 0},
	    {"HRTIMER_RESTART", 1},
	};

	for (size_t i = 0; i < sizeof(olds) / sizeof(olds[0]); i++) {
		if (strlen(olds[i].name) == name->length &&
		    memcmp(olds[i].name, name->at, name->length) == 0)
			return wm_kparser_number(p, olds[i].value, 4, true);
	}
	return wm_kparser_unknown(p); /* a macro or variable that only the kernel has */
}

static struct wm_knode *bound_name(struct wm_kparser *p, const struct wm_ktoken *name)
{
	for (const struct wm_kbound *b = p->bound; b; b = b->next) {
		if (b->length == name->length && memcmp(b->name, name->at, name->length) == 0) {
			struct wm_knode *n = wm_kparser_node(p, WM_KNODE_NUMBER);

			if (n)
				*n = *b->value;
			return n;
		}
	}
	return old_name(p, name);
}

static struct wm_knode *name_node(struct wm_kparser *p)
{
	struct wm_ktoken name = p->token;

	if (wm_kparser_is_name(p, "REC")) {
		wm_kparser_next(p);
		return record_field(p);
	}
	if (wm_kparser_is_name(p, "true") || wm_kparser_is_name(p, "false")) {
		wm_kparser_next(p);
		return wm_kparser_number(p, name.length == 4, 4, true);
	}
	if (wm_kparser_is_name(p, "NULL")) {
		wm_kparser_next(p);
		return wm_kparser_number(p, 0, p->machine->long_bytes, false);
	}
	wm_kparser_next(p);
	if (wm_kparser_is(p, '(')) {
		wm_kparser_next(p);
		return wm_kparser_call(p, &name);
	}
	return bound_name(p, &name);
}

static struct wm_knode *cast_node(struct wm_kparser *p, const struct wm_ktype *t,
				  struct wm_knode *a)
{
	bool has_bytes = a && (a->kind == WM_KNODE_BYTES || a->kind == WM_KNODE_VIEW);
	struct wm_knode *n;

	if (!a || (!t->bytes && !t->is_pointer))
		return a; /* the type is unknown: the value is unchanged */
	if (t->is_pointer && (a->kind == WM_KNODE_TEXT || !has_bytes)) {
		a->bytes = a->kind == WM_KNODE_NUMBER ? p->machine->long_bytes : a->bytes;
		return a; /* a cast address is still an address */
	}
	n = wm_kparser_node(p, t->is_pointer ? WM_KNODE_VIEW : WM_KNODE_CAST);
	if (n) {
		n->a = a;
		n->bytes = t->bytes ? t->bytes : a->bytes;
		n->is_signed = t->is_signed;
		n->field = a->field;
	}
	return wm_kparser_whole(p, n);
}

/*
 * Parses ({ TYPE NAME = EXPR; ... EXPR; }), replacing each name with its value. The current token
 * is '{'.
 */
static struct wm_knode *statement_node(struct wm_kparser *p)
{
	const struct wm_kbound *outside = p->bound;
	struct wm_knode *n = NULL;

	wm_kparser_next(p);
	while (!p->why && !wm_kparser_is(p, '}')) {
		struct wm_kparser before = *p;
		struct wm_ktoken name;
		struct wm_kbound *b;
		struct wm_ktype t;

		if (wm_kparser_type(p, true, &t) && p->token.kind == WM_KTOKEN_NAME) {
			name = p->token;
			wm_kparser_next(p);
			if (!wm_kparser_skip(p, '='))
				return NULL;
			n = cast_node(p, &t, wm_kparser_expression(p));
			b = n ? wm_arena_get(p->arena, sizeof(*b)) : NULL;
			if (!b)
				return wm_kparser_fail(p, "a declaration without a value");
			*b = (struct wm_kbound){name.at, name.length, n, p->bound};
			p->bound = b;
		} else {
			before.nr_nodes = p->nr_nodes;
			*p = before;
			n = wm_kparser_expression(p);
		}
		if (!wm_kparser_skip(p, ';'))
			return NULL;
	}
	p->bound = outside;
	if (!n || !wm_kparser_skip(p, '}') || !wm_kparser_skip(p, ')'))
		return wm_kparser_fail(p, "unfinished statements");
	return n;
}

/* The current token is '('. */
static struct wm_knode *parenthesis(struct wm_kparser *p)
{
	struct wm_knode *n;
	struct wm_ktype t;

	if (wm_kparser_cast(p, &t))
		return cast_node(p, &t, print_parse_unary(p));
	wm_kparser_next(p);
	if (wm_kparser_is(p, '{'))
		return statement_node(p);
	if (wm_kparser_is_name(p, "REC")) { /* (REC)->field */
		struct wm_kparser before = *p;

		wm_kparser_next(p);
		if (wm_kparser_is(p, ')')) {
			wm_kparser_next(p);
			return record_field(p);
		}
		before.nr_nodes = p->nr_nodes;
		*p = before;
	}
	n = wm_kparser_expression(p);
	return wm_kparser_skip(p, ')') ? n : NULL;
}

static struct wm_knode *primary(struct wm_kparser *p)
{
	struct wm_ktoken t = p->token;

	switch (t.kind) {
	case WM_KTOKEN_NUMBER:
		wm_kparser_next(p);
		return wm_kparser_number(p, t.number, t.bytes, t.is_signed);
	case WM_KTOKEN_TEXT:
		return text_node(p);
	case WM_KTOKEN_NAME:
		return name_node(p);
	default:
		return wm_kparser_is(p, '(') ? parenthesis(p)
					     : wm_kparser_fail(p, "an operand is missing");
	}
}

static struct wm_knode *element_node(struct wm_kparser *p, struct wm_knode *a, struct wm_knode *b)
{
	struct wm_knode *n;

	if (!a || !b)
		return NULL;
	if (a->kind != WM_KNODE_BYTES && a->kind != WM_KNODE_VIEW)
		return wm_kparser_fail(p,
				       "an element of something other than an array of the event");
	n = wm_kparser_node(p, WM_KNODE_ELEMENT);
	if (n) {
		n->a = a;
		n->b = b;
		n->bytes = a->bytes;
		n->is_signed = a->is_signed;
	}
	return wm_kparser_whole(p, n);
}

static struct wm_knode *postfix(struct wm_kparser *p)
{
	struct wm_knode *n = primary(p);

	while (n && wm_kparser_is(p, '[')) {
		struct wm_knode *index;

		wm_kparser_next(p);
		index = wm_kparser_expression(p);
		if (!wm_kparser_skip(p, ']'))
			return NULL;
		n = element_node(p, n, index);
	}
	return n;
}

/* Applies C's integer promotions; the result of a comparison is an int. */
static void promote(struct wm_knode *n, const struct wm_knode *a)
{
	bool is_truth = a->kind == WM_KNODE_BINARY && a->number;

	n->bytes = a->bytes < 4 || is_truth ? 4 : a->bytes;
	n->is_signed = a->bytes < 4 || is_truth || a->is_signed;
}

/* Applies C's usual arithmetic conversions. */
static void print_parse_convert(struct wm_knode *n, const struct wm_knode *a,
				const struct wm_knode *b)
{
	struct wm_knode x, y;

	promote(&x, a);
	promote(&y, b);
	n->bytes = x.bytes > y.bytes ? x.bytes : y.bytes;
	n->is_signed = (x.is_signed || x.bytes < n->bytes) && (y.is_signed || y.bytes < n->bytes);
}

static struct wm_knode *unary_op(struct wm_kparser *p)
{
	uint8_t op = p->token.op;
	struct wm_knode *a, *n;

	wm_kparser_next(p);
	a = print_parse_unary(p);
	if (!a || op == '+')
		return a;
	if (op == '*')
		return element_node(p, a, wm_kparser_number(p, 0, 4, true));
	if (op == '&') { /* &field yields the field's bytes */
		if (a->kind == WM_KNODE_FIELD)
			a->kind = WM_KNODE_BYTES;
		if (a->kind == WM_KNODE_BYTES)
			return a;
		return wm_kparser_fail(p, "the address of something other than a field");
	}
	n = wm_kparser_node(p, WM_KNODE_UNARY);
	if (!n)
		return NULL;
	n->op = op;
	n->a = a;
	promote(n, a);
	if (op == '!') {
		n->bytes = 4;
		n->is_signed = true;
	}
	return wm_kparser_whole(p, n);
}

static struct wm_knode *print_parse_unary(struct wm_kparser *p)
{
	static const char ops[] = "-~!+*&";
	struct wm_knode *n;

	if (p->depth >= WM_KPRINT_DEPTH_MAX)
		return wm_kparser_fail(p, "too many nested parentheses");
	p->depth++;
	if (p->token.kind == WM_KTOKEN_OP && p->token.op < 128 && p->token.op &&
	    strchr(ops, p->token.op))
		n = unary_op(p);
	else
		n = postfix(p);
	p->depth--;
	return n;
}

static unsigned precedence(const struct wm_kparser *p)
{
	if (p->token.kind != WM_KTOKEN_OP)
		return 0;
	switch (p->token.op) {
	case '*':
	case '/':
	case '%':
		return 10;
	case '+':
	case '-':
		return 9;
	case WM_KOP_SHL:
	case WM_KOP_SHR:
		return 8;
	case '<':
	case '>':
	case WM_KOP_LE:
	case WM_KOP_GE:
		return 7;
	case WM_KOP_EQ:
	case WM_KOP_NE:
		return 6;
	case '&':
		return 5;
	case '^':
		return 4;
	case '|':
		return 3;
	case WM_KOP_AND:
		return 2;
	case WM_KOP_OR:
		return 1;
	default:
		return 0;
	}
}

static bool gives_truth(uint8_t op)
{
	return op == '<' || op == '>' || (op >= WM_KOP_LE && op <= WM_KOP_OR);
}

static struct wm_knode *print_parse_binary(struct wm_kparser *p, unsigned least)
{
	struct wm_knode *a = print_parse_unary(p), *n;
	unsigned level;

	while (a && (level = precedence(p)) >= least && level) {
		uint8_t op = p->token.op;

		wm_kparser_next(p);
		n = wm_kparser_node(p, WM_KNODE_BINARY);
		if (!n)
			return NULL;
		n->op = op;
		n->a = a;
		n->b = print_parse_binary(p, level + 1);
		if (!n->b)
			return NULL;
		if (op == WM_KOP_SHL || op == WM_KOP_SHR)
			promote(n, a);
		else
			print_parse_convert(n, a, n->b);
		/* The type of a comparison node is the type of the operands compared. */
		n->number = gives_truth(op);
		a = wm_kparser_whole(p, n);
	}
	return a;
}

struct wm_knode *wm_kparser_expression(struct wm_kparser *p)
{
	struct wm_knode *a, *n;

	if (p->depth >= WM_KPRINT_DEPTH_MAX)
		return wm_kparser_fail(p, "too many nested parentheses");
	p->depth++;
	a = print_parse_binary(p, 1);
	if (a && wm_kparser_is(p, '?')) {
		n = wm_kparser_node(p, WM_KNODE_CHOICE);
		wm_kparser_next(p);
		if (n) {
			n->a = a;
			n->b = wm_kparser_expression(p);
		}
		if (n && n->b && wm_kparser_skip(p, ':'))
			n->c = wm_kparser_expression(p);
		if (n && n->b && n->c)
			print_parse_convert(n, n->b, n->c);
		a = n && n->c ? wm_kparser_whole(p, n) : NULL;
	}
	p->depth--;
	return a;
}
