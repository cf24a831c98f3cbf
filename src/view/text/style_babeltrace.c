/* SPDX-License-Identifier: MIT */
/*
 * style_babeltrace.c - values as babeltrace2 2.0.4 and 2.1 print them. Their rules, as observed:
 * hexadecimal digits are upper case; a negative number in a base other than ten is truncated to
 * whole digits of its size (16: nibbles, 8: three bits, 2: its bits); binary shows all bits; floats
 * have six digits; all labels of a value are listed, in braces by 2.1 when there are several; in
 * strings, backslash, both quotes and '?' are escaped with a backslash.
 */
#include "view/style.h"

/* Returns the low bits, rounded up to whole digits. */
static uint64_t babeltrace_whole(uint64_t n, uint32_t bits, uint32_t per_digit)
{
	uint32_t rounded = (bits + per_digit - 1) / per_digit * per_digit;

	return bits >= 64 || rounded >= 64 ? n : n & ((1ull << rounded) - 1);
}

static const struct wm_item *babeltrace_hex(struct wm_pen *p, const struct wm_shape *s,
					    const struct wm_item *i)
{
	WM_PEN_PUT(p, "0x");
	p->at =
	    wm_digits_bits(p->at, babeltrace_whole(i->u, s->type->bits, 4), 4, "0123456789ABCDEF");
	return i + 1;
}

static const struct wm_item *babeltrace_octal(struct wm_pen *p, const struct wm_shape *s,
					      const struct wm_item *i)
{
	wm_pen_char(p, '0');
	p->at = wm_digits_bits(p->at, babeltrace_whole(i->u, s->type->bits, 3), 3, "01234567");
	return i + 1;
}

static const struct wm_item *babeltrace_binary(struct wm_pen *p, const struct wm_shape *s,
					       const struct wm_item *i)
{
	WM_PEN_PUT(p, "0b");
	for (uint32_t bit = s->type->bits; bit-- > 0;)
		wm_pen_char(p, i->u >> bit & 1 ? '1' : '0');
	return i + 1;
}

static const struct wm_item *babeltrace_real(struct wm_pen *p, const struct wm_shape *s,
					     const struct wm_item *i)
{
	p->at = wm_digits_g(p->at, i->f);
	return i + 1;
}

static void babeltrace_escape(struct wm_pen *p, unsigned char c)
{
	static const char from[] = "\a\b\f\n\r\t\v\x1b", to[] = "abfnrtve";
	static const char digits[] = "0123456789abcdef";
	const char *known = c ? strchr(from, c) : NULL;

	wm_pen_char(p, '\\');
	if (c >= 0x20 && c != 0x7f) {
		wm_pen_char(p, (char)c);
	} else if (known) {
		wm_pen_char(p, to[known - from]);
	} else {
		wm_pen_char(p, 'x');
		wm_pen_char(p, digits[c >> 4]);
		wm_pen_char(p, digits[c & 15]);
	}
}

static const unsigned char special[256] = {
    [0 ... 31] = 1, [127] = 1, ['\\'] = 1, ['\''] = 1, ['"'] = 1, ['?'] = 1,
};

static void babeltrace_quoted(struct wm_pen *p, const char *text, uint32_t bytes)
{
	const unsigned char *s = (const unsigned char *)text, *end = s + bytes;

	wm_pen_need(p, 2);
	wm_pen_char(p, '"');
	while (s < end) {
		const unsigned char *stop = end - s > 256 ? s + 256 : end;

		wm_pen_need(p, 4 * 256 + 2);
		for (; s < stop; s++) {
			if (special[*s])
				babeltrace_escape(p, *s);
			else
				wm_pen_char(p, (char)*s);
		}
	}
	wm_pen_char(p, '"');
}

static const struct wm_item *babeltrace_string(struct wm_pen *p, const struct wm_shape *s,
					       const struct wm_item *i)
{
	babeltrace_quoted(p, i->text, i->count);
	return i + 1;
}

/*
 * Writes a blob. CTF 1.8 has no blobs, only lists of numbers; CTF 2 blobs are written the way
 * babeltrace2 2.1 writes them.
 */
static const struct wm_item *bare_bytes(struct wm_pen *p, const struct wm_shape *s,
					const struct wm_item *i)
{
	wm_pen_char(p, '[');
	for (uint32_t k = 0; k < i->count; k++) {
		wm_pen_need(p, 2 * WM_DIGITS_MAX + 16);
		if (k)
			wm_pen_char(p, ',');
		WM_PEN_PUT(p, " [");
		p->at = wm_digits_u64(p->at, k);
		WM_PEN_PUT(p, "] = 0x");
		p->at = wm_digits_bits(p->at, i->bytes[k], 4, "0123456789ABCDEF");
	}
	wm_pen_need(p, 4);
	WM_PEN_PUT(p, " ]");
	return i + 1;
}

static const struct wm_item *babeltrace_bytes(struct wm_pen *p, const struct wm_shape *s,
					      const struct wm_item *i)
{
	wm_pen_char(p, '{');
	for (uint32_t k = 0; k < i->count; k++) {
		wm_pen_need(p, 16);
		wm_pen_char(p, ' ');
		p->at = wm_digits_bits(p->at, i->bytes[k] >> 4, 4, "0123456789abcdef");
		p->at = wm_digits_bits(p->at, i->bytes[k] & 15, 4, "0123456789abcdef");
	}
	wm_pen_need(p, 4);
	WM_PEN_PUT(p, " }");
	return i + 1;
}

static wm_shape_write *babeltrace_number(const struct wm_type *t)
{
	static wm_shape_write *const of_look[] = {
	    [WM_LOOK_HEX] = babeltrace_hex,
	    [WM_LOOK_OCTAL] = babeltrace_octal,
	    [WM_LOOK_BINARY] = babeltrace_binary,
	    [WM_LOOK_POINTER] = babeltrace_hex,
	};

	return t->look ? of_look[t->look] : wm_style_decimal(t);
}

/* Writes the labels of the flags that are set; each label names a range of bits. */
static bool babeltrace_labels(const struct wm_type *t, const struct wm_type_label *l,
			      const struct wm_item *i)
{
	if (!t->is_flags)
		return wm_type_label_holds(t, l, i);
	for (int64_t bit = l->low; bit <= l->high && bit < 64; bit++)
		if (bit >= 0 && i->u >> bit & 1)
			return true;
	return false;
}

/* Returns whether a range of the label, or of a later label with that name, contains the value. */
static bool babeltrace_any_label(const struct wm_type *t, uint32_t k, const struct wm_item *i)
{
	for (; !babeltrace_labels(t, &t->labels[k], i); k = t->labels[k].twin - 1)
		if (!t->labels[k].twin)
			return false;
	return true;
}

/* Writes the labels of a value; returns their number. */
static uint32_t babeltrace_put_labels(struct wm_pen *p, const struct wm_type *t,
				      const struct wm_item *i)
{
	uint32_t nr = 0;

	for (uint32_t k = 0; k < t->nr_labels; k++) {
		if (t->labels[k].follows || !babeltrace_any_label(t, k, i))
			continue;
		wm_pen_need(p, 2);
		if (nr++)
			WM_PEN_PUT(p, ", ");
		babeltrace_quoted(p, t->labels[k].name, (uint32_t)strlen(t->labels[k].name));
	}
	wm_pen_need(p, 128);
	return nr;
}

static const struct wm_item *babeltrace_end_enumeration(struct wm_pen *p, const struct wm_shape *s,
							const struct wm_item *i)
{
	WM_PEN_PUT(p, " : container = ");
	(void)babeltrace_number(s->type)(p, s, i);
	WM_PEN_PUT(p, " )");
	return i + 1;
}

static const struct wm_item *babeltrace_enumeration(struct wm_pen *p, const struct wm_shape *s,
						    const struct wm_item *i)
{
	WM_PEN_PUT(p, "( ");
	if (!babeltrace_put_labels(p, s->type, i))
		WM_PEN_PUT(p, "<unknown>");
	return babeltrace_end_enumeration(p, s, i);
}

/* Returns whether the value has at least `least` labels. */
static bool babeltrace_has_labels(const struct wm_type *t, const struct wm_item *i, uint32_t least)
{
	uint32_t nr = 0;

	for (uint32_t k = 0; k < t->nr_labels && nr < least; k++)
		nr += !t->labels[k].follows && babeltrace_any_label(t, k, i);
	return nr == least;
}

static const struct wm_item *babeltrace_21_enumeration(struct wm_pen *p, const struct wm_shape *s,
						       const struct wm_item *i)
{
	if (!babeltrace_has_labels(s->type, i, 2))
		return babeltrace_enumeration(p, s, i);
	WM_PEN_PUT(p, "( { ");
	(void)babeltrace_put_labels(p, s->type, i);
	WM_PEN_PUT(p, " }");
	return babeltrace_end_enumeration(p, s, i);
}

/* Writes a CTF 2 bit map, which only babeltrace2 2.1 reads. */
static const struct wm_item *babeltrace_flags(struct wm_pen *p, const struct wm_shape *s,
					      const struct wm_item *i)
{
	(void)babeltrace_number(s->type)(p, s, i);
	if (!babeltrace_has_labels(s->type, i, 1))
		return i + 1;
	WM_PEN_PUT(p, " { ");
	(void)babeltrace_put_labels(p, s->type, i);
	WM_PEN_PUT(p, " }");
	return i + 1;
}

static wm_shape_write *babeltrace_leaf(const struct wm_type *t)
{
	static wm_shape_write *const others[WM_TYPE_NR] = {
	    [WM_TYPE_BOOL] = wm_style_bool,
	    [WM_TYPE_FLOAT] = babeltrace_real,
	    [WM_TYPE_STRING] = babeltrace_string,
	    [WM_TYPE_BYTES] = babeltrace_bytes,
	};

	if (t->is_flags)
		return babeltrace_flags;
	if (t->is_enum)
		return babeltrace_enumeration;
	if (t->is_bare)
		return t->kind == WM_TYPE_BYTES ? bare_bytes : wm_style_u64;
	return others[t->kind] ? others[t->kind] : babeltrace_number(t);
}

static wm_shape_write *babeltrace_21_leaf(const struct wm_type *t)
{
	return t->is_enum && !t->is_flags ? babeltrace_21_enumeration : babeltrace_leaf(t);
}

static void no_name(struct wm_text *t, const char *name)
{
}

/* The punctuation of all babeltrace2 styles. */
#define BABELTRACE                                                                                 \
	.open = "{", .next = ", ", .close = " }", .list_open = "[", .list_first = " ",             \
	.list_next = ", ", .list_close = " ]", .choice_open = "{ ", .choice_close = " }",          \
	.some_open = "{ ", .some_close = " }", .none = "<none>"

#define NAMES    .after = " = ", .list_numbers = true, .name = wm_text_str
#define NO_NAMES .after = "", .name = no_name

const struct wm_style wm_style_babeltrace = {BABELTRACE, NAMES, .leaf = babeltrace_leaf};
const struct wm_style wm_style_babeltrace_bare = {BABELTRACE, NO_NAMES, .leaf = babeltrace_leaf};
const struct wm_style wm_style_babeltrace_21 = {BABELTRACE, NAMES, .leaf = babeltrace_21_leaf};
const struct wm_style wm_style_babeltrace_21_bare = {BABELTRACE, NO_NAMES,
						     .leaf = babeltrace_21_leaf};
