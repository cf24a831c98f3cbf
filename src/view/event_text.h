/* SPDX-License-Identifier: MIT */
/*
 * event_text.h - events as lines for people:
 *
 *   [22:13:20.000001234] (+0.000000123) app:42/43 app:query: { cpu = 1 } { rows = 3 }
 *
 * local time, time since the line before, command:pid/tid, the event, its
 * contexts, then its fields, or its print form filled with them.
 */
#ifndef WM_VIEW_EVENT_TEXT_H
#define WM_VIEW_EVENT_TEXT_H

#include "base/text.h"
#include "format/trace_reader.h"

struct wm_view_clock {
	uint64_t previous_ns; /* 0: no line yet */
	uint64_t second;      /* of `text`; UINT64_MAX at first */
	char text[12];        /* hh:mm:ss */
};

void wm_view_clock_init(struct wm_view_clock *c);

/* "hh:mm:ss.nnnnnnnnn", local time. */
void wm_view_time(struct wm_text *t, struct wm_view_clock *c, uint64_t time_ns);

/* One line, line end included. */
void wm_view_event(struct wm_text *t, struct wm_view_clock *c, const struct wm_trace_event *e);

/* One JSON object, no line end. */
void wm_view_event_json(struct wm_text *t, const struct wm_trace_event *e);

#endif
