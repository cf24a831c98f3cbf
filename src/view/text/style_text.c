/* SPDX-License-Identifier: MIT */
/* style_text.c - values as text for users, escaped as in value_text.h. */
#include "view/style.h"

#include "view/value_text.h"

static void safe_name(struct wm_text *t, const char *name)
{
	wm_view_safe(t, name, strlen(name), false);
}

static const struct wm_item *style_text_hex(struct wm_pen *p, const struct wm_shape *s,
					    const struct wm_item *i)
{
	uint64_t n = s->type->bits < 64 ? i->u & ((1ull << s->type->bits) - 1) : i->u;

	WM_PEN_PUT(p, "0x");
	p->at = wm_digits_bits(p->at, n, 4, "0123456789abcdef");
	return i + 1;
}

static const struct wm_item *style_text_octal(struct wm_pen *p, const struct wm_shape *s,
					      const struct wm_item *i)
{
	uint64_t n = s->type->bits < 64 ? i->u & ((1ull << s->type->bits) - 1) : i->u;

	WM_PEN_PUT(p, "0o");
	p->at = wm_digits_bits(p->at, n, 3, "01234567");
	return i + 1;
}

static const struct wm_item *style_text_binary(struct wm_pen *p, const struct wm_shape *s,
					       const struct wm_item *i)
{
	uint64_t n = s->type->bits < 64 ? i->u & ((1ull << s->type->bits) - 1) : i->u;

	WM_PEN_PUT(p, "0b");
	p->at = wm_digits_bits(p->at, n, 1, "01");
	return i + 1;
}

static const struct wm_item *style_text_real(struct wm_pen *p, const struct wm_shape *s,
					     const struct wm_item *i)
{
	double d = i->f;

	if (d > 0 && d < 1e6 && d == (double)(uint32_t)d) {
		p->at = wm_digits_u64(p->at, (uint32_t)d);
		return i + 1;
	}
	wm_pen_close(p);
	wm_view_real(p->text, d, s->type->bits == 32);
	wm_pen_resume(p);
	return i + 1;
}

/* Bytes that may need to be escaped by value_text.h. */
static const unsigned char special[256] = {
    [0 ... 31] = 1,
    [127 ... 255] = 1,
    ['\\'] = 1,
    ['"'] = 1,
};

static void careful(struct wm_pen *p, const char *text, uint32_t bytes, bool quoted)
{
	const char *end = text + bytes;

	while (text < end) {
		const char *stop = end - text > 1024 ? text + 1024 : end;

		wm_pen_need(p, 1024);
		while (text < stop && !special[(unsigned char)*text])
			wm_pen_char(p, *text++);
		if (text < stop) {
			wm_pen_close(p);
			wm_view_safe(p->text, text, (size_t)(end - text), quoted);
			wm_pen_resume(p);
			return;
		}
	}
}

static const struct wm_item *style_text_string(struct wm_pen *p, const struct wm_shape *s,
					       const struct wm_item *i)
{
	wm_pen_char(p, '"');
	careful(p, i->text, i->count, true);
	wm_pen_need(p, 2);
	wm_pen_char(p, '"');
	return i + 1;
}

static const struct wm_item *bare_string(struct wm_pen *p, const struct wm_shape *s,
					 const struct wm_item *i)
{
	careful(p, i->text, i->count, false);
	return i + 1;
}

static const struct wm_item *style_text_bytes(struct wm_pen *p, const struct wm_shape *s,
					      const struct wm_item *i)
{
	static const char digits[] = "0123456789abcdef";

	wm_pen_char(p, '<');
	for (uint32_t k = 0; k < i->count; k++) {
		wm_pen_need(p, 4);
		if (k)
			wm_pen_char(p, ' ');
		wm_pen_char(p, digits[i->bytes[k] >> 4]);
		wm_pen_char(p, digits[i->bytes[k] & 15]);
	}
	wm_pen_need(p, 2);
	wm_pen_char(p, '>');
	return i + 1;
}

static wm_shape_write *style_text_number(const struct wm_type *t)
{
	static wm_shape_write *const of_look[] = {
	    [WM_LOOK_HEX] = style_text_hex,
	    [WM_LOOK_OCTAL] = style_text_octal,
	    [WM_LOOK_BINARY] = style_text_binary,
	    [WM_LOOK_POINTER] = style_text_hex,
	};

	return t->look ? of_look[t->look] : wm_style_decimal(t);
}

static void style_text_label(struct wm_pen *p, const char *name, uint32_t nr)
{
	wm_pen_need(p, 2);
	if (nr)
		wm_pen_char(p, '|');
	careful(p, name, (uint32_t)strlen(name), false);
}

/* Writes the names of all bits that are set and have a name. */
static uint32_t style_text_flags(struct wm_pen *p, const struct wm_type *t, uint64_t n)
{
	uint32_t nr = 0;

	for (uint32_t k = 0; k < t->nr_labels; k++) {
		const struct wm_type_label *l = &t->labels[k];
		uint64_t low = l->low < 0 || l->low > 63 ? 63 : (uint64_t)l->low;
		uint64_t width = l->high < l->low ? 1 : (uint64_t)(l->high - l->low) + 1;
		uint64_t mask = (width >= 64 ? ~0ull : (1ull << width) - 1) << low;

		if (n & mask)
			style_text_label(p, l->name, nr++);
	}
	return nr;
}

/* Writes WARN (3), READ|WRITE (3) or <unknown> (9). */
static const struct wm_item *style_text_enumeration(struct wm_pen *p, const struct wm_shape *s,
						    const struct wm_item *i)
{
	const char *name = s->type->is_flags ? NULL : wm_type_label(s->type, i);
	uint32_t nr = s->type->is_flags ? style_text_flags(p, s->type, i->u) : 0;

	if (name) {
		style_text_label(p, name, 0);
		nr = 1;
	}
	wm_pen_need(p, 128);
	if (!nr)
		WM_PEN_PUT(p, "<unknown>");
	WM_PEN_PUT(p, " (");
	(void)style_text_number(s->type)(p, s, i);
	wm_pen_char(p, ')');
	return i + 1;
}

static wm_shape_write *leaf_of(const struct wm_type *t, wm_shape_write *text)
{
	static wm_shape_write *const others[WM_TYPE_NR] = {
	    [WM_TYPE_BOOL] = wm_style_bool,
	    [WM_TYPE_FLOAT] = style_text_real,
	    [WM_TYPE_BYTES] = style_text_bytes,
	};

	if (t->is_enum || t->is_flags)
		return style_text_enumeration;
	if (t->kind == WM_TYPE_STRING)
		return text;
	return others[t->kind] ? others[t->kind] : style_text_number(t);
}

static wm_shape_write *style_text_leaf(const struct wm_type *t)
{
	return leaf_of(t, style_text_string);
}

static wm_shape_write *bare_leaf(const struct wm_type *t)
{
	return leaf_of(t, bare_string);
}

const struct wm_style wm_style_people = {
    .open = "{",
    .next = ", ",
    .after = " = ",
    .close = " }",
    .list_open = "[",
    .list_first = " ",
    .list_next = ", ",
    .list_close = " ]",
    .choice_open = "{ ",
    .choice_after = " = ",
    .choice_close = " }",
    .some_open = "",
    .some_close = "",
    .none = "none",
    .name = safe_name,
    .leaf = style_text_leaf,
};

const struct wm_style wm_style_perf = {
    .open = "{",
    .next = " ",
    .after = "=",
    .close = " }",
    .list_open = "[",
    .list_first = "",
    .list_next = ", ",
    .list_close = "]",
    .choice_open = "",
    .choice_close = "",
    .some_open = "",
    .some_close = "",
    .none = "none",
    .name = safe_name,
    .leaf = bare_leaf,
};
