/* SPDX-License-Identifier: MIT */
/*
 * tsdl_scalar.c - parses integers, floats, strings and enumerations of CTF 1.8 metadata. See
 * tsdl_int.h for error handling.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "read/ctf/meta/tsdl_int.h"

/* --- attributes of integer, floating_point, string ----------------------------- */

bool wm_tsdl_power_of_two(struct tsdl *p, const struct wm_tsdl_value *v, uint32_t *ret)
{
	uint64_t n;

	if (!wm_tsdl_unsigned(p, v, "align", 1u << 20, &n))
		return false;
	if (!n || (n & (n - 1))) {
		(void)wm_tsdl_fail(&p->lexer, &v->at, -EBADMSG, "align is not a power of two");
		return false;
	}
	*ret = (uint32_t)n;
	return true;
}

static void set_base(struct tsdl *p, const struct wm_tsdl_value *v, struct wm_ctf_type *t)
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

	const char letter[2] = {v->at.is_char ? (char)v->number : '\0', '\0'};
	const char *text = v->at.is_char ? letter : v->kind == TSDL_NUMBER ? NULL : v->text;

	for (size_t i = 0; i < sizeof(bases) / sizeof(*bases); i++) {
		bool same =
		    v->kind == TSDL_NUMBER && !text && !v->negative && v->number == bases[i].base;

		for (size_t w = 0; text && bases[i].words[w]; w++)
			same |= !strcmp(bases[i].words[w], text);
		if (same) {
			t->base = bases[i].base;
			return;
		}
	}
	(void)wm_tsdl_fail(&p->lexer, &v->at, -EBADMSG, "base is not one of 2, 8, 10, 16");
}

static void set_encoding(struct tsdl *p, const struct wm_tsdl_value *v, struct wm_ctf_type *t)
{
	if (v->kind != TSDL_NUMBER && !strcmp(v->text, "none"))
		t->text = false;
	else if (v->kind != TSDL_NUMBER && (!strcmp(v->text, "UTF8") || !strcmp(v->text, "ASCII") ||
					    !strcmp(v->text, "utf8") || !strcmp(v->text, "ascii")))
		t->text = true;
	else
		(void)wm_tsdl_fail(&p->lexer, &v->at, -EBADMSG,
				   "encoding is not one of none, UTF8, ASCII");
}

static void set_map(struct tsdl *p, const struct wm_tsdl_value *v, struct wm_ctf_type *t)
{
	static const char before[] = "clock.", after[] = ".value";
	size_t n = v->kind == TSDL_WORD ? strlen(v->text) : 0, edge = sizeof(before) - 1;

	if (n >= sizeof(after) && !strcmp(v->text + n - (sizeof(after) - 1), after))
		n -= sizeof(after) - 1; /* some tracers omit the suffix */
	if (n <= edge || memcmp(v->text, before, edge) != 0) {
		(void)wm_tsdl_fail(&p->lexer, &v->at, -EBADMSG, "map is not clock.NAME.value");
		return;
	}
	t->line = v->at.line;
	t->column = v->at.column;
	t->clock = wm_tsdl_memory(p, wm_arena_copy(&p->m->arena, v->text + edge, n - edge));
}

enum attribute {
	ATTRIBUTE_SIZE,
	ATTRIBUTE_ALIGN,
	ATTRIBUTE_SIGNED,
	ATTRIBUTE_BYTE_ORDER,
	ATTRIBUTE_BASE,
	ATTRIBUTE_ENCODING,
	ATTRIBUTE_MAP,
	ATTRIBUTE_EXPONENT,
	ATTRIBUTE_MANTISSA,
	NR_ATTRIBUTES /* other attributes are ignored */
};

static const char *const attribute_names[NR_ATTRIBUTES] = {
    "size", "align", "signed", "byte_order", "base", "encoding", "map", "exp_dig", "mant_dig",
};

struct digits {
	uint64_t size, exponent, mantissa;
};

static enum attribute find_attribute(const char *name)
{
	unsigned i = 0;

	while (i < NR_ATTRIBUTES && strcmp(name, attribute_names[i]) != 0)
		i++;
	return (enum attribute)i;
}

static void set_attribute(struct tsdl *p, struct wm_ctf_type *t, enum attribute which,
			  const struct wm_tsdl_value *v, struct digits *d)
{
	switch (which) {
	case ATTRIBUTE_SIZE:
		(void)wm_tsdl_unsigned(p, v, "size", WM_CTF_BITS_MAX, &d->size);
		break;
	case ATTRIBUTE_ALIGN:
		(void)wm_tsdl_power_of_two(p, v, &t->align);
		break;
	case ATTRIBUTE_SIGNED:
		(void)wm_tsdl_bool(p, v, "signed", &t->is_signed);
		break;
	case ATTRIBUTE_BYTE_ORDER:
		(void)wm_tsdl_order(p, v, &t->order);
		break;
	case ATTRIBUTE_BASE:
		set_base(p, v, t);
		break;
	case ATTRIBUTE_ENCODING:
		set_encoding(p, v, t);
		break;
	case ATTRIBUTE_MAP:
		set_map(p, v, t);
		break;
	case ATTRIBUTE_EXPONENT:
		(void)wm_tsdl_unsigned(p, v, "exp_dig", 64, &d->exponent);
		break;
	case ATTRIBUTE_MANTISSA:
		(void)wm_tsdl_unsigned(p, v, "mant_dig", 256, &d->mantissa);
		break;
	case NR_ATTRIBUTES:
		break;
	}
}

static void tsdl_scalar_attributes(struct tsdl *p, struct wm_ctf_type *t, struct digits *d)
{
	uint32_t said = 0; /* bits set for the attributes read so far */

	while (!wm_tsdl_accept(p, '}')) {
		struct wm_tsdl_value v;
		enum attribute which;
		const char *name;

		if (!wm_tsdl_path(p, NULL, &name) || !wm_tsdl_expect(p, '=', "'='") ||
		    !wm_tsdl_value(p, &v) || !wm_tsdl_expect(p, ';', "';'"))
			return;
		which = find_attribute(name);
		if (which < NR_ATTRIBUTES && said & 1u << which)
			(void)wm_tsdl_fail(&p->lexer, &v.at, -EBADMSG, "'%s' is given twice", name);
		if (which == NR_ATTRIBUTES)
			wm_ctf_warn(p->m, v.at.offset, v.at.line, "unknown attribute '%.60s'",
				    name);
		said |= 1u << which;
		set_attribute(p, t, which, &v, d);
	}
}

struct wm_ctf_type *wm_tsdl_integer(struct tsdl *p)
{
	struct wm_ctf_type *t = wm_tsdl_new(p, WM_CTF_INTEGER);
	struct wm_tsdl_token at = p->token;
	struct digits d = {0};

	if (!t || !wm_tsdl_expect(p, '{', "'{'"))
		return NULL;
	t->align = 0;
	tsdl_scalar_attributes(p, t, &d);
	if (!t->align)
		t->align = d.size % 8 ? 1 : 8;
	if (!p->lexer.err && d.size > 64 && d.size % 8 == 0 && t->align < 8)
		(void)wm_tsdl_fail(&p->lexer, &at, -EBADMSG,
				   "an integer of %llu bits with align = %u: more than 64 bits are "
				   "supported with an align of 8 or more",
				   (unsigned long long)d.size, t->align);
	if (!p->lexer.err && (!d.size || (d.size > 64 && d.size % 8)))
		(void)wm_tsdl_fail(&p->lexer, &at, -EBADMSG,
				   "an integer of %llu bits; 1 to 64, and more in whole bytes, "
				   "are supported",
				   (unsigned long long)d.size);
	t->bits = (uint16_t)d.size;
	return t;
}

struct wm_ctf_type *wm_tsdl_floating_point(struct tsdl *p)
{
	static const uint8_t floats[][2] = {{5, 11}, {8, 24}, {11, 53}, {15, 113}};
	struct wm_ctf_type *t = wm_tsdl_new(p, WM_CTF_FLOAT);
	struct wm_tsdl_token at = p->token;
	struct digits d = {0};

	if (!t || !wm_tsdl_expect(p, '{', "'{'"))
		return NULL;
	tsdl_scalar_attributes(p, t, &d);
	for (size_t i = 0; i < sizeof(floats) / sizeof(floats[0]); i++)
		if (d.exponent == floats[i][0] && d.mantissa == floats[i][1])
			t->bits = (uint16_t)(d.exponent + d.mantissa);
	if (!t->bits)
		(void)wm_tsdl_fail(&p->lexer, &at, -EBADMSG,
				   "a float of %llu exponent and %llu mantissa bits; 5+11, "
				   "8+24, 11+53 and 15+113 are supported",
				   (unsigned long long)d.exponent, (unsigned long long)d.mantissa);
	return t;
}

struct wm_ctf_type *wm_tsdl_string(struct tsdl *p)
{
	struct wm_ctf_type *t = wm_tsdl_new(p, WM_CTF_STRING);
	struct digits d = {0};

	if (t && wm_tsdl_accept(p, '{'))
		tsdl_scalar_attributes(p, t, &d);
	return t;
}

/* --- enumerations ------------------------------------------------------------- */

/* An enumeration while its labels are read. */
struct enumeration {
	struct wm_ctf_type *type;
	int64_t next; /* value of the next label that does not give one */
	bool full;    /* the previous label has the largest 64-bit value */
	/*
	 * Labels with values that the container cannot hold: an error in the tracer that costs no
	 * events.
	 */
	uint32_t nr_beyond;
	const char *beyond; /* the first of them */
	struct wm_tsdl_token at;
};

static bool fits(const struct wm_ctf_type *t, bool negative, uint64_t number)
{
	uint64_t positive_max = UINT64_MAX >> (64 - t->bits) >> t->is_signed;

	return number <= (!negative ? positive_max : t->is_signed ? positive_max + 1 : 0);
}

/* Reads a bound of a label; it has 64 bits, whatever the container's size. */
static bool enum_number(struct tsdl *p, const struct wm_ctf_type *t, int64_t *ret, bool *fit)
{
	uint64_t number;
	bool negative;

	if (!wm_tsdl_number(p, "a number", &negative, &number))
		return false;
	*fit &= fits(t, negative, number);
	*ret = (int64_t)(negative ? 0 - number : number);
	return true;
}

/* Reads the range of a label; a label without one gets the value after the previous label's. */
static bool enum_range(struct tsdl *p, const struct enumeration *e, struct wm_ctf_range *ret,
		       bool *fit)
{
	const struct wm_ctf_type *t = e->type;
	bool negative = t->is_signed && e->next < 0;

	*ret = (struct wm_ctf_range){e->next, e->next};
	if (!wm_tsdl_accept(p, '=')) {
		*fit = !e->full &&
		       fits(t, negative, negative ? 0 - (uint64_t)e->next : (uint64_t)e->next);
		return true;
	}
	if (!enum_number(p, t, &ret->low, fit))
		return false;
	ret->high = ret->low;
	return !wm_tsdl_accept(p, WM_TSDL_DOTS) || enum_number(p, t, &ret->high, fit);
}

static bool enum_add(struct tsdl *p, struct wm_ctf_type *t, const struct wm_ctf_label *label)
{
	t->labels = wm_tsdl_memory(
	    p, wm_arena_grow(&p->m->arena, t->labels, t->nr_labels, sizeof(*t->labels)));
	if (t->labels)
		t->labels[t->nr_labels++] = *label;
	return t->labels;
}

static bool enum_label(struct tsdl *p, struct enumeration *e)
{
	struct wm_ctf_type *t = e->type;
	struct wm_ctf_label label = {.name = p->token.text};
	bool fit = true, is_empty;

	if (t->nr_labels == WM_CTF_LABELS_MAX) {
		(void)wm_tsdl_error(p, "more than %u labels in an enumeration", WM_CTF_LABELS_MAX);
		return false;
	}
	if (!label.name || (p->token.kind != WM_TSDL_STRING && p->token.kind < WM_TSDL_NAME)) {
		(void)wm_tsdl_expect(p, WM_TSDL_NAME, "a label");
		return false;
	}
	wm_tsdl_advance(p);
	if (!enum_range(p, e, &label.range, &fit))
		return false;
	is_empty = t->is_signed ? label.range.low > label.range.high
				: (uint64_t)label.range.low > (uint64_t)label.range.high;
	if ((!fit || is_empty) && !e->nr_beyond++)
		e->beyond = label.name;
	e->full = label.range.high == (t->is_signed ? INT64_MAX : -1);
	e->next = (int64_t)((uint64_t)label.range.high + 1);
	return is_empty || enum_add(p, t, &label);
}

static void enum_warn(struct tsdl *p, const struct enumeration *e)
{
	char others[32] = "";

	if (e->nr_beyond > 1)
		(void)snprintf(others, sizeof(others), " (and %u more)", e->nr_beyond - 1);
	wm_ctf_warn(p->m, e->at.offset, e->at.line,
		    "label '%.60s'%s: its range is empty or does not fit in %u bits, %s", e->beyond,
		    others, e->type->bits, e->type->is_signed ? "signed" : "unsigned");
}

static void enum_body(struct tsdl *p, struct wm_ctf_type *t)
{
	struct enumeration e = {.type = t, .at = p->token};
	bool any = false;

	do {
		if (any && p->token.kind == '}')
			break;
		if (!enum_label(p, &e))
			return;
		any = true;
	} while (wm_tsdl_accept(p, ','));
	if (wm_tsdl_expect(p, '}', "'}' or ','") && e.nr_beyond)
		enum_warn(p, &e);
}

static struct wm_ctf_type *enum_container(struct tsdl *p)
{
	struct wm_ctf_type *t;
	struct tsdl_name *n;

	if (wm_tsdl_accept(p, ':')) {
		t = wm_tsdl_type(p);
	} else {
		n = wm_tsdl_find(p, TSDL_ALIAS, "int");
		t = n ? n->type : NULL;
		if (!n)
			(void)wm_tsdl_error(p, "an enumeration without a type, and no alias 'int'");
	}
	if (t && (t->kind != WM_CTF_INTEGER || t->bits > 64)) {
		(void)wm_tsdl_error(p, "the type of an enumeration is not an integer of up to 64 "
				       "bits");
		return NULL;
	}
	return p->lexer.err ? NULL : t;
}

struct wm_ctf_type *wm_tsdl_enumeration(struct tsdl *p)
{
	struct wm_ctf_type *t, *container;
	const char *name = p->token.kind == WM_TSDL_NAME ? p->token.text : NULL;
	struct wm_tsdl_token at = p->token;

	if (name)
		wm_tsdl_advance(p);
	if (name && p->token.kind != ':' && p->token.kind != '{')
		return wm_tsdl_known(p, TSDL_ENUM, name, &at, "enumeration");
	container = enum_container(p);
	t = container ? wm_tsdl_new(p, WM_CTF_ENUM) : NULL;
	if (!t || !wm_tsdl_expect(p, '{', "'{'"))
		return NULL;
	t->element = container;
	t->bits = container->bits;
	t->base = container->base;
	t->order = container->order;
	t->align = container->align;
	t->is_signed = container->is_signed;
	enum_body(p, t);
	if (name)
		wm_tsdl_declare(p, TSDL_ENUM, name, t);
	return t;
}
