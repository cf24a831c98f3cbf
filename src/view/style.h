/* SPDX-License-Identifier: MIT */
/*
 * style.h - the output styles for values: one table (shape.h) each. The leaf functions write one
 * value and return the next item.
 */
#ifndef WM_VIEW_STYLE_H
#define WM_VIEW_STYLE_H

#include "view/shape.h"

/*
 * The output of babeltrace2 2.0.4 and 2.1, byte for byte; as there, control characters in strings
 * are not escaped. The bare styles omit member names.
 */
extern const struct wm_style wm_style_babeltrace, wm_style_babeltrace_bare;
extern const struct wm_style wm_style_babeltrace_21, wm_style_babeltrace_21_bare;

/* waymark's style: { rows = 3, what = "x" }. Control characters are escaped. */
extern const struct wm_style wm_style_people;

/* Like wm_style_people, with other separators: "rows=3 what=x". */
extern const struct wm_style wm_style_perf;

extern const struct wm_style wm_style_json;

/* Writers that the styles share (style.c): decimal integers, and true and false. */
wm_shape_write wm_style_u64, wm_style_bool;
wm_shape_write *wm_style_decimal(const struct wm_type *t); /* for signed and unsigned integers */

#endif
