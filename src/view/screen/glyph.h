/* SPDX-License-Identifier: MIT */
/*
 * glyph.h - text as columns of a terminal: characters and their widths. The
 * text must be escaped (wm_view_safe()) before.
 */
#ifndef WM_VIEW_SCREEN_GLYPH_H
#define WM_VIEW_SCREEN_GLYPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wm_glyph {
	uint32_t c;
	int width; /* columns: 0 (combines with the previous character), 1, 2 */
};

/*
 * Reads the character at `text`, of `bytes` >= 1, and returns its length in
 * bytes. Invalid and unprintable ones become '?'; without `utf8` (of the
 * terminal), so does all that is not ASCII. Widths are those of LC_CTYPE.
 */
size_t wm_glyph_read(const char *text, size_t bytes, bool utf8, struct wm_glyph *ret);

/* Columns of the whole text. */
unsigned wm_glyph_columns(const char *text, size_t bytes, bool utf8);

#endif
