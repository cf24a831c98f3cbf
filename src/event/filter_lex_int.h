/* SPDX-License-Identifier: MIT */
/*
 * filter_lex_int.h - splits a filter's text into tokens. Tool side; private to filter_lex.c and
 * filter_parse.c.
 */
#ifndef WM_EVENT_FILTER_LEX_INT_H
#define WM_EVENT_FILTER_LEX_INT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "event/filter.h"

enum wm_token_kind {
	WM_TOKEN_END,
	WM_TOKEN_INT,     /* `value`; is_unsigned when it is beyond i64 */
	WM_TOKEN_FLOAT,   /* `value`: the bits of a double */
	WM_TOKEN_TEXT,    /* `text`; is_glob: it is a pattern (base/glob.h) */
	WM_TOKEN_NAME,    /* `text`, turned into an identifier */
	WM_TOKEN_CONTEXT, /* `value`: bit number in enum wm_filter_context */
	WM_TOKEN_PUNCT,   /* `value`: the characters, as WM_PUNCT() packs them */
};

/* "<" is WM_PUNCT('<', 0), "<<" is WM_PUNCT('<', '<'). */
#define WM_PUNCT(a, b) ((uint64_t)(unsigned char)(a) | (uint64_t)(unsigned char)(b) << 8)

struct wm_token {
	enum wm_token_kind kind;
	uint32_t offset; /* offset in the filter's text */
	uint64_t value;
	bool is_unsigned, is_glob;
	uint32_t text_bytes;
	/* Not NUL-terminated; a pattern is at most twice as long as its source. */
	char text[2 * WM_FILTER_TEXT_MAX];
};

struct wm_lexer {
	const char *text;
	uint32_t pos;
	struct wm_diag *diag;
};

/* Reads the next token. Returns 0, or -EINVAL with the diag filled. */
int wm_filter_lex(struct wm_lexer *x, struct wm_token *ret);

/* Fills the diag with a message and the line and column of `offset`; returns -EINVAL. */
int wm_filter_wrong(const struct wm_lexer *x, uint32_t offset, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
