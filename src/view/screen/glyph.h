/* SPDX-License-Identifier: MIT */
/*
 * glyph.h - text as columns of a terminal: which characters, and how wide. For
 * text that was made harmless (wm_view_safe()) before.
 */
#ifndef WM_VIEW_SCREEN_GLYPH_H
#define WM_VIEW_SCREEN_GLYPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wm_glyph {
	uint32_t c;
	int width; /* columns: 0 (drawn onto the one before), 1, 2 */
};

/*
 * The character at `text`, `bytes` long, 1 at least: how many bytes it has. '?'
 * stands for what is none or cannot be drawn; without `utf8` (of the terminal)
 * for all but ASCII. Widths are those of LC_CTYPE.
 */
size_t wm_glyph_read(const char *text, size_t bytes, bool utf8, struct wm_glyph *ret);

/* Columns of all of it. */
unsigned wm_glyph_columns(const char *text, size_t bytes, bool utf8);

#endif
