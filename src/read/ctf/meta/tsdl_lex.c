/* SPDX-License-Identifier: MIT */
/*
 * tsdl_lex.c - see tsdl_lex.h. The input may be hostile: no byte at or after offset `bytes` is
 * read, numbers are checked, names and strings have a maximum length.
 */
#include "read/ctf/meta/tsdl_lex.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "read/ctf/meta/type.h"

#define KEYWORD_TEXT(name, text) {text, sizeof(text) - 1},
static const struct {
	char text[15];
	uint8_t bytes;
} keywords[] = {{"", 0}, WM_TSDL_KEYWORDS(KEYWORD_TEXT)};

/* A bit for each letter that keywords begin with, to tell most names from them. */
#define LETTER_BIT(c)              (1ull << ((c)&63))
#define KEYWORD_LETTER(name, text) | LETTER_BIT((text)[0])
#define KEYWORD_LETTERS            (0 WM_TSDL_KEYWORDS(KEYWORD_LETTER))

enum { NAME = 1, DIGIT = 2, SPACE = 4, PUNCTUATION = 8 };
static const uint8_t classes[256] = {
    ['0' ... '9'] = NAME | DIGIT, ['A' ... 'Z'] = NAME, ['a' ... 'z'] = NAME, ['_'] = NAME,
    ['\t' ... '\r'] = SPACE,      [' '] = SPACE,        ['{'] = PUNCTUATION,  ['}'] = PUNCTUATION,
    ['['] = PUNCTUATION,          [']'] = PUNCTUATION,  ['<'] = PUNCTUATION,  ['>'] = PUNCTUATION,
    [';'] = PUNCTUATION,          [':'] = PUNCTUATION,  [','] = PUNCTUATION,  ['='] = PUNCTUATION,
    ['.'] = PUNCTUATION,          ['*'] = PUNCTUATION,  ['+'] = PUNCTUATION,  ['-'] = PUNCTUATION,
    ['('] = PUNCTUATION,          [')'] = PUNCTUATION,
};

static const char note_word[] = "waymark ";

int wm_tsdl_fail(struct wm_tsdl_lexer *lexer, const struct wm_tsdl_token *at, int err,
		 const char *fmt, ...)
{
	char sentence[WM_DIAG_SENTENCE];
	va_list args;

	if (lexer->err)
		return lexer->err;
	lexer->err = err;
	va_start(args, fmt);
	(void)vsnprintf(sentence, sizeof(sentence), fmt, args);
	va_end(args);
	(void)wm_diag_set(lexer->diag, err, lexer->where, at->offset, "%s", sentence);
	if (lexer->diag) {
		lexer->diag->line = at->line;
		lexer->diag->column = at->column;
	}
	return err;
}

const char *wm_tsdl_show(const struct wm_tsdl_token *t, char *buf)
{
	if (t->kind == WM_TSDL_END)
		(void)snprintf(buf, WM_TSDL_SHOW, "the end of the metadata");
	else if (t->kind == WM_TSDL_STRING)
		(void)snprintf(buf, WM_TSDL_SHOW, "the string \"%.24s\"", t->text);
	else if (t->text)
		(void)snprintf(buf, WM_TSDL_SHOW, "'%.36s'", t->text);
	else if (t->kind == WM_TSDL_NUMBER)
		(void)snprintf(buf, WM_TSDL_SHOW, "%llu", (unsigned long long)t->number);
	else if (t->kind < 256)
		(void)snprintf(buf, WM_TSDL_SHOW, "'%c'", t->kind);
	else
		(void)snprintf(buf, WM_TSDL_SHOW, "'%s'",
			       t->kind == WM_TSDL_ASSIGN ? ":="
			       : t->kind == WM_TSDL_DOTS ? "..."
							 : "->");
	return buf;
}

/*
 * Returns the byte `ahead` bytes after the next one; 0 past the end. (A NUL in the text is refused
 * elsewhere.)
 */
static unsigned char peek(const struct wm_tsdl_lexer *l, size_t ahead)
{
	return ahead < l->bytes - l->at ? (unsigned char)l->text[l->at + ahead] : 0;
}

static void tsdl_lex_skip(struct wm_tsdl_lexer *l, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		l->column++;
		if (l->text[l->at++] == '\n') {
			l->line++;
			l->column = 1;
		}
	}
}

static bool tsdl_lex_is_digit(unsigned char c)
{
	return classes[c] & DIGIT;
}

static bool tsdl_lex_is_name(unsigned char c)
{
	return classes[c] & NAME;
}

static bool tsdl_lex_is_space(unsigned char c)
{
	return classes[c] & SPACE;
}

static int tsdl_lex_digit_value(unsigned char c)
{
	if (tsdl_lex_is_digit(c))
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

static void keep_note(struct wm_tsdl_lexer *l, const char *text, size_t bytes)
{
	size_t word = strlen(note_word);

	while (bytes && tsdl_lex_is_space((unsigned char)*text)) {
		text++;
		bytes--;
	}
	if (bytes < word || memcmp(text, note_word, word) != 0)
		return;
	if (!memchr(text, 0, bytes))
		l->note = wm_arena_copy(l->arena, text + word, bytes - word);
}

static void skip_comment(struct wm_tsdl_lexer *l)
{
	struct wm_tsdl_token at = {.line = l->line, .column = l->column};
	const char *begin = l->text + l->at + 2, *end, *last = l->text + l->bytes;

	at.offset = l->base + (int64_t)l->at;
	for (end = begin; last - end >= 2 && (end[0] != '*' || end[1] != '/'); end++)
		;
	if (last - end < 2) {
		(void)wm_tsdl_fail(l, &at, -EBADMSG, "a comment is not closed");
		return;
	}
	keep_note(l, begin, (size_t)(end - begin));
	tsdl_lex_skip(l, (size_t)(end + 2 - (l->text + l->at)));
}

static void skip_blank(struct wm_tsdl_lexer *l)
{
	while (l->at < l->bytes && !l->err) {
		if (tsdl_lex_is_space(peek(l, 0)))
			tsdl_lex_skip(l, 1);
		else if (peek(l, 0) == '/' && peek(l, 1) == '*')
			skip_comment(l);
		else if (peek(l, 0) == '/' && peek(l, 1) == '/')
			while (l->at < l->bytes && peek(l, 0) != '\n')
				tsdl_lex_skip(l, 1);
		else
			return;
	}
}

/* Returns the number of the keyword; 0: it is none. */
static int tsdl_lex_keyword(const char *name, size_t bytes)
{
	if (!(KEYWORD_LETTERS & LETTER_BIT(name[0])))
		return 0;
	for (int k = 1; k < (int)(sizeof(keywords) / sizeof(*keywords)); k++)
		if (keywords[k].text[0] == name[0] && keywords[k].bytes == bytes &&
		    !memcmp(keywords[k].text, name, bytes))
			return k;
	return 0;
}

static void tsdl_lex_name(struct wm_tsdl_lexer *l, struct wm_tsdl_token *t)
{
	const char *name = l->text + l->at;
	size_t n = 0, left = l->bytes - l->at;
	int k;

	while (n < left && tsdl_lex_is_name((unsigned char)name[n]))
		n++;
	if (n > WM_CTF_TEXT_MAX) {
		(void)wm_tsdl_fail(l, t, -E2BIG, "a name of more than %u bytes", WM_CTF_TEXT_MAX);
		return;
	}
	k = tsdl_lex_keyword(name, n);
	t->kind = k ? WM_TSDL_KEYWORD + k : WM_TSDL_NAME;
	t->text = k ? keywords[k].text : wm_arena_copy(l->arena, name, n);
	if (!t->text)
		(void)wm_tsdl_fail(l, t, -ENOMEM, "out of memory for metadata of this size");
	l->at += n; /* a name has no line feed */
	l->column += (uint32_t)n;
}

static void tsdl_lex_number(struct wm_tsdl_lexer *l, struct wm_tsdl_token *t)
{
	unsigned base = 10;
	size_t digits = 0;

	if (peek(l, 0) == '0' && (peek(l, 1) | 0x20) == 'x')
		base = 16;
	else if (peek(l, 0) == '0' && (peek(l, 1) | 0x20) == 'b')
		base = 2;
	else if (peek(l, 0) == '0')
		base = 8;
	if (base == 16 || base == 2)
		tsdl_lex_skip(l, 2);
	t->kind = WM_TSDL_NUMBER;
	for (; tsdl_lex_digit_value(peek(l, 0)) < (int)base; digits++) {
		if (__builtin_mul_overflow(t->number, base, &t->number) ||
		    __builtin_add_overflow(t->number, tsdl_lex_digit_value(peek(l, 0)),
					   &t->number)) {
			(void)wm_tsdl_fail(l, t, -EBADMSG, "a number of more than 64 bits");
			return;
		}
		tsdl_lex_skip(l, 1);
	}
	while ((peek(l, 0) | 0x20) == 'u' || (peek(l, 0) | 0x20) == 'l')
		tsdl_lex_skip(l, 1);
	if (!digits || tsdl_lex_is_name(peek(l, 0)) ||
	    (peek(l, 0) == '.' && tsdl_lex_is_digit(peek(l, 1))))
		(void)wm_tsdl_fail(l, t, -EBADMSG, "not an integer");
}

/*
 * Decodes one escape sequence after its backslash; returns the number of bytes read, 0 when it is
 * not valid.
 */
static size_t unescape_one(const char *text, size_t bytes, unsigned char *ret)
{
	static const char from[] = "ntrabfv\\\"'?", to[] = "\n\t\r\a\b\f\v\\\"'?";
	unsigned value = 0;
	size_t n = 0;

	if (!bytes)
		return 0;
	if (text[0] == 'x') {
		for (n = 1; n < bytes && value < 16 &&
			    tsdl_lex_digit_value((unsigned char)text[n]) < 16 && n < 4;
		     n++)
			value = value * 16 + (unsigned)tsdl_lex_digit_value((unsigned char)text[n]);
		*ret = (unsigned char)value;
		return n > 1 ? n : 0;
	}
	for (; n < 3 && n < bytes && tsdl_lex_digit_value((unsigned char)text[n]) < 8; n++)
		value = value * 8 + (unsigned)tsdl_lex_digit_value((unsigned char)text[n]);
	if (n) {
		*ret = (unsigned char)value;
		return value < 256 ? n : 0;
	}
	if (!text[0] || !strchr(from, text[0]))
		return 0;
	*ret = (unsigned char)to[strchr(from, text[0]) - from];
	return 1;
}

int64_t wm_tsdl_unescape(const char *text, size_t bytes, char *out, size_t *ret_bytes,
			 size_t *ret_bad)
{
	size_t i = 0, n = 0;

	while (i < bytes && text[i] != '"') {
		unsigned char c = (unsigned char)text[i];
		size_t used = 1;

		if (c == '\\') {
			used = unescape_one(text + i + 1, bytes - i - 1, &c);
			used += used != 0;
		}
		if (!used || !text[i] || text[i] == '\n') {
			*ret_bad = i;
			return -EBADMSG;
		}
		out[n++] = (char)c;
		i += used;
	}
	if (i == bytes) {
		*ret_bad = i;
		return -EBADMSG;
	}
	*ret_bytes = n;
	return (int64_t)i + 1;
}

static void tsdl_lex_string(struct wm_tsdl_lexer *l, struct wm_tsdl_token *t)
{
	const char *text = l->text + l->at + 1, *end;
	size_t rest = l->bytes - l->at - 1, n = 0, bad = 0;
	int64_t used;
	char *out;

	/*
	 * Find an upper bound on the value's size: the distance to the closing quote, ignoring
	 * escapes.
	 */
	for (end = text; end < text + rest && *end != '"'; end++) {
		if (*end == '\\' && end + 1 < text + rest)
			end++;
	}
	if ((size_t)(end - text) > 4 * WM_CTF_TEXT_MAX) {
		(void)wm_tsdl_fail(l, t, -E2BIG, "a string of more than %u bytes", WM_CTF_TEXT_MAX);
		return;
	}
	out = wm_arena_get(l->arena, (size_t)(end - text) + 1);
	if (!out) {
		(void)wm_tsdl_fail(l, t, -ENOMEM, "out of memory for metadata of this size");
		return;
	}
	used = wm_tsdl_unescape(text, rest, out, &n, &bad);
	if (used < 0) {
		(void)wm_tsdl_fail(l, t, -EBADMSG, "%s",
				   bad == rest ? "a string is not closed"
					       : "a string with a bad escape, a newline or a NUL");
		return;
	}
	t->kind = WM_TSDL_STRING;
	t->text = out;
	tsdl_lex_skip(l, (size_t)used + 1);
}

/* Reads a character constant as a number. */
static void tsdl_lex_char(struct wm_tsdl_lexer *l, struct wm_tsdl_token *t)
{
	unsigned char c = peek(l, 1);
	bool is_one = c && c != '\n' && c != '\'';
	size_t n = 1;

	if (c == '\\') {
		n = unescape_one(l->text + l->at + 2, l->bytes - l->at - 2, &c);
		n += n != 0;
	}
	if (!n || !is_one || peek(l, 1 + n) != '\'') {
		(void)wm_tsdl_fail(l, t, -EBADMSG, "not a character constant");
		return;
	}
	t->kind = WM_TSDL_NUMBER;
	t->number = c;
	t->is_char = true;
	tsdl_lex_skip(l, n + 2);
}

static void lex_punctuation(struct wm_tsdl_lexer *l, struct wm_tsdl_token *t)
{
	static const struct {
		char text[4];
		int kind;
	} longer[] = {{":=", WM_TSDL_ASSIGN}, {"...", WM_TSDL_DOTS}, {"->", WM_TSDL_ARROW}};
	unsigned char c = peek(l, 0);

	for (size_t i = 0; i < sizeof(longer) / sizeof(*longer); i++) {
		size_t n = strlen(longer[i].text);

		if (c == (unsigned char)longer[i].text[0] && n <= l->bytes - l->at &&
		    !memcmp(l->text + l->at, longer[i].text, n)) {
			t->kind = longer[i].kind;
			tsdl_lex_skip(l, n);
			return;
		}
	}
	if (!(classes[c] & PUNCTUATION)) {
		(void)wm_tsdl_fail(l, t, -EBADMSG,
				   c > ' ' && c < 127 ? "a stray '%c'" : "a stray byte 0x%02x", c);
		return;
	}
	t->kind = c;
	l->at++;
	l->column++;
}

void wm_tsdl_next(struct wm_tsdl_lexer *l, struct wm_tsdl_token *ret)
{
	struct wm_tsdl_token t = {.kind = WM_TSDL_END};
	unsigned char c;

	skip_blank(l);
	t.line = l->line;
	t.column = l->column;
	t.offset = l->base + (int64_t)l->at;
	if (l->at < l->bytes && !l->err) {
		c = peek(l, 0);
		if (tsdl_lex_is_digit(c))
			tsdl_lex_number(l, &t);
		else if (tsdl_lex_is_name(c))
			tsdl_lex_name(l, &t);
		else if (c == '"')
			tsdl_lex_string(l, &t);
		else if (c == '\'')
			tsdl_lex_char(l, &t);
		else
			lex_punctuation(l, &t);
	}
	if (l->err) {
		t.kind = WM_TSDL_END;
		t.text = NULL;
	}
	*ret = t;
}
