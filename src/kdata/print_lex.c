/* SPDX-License-Identifier: MIT */
/* print_lex.c - splits a print form into names, numbers, strings and operators. */
#include <errno.h>

#include "kdata/print_tree_int.h"

struct wm_knode *wm_kparser_fail(struct wm_kparser *p, const char *why)
{
	if (!p->why) {
		p->why = why;
		p->where = p->token.at ? p->token.at : p->at;
	}
	p->at = p->end; /* makes the parser stop */
	p->token = (struct wm_ktoken){.kind = WM_KTOKEN_END, .at = p->where};
	return NULL;
}

static bool print_lex_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool print_lex_is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       print_lex_is_digit(c);
}

static unsigned digit(char c)
{
	if (print_lex_is_digit(c))
		return (unsigned)(c - '0');
	c |= 32;
	return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 99;
}

/*
 * Sets the C type of a literal: the first type that can hold it, starting at int or the type of its
 * suffix.
 */
static void type_literal(struct wm_kparser *p, struct wm_ktoken *t, bool is_decimal)
{
	unsigned nr_l = 0;
	bool is_unsigned = false;

	for (; p->at < p->end && print_lex_is_name(*p->at); p->at++) {
		nr_l += (*p->at | 32) == 'l';
		is_unsigned |= (*p->at | 32) == 'u';
	}
	t->bytes = nr_l == 0 ? 4 : nr_l == 1 ? p->machine->long_bytes : 8;
	if (t->bytes == 4 && t->number > UINT32_MAX)
		t->bytes = 8;
	if (t->bytes == 4 && t->number > INT32_MAX && !is_unsigned) {
		if (is_decimal)
			t->bytes = 8;
		else
			is_unsigned = true;
	}
	t->is_signed = !is_unsigned && t->number <= INT64_MAX;
}

static void print_lex_number(struct wm_kparser *p, struct wm_ktoken *t)
{
	unsigned base = 10;

	if (*p->at == '0' && p->end - p->at > 2 && (p->at[1] | 32) == 'x') {
		base = 16;
		p->at += 2;
	} else if (*p->at == '0') {
		base = 8;
	}
	t->kind = WM_KTOKEN_NUMBER;
	for (; p->at < p->end && digit(*p->at) < base; p->at++)
		t->number = t->number * base + digit(*p->at);
	type_literal(p, t, base == 10);
}

/* Returns the character denoted by an escape, and moves p->at past it. */
static char escaped(struct wm_kparser *p)
{
	static const char from[] = "ntrab0", to[] = "\n\t\r\a\b";
	char c = *p->at++;
	const char *at = c ? strchr(from, c) : NULL;

	return at ? to[at - from] : c;
}

static void print_lex_char(struct wm_kparser *p, struct wm_ktoken *t)
{
	p->at++;
	if (p->end - p->at < 2) {
		t->kind = WM_KTOKEN_BAD;
		return;
	}
	t->number = (unsigned char)*p->at++;
	if (t->number == '\\')
		t->number = (unsigned char)escaped(p);
	if (p->at < p->end && *p->at == '\'')
		p->at++;
	t->kind = WM_KTOKEN_NUMBER;
	t->bytes = 4;
	t->is_signed = true;
}

static void lex_text(struct wm_kparser *p, struct wm_ktoken *t)
{
	const char *close = p->at + 1;
	char *text;
	size_t n = 0;

	t->kind = WM_KTOKEN_BAD;
	while (close < p->end && *close != '"')
		close += *close == '\\' && close + 1 < p->end ? 2 : 1;
	if (close >= p->end)
		return;
	text = wm_arena_get(p->arena, (size_t)(close - p->at));
	if (!text) {
		p->no_memory = true;
		return;
	}
	for (p->at++; p->at < close;) {
		char c = *p->at++;

		text[n++] = c == '\\' ? escaped(p) : c;
	}
	text[n] = 0;
	p->at = close + 1;
	t->text = text;
	t->kind = WM_KTOKEN_TEXT;
}

static void lex_op(struct wm_kparser *p, struct wm_ktoken *t)
{
	static const struct {
		char text[3];
		uint8_t op;
	} twos[] = {{"<<", WM_KOP_SHL}, {">>", WM_KOP_SHR}, {"<=", WM_KOP_LE},
		    {">=", WM_KOP_GE},  {"==", WM_KOP_EQ},  {"!=", WM_KOP_NE},
		    {"&&", WM_KOP_AND}, {"||", WM_KOP_OR},  {"->", WM_KOP_ARROW}};

	t->kind = WM_KTOKEN_OP;
	for (size_t i = 0; i < sizeof(twos) / sizeof(twos[0]); i++) {
		if (p->end - p->at >= 2 && memcmp(p->at, twos[i].text, 2) == 0) {
			t->op = twos[i].op;
			p->at += 2;
			return;
		}
	}
	t->op = (uint8_t)*p->at++;
	if (t->op >= 128)
		t->kind = WM_KTOKEN_BAD;
}

void wm_kparser_next(struct wm_kparser *p)
{
	struct wm_ktoken t = {.kind = WM_KTOKEN_END};

	while (p->at < p->end &&
	       (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r'))
		p->at++;
	t.at = p->at;
	if (p->at >= p->end) {
		p->token = t;
		return;
	}
	if (print_lex_is_digit(*p->at)) {
		print_lex_number(p, &t);
	} else if (print_lex_is_name(*p->at)) {
		t.kind = WM_KTOKEN_NAME;
		while (p->at < p->end && print_lex_is_name(*p->at))
			p->at++;
		t.length = (uint32_t)(p->at - t.at);
	} else if (*p->at == '"') {
		lex_text(p, &t);
	} else if (*p->at == '\'') {
		print_lex_char(p, &t);
	} else {
		lex_op(p, &t);
	}
	p->token = t;
	if (t.kind == WM_KTOKEN_BAD)
		wm_kparser_fail(p, "this is not C");
}

bool wm_kparser_is(const struct wm_kparser *p, uint8_t op)
{
	return p->token.kind == WM_KTOKEN_OP && p->token.op == op;
}

bool wm_kparser_is_name(const struct wm_kparser *p, const char *name)
{
	return p->token.kind == WM_KTOKEN_NAME && p->token.length == strlen(name) &&
	       memcmp(p->token.at, name, p->token.length) == 0;
}

bool wm_kparser_skip(struct wm_kparser *p, uint8_t op)
{
	if (!wm_kparser_is(p, op)) {
		wm_kparser_fail(p, "an operator is missing");
		return false;
	}
	wm_kparser_next(p);
	return true;
}
