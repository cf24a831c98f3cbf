/* SPDX-License-Identifier: MIT */
/* value_text.c - see value_text.h. */
#include "view/value_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

/* --- characters ------------------------------------------------------------------- */

/* Controls, line and paragraph separators, direction marks. */
static bool harmful(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x061c || c == 0x200e || c == 0x200f ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

static void escape(struct wm_text *t, uint32_t c)
{
	static const char from[] = "\n\t\r", to[] = "ntr";
	const char *known = c && c < 0x80 ? strchr(from, (int)c) : NULL;

	if (known)
		wm_text_f(t, "\\%c", to[known - from]);
	else
		wm_text_f(t, c < 0x80 ? "\\x%02x" : "\\u%04x", c);
}

/* How many bytes from here on need no care: the usual case, copied at once. */
static size_t plain(const unsigned char *s, size_t bytes, const char *special)
{
	size_t n = 0;

	while (n < bytes && s[n] >= 0x20 && s[n] < 0x7f && s[n] != special[0] && s[n] != special[1])
		n++;
	return n;
}

void wm_view_safe(struct wm_text *t, const void *bytes, size_t count, bool quoted)
{
	const unsigned char *s = bytes, *end = s + count;
	uint32_t c = 0, n;

	while (s < end) {
		size_t skip = plain(s, (size_t)(end - s), quoted ? "\"\\" : "\x7f\x7f");

		wm_text_add(t, s, skip);
		s += skip;
		if (s == end)
			break;
		n = wm_utf8_read(s, (size_t)(end - s), &c);
		if (!n)
			wm_text_f(t, "\\x%02x", *s);
		else if (n == 1 && c >= 0x20 && c != 0x7f)
			wm_text_f(t, "\\%c", (int)c); /* a quote or a backslash */
		else if (harmful(c))
			escape(t, c);
		else
			wm_text_add(t, s, n);
		s += n ? n : 1;
	}
}

void wm_view_json_bytes(struct wm_text *t, const void *bytes, size_t count)
{
	const unsigned char *s = bytes, *end = s + count;
	uint32_t c = 0, n;

	while (s < end) {
		size_t skip = plain(s, (size_t)(end - s), "\"\\");

		wm_text_add(t, s, skip);
		s += skip;
		if (s == end)
			break;
		n = wm_utf8_read(s, (size_t)(end - s), &c);
		if (!n)
			wm_text_str(t, "\\ufffd");
		else if (c == '"' || c == '\\')
			wm_text_f(t, "\\%c", (int)c);
		else if (harmful(c))
			wm_text_f(t, "\\u%04x", c);
		else
			wm_text_add(t, s, n);
		s += n ? n : 1;
	}
}

void wm_view_json_string(struct wm_text *t, const void *bytes, size_t count)
{
	wm_text_char(t, '"');
	wm_view_json_bytes(t, bytes, count);
	wm_text_char(t, '"');
}

size_t wm_view_text_bytes(const struct wm_value *v)
{
	return v->count ? strnlen((const char *)v->data, v->count) : 0;
}

/* --- numbers ------------------------------------------------------------------------ */

void wm_view_hex(struct wm_text *t, uint64_t n)
{
	static const char digits[] = "0123456789abcdef";
	char buf[18];
	size_t at = sizeof(buf);

	do {
		buf[--at] = digits[n & 15];
		n >>= 4;
	} while (n);
	buf[--at] = 'x';
	buf[--at] = '0';
	wm_text_add(t, buf + at, sizeof(buf) - at);
}

uint64_t wm_view_bits(const struct wm_value *v, uint32_t i)
{
	uint64_t n = (uint64_t)wm_value_integer(v, i);

	return v->field->bytes >= 8 ? n : n & ((1ull << (8 * v->field->bytes)) - 1);
}

void wm_view_real(struct wm_text *t, double d, bool is_float)
{
	char buf[40];

	(void)snprintf(buf, sizeof(buf), "%.*g", is_float ? 6 : 15, d);
	if (is_float ? strtof(buf, NULL) != (float)d : strtod(buf, NULL) != d)
		(void)snprintf(buf, sizeof(buf), "%.*g", is_float ? 9 : 17, d);
	wm_text_str(t, buf);
}

static void integer(struct wm_text *t, const struct wm_value *v, uint32_t i)
{
	if (v->field->scalar == WM_SCALAR_SIGNED)
		wm_text_i64(t, wm_value_integer(v, i));
	else
		wm_text_u64(t, wm_view_bits(v, i));
}

/* --- values ---------------------------------------------------------------------------- */

void wm_view_element(struct wm_text *t, const struct wm_value *v, uint32_t i)
{
	const struct wm_field *f = v->field;
	const char *label;

	if (f->nr_labels) {
		label = wm_field_label(f, wm_value_integer(v, i));
		if (label)
			wm_view_safe(t, label, strlen(label), false);
		else
			wm_text_str(t, "<unknown>");
		wm_text_str(t, " (");
		integer(t, v, i);
		wm_text_char(t, ')');
	} else if (f->scalar == WM_SCALAR_FLOAT) {
		wm_view_real(t, wm_value_float(v, i), f->bytes == 4);
	} else if (f->scalar == WM_SCALAR_BOOL) {
		wm_text_str(t, wm_view_bits(v, i) ? "true" : "false");
	} else if (f->scalar == WM_SCALAR_HEX || f->scalar == WM_SCALAR_POINTER) {
		wm_view_hex(t, wm_view_bits(v, i));
	} else {
		integer(t, v, i);
	}
}

static void blob(struct wm_text *t, const struct wm_value *v, const char *between)
{
	static const char digits[] = "0123456789abcdef";

	for (uint32_t i = 0; i < v->count; i++) {
		if (i)
			wm_text_str(t, between);
		wm_text_char(t, digits[v->data[i] >> 4]);
		wm_text_char(t, digits[v->data[i] & 15]);
	}
}

void wm_view_value(struct wm_text *t, const struct wm_value *v)
{
	switch (v->field->shape) {
	case WM_SHAPE_SCALAR:
		wm_view_element(t, v, 0);
		return;
	case WM_SHAPE_STRING:
	case WM_SHAPE_CHARS:
		wm_text_char(t, '"');
		wm_view_safe(t, v->data, wm_view_text_bytes(v), true);
		wm_text_char(t, '"');
		return;
	case WM_SHAPE_BLOB:
		wm_text_char(t, '<');
		blob(t, v, " ");
		wm_text_char(t, '>');
		return;
	case WM_SHAPE_ARRAY:
	case WM_SHAPE_SEQUENCE:
		wm_text_str(t, "[ ");
		for (uint32_t i = 0; i < v->count; i++) {
			if (i)
				wm_text_str(t, ", ");
			wm_view_element(t, v, i);
		}
		wm_text_str(t, v->count ? " ]" : "]");
		return;
	}
}

void wm_view_json_real(struct wm_text *t, double d, bool is_float)
{
	if (isnan(d))
		wm_text_str(t, "\"NaN\"");
	else if (isinf(d))
		wm_text_str(t, d < 0 ? "\"-Infinity\"" : "\"Infinity\"");
	else
		wm_view_real(t, d, is_float);
}

static void json_element(struct wm_text *t, const struct wm_value *v, uint32_t i)
{
	const struct wm_field *f = v->field;
	const char *label = f->nr_labels ? wm_field_label(f, wm_value_integer(v, i)) : NULL;

	if (f->nr_labels) {
		wm_text_str(t, "{\"value\":");
		integer(t, v, i);
		wm_text_str(t, ",\"label\":");
		if (label)
			wm_view_json_string(t, label, strlen(label));
		else
			wm_text_str(t, "null");
		wm_text_char(t, '}');
	} else if (f->scalar == WM_SCALAR_FLOAT) {
		wm_view_json_real(t, wm_value_float(v, i), f->bytes == 4);
	} else if (f->scalar == WM_SCALAR_BOOL) {
		wm_text_str(t, wm_view_bits(v, i) ? "true" : "false");
	} else {
		integer(t, v, i);
	}
}

void wm_view_value_json(struct wm_text *t, const struct wm_value *v)
{
	switch (v->field->shape) {
	case WM_SHAPE_SCALAR:
		json_element(t, v, 0);
		return;
	case WM_SHAPE_STRING:
	case WM_SHAPE_CHARS:
		wm_view_json_string(t, v->data, wm_view_text_bytes(v));
		return;
	case WM_SHAPE_BLOB:
		wm_text_char(t, '"');
		blob(t, v, "");
		wm_text_char(t, '"');
		return;
	case WM_SHAPE_ARRAY:
	case WM_SHAPE_SEQUENCE:
		wm_text_char(t, '[');
		for (uint32_t i = 0; i < v->count; i++) {
			if (i)
				wm_text_char(t, ',');
			json_element(t, v, i);
		}
		wm_text_char(t, ']');
		return;
	}
}
