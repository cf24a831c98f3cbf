/* SPDX-License-Identifier: MIT */
/*
 * value_text.h - event values as text and as JSON. The bytes come from traced programs and may be
 * hostile: control characters and invalid UTF-8 bytes are escaped.
 */
#ifndef WM_VIEW_VALUE_TEXT_H
#define WM_VIEW_VALUE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/*
 * Writes text for users: control characters (C0, DEL, C1), invalid UTF-8 bytes, line separators and
 * marks that change the writing direction become \n, \t, \xHH or \uHHHH. With `quoted`, '"' and '\'
 * are escaped with a backslash, too.
 */
void wm_view_safe(struct wm_text *t, const void *bytes, size_t count, bool quoted);

/* Writes a JSON string with its quotes; invalid UTF-8 bytes become U+FFFD. */
void wm_view_json_string(struct wm_text *t, const void *bytes, size_t count);
void wm_view_json_bytes(struct wm_text *t, const void *bytes, size_t count); /* without quotes */

/* Writes a real number with the lower of two precisions that reads back as the same number. */
void wm_view_real(struct wm_text *t, double d, bool is_float);

/* Writes a real number as JSON; NaN and infinities are strings. */
void wm_view_json_real(struct wm_text *t, double d, bool is_float);

void wm_view_hex(struct wm_text *t, uint64_t n); /* writes a number as 0x1f */

#endif
