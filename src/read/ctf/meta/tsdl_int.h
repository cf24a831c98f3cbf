/* SPDX-License-Identifier: MIT */
/*
 * tsdl_int.h - shared by tsdl_parse.c (blocks), tsdl_type.c (types and their names) and
 * tsdl_scalar.c. Recursive descent with one token of lookahead. After the first error the lexer
 * returns only END, so loops terminate; functions that return a pointer return NULL then.
 */
#ifndef WM_READ_CTF_META_TSDL_INT_H
#define WM_READ_CTF_META_TSDL_INT_H

#include "read/ctf/meta/tsdl_lex.h"
#include "read/ctf/meta/type.h"

/* Named types: aliases, structures, variants and enumerations have separate name spaces. */
enum tsdl_space { TSDL_ALIAS, TSDL_STRUCT, TSDL_VARIANT, TSDL_ENUM };

#define TSDL_BUCKETS 1024u

struct tsdl_name {
	const char *name;
	struct wm_ctf_type *type;
	enum tsdl_space space;
	uint32_t scope;          /* depth of the block it was declared in */
	struct tsdl_name *next;  /* in its bucket */
	struct tsdl_name *older; /* in order of declaration */
	uint32_t bucket;
};

struct tsdl {
	struct wm_tsdl_lexer lexer;
	struct wm_tsdl_token token; /* the next one */
	struct wm_ctf_metadata *m;
	struct tsdl_name *buckets[TSDL_BUCKETS];
	struct tsdl_name *newest;
	uint32_t scope, depth;
	bool has_trace; /* a trace block was read */
};

/* The right-hand side of "name = value;". */
struct wm_tsdl_value {
	enum { TSDL_NUMBER, TSDL_TEXT, TSDL_WORD } kind;
	uint64_t number; /* its magnitude */
	bool negative;
	const char *text;
	struct wm_tsdl_token at;
};

/* --- tokens --------------------------------------------------------------- */
void wm_tsdl_advance(struct tsdl *p);
bool wm_tsdl_accept(struct tsdl *p, int kind);
bool wm_tsdl_expect(struct tsdl *p, int kind, const char *what); /* false: the error was noted */
#define wm_tsdl_error(p, ...) wm_tsdl_fail(&(p)->lexer, &(p)->token, -EBADMSG, __VA_ARGS__)
void *wm_tsdl_memory(struct tsdl *p, void *piece); /* notes -ENOMEM when NULL */

/* "a.b.c", where keywords are allowed as parts; returns the names, and the path joined with dots.
 */
bool wm_tsdl_path(struct tsdl *p, struct wm_ctf_ref *ret_ref, const char **ret_text);
/* Signs, parentheses and a number; returns its magnitude. */
bool wm_tsdl_number(struct tsdl *p, const char *what, bool *ret_negative, uint64_t *ret);
bool wm_tsdl_value(struct tsdl *p, struct wm_tsdl_value *ret);
bool wm_tsdl_unsigned(struct tsdl *p, const struct wm_tsdl_value *v, const char *what, uint64_t max,
		      uint64_t *ret);
bool wm_tsdl_signed(struct tsdl *p, const struct wm_tsdl_value *v, const char *what, int64_t *ret);
bool wm_tsdl_text(struct tsdl *p, const struct wm_tsdl_value *v, const char *what,
		  const char **ret);
bool wm_tsdl_bool(struct tsdl *p, const struct wm_tsdl_value *v, const char *what, bool *ret);
bool wm_tsdl_order(struct tsdl *p, const struct wm_tsdl_value *v, uint8_t *ret);

/* --- types ------------------------------------------------------------------ */
void wm_tsdl_scope_open(struct tsdl *p);
void wm_tsdl_scope_close(struct tsdl *p);
struct wm_ctf_type *wm_tsdl_type(struct tsdl *p); /* a type specifier */

struct wm_ctf_type *wm_tsdl_new(struct tsdl *p, enum wm_ctf_kind kind);
struct tsdl_name *wm_tsdl_find(struct tsdl *p, enum tsdl_space space, const char *name);
void wm_tsdl_declare(struct tsdl *p, enum tsdl_space space, const char *name,
		     struct wm_ctf_type *type);
/* The type of that name; without one, an error that calls it `kind`. */
struct wm_ctf_type *wm_tsdl_known(struct tsdl *p, enum tsdl_space space, const char *name,
				  const struct wm_tsdl_token *at, const char *kind);
bool wm_tsdl_power_of_two(struct tsdl *p, const struct wm_tsdl_value *v, uint32_t *ret);

/* Parse these types after their keyword. */
struct wm_ctf_type *wm_tsdl_integer(struct tsdl *p);
struct wm_ctf_type *wm_tsdl_floating_point(struct tsdl *p);
struct wm_ctf_type *wm_tsdl_string(struct tsdl *p);
struct wm_ctf_type *wm_tsdl_enumeration(struct tsdl *p);

/* A declaration that begins with typealias, typedef, struct...; `;` included. */
bool wm_tsdl_is_declaration(const struct tsdl *p);
void wm_tsdl_declaration(struct tsdl *p);

#endif
