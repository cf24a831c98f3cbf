/* SPDX-License-Identifier: MIT */
/*
 * tsdl_type.c - the types of CTF 1.8 metadata: specifiers, declarators and
 * the scopes their names live in. See tsdl_int.h for how errors travel.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/tsdl_int.h"

/* --- names ------------------------------------------------------------------- */

void tsdl_scope_open(struct tsdl *p)
{
	p->scope++;
}

void tsdl_scope_close(struct tsdl *p)
{
	/* The newest name is always the head of its bucket. */
	while (p->newest && p->newest->scope == p->scope) {
		p->buckets[p->newest->bucket] = p->newest->next;
		p->newest = p->newest->older;
	}
	p->scope--;
}

static uint32_t bucket_of(enum tsdl_space space, const char *name)
{
	uint32_t h = 2166136261u + space;

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 16777619u;
	return h % TSDL_BUCKETS;
}

static struct tsdl_name *find_name(struct tsdl *p, enum tsdl_space space, const char *name)
{
	struct tsdl_name *n = p->buckets[bucket_of(space, name)];

	while (n && (n->space != space || strcmp(n->name, name) != 0))
		n = n->next;
	return n;
}

/* The type of that name; what it is called as `kind` when there is none. */
static struct wm_ctf_type *known_type(struct tsdl *p, enum tsdl_space space, const char *name,
				      const struct wm_tsdl_token *at, const char *kind)
{
	struct tsdl_name *known = find_name(p, space, name);

	if (!known)
		(void)wm_tsdl_fail(&p->lexer, at, -EBADMSG, "no %s '%.100s'", kind, name);
	return known ? known->type : NULL;
}

static void declare(struct tsdl *p, enum tsdl_space space, const char *name,
		    struct wm_ctf_type *type)
{
	struct tsdl_name *n = find_name(p, space, name);

	if (n && n->scope == p->scope) {
		(void)tsdl_error(p, "'%.100s' is declared twice", name);
		return;
	}
	n = tsdl_memory(p, wm_arena_get(&p->m->arena, sizeof(*n)));
	if (!n)
		return;
	*n = (struct tsdl_name){.name = name, .type = type, .space = space, .scope = p->scope};
	n->bucket = bucket_of(space, name);
	n->next = p->buckets[n->bucket];
	n->older = p->newest;
	p->buckets[n->bucket] = p->newest = n;
}

static struct wm_ctf_type *new_type(struct tsdl *p, enum wm_ctf_kind kind)
{
	struct wm_ctf_type *t = tsdl_memory(p, wm_ctf_type_create(p->m, kind));

	if (t) {
		t->line = p->token.line;
		t->column = p->token.column;
	}
	return t;
}

/* A node of its own with the same parts. */
static struct wm_ctf_type *copy_type(struct tsdl *p, const struct wm_ctf_type *from)
{
	struct wm_ctf_type *t = new_type(p, from->kind), *next;

	if (!t)
		return NULL;
	next = t->next;
	*t = *from;
	t->next = next;
	return t;
}

static void contain(struct tsdl *p, struct wm_ctf_type *owner, const struct wm_ctf_type *part)
{
	if (wm_ctf_type_contain(owner, part))
		(void)tsdl_error(p, "types more than %u deep", WM_CTF_DEPTH_MAX);
}

/* --- attributes of integer, floating_point, string ----------------------------- */

static bool power_of_two(struct tsdl *p, const struct tsdl_value *v, uint32_t *ret)
{
	uint64_t n;

	if (!tsdl_unsigned(p, v, "align", 1u << 20, &n))
		return false;
	if (!n || (n & (n - 1))) {
		(void)wm_tsdl_fail(&p->lexer, &v->at, -EBADMSG, "align is no power of two");
		return false;
	}
	*ret = (uint32_t)n;
	return true;
}

static void set_base(struct tsdl *p, const struct tsdl_value *v, struct wm_ctf_type *t)
{
	static const struct {
		uint8_t base;
		const char *words[8];
	} bases[] = {
	    {10, {"decimal", "dec", "d", "i", "u"}},
	    {16, {"hexadecimal", "hex", "x", "X", "p"}},
	    {8, {"octal", "oct", "o"}},
	    {2, {"binary", "b"}},
	};

	for (size_t i = 0; i < sizeof(bases) / sizeof(*bases); i++) {
		bool same = v->kind == TSDL_NUMBER && !v->negative && v->number == bases[i].base;

		for (size_t w = 0; v->kind != TSDL_NUMBER && bases[i].words[w]; w++)
			same |= !strcmp(bases[i].words[w], v->text);
		if (same) {
			t->base = bases[i].base;
			return;
		}
	}
	(void)wm_tsdl_fail(&p->lexer, &v->at, -EBADMSG, "base is none of 2, 8, 10, 16");
}

static void set_encoding(struct tsdl *p, const struct tsdl_value *v, struct wm_ctf_type *t)
{
	if (v->kind != TSDL_NUMBER && !strcmp(v->text, "none"))
		t->text = false;
	else if (v->kind != TSDL_NUMBER && (!strcmp(v->text, "UTF8") || !strcmp(v->text, "ASCII") ||
					    !strcmp(v->text, "utf8") || !strcmp(v->text, "ascii")))
		t->text = true;
	else
		(void)wm_tsdl_fail(&p->lexer, &v->at, -EBADMSG,
				   "encoding is none of none, UTF8, ASCII");
}

static void set_map(struct tsdl *p, const struct tsdl_value *v, struct wm_ctf_type *t)
{
	static const char before[] = "clock.", after[] = ".value";
	size_t n = v->kind == TSDL_WORD ? strlen(v->text) : 0, edge = sizeof(before) - 1;

	if (n <= edge + sizeof(after) - 1 || memcmp(v->text, before, edge) != 0 ||
	    strcmp(v->text + n - (sizeof(after) - 1), after) != 0) {
		(void)wm_tsdl_fail(&p->lexer, &v->at, -EBADMSG, "map is not clock.NAME.value");
		return;
	}
	t->clock = tsdl_memory(
	    p, wm_arena_copy(&p->m->arena, v->text + edge, n - edge - (sizeof(after) - 1)));
}

struct digits {
	uint64_t size, exponent, mantissa;
};

static void set_attribute(struct tsdl *p, struct wm_ctf_type *t, const char *name,
			  const struct tsdl_value *v, struct digits *d)
{
	if (!strcmp(name, "size"))
		(void)tsdl_unsigned(p, v, name, 1u << 16, &d->size);
	else if (!strcmp(name, "align"))
		(void)power_of_two(p, v, &t->align);
	else if (!strcmp(name, "signed"))
		(void)tsdl_bool(p, v, name, &t->is_signed);
	else if (!strcmp(name, "byte_order"))
		(void)tsdl_order(p, v, &t->order);
	else if (!strcmp(name, "base"))
		set_base(p, v, t);
	else if (!strcmp(name, "encoding"))
		set_encoding(p, v, t);
	else if (!strcmp(name, "map"))
		set_map(p, v, t);
	else if (!strcmp(name, "exp_dig"))
		(void)tsdl_unsigned(p, v, name, 64, &d->exponent);
	else if (!strcmp(name, "mant_dig"))
		(void)tsdl_unsigned(p, v, name, 256, &d->mantissa);
	/* Others are allowed and mean nothing to us. */
}

static void attributes(struct tsdl *p, struct wm_ctf_type *t, struct digits *d)
{
	while (!tsdl_accept(p, '}')) {
		struct tsdl_value v;
		const char *name;

		if (!tsdl_path(p, NULL, &name) || !tsdl_expect(p, '=', "'='") ||
		    !tsdl_value(p, &v) || !tsdl_expect(p, ';', "';'"))
			return;
		set_attribute(p, t, name, &v, d);
	}
}

static struct wm_ctf_type *integer(struct tsdl *p)
{
	struct wm_ctf_type *t = new_type(p, WM_CTF_INTEGER);
	struct wm_tsdl_token at = p->token;
	struct digits d = {0};

	if (!t || !tsdl_expect(p, '{', "'{'"))
		return NULL;
	t->align = 0;
	attributes(p, t, &d);
	if (!p->lexer.err && (!d.size || d.size > 64))
		(void)wm_tsdl_fail(&p->lexer, &at, -EBADMSG,
				   "an integer of %llu bits; 1 to 64 can be read",
				   (unsigned long long)d.size);
	t->bits = (uint16_t)d.size;
	if (!t->align)
		t->align = t->bits % 8 ? 1 : 8;
	return t;
}

static struct wm_ctf_type *floating_point(struct tsdl *p)
{
	struct wm_ctf_type *t = new_type(p, WM_CTF_FLOAT);
	struct wm_tsdl_token at = p->token;
	struct digits d = {0};

	if (!t || !tsdl_expect(p, '{', "'{'"))
		return NULL;
	attributes(p, t, &d);
	if (d.exponent == 8 && d.mantissa == 24)
		t->bits = 32;
	else if (d.exponent == 11 && d.mantissa == 53)
		t->bits = 64;
	else
		(void)wm_tsdl_fail(
		    &p->lexer, &at, -EBADMSG,
		    "a float of %llu exponent and %llu mantissa bits; 8+24 and 11+53 can be read",
		    (unsigned long long)d.exponent, (unsigned long long)d.mantissa);
	return t;
}

static struct wm_ctf_type *string(struct tsdl *p)
{
	struct wm_ctf_type *t = new_type(p, WM_CTF_STRING);
	struct digits d = {0};

	if (t && tsdl_accept(p, '{'))
		attributes(p, t, &d);
	return t;
}

/* --- enumerations ------------------------------------------------------------- */

/* Does the value fit into the container? As 64-bit bits in *ret. */
static bool enum_value(struct tsdl *p, const struct wm_ctf_type *t, bool negative, uint64_t number,
		       int64_t *ret)
{
	uint64_t positive_max, negative_max;

	positive_max = UINT64_MAX >> (64 - t->bits) >> t->is_signed;
	negative_max = t->is_signed ? positive_max + 1 : 0;
	if (number > (negative ? negative_max : positive_max)) {
		(void)tsdl_error(p, "%s%llu does not fit into %u bits, %s", negative ? "-" : "",
				 (unsigned long long)number, t->bits,
				 t->is_signed ? "signed" : "unsigned");
		return false;
	}
	*ret = (int64_t)(negative ? 0 - number : number);
	return true;
}

static bool enum_number(struct tsdl *p, const struct wm_ctf_type *t, int64_t *ret)
{
	bool negative = tsdl_accept(p, '-');
	uint64_t number = p->token.number;

	if (!negative)
		(void)tsdl_accept(p, '+');
	return tsdl_expect(p, WM_TSDL_NUMBER, "a number") &&
	       enum_value(p, t, negative, number, ret);
}

static bool enum_label(struct tsdl *p, struct wm_ctf_type *t, int64_t *next, bool *full)
{
	struct wm_ctf_label *label;

	if (t->nr_labels == WM_CTF_LABELS_MAX) {
		(void)tsdl_error(p, "more than %u labels in an enumeration", WM_CTF_LABELS_MAX);
		return false;
	}
	t->labels = tsdl_memory(
	    p, wm_arena_grow(&p->m->arena, t->labels, t->nr_labels, sizeof(*t->labels)));
	if (!t->labels)
		return false;
	label = &t->labels[t->nr_labels];
	if (p->token.kind != WM_TSDL_STRING && p->token.kind < WM_TSDL_NAME) {
		(void)tsdl_expect(p, WM_TSDL_NAME, "a label");
		return false;
	}
	label->name = p->token.text;
	if (!label->name) {
		(void)tsdl_expect(p, WM_TSDL_NAME, "a label");
		return false;
	}
	tsdl_advance(p);
	label->range = (struct wm_ctf_range){*next, *next};
	if (tsdl_accept(p, '=')) {
		if (!enum_number(p, t, &label->range.low))
			return false;
		label->range.high = label->range.low;
		if (tsdl_accept(p, WM_TSDL_DOTS) && !enum_number(p, t, &label->range.high))
			return false;
	} else if (*full ||
		   !enum_value(p, t, t->is_signed && *next < 0,
			       t->is_signed && *next < 0 ? 0 - (uint64_t)*next : (uint64_t)*next,
			       &label->range.low)) {
		return false;
	}
	if (t->is_signed ? label->range.low > label->range.high
			 : (uint64_t)label->range.low > (uint64_t)label->range.high) {
		(void)tsdl_error(p, "the range of '%.60s' ends before it begins", label->name);
		return false;
	}
	*full = label->range.high == (t->is_signed ? INT64_MAX : -1);
	*next = (int64_t)((uint64_t)label->range.high + 1);
	t->nr_labels++;
	return true;
}

static void enum_body(struct tsdl *p, struct wm_ctf_type *t)
{
	int64_t next = 0;
	bool full = false; /* the last value was the largest there is */

	do {
		if (t->nr_labels && p->token.kind == '}')
			break;
		if (!enum_label(p, t, &next, &full)) {
			if (!p->lexer.err)
				(void)tsdl_error(p, "no value is left for a label");
			return;
		}
	} while (tsdl_accept(p, ','));
	(void)tsdl_expect(p, '}', "'}' or ','");
}

static struct wm_ctf_type *enum_container(struct tsdl *p)
{
	struct wm_ctf_type *t;
	struct tsdl_name *n;

	if (tsdl_accept(p, ':')) {
		t = tsdl_type(p);
	} else {
		n = find_name(p, TSDL_ALIAS, "int");
		t = n ? n->type : NULL;
		if (!n)
			(void)tsdl_error(p, "an enumeration without a type, and no alias 'int'");
	}
	if (t && t->kind != WM_CTF_INTEGER) {
		(void)tsdl_error(p, "the type of an enumeration is no integer");
		return NULL;
	}
	return p->lexer.err ? NULL : t;
}

static struct wm_ctf_type *enumeration(struct tsdl *p)
{
	struct wm_ctf_type *t, *container;
	const char *name = p->token.kind == WM_TSDL_NAME ? p->token.text : NULL;
	struct wm_tsdl_token at = p->token;

	if (name)
		tsdl_advance(p);
	if (name && p->token.kind != ':' && p->token.kind != '{')
		return known_type(p, TSDL_ENUM, name, &at, "enumeration");
	container = enum_container(p);
	t = container ? new_type(p, WM_CTF_ENUM) : NULL;
	if (!t || !tsdl_expect(p, '{', "'{'"))
		return NULL;
	t->element = container;
	t->bits = container->bits;
	t->align = container->align;
	t->is_signed = container->is_signed;
	enum_body(p, t);
	if (name)
		declare(p, TSDL_ENUM, name, t);
	return t;
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
			(void)tsdl_error(p, "an array of more than %u elements", WM_CTF_LENGTH_MAX);
			return false;
		}
		tsdl_advance(p);
	} else {
		struct wm_tsdl_token at = p->token;
		const char *text;

		if (!tsdl_path(p, &d->ref, &text))
			return false;
		if (d->ref.nr_names == 1 &&
		    (at.kind != WM_TSDL_NAME || find_name(p, TSDL_ALIAS, text))) {
			(void)wm_tsdl_fail(&p->lexer, &at, -EBADMSG,
					   "'%.100s' is a type, not a length", text);
			return false;
		}
	}
	return tsdl_expect(p, ']', "']'");
}

static struct wm_ctf_type *arrays(struct tsdl *p, struct wm_ctf_type *element)
{
	struct dimension dims[WM_CTF_DEPTH_MAX];
	uint32_t n = 0;

	while (tsdl_accept(p, '[')) {
		if (n == WM_CTF_DEPTH_MAX) {
			(void)tsdl_error(p, "more than %u dimensions", WM_CTF_DEPTH_MAX);
			return NULL;
		}
		if (!dimension(p, &dims[n++]))
			return NULL;
	}
	while (n--) {
		bool fixed = !dims[n].ref.nr_names;
		struct wm_ctf_type *t = new_type(p, fixed ? WM_CTF_ARRAY : WM_CTF_SEQUENCE);

		if (!t)
			return NULL;
		t->element = element;
		contain(p, t, element);
		t->length = dims[n].length;
		t->ref = dims[n].ref;
		t->text = element->kind == WM_CTF_INTEGER && element->text && element->bits == 8 &&
			  element->align == 8;
		element = t;
	}
	return element;
}

/* NAME and its dimensions. */
static struct wm_ctf_type *declarator(struct tsdl *p, struct wm_ctf_type *type,
				      const char **ret_name)
{
	*ret_name = p->token.text;
	if (!tsdl_expect(p, WM_TSDL_NAME, "a name"))
		return NULL;
	return arrays(p, type);
}

/* --- structures and variants ----------------------------------------------------- */

static void add_member(struct tsdl *p, struct wm_ctf_type *owner, const char *name,
		       struct wm_ctf_type *type)
{
	struct wm_ctf_member *members;

	if (owner->nr_members == WM_CTF_MEMBERS_MAX) {
		(void)tsdl_error(p, "more than %u fields in a structure", WM_CTF_MEMBERS_MAX);
		return;
	}
	members = tsdl_memory(
	    p, wm_arena_grow(&p->m->arena, owner->members, owner->nr_members, sizeof(*members)));
	if (!members)
		return;
	owner->members = members;
	contain(p, owner, type);
	members[owner->nr_members++] = (struct wm_ctf_member){
	    .name = name[0] == '_' ? name + 1 : name, .raw = name, .type = type};
}

static int by_raw_name(const void *a, const void *b)
{
	const struct wm_ctf_member *const *x = a, *const *y = b;

	return strcmp((*x)->raw, (*y)->raw);
}

static void refuse_twins(struct tsdl *p, const struct wm_ctf_type *t)
{
	const struct wm_ctf_member **sorted;

	if (t->nr_members < 2 || p->lexer.err)
		return;
	sorted = tsdl_memory(p, malloc(t->nr_members * sizeof(const struct wm_ctf_member *)));
	if (!sorted)
		return;
	for (uint32_t i = 0; i < t->nr_members; i++)
		sorted[i] = &t->members[i];
	qsort(sorted, t->nr_members, sizeof(*sorted), by_raw_name);
	for (uint32_t i = 1; i < t->nr_members; i++) {
		if (!by_raw_name(&sorted[i - 1], &sorted[i]))
			(void)tsdl_error(p, "two fields are named '%.100s'", sorted[i]->raw);
	}
	free(sorted);
}

/* { members } */
static void body(struct tsdl *p, struct wm_ctf_type *t)
{
	tsdl_scope_open(p);
	while (!tsdl_accept(p, '}') && !p->lexer.err) {
		struct wm_ctf_type *type;

		if (p->token.kind == WM_TSDL_TYPEALIAS || p->token.kind == WM_TSDL_TYPEDEF) {
			tsdl_declaration(p);
			continue;
		}
		if (p->token.kind == WM_TSDL_END) {
			(void)tsdl_expect(p, '}', "'}'");
			break;
		}
		type = tsdl_type(p);
		if (type && tsdl_accept(p, ';'))
			continue; /* declares only the name of a structure */
		do {
			const char *name;
			struct wm_ctf_type *full = type ? declarator(p, type, &name) : NULL;

			if (full)
				add_member(p, t, name, full);
		} while (!p->lexer.err && tsdl_accept(p, ','));
		(void)tsdl_expect(p, ';', "';'");
	}
	tsdl_scope_close(p);
	refuse_twins(p, t);
}

static void struct_align(struct tsdl *p, struct wm_ctf_type *t)
{
	struct tsdl_value v;
	uint32_t align = 1;

	if (!tsdl_accept(p, WM_TSDL_ALIGN))
		return;
	if (!tsdl_expect(p, '(', "'('") || !tsdl_value(p, &v) || !power_of_two(p, &v, &align))
		return;
	if (t->align < align)
		t->align = align;
	(void)tsdl_expect(p, ')', "')'");
}

static struct wm_ctf_type *structure(struct tsdl *p)
{
	const char *name = p->token.kind == WM_TSDL_NAME ? p->token.text : NULL;
	struct wm_tsdl_token at = p->token;
	struct wm_ctf_type *t;

	if (name)
		tsdl_advance(p);
	if (name && p->token.kind != '{')
		return known_type(p, TSDL_STRUCT, name, &at, "structure");
	t = new_type(p, WM_CTF_STRUCT);
	if (!t || !tsdl_expect(p, '{', "'{'"))
		return NULL;
	body(p, t);
	struct_align(p, t);
	if (name && !p->lexer.err)
		declare(p, TSDL_STRUCT, name, t);
	return t;
}

static struct wm_ctf_type *known_variant(struct tsdl *p, const char *name,
					 const struct wm_tsdl_token *at,
					 const struct wm_ctf_ref *tag)
{
	struct wm_ctf_type *known = known_type(p, TSDL_VARIANT, name, at, "variant"), *t;

	if (!known || !tag->nr_names)
		return known;
	t = copy_type(p, known);
	if (t)
		t->ref = *tag;
	return t;
}

static struct wm_ctf_type *variant(struct tsdl *p)
{
	const char *name = p->token.kind == WM_TSDL_NAME ? p->token.text : NULL;
	struct wm_tsdl_token first = p->token, at;
	struct wm_ctf_ref tag = {0};
	struct wm_ctf_type *t;

	if (name)
		tsdl_advance(p);
	if (tsdl_accept(p, '<')) {
		at = p->token;
		if (!tsdl_path(p, &tag, NULL) || !tsdl_expect(p, '>', "'>'"))
			return NULL;
		if (tag.nr_names == 1 && at.kind != WM_TSDL_NAME) {
			(void)wm_tsdl_fail(&p->lexer, &at, -EBADMSG, "a keyword as a tag");
			return NULL;
		}
	}
	if (name && p->token.kind != '{')
		return known_variant(p, name, &first, &tag);
	t = new_type(p, WM_CTF_VARIANT);
	if (!t || !tsdl_expect(p, '{', "'{'"))
		return NULL;
	t->ref = tag;
	body(p, t);
	if (!p->lexer.err && !t->nr_members)
		(void)tsdl_error(p, "a variant without options");
	if (name && !p->lexer.err)
		declare(p, TSDL_VARIANT, name, t);
	return t;
}

/* --- specifiers ------------------------------------------------------------------- */

static bool is_word(int kind)
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

/* "const unsigned long *", "uint32_t": words with single spaces, or NULL. */
static const char *words(struct tsdl *p)
{
	char text[256];
	size_t n = 0;
	bool named = false, any = false;

	while (is_word(p->token.kind) || p->token.kind == '*' ||
	       (p->token.kind == WM_TSDL_NAME && !named && !any)) {
		const char *word = p->token.kind == '*' ? "*" : p->token.text;
		size_t bytes = strlen(word);

		if (bytes + 2 > sizeof(text) - n) {
			(void)tsdl_error(p, "the name of a type is too long");
			return NULL;
		}
		if (n)
			text[n++] = ' ';
		memcpy(text + n, word, bytes);
		n += bytes;
		named |= p->token.kind == WM_TSDL_NAME;
		any |= p->token.kind != WM_TSDL_CONST && p->token.kind != '*';
		tsdl_advance(p);
	}
	if (!n) {
		(void)tsdl_expect(p, WM_TSDL_NAME, "a type");
		return NULL;
	}
	return tsdl_memory(p, wm_arena_copy(&p->m->arena, text, n));
}

static struct wm_ctf_type *known_alias(struct tsdl *p)
{
	struct wm_tsdl_token at = p->token;
	const char *name = words(p);

	return name ? known_type(p, TSDL_ALIAS, name, &at, "type") : NULL;
}

struct wm_ctf_type *tsdl_type(struct tsdl *p)
{
	static const struct {
		int keyword;
		struct wm_ctf_type *(*parse)(struct tsdl *p);
	} specifiers[] = {
	    {WM_TSDL_STRUCT, structure},        {WM_TSDL_VARIANT, variant},
	    {WM_TSDL_ENUM, enumeration},        {WM_TSDL_INTEGER, integer},
	    {WM_TSDL_FLOATING, floating_point}, {WM_TSDL_STRING_TYPE, string},
	};
	struct wm_ctf_type *t = NULL;
	bool found = false;

	if (p->depth >= WM_CTF_DEPTH_MAX) {
		(void)tsdl_error(p, "types more than %u deep", WM_CTF_DEPTH_MAX);
		return NULL;
	}
	p->depth++;
	for (size_t i = 0; i < sizeof(specifiers) / sizeof(*specifiers) && !found; i++) {
		found = specifiers[i].keyword == p->token.kind;
		if (found) {
			tsdl_advance(p);
			t = specifiers[i].parse(p);
		}
	}
	if (!found)
		t = known_alias(p);
	p->depth--;
	return p->lexer.err ? NULL : t;
}

/* --- typealias, typedef, bare declarations ------------------------------------------ */

static void named(struct tsdl *p, const char *name, const struct wm_ctf_type *type)
{
	struct wm_ctf_type *t = copy_type(p, type);

	if (!t)
		return;
	t->alias = name;
	declare(p, TSDL_ALIAS, name, t);
}

static void type_alias(struct tsdl *p)
{
	struct wm_ctf_type *type = tsdl_type(p);
	const char *name;

	if (!type || !tsdl_expect(p, WM_TSDL_ASSIGN, "':='"))
		return;
	name = words(p);
	if (name)
		named(p, name, type);
}

static void type_definition(struct tsdl *p)
{
	struct wm_ctf_type *type = tsdl_type(p);

	do {
		const char *name;
		struct wm_ctf_type *full = type ? declarator(p, type, &name) : NULL;

		if (full)
			named(p, name, full);
	} while (!p->lexer.err && tsdl_accept(p, ','));
}

bool tsdl_is_declaration(const struct tsdl *p)
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
		return true;
	default:
		return false;
	}
}

void tsdl_declaration(struct tsdl *p)
{
	bool bare = p->token.kind != WM_TSDL_TYPEALIAS && p->token.kind != WM_TSDL_TYPEDEF;

	if (tsdl_accept(p, WM_TSDL_TYPEALIAS))
		type_alias(p);
	else if (tsdl_accept(p, WM_TSDL_TYPEDEF))
		type_definition(p);
	else
		(void)tsdl_type(p);
	if (bare)
		(void)tsdl_accept(p, ';'); /* "struct a {...}" may go without */
	else
		(void)tsdl_expect(p, ';', "';'");
}
