/* SPDX-License-Identifier: MIT */
/* utf8.h - is it UTF-8? For who writes text of unknown origin where only that may stand. */
#ifndef WM_BASE_UTF8_H
#define WM_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/*
 * Bytes and value of the well-formed character at `s`; 0: there is none.
 * `bytes` is how many there are, one at least.
 */
uint32_t wm_utf8_read(const unsigned char *s, size_t bytes, uint32_t *ret);

#endif
