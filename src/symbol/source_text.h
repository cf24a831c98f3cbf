/* SPDX-License-Identifier: MIT */
/* source_text.h - lines of source files on this machine, each file read once. */
#ifndef WM_SYMBOL_SOURCE_TEXT_H
#define WM_SYMBOL_SOURCE_TEXT_H

#include <stdint.h>

#define WM_SOURCE_TEXT_BYTES_MAX (64u << 20) /* maximum bytes per file */
#define WM_SOURCE_TEXT_FILES_MAX 1024u

struct wm_source_text;

int wm_lines_text_create(struct wm_source_text **ret); /* 0 or -ENOMEM */
void wm_lines_text_destroy(struct wm_source_text *s);  /* accepts NULL */

/*
 * Returns a line (1-based) without its newline and leading blanks, valid as long as `s`; NULL: the
 * file is not on this machine, or is shorter.
 */
const char *wm_lines_text_get(struct wm_source_text *s, const char *file, uint32_t line);

#endif
