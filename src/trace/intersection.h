/* SPDX-License-Identifier: MIT */
/* intersection.h - the time during which all streams of a trace have packets. */
#ifndef WM_TRACE_INTERSECTION_H
#define WM_TRACE_INTERSECTION_H

#include "trace/reader.h"

struct wm_time_span {
	/* both included; begin > end: no time; INT64_MIN and INT64_MAX: unknown */
	int64_t begin_ns, end_ns;
};

/*
 * Sets ret[i] to the time during which all streams of the same trace as stream i have packets. When
 * a folder's traces were opened as one, each counts as a separate trace; the files of one stream
 * count as one. A packet with an unknown end is read: it ends with its last event. `ret` has
 * nr_streams elements. Returns 0 or -errno.
 */
int wm_intersection_find(struct wm_trace *t, struct wm_time_span *ret);

#endif
