/* SPDX-License-Identifier: MIT */
/*
 * chrome_values.h - writes the values of an event as members of a JSON object for browser-based
 * viewers. These read all numbers as doubles, so integers beyond 2^53 are strings, hexadecimal ones
 * as 0x...; an enumeration's value is "label (3)". Everything else follows style_json.c. Contexts
 * are in objects named $common and $context, the processor is $cpu, the print form $message; $time
 * is "none" for an event without a time.
 */
#ifndef WM_EXPORT_TIMELINE_CHROME_VALUES_H
#define WM_EXPORT_TIMELINE_CHROME_VALUES_H

#include "trace/reader.h"
#include "view/style.h"
#include "view/writer.h"

struct wm_chrome_values {
	struct wm_style style;
	struct wm_arena arena;
	struct wm_shapes shapes;
};

void wm_chrome_values_init(struct wm_chrome_values *v);
void wm_chrome_values_done(struct wm_chrome_values *v);

/* Appends "NAME":VALUE, ... to `t`, which may already contain text. 0 or -ENOMEM. */
int wm_chrome_values_put(struct wm_chrome_values *v, const struct wm_view *view, uint32_t trace,
			 const struct wm_event *e, struct wm_text *t);

#endif
