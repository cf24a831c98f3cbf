/* SPDX-License-Identifier: MIT */
/*
 * style.h - the ways to write values: one table (shape.h) for each. The leaf
 * functions write one value and step over its item.
 */
#ifndef WM_VIEW_STYLE_H
#define WM_VIEW_STYLE_H

#include "view/shape.h"

/* babeltrace2's text, byte for byte; bytes of strings go out as babeltrace2 lets them. */
extern const struct wm_style wm_style_babeltrace;

/* Ours: { rows = 3, what = "x" }; nothing of it reaches a terminal as a control sequence. */
extern const struct wm_style wm_style_people;

/* As people's, between members: "rows=3 what=x". */
extern const struct wm_style wm_style_perf;

extern const struct wm_style wm_style_json;

/* What the styles share (style.c): decimal integers, and true and false. */
wm_shape_write wm_style_u64, wm_style_i64, wm_style_bool;
wm_shape_write *wm_style_decimal(const struct wm_type *t); /* one of the first two */

#endif
