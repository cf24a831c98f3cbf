/* SPDX-License-Identifier: MIT */
/*
 * tsdl_int.h - declarations shared by tsdl_parse.c (blocks), tsdl_type.c (types and their names)
 * and tsdl_scalar.c. The parser is a recursive descent with one token of lookahead. After the first
 * error the lexer returns only END, so loops terminate, and functions that return a pointer return
 * NULL.
 */
#ifndef WM_READ_CTF_META_TSDL_INT_H
#define WM_READ_CTF_META_TSDL_INT_H

#include "base/table.h"
#include "read/ctf/meta/tsdl_lex.h"
#include "read/ctf/meta/type.h"

/* Named types: aliases, structures, variants and enumerations have separate name spaces. */
enum tsdl_space { TSDL_ALIAS, TSDL_STRUCT, TSDL_VARIANT, TSDL_ENUM };

struct tsdl_name {
	const char *name;
	struct wm_ctf_type *type;
	enum tsdl_space space;
	uint32_t scope; /* depth of the block it was declared in */
	uint64_t hash;
};

struct tsdl {
	struct wm_tsdl_lexer lexer;
	struct wm_tsdl_token token; /* the lookahead token */
	struct wm_ctf_metadata *m;
	struct tsdl_name *names; /* malloc'ed; those of the open scopes, in order of declaration */
	uint32_t room_names;
	struct wm_table name_table;
	uint32_t scope, depth;
	bool has_trace; /* a trace block was read */
};

/* The value of an attribute "name = value;". */
struct wm_tsdl_value {
	enum { TSDL_NUMBER, TSDL_TEXT, TSDL_WORD } kind;
	uint64_t number; /* absolute value of a number */
	bool negative;
	const char *text;
	struct wm_tsdl_token at;
};

/* --- tokens --------------------------------------------------------------- */
void wm_tsdl_advance(struct tsdl *p);
bool wm_tsdl_accept(struct tsdl *p, int kind);
/* returns false and sets the error when the next token is something else */
bool wm_tsdl_expect(struct tsdl *p, int kind, const char *what);
#define wm_tsdl_error(p, ...) wm_tsdl_fail(&(p)->lexer, &(p)->token, -EBADMSG, __VA_ARGS__)
/* returns `piece`; sets the error -ENOMEM when it is NULL */
void *wm_tsdl_memory(struct tsdl *p, void *piece);

/* Parses a path "a.b.c", whose parts may be keywords. Returns the names, and the whole path as a
 * string.
 */
bool wm_tsdl_path(struct tsdl *p, struct wm_ctf_ref *ret_ref, const char **ret_text);
/* Parses a number with signs and parentheses; returns its absolute value. */
bool wm_tsdl_number(struct tsdl *p, const char *what, bool *ret_negative, uint64_t *ret);
bool wm_tsdl_value(struct tsdl *p, struct wm_tsdl_value *ret);
bool wm_tsdl_unsigned(struct tsdl *p, const struct wm_tsdl_value *v, const char *what, uint64_t max,
		      uint64_t *ret);
bool wm_tsdl_bool(struct tsdl *p, const struct wm_tsdl_value *v, const char *what, bool *ret);
bool wm_tsdl_order(struct tsdl *p, const struct wm_tsdl_value *v, uint8_t *ret);

/* --- types ------------------------------------------------------------------ */
void wm_tsdl_scope_open(struct tsdl *p);
void wm_tsdl_scope_close(struct tsdl *p);
struct wm_ctf_type *wm_tsdl_type(struct tsdl *p); /* parses a type specifier */

struct wm_ctf_type *wm_tsdl_new(struct tsdl *p, enum wm_ctf_kind kind);
struct tsdl_name *wm_tsdl_find(struct tsdl *p, enum tsdl_space space, const char *name);
void wm_tsdl_declare(struct tsdl *p, enum tsdl_space space, const char *name,
		     struct wm_ctf_type *type);
/*
 * Returns the type with that name. If there is none, sets an error that calls it a `kind`.
 */
struct wm_ctf_type *wm_tsdl_known(struct tsdl *p, enum tsdl_space space, const char *name,
				  const struct wm_tsdl_token *at, const char *kind);
bool wm_tsdl_power_of_two(struct tsdl *p, const struct wm_tsdl_value *v, uint32_t *ret);

/* Parse a type whose keyword has been read already. */
struct wm_ctf_type *wm_tsdl_integer(struct tsdl *p);
struct wm_ctf_type *wm_tsdl_floating_point(struct tsdl *p);
struct wm_ctf_type *wm_tsdl_string(struct tsdl *p);
struct wm_ctf_type *wm_tsdl_enumeration(struct tsdl *p);

/* A declaration begins with typealias, typedef, struct... and ends with `;`. */
bool wm_tsdl_is_declaration(const struct tsdl *p);
void wm_tsdl_declaration(struct tsdl *p);

#endif
