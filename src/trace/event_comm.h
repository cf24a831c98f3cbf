/* SPDX-License-Identifier: MIT */
/*
 * event_comm.h - the name of the thread that an event belongs to. All views, filters, exporters and
 * the API get it here, so they agree. The sources, in order of preference:
 *
 *   1. the event's own context "procname" or "comm" (LTTng), innermost first
 *   2. what the format knows about its threads (saved_cmdlines, perf's COMM records,
 *      waymark's records of threads)
 *   3. "procname" in the environment of the event's stream (LTTng per process)
 */
#ifndef WM_TRACE_EVENT_COMM_H
#define WM_TRACE_EVENT_COMM_H

#include "trace/field_ref.h"

/*
 * Binds `ret` to the context that holds the thread's name; its type is NULL when the event has no
 * such context.
 */
void wm_comm_bind(const struct wm_event_type *type, struct wm_field_ref *ret);

/*
 * Returns the name and its length; "" and 0 when the trace does not have it. The bytes are not
 * NUL-terminated and remain valid as long as both the event and the trace do. When the event's
 * contexts were not decoded (wm_want.no_parts), source 1 is skipped.
 */
const char *wm_comm_of_event(const struct wm_trace *t, const struct wm_field_ref *context,
			     const struct wm_event *e, size_t *ret_bytes);

/* Like wm_comm_of_event(), but uses only sources 2 and 3; the result is NUL-terminated. */
const char *wm_comm_of_thread(const struct wm_trace *t, const struct wm_event *e);

#endif
