/* SPDX-License-Identifier: MIT */
/*
 * filter_lex.c - see filter_lex_int.h. Reads numbers, quotes and escapes; knows nothing about
 * expressions. Independent of the locale.
 */
#include "event/filter_lex_int.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/schema_int.h"

int wm_filter_wrong(const struct wm_lexer *x, uint32_t offset, const char *fmt, ...)
{
	char sentence[WM_DIAG_SENTENCE];
	uint32_t line = 1, column = 1;
	va_list args;

	if (!x->diag)
		return -EINVAL;
	for (uint32_t i = 0; i < offset; i++) {
		if (x->text[i] == '\n') {
			line++;
			column = 1;
		} else if ((x->text[i] & 0xc0) != 0x80) {
			column++; /* columns count characters, not bytes */
		}
	}
	va_start(args, fmt);
	/* A sentence that is too long is truncated. */
	(void)vsnprintf(sentence, sizeof(sentence), fmt, args);
	va_end(args);
	(void)wm_diag_set(x->diag, -EINVAL, "filter", offset, "%s", sentence);
	x->diag->line = line;
	x->diag->column = column;
	return -EINVAL;
}

static bool filter_lex_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/*
 * Whether `c` may be part of a name. UTF-8 bytes count as letters; names become identifiers as in
 * class.h.
 */
static bool is_name_char(char c)
{
	return wm_schema_name_char(c) || (c & 0x80);
}

static int filter_lex_digit_value(char c)
{
	if (filter_lex_is_digit(c))
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

/* --- numbers --------------------------------------------------------- */

static int time_suffix(struct wm_lexer *x, struct wm_token *t)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
	const char *start = x->text + x->pos;
	size_t n = 0;

	while (is_name_char(start[n]))
		n++;
	if (!n)
		return 0;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strlen(units[i].name) != n || memcmp(units[i].name, start, n))
			continue;
		if (t->kind == WM_TOKEN_FLOAT)
			return wm_filter_wrong(
			    x, x->pos, "a time must be a whole number: write 1500us for 1.5ms");
		if (__builtin_mul_overflow(t->value, units[i].ns, &t->value))
			return wm_filter_wrong(x, t->offset, "this time is too long");
		x->pos += (uint32_t)n;
		return 0;
	}
	return wm_filter_wrong(x, x->pos, "unknown suffix '%.*s': times end in ns, us, ms or s",
			       (int)n, start);
}

static int lex_float(struct wm_lexer *x, struct wm_token *t)
{
	locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	const char *start = x->text + t->offset;
	char *end;
	double d;

	if (!c)
		return -ENOMEM;
	d = strtod_l(start, &end, c);
	freelocale(c);
	t->kind = WM_TOKEN_FLOAT;
	memcpy(&t->value, &d, sizeof(d));
	x->pos = t->offset + (uint32_t)(end - start);
	return time_suffix(x, t);
}

/*
 * Whether the decimal number at p is a float, that is, whether its digits are followed by a point
 * or an exponent.
 */
static bool looks_float(const char *p)
{
	while (filter_lex_is_digit(*p))
		p++;
	if (*p == '.')
		return true;
	if (*p != 'e' && *p != 'E')
		return false;
	p++;
	if (*p == '+' || *p == '-')
		p++;
	return filter_lex_is_digit(*p);
}

static int filter_lex_number(struct wm_lexer *x, struct wm_token *t)
{
	const char *p = x->text + x->pos, *first;
	uint32_t base = 10;

	if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X')) {
		base = 16;
		p += 2;
	} else if (looks_float(p)) {
		return lex_float(x, t);
	} else if (p[0] == '0' && filter_lex_is_digit(p[1])) {
		base = 8;
	}
	t->kind = WM_TOKEN_INT;
	t->value = 0;
	for (first = p; filter_lex_digit_value(*p) < (int)(base == 16 ? 16 : 10); p++) {
		if (filter_lex_digit_value(*p) >= (int)base)
			return wm_filter_wrong(x, (uint32_t)(p - x->text),
					       "'%c' is not an octal digit: a number that begins "
					       "with 0 is octal",
					       *p);
		if (__builtin_mul_overflow(t->value, base, &t->value) ||
		    __builtin_add_overflow(t->value, (uint64_t)filter_lex_digit_value(*p),
					   &t->value))
			return wm_filter_wrong(x, t->offset, "this number does not fit in 64 bits");
	}
	x->pos = (uint32_t)(p - x->text);
	if (p == first)
		return wm_filter_wrong(x, x->pos, "expected a hexadecimal digit");
	if (time_suffix(x, t))
		return -EINVAL;
	t->is_unsigned = t->value > INT64_MAX;
	return 0;
}

/* --- quoted text ----------------------------------------------------- */

/*
 * Reads the escape after a backslash: the byte that it denotes, and whether that byte is ordinary
 * in a pattern.
 */
static int lex_escape(struct wm_lexer *x, char *ret, bool *ret_literal)
{
	static const char from[] = "abfnrtv", to[] = "\a\b\f\n\r\t\v";
	const char *p = x->text + x->pos, *found;
	uint32_t value = 0, n = 0;

	*ret_literal = true;
	if (*p == 'x') {
		for (p++; n < 2 && filter_lex_digit_value(*p) < 16; n++)
			value = value * 16 + (uint32_t)filter_lex_digit_value(*p++);
		if (!n)
			return wm_filter_wrong(x, x->pos, "\\x needs hexadecimal digits");
	} else if (*p >= '0' && *p <= '7') {
		for (; n < 3 && *p >= '0' && *p <= '7'; n++)
			value = value * 8 + (uint32_t)(*p++ - '0');
		if (value > 255)
			return wm_filter_wrong(x, x->pos, "\\%o is more than a byte", value);
	} else if (*p && (found = strchr(from, *p))) {
		value = (unsigned char)to[found - from];
		p++;
	} else if (*p && strchr("\\\"'*?[]!^-", *p)) {
		value = (unsigned char)*p++;
	} else {
		return wm_filter_wrong(x, x->pos, "unknown escape \\%.1s", p);
	}
	x->pos = (uint32_t)(p - x->text);
	*ret = (char)value;
	return 0;
}

static int filter_lex_char(struct wm_lexer *x, struct wm_token *t)
{
	bool literal;
	char c;

	x->pos++;
	c = x->text[x->pos];
	if (!c || c == '\n' || c == '\'')
		return wm_filter_wrong(x, t->offset, "expected a character between the quotes");
	x->pos++;
	if (c == '\\' && lex_escape(x, &c, &literal))
		return -EINVAL;
	if (x->text[x->pos] != '\'')
		return wm_filter_wrong(x, t->offset,
				       "expected one single-byte character between the quotes; "
				       "strings need double quotes");
	x->pos++;
	t->kind = WM_TOKEN_INT;
	t->value = (unsigned char)c;
	return 0;
}

/* The bytes of a string literal, before they become a string or a pattern. */
struct quoted {
	uint32_t nr;
	char bytes[WM_FILTER_TEXT_MAX];
	bool literal[WM_FILTER_TEXT_MAX];     /* the byte was written with a backslash */
	uint32_t offsets[WM_FILTER_TEXT_MAX]; /* offset of each byte in the filter's text */
};

static bool is_special(const struct quoted *q, uint32_t i, char c)
{
	return i < q->nr && q->bytes[i] == c && !q->literal[i];
}

/*
 * Index of the ']' of the set that opens at i; 0 when there is none and the '[' is an ordinary
 * byte.
 */
static uint32_t filter_lex_set_end(const struct quoted *q, uint32_t i)
{
	i++;
	if (is_special(q, i, '!') || is_special(q, i, '^'))
		i++;
	if (is_special(q, i, ']'))
		i++;
	while (i < q->nr && !is_special(q, i, ']'))
		i++;
	return i < q->nr ? i : 0;
}

/*
 * Writes the bytes as a pattern (base/glob.h), where a backslash escapes outside sets but not
 * inside. If no byte is special, they become a string instead.
 */
static int make_pattern(struct wm_lexer *x, const struct quoted *q, struct wm_token *t)
{
	uint32_t end = 0;

	for (uint32_t i = 0; i < q->nr; i++) {
		char c = q->bytes[i];

		if (i < end && q->literal[i] && strchr("]!^-", c))
			return wm_filter_wrong(x, q->offsets[i],
					       "inside [...] put '%c' %s instead of escaping "
					       "it",
					       c, c == ']' ? "first" : "last");
		if (i <= end && end) {
			t->text[t->text_bytes++] = c;
			end = i == end ? 0 : end;
			continue;
		}
		if (is_special(q, i, '['))
			end = filter_lex_set_end(q, i);
		if (is_special(q, i, '*') || is_special(q, i, '?') || end)
			t->is_glob = true;
		else if (strchr("*?[\\", c))
			t->text[t->text_bytes++] = '\\';
		t->text[t->text_bytes++] = c;
	}
	if (!t->is_glob) {
		memcpy(t->text, q->bytes, q->nr);
		t->text_bytes = q->nr;
	}
	return 0;
}

static int filter_lex_string(struct wm_lexer *x, struct wm_token *t)
{
	struct quoted *q = malloc(sizeof(*q));
	int err = 0;

	if (!q)
		return -ENOMEM;
	q->nr = 0;
	for (x->pos++; x->text[x->pos] != '"' && !err; q->nr++) {
		char c = x->text[x->pos];

		q->offsets[q->nr] = x->pos;
		q->literal[q->nr] = false;
		if (!c) {
			err = wm_filter_wrong(x, t->offset, "this string is not closed");
			break;
		}
		x->pos++;
		if (c == '\\')
			err = lex_escape(x, &c, &q->literal[q->nr]);
		if (!c && !err)
			err = wm_filter_wrong(x, q->offsets[q->nr],
					      "a string cannot contain the byte 0");
		q->bytes[q->nr] = c;
	}
	t->kind = WM_TOKEN_TEXT;
	x->pos++;
	if (!err)
		err = make_pattern(x, q, t);
	free(q);
	return err;
}

/* --- names and other tokens ------------------------------------------ */

static int filter_lex_name(struct wm_lexer *x, struct wm_token *t)
{
	const char *start = x->text + x->pos;
	char name[WM_SCHEMA_NAME_MAX + 1];
	uint32_t n = 0;

	while (is_name_char(start[n]))
		n++;
	t->kind = WM_TOKEN_NAME;
	t->text_bytes = wm_schema_name_normalise(start, n, 0, name);
	memcpy(t->text, name, t->text_bytes);
	x->pos += n;
	return 0;
}

static int lex_context(struct wm_lexer *x, struct wm_token *t)
{
	static const char *const names[] = {"pid", "tid", "cpu", "time", "comm"};
	const char *start = x->text + ++x->pos;
	size_t n = 0;

	while (is_name_char(start[n]))
		n++;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strlen(names[i]) != n || memcmp(names[i], start, n))
			continue;
		t->kind = WM_TOKEN_CONTEXT;
		t->value = i;
		x->pos += (uint32_t)n;
		return 0;
	}
	return wm_filter_wrong(x, t->offset,
			       "unknown context '$%.*s': use $pid, $tid, $comm, $cpu or $time",
			       (int)(n < 60 ? n : 60), start);
}

static int lex_punct(struct wm_lexer *x, struct wm_token *t)
{
	static const char pairs[] = "|| && == != <= >= << >> ";
	const char *p = x->text + x->pos;

	t->kind = WM_TOKEN_PUNCT;
	for (size_t i = 0; pairs[i]; i += 3) {
		if (p[0] == pairs[i] && p[1] == pairs[i + 1]) {
			t->value = WM_PUNCT(p[0], p[1]);
			x->pos += 2;
			return 0;
		}
	}
	if (*p == '=')
		return wm_filter_wrong(x, x->pos, "use == to compare");
	if (!strchr("|^&<>+-*/%!~()[]", *p))
		return wm_filter_wrong(
		    x, x->pos, *p > ' ' && *p < 0x7f ? "unexpected '%c'" : "unexpected byte 0x%02x",
		    *p);
	t->value = WM_PUNCT(p[0], 0);
	x->pos++;
	return 0;
}

int wm_filter_lex(struct wm_lexer *x, struct wm_token *ret)
{
	char c;

	while ((c = x->text[x->pos]) == ' ' || c == '\t' || c == '\n' || c == '\r')
		x->pos++;
	ret->kind = WM_TOKEN_END;
	ret->offset = x->pos;
	ret->value = 0;
	ret->text_bytes = 0;
	ret->is_unsigned = ret->is_glob = false;
	if (!c)
		return 0;
	if (filter_lex_is_digit(c) || (c == '.' && filter_lex_is_digit(x->text[x->pos + 1])))
		return filter_lex_number(x, ret);
	if (is_name_char(c))
		return filter_lex_name(x, ret);
	if (c == '"')
		return filter_lex_string(x, ret);
	if (c == '\'')
		return filter_lex_char(x, ret);
	return c == '$' ? lex_context(x, ret) : lex_punct(x, ret);
}
