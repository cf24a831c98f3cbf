/* SPDX-License-Identifier: MIT */
/*
 * tsdl_type.c - parses the types of CTF 1.8 metadata: scopes of type names, declarators,
 * structures, variants. Integers, floats, strings and enumerations are parsed by tsdl_scalar.c. See
 * tsdl_int.h for error handling.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "read/ctf/meta/tsdl_int.h"

/* --- names ------------------------------------------------------------------- */

void wm_tsdl_scope_open(struct tsdl *p)
{
	p->scope++;
}

void wm_tsdl_scope_close(struct tsdl *p)
{
	for (uint32_t nr = p->name_table.nr; nr && p->names[nr - 1].scope == p->scope; nr--)
		wm_table_remove(&p->name_table, p->names[nr - 1].hash, nr - 1);
	p->scope--;
}

static uint64_t tsdl_type_hash_of(const struct tsdl *p, enum tsdl_space space, const char *name)
{
	return wm_mix_bytes(p->name_table.seed + space, name, strlen(name));
}

/*
 * When nested scopes declare a name several times, the innermost declaration counts, which is the
 * last one.
 */
static struct tsdl_name *tsdl_type_find_name(struct tsdl *p, enum tsdl_space space,
					     const char *name, uint64_t hash)
{
	struct wm_table_walk w = wm_table_walk(hash);
	struct tsdl_name *found = NULL;

	while (wm_table_next(&p->name_table, &w)) {
		struct tsdl_name *n = &p->names[w.index];

		if (n->space == space && !strcmp(n->name, name) && (!found || n > found))
			found = n;
	}
	return found;
}

struct tsdl_name *wm_tsdl_find(struct tsdl *p, enum tsdl_space space, const char *name)
{
	return tsdl_type_find_name(p, space, name, tsdl_type_hash_of(p, space, name));
}

/* Returns the type with that name. `kind` is what the error message calls it. */
struct wm_ctf_type *wm_tsdl_known(struct tsdl *p, enum tsdl_space space, const char *name,
				  const struct wm_tsdl_token *at, const char *kind)
{
	struct tsdl_name *known = wm_tsdl_find(p, space, name);

	if (!known)
		(void)wm_tsdl_fail(&p->lexer, at, -EBADMSG, "no %s '%.100s'", kind, name);
	return known ? known->type : NULL;
}

void wm_tsdl_declare(struct tsdl *p, enum tsdl_space space, const char *name,
		     struct wm_ctf_type *type)
{
	uint64_t hash = tsdl_type_hash_of(p, space, name);
	struct tsdl_name *n = tsdl_type_find_name(p, space, name, hash);
	uint32_t nr = p->name_table.nr;

	if (n && n->scope == p->scope) {
		(void)wm_tsdl_error(p, "'%.100s' is declared twice", name);
		return;
	}
	if (WM_ARRAY_GROW(p->names, p->room_names, (size_t)nr + 1) ||
	    wm_table_add(&p->name_table, hash, nr)) {
		(void)wm_tsdl_memory(p, NULL);
		return;
	}
	p->names[nr] = (struct tsdl_name){
	    .name = name, .type = type, .space = space, .scope = p->scope, .hash = hash};
}

struct wm_ctf_type *wm_tsdl_new(struct tsdl *p, enum wm_ctf_kind kind)
{
	struct wm_ctf_type *t = wm_tsdl_memory(p, wm_ctf_type_create(p->m, kind));

	if (t) {
		t->line = p->token.line;
		t->column = p->token.column;
	}
	return t;
}

/* Copies the node; the parts are shared. */
static struct wm_ctf_type *copy_type(struct tsdl *p, const struct wm_ctf_type *from)
{
	struct wm_ctf_type *t = wm_tsdl_new(p, from->kind), *next;

	if (!t)
		return NULL;
	next = t->next;
	*t = *from;
	t->next = next;
	return t;
}

static void tsdl_type_contain(struct tsdl *p, struct wm_ctf_type *owner,
			      const struct wm_ctf_type *part)
{
	if (wm_ctf_type_contain(owner, part))
		(void)wm_tsdl_error(p, "types nested more than %u deep", WM_CTF_DEPTH_MAX);
}

/* --- declarators ----------------------------------------------------------------- */

struct dimension {
	uint64_t length;
	struct wm_ctf_ref ref;
};

static bool dimension(struct tsdl *p, struct dimension *d)
{
	*d = (struct dimension){0};
	if (p->token.kind == WM_TSDL_NUMBER) {
		d->length = p->token.number;
		if (d->length > WM_CTF_LENGTH_MAX) {
			(void)wm_tsdl_error(p, "an array of more than %u elements",
					    WM_CTF_LENGTH_MAX);
			return false;
		}
		wm_tsdl_advance(p);
	} else {
		struct wm_tsdl_token at = p->token;
		const char *text;

		if (!wm_tsdl_path(p, &d->ref, &text))
			return false;
		if (d->ref.nr_names == 1 &&
		    (at.kind != WM_TSDL_NAME || wm_tsdl_find(p, TSDL_ALIAS, text))) {
			(void)wm_tsdl_fail(&p->lexer, &at, -EBADMSG,
					   "'%.100s' is a type, not a length", text);
			return false;
		}
	}
	return wm_tsdl_expect(p, ']', "']'");
}

static struct wm_ctf_type *arrays(struct tsdl *p, struct wm_ctf_type *element)
{
	struct dimension dims[WM_CTF_DEPTH_MAX];
	uint32_t n = 0;

	while (wm_tsdl_accept(p, '[')) {
		if (n == WM_CTF_DEPTH_MAX) {
			(void)wm_tsdl_error(p, "more than %u dimensions", WM_CTF_DEPTH_MAX);
			return NULL;
		}
		if (!dimension(p, &dims[n++]))
			return NULL;
	}
	while (n--) {
		bool fixed = !dims[n].ref.nr_names;
		struct wm_ctf_type *t = wm_tsdl_new(p, fixed ? WM_CTF_ARRAY : WM_CTF_SEQUENCE);

		if (!t)
			return NULL;
		t->element = element;
		tsdl_type_contain(p, t, element);
		t->length = dims[n].length;
		t->ref = dims[n].ref;
		t->text = element->kind == WM_CTF_INTEGER && element->text && element->bits == 8 &&
			  element->align == 8;
		element = t;
	}
	return element;
}

/* Parses a declarator: a name and array dimensions. */
static struct wm_ctf_type *declarator(struct tsdl *p, struct wm_ctf_type *type,
				      const char **ret_name)
{
	*ret_name = p->token.text;
	if (!wm_tsdl_expect(p, WM_TSDL_NAME, "a name"))
		return NULL;
	return arrays(p, type);
}

/* --- structures and variants ----------------------------------------------------- */

static void tsdl_type_add_member(struct tsdl *p, struct wm_ctf_type *owner, const char *name,
				 struct wm_ctf_type *type)
{
	struct wm_ctf_member *members;

	if (owner->nr_members == WM_CTF_MEMBERS_MAX) {
		(void)wm_tsdl_error(p, "more than %u fields in a structure", WM_CTF_MEMBERS_MAX);
		return;
	}
	members = wm_tsdl_memory(
	    p, wm_arena_grow(&p->m->arena, owner->members, owner->nr_members, sizeof(*members)));
	if (!members)
		return;
	owner->members = members;
	tsdl_type_contain(p, owner, type);
	members[owner->nr_members++] = (struct wm_ctf_member){
	    .name = name[0] == '_' ? name + 1 : name, .raw = name, .type = type};
}

static int by_raw_name(const void *a, const void *b)
{
	const struct wm_ctf_member *const *x = a, *const *y = b;

	return strcmp((*x)->raw, (*y)->raw);
}

static void tsdl_type_refuse_twins(struct tsdl *p, const struct wm_ctf_type *t)
{
	const struct wm_ctf_member **sorted;

	if (t->nr_members < 2 || p->lexer.err)
		return;
	sorted = wm_tsdl_memory(p, malloc(t->nr_members * sizeof(const struct wm_ctf_member *)));
	if (!sorted)
		return;
	for (uint32_t i = 0; i < t->nr_members; i++)
		sorted[i] = &t->members[i];
	qsort(sorted, t->nr_members, sizeof(*sorted), by_raw_name);
	for (uint32_t i = 1; i < t->nr_members; i++) {
		if (!by_raw_name(&sorted[i - 1], &sorted[i]))
			(void)wm_tsdl_error(p, "two fields are named '%.100s'", sorted[i]->raw);
	}
	free(sorted);
}

/* Parses "{ members }". */
static void body(struct tsdl *p, struct wm_ctf_type *t)
{
	wm_tsdl_scope_open(p);
	while (!wm_tsdl_accept(p, '}') && !p->lexer.err) {
		struct wm_ctf_type *type;

		if (p->token.kind == WM_TSDL_TYPEALIAS || p->token.kind == WM_TSDL_TYPEDEF) {
			wm_tsdl_declaration(p);
			continue;
		}
		if (p->token.kind == WM_TSDL_END) {
			(void)wm_tsdl_expect(p, '}', "'}'");
			break;
		}
		type = wm_tsdl_type(p);
		if (type && wm_tsdl_accept(p, ';'))
			continue; /* "struct a {...};" declares a type and no member */
		do {
			const char *name;
			struct wm_ctf_type *full = type ? declarator(p, type, &name) : NULL;

			if (full)
				tsdl_type_add_member(p, t, name, full);
		} while (!p->lexer.err && wm_tsdl_accept(p, ','));
		(void)wm_tsdl_expect(p, ';', "';'");
	}
	wm_tsdl_scope_close(p);
	tsdl_type_refuse_twins(p, t);
}

static void struct_align(struct tsdl *p, struct wm_ctf_type *t)
{
	struct wm_tsdl_value v;
	uint32_t align = 1;

	if (!wm_tsdl_accept(p, WM_TSDL_ALIGN))
		return;
	if (!wm_tsdl_expect(p, '(', "'('") || !wm_tsdl_value(p, &v) ||
	    !wm_tsdl_power_of_two(p, &v, &align))
		return;
	if (t->align < align)
		t->align = align;
	(void)wm_tsdl_expect(p, ')', "')'");
}

static struct wm_ctf_type *tsdl_type_structure(struct tsdl *p)
{
	const char *name = p->token.kind == WM_TSDL_NAME ? p->token.text : NULL;
	struct wm_tsdl_token at = p->token;
	struct wm_ctf_type *t;

	if (name)
		wm_tsdl_advance(p);
	if (name && p->token.kind != '{')
		return wm_tsdl_known(p, TSDL_STRUCT, name, &at, "structure");
	t = wm_tsdl_new(p, WM_CTF_STRUCT);
	if (!t || !wm_tsdl_expect(p, '{', "'{'"))
		return NULL;
	body(p, t);
	struct_align(p, t);
	if (name && !p->lexer.err)
		wm_tsdl_declare(p, TSDL_STRUCT, name, t);
	return t;
}

static struct wm_ctf_type *known_variant(struct tsdl *p, const char *name,
					 const struct wm_tsdl_token *at,
					 const struct wm_ctf_ref *tag)
{
	struct wm_ctf_type *known = wm_tsdl_known(p, TSDL_VARIANT, name, at, "variant"), *t;

	if (!known || !tag->nr_names)
		return known;
	t = copy_type(p, known);
	if (t)
		t->ref = *tag;
	return t;
}

static struct wm_ctf_type *tsdl_type_variant(struct tsdl *p)
{
	const char *name = p->token.kind == WM_TSDL_NAME ? p->token.text : NULL;
	struct wm_tsdl_token first = p->token, at;
	struct wm_ctf_ref tag = {0};
	struct wm_ctf_type *t;

	if (name)
		wm_tsdl_advance(p);
	if (wm_tsdl_accept(p, '<')) {
		at = p->token;
		if (!wm_tsdl_path(p, &tag, NULL) || !wm_tsdl_expect(p, '>', "'>'"))
			return NULL;
		if (tag.nr_names == 1 && at.kind != WM_TSDL_NAME) {
			(void)wm_tsdl_fail(&p->lexer, &at, -EBADMSG, "a keyword as a tag");
			return NULL;
		}
	}
	if (name && p->token.kind != '{')
		return known_variant(p, name, &first, &tag);
	t = wm_tsdl_new(p, WM_CTF_VARIANT);
	if (!t || !wm_tsdl_expect(p, '{', "'{'"))
		return NULL;
	t->ref = tag;
	body(p, t);
	if (!p->lexer.err && !t->nr_members)
		(void)wm_tsdl_error(p, "a variant without options");
	if (name && !p->lexer.err)
		wm_tsdl_declare(p, TSDL_VARIANT, name, t);
	return t;
}

/* --- specifiers ------------------------------------------------------------------- */

static bool tsdl_type_is_word(int kind)
{
	static const int words[] = {
	    WM_TSDL_CONST,  WM_TSDL_VOID,    WM_TSDL_CHAR,     WM_TSDL_SHORT, WM_TSDL_INT,
	    WM_TSDL_LONG,   WM_TSDL_FLOAT,   WM_TSDL_DOUBLE,   WM_TSDL_BOOL,  WM_TSDL_UNSIGNED,
	    WM_TSDL_SIGNED, WM_TSDL_COMPLEX, WM_TSDL_IMAGINARY};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (words[i] == kind)
			return true;
	}
	return false;
}

/*
 * Parses a type name of one or more words, such as "const unsigned long *". Returns the words
 * separated by single spaces, or NULL.
 */
static const char *tsdl_type_words(struct tsdl *p)
{
	struct wm_text text;
	const char *copy = NULL;
	bool named = false, any = false;

	wm_text_init(&text);
	while (tsdl_type_is_word(p->token.kind) || p->token.kind == '*' ||
	       (p->token.kind == WM_TSDL_NAME && !named && !any)) {
		const char *word = p->token.kind == '*' ? "*" : p->token.text;

		if (text.bytes + strlen(word) > WM_CTF_TEXT_MAX) {
			(void)wm_tsdl_error(p, "the name of a type has more than %u bytes",
					    WM_CTF_TEXT_MAX);
			break;
		}
		wm_text_str(&text, text.bytes ? " " : "");
		wm_text_str(&text, word);
		named |= p->token.kind == WM_TSDL_NAME;
		any |= p->token.kind != WM_TSDL_CONST && p->token.kind != '*';
		wm_tsdl_advance(p);
	}
	if (!text.bytes && !p->lexer.err)
		(void)wm_tsdl_expect(p, WM_TSDL_NAME, "a type");
	else if (!p->lexer.err)
		copy = wm_tsdl_memory(
		    p, text.failed ? NULL : wm_arena_copy(&p->m->arena, text.data, text.bytes));
	wm_text_done(&text);
	return copy;
}

static struct wm_ctf_type *tsdl_type_known_alias(struct tsdl *p)
{
	struct wm_tsdl_token at = p->token;
	const char *name = tsdl_type_words(p);

	return name ? wm_tsdl_known(p, TSDL_ALIAS, name, &at, "type") : NULL;
}

struct wm_ctf_type *wm_tsdl_type(struct tsdl *p)
{
	static const struct {
		int keyword;
		struct wm_ctf_type *(*parse)(struct tsdl *p);
	} specifiers[] = {
	    {WM_TSDL_STRUCT, tsdl_type_structure},      {WM_TSDL_VARIANT, tsdl_type_variant},
	    {WM_TSDL_ENUM, wm_tsdl_enumeration},        {WM_TSDL_INTEGER, wm_tsdl_integer},
	    {WM_TSDL_FLOATING, wm_tsdl_floating_point}, {WM_TSDL_STRING_TYPE, wm_tsdl_string},
	};
	struct wm_ctf_type *t = NULL;
	bool found = false;

	if (p->depth >= WM_CTF_DEPTH_MAX) {
		(void)wm_tsdl_error(p, "types nested more than %u deep", WM_CTF_DEPTH_MAX);
		return NULL;
	}
	p->depth++;
	for (size_t i = 0; i < sizeof(specifiers) / sizeof(*specifiers) && !found; i++) {
		found = specifiers[i].keyword == p->token.kind;
		if (found) {
			wm_tsdl_advance(p);
			t = specifiers[i].parse(p);
		}
	}
	if (!found)
		t = tsdl_type_known_alias(p);
	p->depth--;
	return p->lexer.err ? NULL : t;
}

/* --- typealias, typedef, bare declarations ------------------------------------------ */

static void tsdl_type_named(struct tsdl *p, const char *name, const struct wm_ctf_type *type)
{
	struct wm_ctf_type *t = copy_type(p, type);

	if (!t)
		return;
	t->alias = name;
	wm_tsdl_declare(p, TSDL_ALIAS, name, t);
}

static void type_alias(struct tsdl *p)
{
	struct wm_ctf_type *type = wm_tsdl_type(p);
	const char *name;

	if (!type || !wm_tsdl_expect(p, WM_TSDL_ASSIGN, "':='"))
		return;
	name = tsdl_type_words(p);
	if (name)
		tsdl_type_named(p, name, type);
}

static void type_definition(struct tsdl *p)
{
	struct wm_ctf_type *type = wm_tsdl_type(p);

	do {
		const char *name;
		struct wm_ctf_type *full = type ? declarator(p, type, &name) : NULL;

		if (full)
			tsdl_type_named(p, name, full);
	} while (!p->lexer.err && wm_tsdl_accept(p, ','));
}

/* Returns whether the token is the name of an attribute: "string = ...". */
static bool is_attribute(const struct tsdl *p)
{
	struct wm_tsdl_lexer ahead = p->lexer;
	struct wm_tsdl_token next;

	ahead.diag = NULL;
	wm_tsdl_next(&ahead, &next);
	return next.kind == '=';
}

bool wm_tsdl_is_declaration(const struct tsdl *p)
{
	switch (p->token.kind) {
	case WM_TSDL_TYPEALIAS:
	case WM_TSDL_TYPEDEF:
	case WM_TSDL_STRUCT:
	case WM_TSDL_VARIANT:
	case WM_TSDL_ENUM:
	case WM_TSDL_INTEGER:
	case WM_TSDL_FLOATING:
	case WM_TSDL_STRING_TYPE:
		return !is_attribute(p);
	default:
		return false;
	}
}

void wm_tsdl_declaration(struct tsdl *p)
{
	bool bare = p->token.kind != WM_TSDL_TYPEALIAS && p->token.kind != WM_TSDL_TYPEDEF;

	if (wm_tsdl_accept(p, WM_TSDL_TYPEALIAS))
		type_alias(p);
	else if (wm_tsdl_accept(p, WM_TSDL_TYPEDEF))
		type_definition(p);
	else
		(void)wm_tsdl_type(p);
	if (bare)
		(void)wm_tsdl_accept(p, ';'); /* "struct a {...}" may come without ';' */
	else
		(void)wm_tsdl_expect(p, ';', "';'");
}
