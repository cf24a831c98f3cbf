/* SPDX-License-Identifier: MIT */
/* utf8.h - checks and decodes UTF-8, for writers of text of unknown origin. */
#ifndef WM_BASE_UTF8_H
#define WM_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/*
 * Decodes the character at `s`: returns its length and stores its value, or returns 0 when it is
 * not well-formed. `bytes`, at least 1, is the number of bytes available.
 */
uint32_t wm_utf8_read(const unsigned char *s, size_t bytes, uint32_t *ret);

#endif
