/* SPDX-License-Identifier: MIT */
/*
 * tsdl_lex.h - splits CTF 1.8 metadata text (TSDL) into tokens. Errors are sticky: the first one is
 * recorded, and every later token is END.
 */
#ifndef WM_READ_CTF_META_TSDL_LEX_H
#define WM_READ_CTF_META_TSDL_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"

/* Single characters are their own kind: '{' '}' '[' ']' '<' '>' ';' ':' ',' '=' '.' '*' '+' '-'. */
enum wm_tsdl_kind {
	WM_TSDL_END = 0,
	WM_TSDL_NAME = 256, /* identifier that is not a keyword */
	WM_TSDL_STRING,
	WM_TSDL_NUMBER,
	WM_TSDL_ASSIGN,  /* := */
	WM_TSDL_DOTS,    /* ... */
	WM_TSDL_ARROW,   /* -> */
	WM_TSDL_KEYWORD, /* the first keyword: kind = KEYWORD + enum wm_tsdl_keyword */
};

#define WM_TSDL_KEYWORDS(X)                                                                        \
	X(ALIGN, "align")                                                                          \
	X(CALLSITE, "callsite")                                                                    \
	X(CONST, "const")                                                                          \
	X(CHAR, "char")                                                                            \
	X(CLOCK, "clock")                                                                          \
	X(DOUBLE, "double")                                                                        \
	X(ENUM, "enum")                                                                            \
	X(ENV, "env")                                                                              \
	X(EVENT, "event")                                                                          \
	X(FLOATING, "floating_point")                                                              \
	X(FLOAT, "float")                                                                          \
	X(INTEGER, "integer")                                                                      \
	X(INT, "int")                                                                              \
	X(LONG, "long")                                                                            \
	X(SHORT, "short")                                                                          \
	X(SIGNED, "signed")                                                                        \
	X(STREAM, "stream")                                                                        \
	X(STRING_TYPE, "string")                                                                   \
	X(STRUCT, "struct")                                                                        \
	X(TRACE, "trace")                                                                          \
	X(TYPEALIAS, "typealias")                                                                  \
	X(TYPEDEF, "typedef")                                                                      \
	X(UNSIGNED, "unsigned")                                                                    \
	X(VARIANT, "variant")                                                                      \
	X(VOID, "void")                                                                            \
	X(BOOL, "_Bool")                                                                           \
	X(COMPLEX, "_Complex")                                                                     \
	X(IMAGINARY, "_Imaginary")

#define WM_TSDL_KEYWORD_ENUM(name, text) WM_TSDL_##name,
enum wm_tsdl_keyword {
	WM_TSDL_KEYWORD_FIRST = WM_TSDL_KEYWORD,
	WM_TSDL_KEYWORDS(WM_TSDL_KEYWORD_ENUM) WM_TSDL_KEYWORD_LAST
};

struct wm_tsdl_token {
	int kind;         /* a character, enum wm_tsdl_kind or wm_tsdl_keyword */
	const char *text; /* NAME, STRING, keywords: NUL-terminated; else NULL */
	uint64_t number;
	bool is_char;          /* NUMBER: a character constant */
	uint32_t line, column; /* counted from 1; columns in bytes */
	int64_t offset;
};

struct wm_tsdl_lexer {
	const char *text;
	size_t bytes, at;
	uint32_t line, column;
	int64_t base; /* offset of text[0] in the file, for diag */
	struct wm_arena *arena;
	const char *note; /* the newest comment that began with "waymark ", without that word */
	int err;          /* first error, or 0 */
	const char *where;
	struct wm_diag *diag; /* filled with the first error; may be NULL */
};

/* Reads the next token; END at the end of the text and after an error. */
void wm_tsdl_next(struct wm_tsdl_lexer *lexer, struct wm_tsdl_token *ret);

/*
 * Records the first error with its position, ignores later ones. Always returns a negative errno.
 */
int wm_tsdl_fail(struct wm_tsdl_lexer *lexer, const struct wm_tsdl_token *at, int err,
		 const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* Describes a token for an error message; `buf` has WM_TSDL_SHOW bytes. */
#define WM_TSDL_SHOW 48
const char *wm_tsdl_show(const struct wm_tsdl_token *t, char *buf);

/*
 * Decodes a C string literal whose opening quote is at text[-1]. `out` must have room for `bytes`
 * bytes; an escape \0 in the literal makes the C string end there. Returns the number of bytes
 * read, including the closing quote, or -EBADMSG with the offset of the invalid byte in *ret_bad.
 */
int64_t wm_tsdl_unescape(const char *text, size_t bytes, char *out, size_t *ret_bytes,
			 size_t *ret_bad);

#endif
