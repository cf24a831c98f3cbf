/* SPDX-License-Identifier: MIT */
/*
 * print_hex.c - finds the fields that a print form shows in hexadecimal without compiling the form:
 * a trace has the forms of all events of a kernel, and most of them never occur. Only arguments of
 * hexadecimal conversions are parsed.
 */
#include <errno.h>

#include "kdata/print_tree_int.h"

enum { OTHER, OPENS, CLOSES, COMMA, QUOTE, END };

static const unsigned char kinds[256] = {
    ['('] = OPENS,  ['['] = OPENS, ['{'] = OPENS, [')'] = CLOSES, [']'] = CLOSES,
    ['}'] = CLOSES, [','] = COMMA, ['"'] = QUOTE, ['\''] = QUOTE, [0] = END,
};

/* Returns the position of the quote that ends a string or a character, or of the form's end. */
static const char *closing_quote(const char *at)
{
	char quote = *at++;

	for (; *at && *at != quote; at++)
		at += *at == '\\' && at[1];
	return at;
}

/* Returns the end of an argument: the next comma outside of parentheses, or the form's end. */
static const char *argument_end(const char *at)
{
	size_t depth = 0;

	for (;; at++) {
		unsigned char kind;

		while ((kind = kinds[(unsigned char)*at]) == OTHER)
			at++;
		if (kind == QUOTE)
			at = closing_quote(at);
		if (!*at || (kind == COMMA && !depth))
			return at;
		depth += kind == OPENS;
		depth -= kind == CLOSES && depth;
	}
}

/* Returns the field whose value a node prints, possibly cast, or whose element it prints. */
static const struct wm_kfield *shown_field(const struct wm_knode *n)
{
	while (n && (n->kind == WM_KNODE_CAST || n->kind == WM_KNODE_VIEW ||
		     n->kind == WM_KNODE_ELEMENT))
		n = n->a;
	return n && (n->kind == WM_KNODE_FIELD || n->kind == WM_KNODE_BYTES) ? n->field : NULL;
}

static bool print_hex_is_hex(char kind)
{
	return kind == 'x' || kind == 'X' || kind == 'p';
}

/* Marks the field that an argument shows. False: no memory. */
static bool mark_argument(const struct wm_kparser *form, const char *at, const char *end, bool *hex)
{
	struct wm_kparser p = {.arena = form->arena,
			       .machine = form->machine,
			       .format = form->format,
			       .begin = at,
			       .at = at,
			       .end = end};
	const struct wm_kfield *field;

	wm_kparser_next(&p);
	field = shown_field(wm_kparser_expression(&p));
	if (field && !p.why && !p.nr_unknown && p.token.kind == WM_KTOKEN_END)
		hex[field - form->format->fields] = true;
	return !p.no_memory;
}

/*
 * Marks the fields that the conversions of `text` show, whose arguments begin at the comma `at`.
 * False: no memory.
 */
static bool mark_conversions(const struct wm_kparser *form, const char *text, const char *at,
			     bool *hex)
{
	while ((text = strchr(text, '%'))) {
		struct wm_kconv k = {.kind = 0};
		const char *begin;

		if (*++text == '%') {
			text++;
			continue;
		}
		text = wm_kconv_read(text, form->machine->long_bytes, &k);
		if (!text)
			return true; /* an unknown conversion */
		for (int n = (k.width == WM_KCONV_STAR) + (k.precision == WM_KCONV_STAR); n; n--)
			at = argument_end(at + (*at == ','));
		begin = at + (*at == ',');
		at = argument_end(begin);
		if (print_hex_is_hex(k.kind) && !mark_argument(form, begin, at, hex))
			return false;
	}
	return true;
}

int wm_kprint_hex(struct wm_arena *arena, const struct wm_kmachine *m,
		  const struct wm_kformat *format, bool *ret_hex)
{
	struct wm_kparser p = {
	    .arena = arena,
	    .machine = m,
	    .format = format,
	    .begin = format->print,
	    .at = format->print,
	    .end = format->print + strlen(format->print),
	};
	const struct wm_knode *text;

	memset(ret_hex, 0, format->nr_fields * sizeof(*ret_hex));
	wm_kparser_next(&p);
	text = wm_kparser_expression(&p);
	if (text && text->kind == WM_KNODE_TEXT && wm_kparser_is(&p, ',') &&
	    !mark_conversions(&p, text->text, p.token.at, ret_hex))
		return -ENOMEM;
	return p.no_memory ? -ENOMEM : 0;
}

bool wm_kprint_shows_hex(const struct wm_kprint *p, const struct wm_kfield *f)
{
	for (uint32_t i = 0; i < p->nr_convs; i++) {
		if (print_hex_is_hex(p->convs[i].kind) && shown_field(p->convs[i].arg) == f)
			return true;
	}
	return false;
}
