/* SPDX-License-Identifier: MIT */
/*
 * perfetto_ftrace.h - the kernel's events that Perfetto draws in ways of its
 * own (what runs on which processor, who wakes whom, interrupts, frequencies),
 * as its FtraceEvents. One table of their fields' numbers (perfetto_ftrace.c).
 */
#ifndef WM_EXPORT_TIMELINE_PERFETTO_FTRACE_H
#define WM_EXPORT_TIMELINE_PERFETTO_FTRACE_H

#include "base/pb.h"
#include "trace/field_ref.h"

#define WM_PERFETTO_FTRACE_FIELDS 8u

struct wm_perfetto_ftrace {
	uint32_t event; /* its field of FtraceEvent; 0: it is none of these */
	uint32_t nr;
	struct {
		uint32_t number;
		struct wm_field_ref field;
	} fields[WM_PERFETTO_FTRACE_FIELDS];
};

/* An event that has fields beyond these is none of them: nothing is to be lost. */
void wm_perfetto_ftrace_bind(const struct wm_event_type *t, struct wm_perfetto_ftrace *ret);

/* Adds an FtraceEvent, as field 2 of a bundle. `tid` is what ran there; -1: not known. */
void wm_perfetto_ftrace_put(const struct wm_perfetto_ftrace *f, const struct wm_event *e,
			    int32_t tid, struct wm_text *t);

#endif
