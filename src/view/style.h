/* SPDX-License-Identifier: MIT */
/*
 * style.h - the output styles for values: one table (shape.h) for each. The
 * leaf functions write one value and return the next item.
 */
#ifndef WM_VIEW_STYLE_H
#define WM_VIEW_STYLE_H

#include "view/shape.h"

/* babeltrace2's text, byte for byte; strings are passed through as in babeltrace2. */
extern const struct wm_style wm_style_babeltrace;

/* waymark's style: { rows = 3, what = "x" }; writes no control sequences to a terminal. */
extern const struct wm_style wm_style_people;

/* Like wm_style_people, with other separators: "rows=3 what=x". */
extern const struct wm_style wm_style_perf;

extern const struct wm_style wm_style_json;

/* Shared by the styles (style.c): decimal integers, and true and false. */
wm_shape_write wm_style_u64, wm_style_i64, wm_style_bool;
wm_shape_write *wm_style_decimal(const struct wm_type *t); /* one of the first two */

#endif
