/* SPDX-License-Identifier: MIT */
/*
 * event_options.h - `-e GLOB` and `--filter EXPR` for verbs that read traces: binds the rules
 * (trace/event_select.h) to the opened traces and reports rules that do not fit.
 */
#ifndef WM_CMD_EVENT_OPTIONS_H
#define WM_CMD_EVENT_OPTIONS_H

#include "trace/event_select.h"

/*
 * Reports globs that match no event, with the closest name, and filters that do not fit an event
 * named without wildcards. Returns an exit status.
 */
int wm_asked_bind(struct wm_select *s, struct wm_trace *const *traces, uint32_t nr_traces);

#endif
