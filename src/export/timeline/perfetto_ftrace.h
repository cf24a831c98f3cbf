/* SPDX-License-Identifier: MIT */
/*
 * perfetto_ftrace.h - writes kernel events that Perfetto draws in a special way (scheduling,
 * wakeups, interrupts, frequencies) as FtraceEvents. One table has their field numbers
 * (perfetto_ftrace.c).
 */
#ifndef WM_EXPORT_TIMELINE_PERFETTO_FTRACE_H
#define WM_EXPORT_TIMELINE_PERFETTO_FTRACE_H

#include "base/pb.h"
#include "trace/field_ref.h"

#define WM_PERFETTO_FTRACE_FIELDS 8u

struct wm_perfetto_ftrace {
	uint32_t event; /* its field number in FtraceEvent; 0: not one of these events */
	uint32_t nr;
	struct {
		uint32_t number;
		struct wm_field_ref field;
	} fields[WM_PERFETTO_FTRACE_FIELDS];
};

/*
 * Finds the table entry of an event type. An event with fields that the table lacks does not match,
 * so that no field is lost.
 */
void wm_perfetto_ftrace_bind(const struct wm_event_type *t, struct wm_perfetto_ftrace *ret);

/* Appends an FtraceEvent, as field 2 of a bundle. `tid` is the thread that ran; -1: unknown. */
void wm_perfetto_ftrace_put(const struct wm_perfetto_ftrace *f, const struct wm_event *e,
			    int32_t tid, struct wm_text *t);

#endif
