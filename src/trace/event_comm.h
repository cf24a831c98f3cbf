/* SPDX-License-Identifier: MIT */
/*
 * event_comm.h - the name of the thread that an event belongs to. All views,
 * filters, exporters and the API get it here, so they agree. In this order:
 *
 *   1. the event's own context "procname" or "comm" (LTTng), from the inside out
 *   2. what the format knows of its threads (saved_cmdlines, perf's COMM records,
 *      waymark's records of threads)
 *   3. "procname" in the environment of the event's stream (LTTng per process)
 */
#ifndef WM_TRACE_EVENT_COMM_H
#define WM_TRACE_EVENT_COMM_H

#include "trace/field_ref.h"

/* Binds `ret` to the context that names the thread; its type is NULL when no context does. */
void wm_event_comm_bind(const struct wm_event_type *type, struct wm_field_ref *ret);

/*
 * The name and its length; "" and 0 when the trace does not have it. The bytes
 * are not NUL-terminated and valid as long as the event and the trace are. An
 * event whose context part was not decoded (wm_want.no_parts) gets the name of 2 or 3.
 */
const char *wm_event_comm(const struct wm_trace *t, const struct wm_field_ref *context,
			  const struct wm_event *e, size_t *ret_bytes);

/* The same without the event's context: 2 and 3. NUL-terminated. */
const char *wm_event_comm_of_thread(const struct wm_trace *t, const struct wm_event *e);

#endif
