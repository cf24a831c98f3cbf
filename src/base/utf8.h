/* SPDX-License-Identifier: MIT */
/* utf8.h - checks and decodes UTF-8, for writers of text of unknown origin. */
#ifndef WM_BASE_UTF8_H
#define WM_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/*
 * Length and value of the well-formed character at `s`; 0: not well-formed. `bytes`, at least 1, is
 * the number of bytes available.
 */
uint32_t wm_utf8_read(const unsigned char *s, size_t bytes, uint32_t *ret);

#endif
