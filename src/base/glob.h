/* SPDX-License-Identifier: MIT */
/*
 * glob.h - shell patterns over byte strings.
 *
 *   *        any number of bytes           ?       any one byte
 *   [abc]    one of these                  [a-z]   one of this range
 *   [!a-z]   none of these ([^a-z] too)   \c      the byte c itself
 *
 * A ']' that comes first in a set, and a '-' that comes first or last, are ordinary members; an
 * unclosed '[' is an ordinary byte. No byte of the text is special: '*' matches '/' and ':' too.
 *
 * Guest code: no libc, no recursion, no allocation. Takes at most pattern_bytes x text_bytes steps.
 */
#ifndef WM_BASE_GLOB_H
#define WM_BASE_GLOB_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the whole text matches the whole pattern. */
bool wm_glob_match(const char *pattern, size_t pattern_bytes, const char *text, size_t text_bytes);

/* Whether any byte of the pattern is special. */
bool wm_glob_is_pattern(const char *pattern, size_t pattern_bytes);

#endif
