/* SPDX-License-Identifier: MIT */
/* value_text.c - see value_text.h. */
#include "view/value_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

/* --- characters ------------------------------------------------------------------- */

/* Control characters, line and paragraph separators, direction marks. */
static bool harmful(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x061c || c == 0x200e || c == 0x200f ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

static void value_text_escape(struct wm_text *t, uint32_t c)
{
	static const char from[] = "\n\t\r", to[] = "ntr";
	const char *known = c && c < 0x80 ? strchr(from, (int)c) : NULL;

	if (known)
		wm_text_f(t, "\\%c", to[known - from]);
	else
		wm_text_f(t, c < 0x80 ? "\\x%02x" : "\\u%04x", c);
}

/* Returns the number of leading bytes that need no escape, usually the whole text. */
static size_t value_text_plain(const unsigned char *s, size_t bytes, const char *special)
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
		size_t skip = value_text_plain(s, (size_t)(end - s), quoted ? "\"\\" : "\x7f\x7f");

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
			value_text_escape(t, c);
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
		size_t skip = value_text_plain(s, (size_t)(end - s), "\"\\");

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

void wm_view_real(struct wm_text *t, double d, bool is_float)
{
	char buf[40];

	(void)snprintf(buf, sizeof(buf), "%.*g", is_float ? 6 : 15, d);
	if (is_float ? strtof(buf, NULL) != (float)d : strtod(buf, NULL) != d)
		(void)snprintf(buf, sizeof(buf), "%.*g", is_float ? 9 : 17, d);
	wm_text_str(t, buf);
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
