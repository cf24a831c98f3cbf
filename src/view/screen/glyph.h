/* SPDX-License-Identifier: MIT */
/*
 * glyph.h - the characters of a text and their widths in terminal columns. The text must have been
 * escaped by wm_view_safe().
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
 * Reads the first character of `text`, which has `bytes` >= 1, and returns its length in bytes.
 * Invalid and unprintable characters become '?'; if the terminal does not support UTF-8 (`utf8`),
 * all non-ASCII ones do. Widths depend on LC_CTYPE.
 */
size_t wm_glyph_read(const char *text, size_t bytes, bool utf8, struct wm_glyph *ret);

/* Returns the number of columns that the whole text occupies. */
unsigned wm_glyph_columns(const char *text, size_t bytes, bool utf8);

#endif
