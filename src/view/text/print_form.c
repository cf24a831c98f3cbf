/* SPDX-License-Identifier: MIT */
/* print_form.c - see print_form.h. */
#include "view/text/print_form.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "view/value_text.h"

struct conversion {
	bool left, plus, space, sharp, zero;
	uint32_t width;
	int32_t precision; /* -1: none */
	bool star_width, star_precision;
	char letter;  /* 0: not a conversion */
	size_t bytes; /* size of its text, including the % */
};

static bool flag(struct conversion *c, char f)
{
	bool *which = f == '-'   ? &c->left
		      : f == '+' ? &c->plus
		      : f == ' ' ? &c->space
		      : f == '#' ? &c->sharp
		      : f == '0' ? &c->zero
				 : NULL;

	if (which)
		*which = true;
	return which != NULL;
}

static uint32_t print_form_number(const char **s)
{
	uint32_t n = 0;

	for (; **s >= '0' && **s <= '9'; ++*s) {
		n = n * 10 + (uint32_t)(**s - '0');
		if (n > WM_PRINT_WIDTH_MAX)
			n = WM_PRINT_WIDTH_MAX;
	}
	return n;
}

/* Parses a conversion at its %. */
static struct conversion print_form_parse(const char *percent)
{
	struct conversion c = {.precision = -1};
	const char *s = percent + 1;

	while (*s && flag(&c, *s))
		s++;
	c.star_width = *s == '*';
	if (c.star_width)
		s++;
	else
		c.width = print_form_number(&s);
	if (*s == '.') {
		s++;
		c.star_precision = *s == '*';
		if (c.star_precision)
			s++;
		else
			c.precision = (int32_t)print_form_number(&s);
	}
	s += strspn(s, "hljztLq");
	if (*s && strchr("diuxXocpsfFeEgGaAm%", *s))
		c.letter = *s++;
	c.bytes = (size_t)(s - percent);
	return c;
}

/* --- one value ---------------------------------------------------------------------- */

/* Returns the number of UTF-8 characters in a text, as an estimate of its columns. */
static uint32_t columns(const char *s, size_t bytes)
{
	uint32_t n = 0;

	for (size_t i = 0; i < bytes; i++)
		n += ((unsigned char)s[i] & 0xc0) != 0x80;
	return n;
}

/* Pads the text added since `from` to the width. */
static void print_form_pad(struct wm_text *t, size_t from, const struct conversion *c)
{
	uint32_t have, fill;
	size_t bytes;

	if (t->failed || t->bytes < from)
		return;
	bytes = t->bytes - from;
	have = bytes ? columns(t->data + from, bytes) : 0;
	if (have >= c->width)
		return;
	fill = c->width - have;
	for (uint32_t i = 0; i < fill; i++)
		wm_text_char(t, ' ');
	if (c->left || t->failed || !bytes)
		return;
	memmove(t->data + from + fill, t->data + from, bytes);
	memset(t->data + from, ' ', fill);
}

static void digits_of(uint64_t n, char letter, char *buf, size_t bytes)
{
	const char *f = letter == 'o'   ? "%llo"
			: letter == 'X' ? "%llX"
			: letter == 'x' ? "%llx"
					: "%llu";

	(void)snprintf(buf, bytes, f, (unsigned long long)n);
}

/* Iterates over the fields of an event. */
struct cursor {
	const struct wm_shape *fields;
	const struct wm_item *items;
	uint32_t at, end, index;
};

/* A field's value, and the shape that writes its default form. */
struct value {
	const struct wm_item *item;
	const struct wm_type *type;
	const struct wm_shape *shape;
};

static bool print_form_next(struct cursor *c, struct value *ret)
{
	while (c->index < c->fields->nr_pieces && c->at < c->end) {
		const struct wm_piece *piece = &c->fields->pieces[c->index++];
		const struct wm_item *item = &c->items[c->at];

		c->at = item->next;
		if (piece->hidden)
			continue;
		*ret = (struct value){item, item->member->type, piece->shape};
		return true;
	}
	return false;
}

static bool is_integer(const struct wm_type *t)
{
	return t->kind == WM_TYPE_UNSIGNED || t->kind == WM_TYPE_SIGNED || t->kind == WM_TYPE_BOOL;
}

/* Returns the value as unsigned, truncated to the width of its type. */
static uint64_t print_form_bits_of(const struct value *v)
{
	return v->type->bits < 64 ? v->item->u & ((UINT64_C(1) << v->type->bits) - 1) : v->item->u;
}

static void print_form_put_integer(struct wm_text *t, const struct conversion *c,
				   const struct value *v)
{
	bool other_base = strchr("xXo", c->letter) != NULL;
	bool is_signed = v->type->kind == WM_TYPE_SIGNED;
	bool negative = !other_base && is_signed && v->item->s < 0;
	uint64_t bits = negative                   ? 0 - v->item->u
			: is_signed && !other_base ? v->item->u
						   : print_form_bits_of(v);
	const char *prefix = "";
	char buf[32];
	uint32_t have, zeros = 0;

	digits_of(bits, c->letter, buf, sizeof(buf));
	if (other_base && c->sharp && bits)
		prefix = c->letter == 'o' ? "0" : c->letter == 'x' ? "0x" : "0X";
	else if (!other_base)
		prefix = negative ? "-" : c->plus ? "+" : c->space ? " " : "";
	have = (uint32_t)(strlen(buf) + strlen(prefix));
	if (c->precision >= 0 && (uint32_t)c->precision > strlen(buf))
		zeros = (uint32_t)c->precision - (uint32_t)strlen(buf);
	else if (c->zero && !c->left && c->precision < 0 && c->width > have)
		zeros = c->width - have;
	wm_text_str(t, prefix);
	while (zeros--)
		wm_text_char(t, '0');
	wm_text_str(t, buf);
}

static void print_form_put_real(struct wm_text *t, const struct conversion *c,
				const struct value *v)
{
	int precision = c->precision > 40 ? 40 : c->precision;
	double d = v->item->f;
	char buf[400];

	if (c->plus && d >= 0)
		wm_text_char(t, '+');
	else if (c->space && d >= 0)
		wm_text_char(t, ' ');
	switch (c->letter) {
	case 'e':
	case 'E':
		(void)snprintf(buf, sizeof(buf), "%.*e", precision, d);
		break;
	case 'g':
	case 'G':
		(void)snprintf(buf, sizeof(buf), "%.*g", precision, d);
		break;
	case 'a':
	case 'A':
		(void)snprintf(buf, sizeof(buf), "%.*a", precision, d);
		break;
	default:
		(void)snprintf(buf, sizeof(buf), "%.*f", precision, d);
		break;
	}
	/* Zeros go between the sign and the digits. */
	if (c->zero && !c->left && buf[0] != '-' && strspn(buf, "0123456789") &&
	    strlen(buf) < c->width) {
		for (size_t n = strlen(buf); n < c->width; n++)
			wm_text_char(t, '0');
	}
	wm_text_str(t, buf);
}

static void print_form_put_text(struct wm_text *t, const struct conversion *c,
				const struct value *v)
{
	size_t n = v->item->count;

	if (c->precision >= 0 && n > (size_t)c->precision)
		n = (size_t)c->precision;
	wm_view_safe(t, v->item->text, n, false);
}

/* Writes the default form. */
static void print_form_put_own(struct wm_text *t, const struct value *v)
{
	struct wm_pen p;

	if (!wm_pen_open(&p, t))
		return;
	(void)v->shape->write(&p, v->shape, v->item);
	wm_pen_close(&p);
}

static void print_form_put(struct wm_text *t, const struct conversion *c, const struct value *v)
{
	bool integer = is_integer(v->type);
	const char *label = v->type->is_enum ? wm_type_label(v->type, v->item) : NULL;
	size_t from = t->bytes;

	if (strchr("diuxXo", c->letter) && integer) {
		print_form_put_integer(t, c, v);
	} else if (c->letter == 'c' && integer) {
		char letter = (char)v->item->u;

		wm_view_safe(t, &letter, 1, false);
	} else if (c->letter == 'p' && integer) {
		wm_view_hex(t, print_form_bits_of(v));
	} else if (strchr("fFeEgGaA", c->letter) && v->type->kind == WM_TYPE_FLOAT) {
		print_form_put_real(t, c, v);
	} else if (c->letter == 's' && v->type->kind == WM_TYPE_STRING) {
		print_form_put_text(t, c, v);
	} else if (c->letter == 's' && label) {
		wm_view_safe(t, label, strlen(label), false);
	} else {
		print_form_put_own(t, v);
	}
	print_form_pad(t, from, c);
}

/* --- the form -------------------------------------------------------------------------- */

/* Gets the value of a '*', which also consumes a field. */
static bool star(struct cursor *cursor, int64_t *ret)
{
	struct value v;

	if (!print_form_next(cursor, &v) || !is_integer(v.type))
		return false;
	*ret = v.item->s;
	return true;
}

static bool stars(struct cursor *cursor, struct conversion *c)
{
	int64_t n = 0;

	if (c->star_width) {
		if (!star(cursor, &n))
			return false;
		c->left |= n < 0;
		n = n < 0 ? (n < -(int64_t)WM_PRINT_WIDTH_MAX ? (int64_t)WM_PRINT_WIDTH_MAX : -n)
			  : n;
		c->width = n > WM_PRINT_WIDTH_MAX ? WM_PRINT_WIDTH_MAX : (uint32_t)n;
	}
	if (c->star_precision) {
		if (!star(cursor, &n))
			return false;
		c->precision = n < 0                    ? -1
			       : n > WM_PRINT_WIDTH_MAX ? (int32_t)WM_PRINT_WIDTH_MAX
							: (int32_t)n;
	}
	return true;
}

void wm_view_print_form(struct wm_text *t, const char *form, const struct wm_shape *fields,
			const struct wm_event *e)
{
	const struct wm_part_range *part = &e->parts[WM_PART_FIELDS];
	struct cursor cursor = {fields, e->items, part->at, part->end, 0};
	const char *s = form, *end = s + strlen(s);
	struct conversion c;
	struct value v;

	while (end > s && end[-1] == '\n')
		end--;
	while (s < end) {
		const char *percent = memchr(s, '%', (size_t)(end - s));

		wm_view_safe(t, s, (size_t)((percent ? percent : end) - s), false);
		if (!percent)
			return;
		c = print_form_parse(percent);
		if (c.letter == '%')
			wm_text_char(t, '%');
		else if (c.letter && c.letter != 'm' && stars(&cursor, &c) &&
			 print_form_next(&cursor, &v))
			print_form_put(t, &c, &v);
		else
			wm_view_safe(t, percent, c.bytes, false);
		s = percent + c.bytes;
	}
}
