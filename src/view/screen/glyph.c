/* SPDX-License-Identifier: MIT */
/* glyph.c - see glyph.h. */
#include "view/screen/glyph.h"

#include <wchar.h>

#include "base/utf8.h"

size_t wm_glyph_read(const char *text, size_t bytes, bool utf8, struct wm_glyph *ret)
{
	uint32_t c, n = wm_utf8_read((const unsigned char *)text, bytes, &c);
	int width = !n ? -1 : c < 0x80 ? (c >= ' ' && c != 0x7f ? 1 : -1) : -1;

	if (n > 1 && utf8)
		width = wcwidth((wchar_t)c);
	*ret = width < 0 ? (struct wm_glyph){'?', 1} : (struct wm_glyph){c, width};
	return n ? n : 1;
}

unsigned wm_glyph_columns(const char *text, size_t bytes, bool utf8)
{
	unsigned sum = 0;

	for (size_t at = 0; at < bytes;) {
		struct wm_glyph g;

		at += wm_glyph_read(text + at, bytes - at, utf8, &g);
		sum += (unsigned)g.width;
	}
	return sum;
}
