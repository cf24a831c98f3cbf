/* SPDX-License-Identifier: MIT */
/*
 * clock_origin.h - tells whether the times of several clocks can be compared, that is, whether the
 * clocks count from the same origin.
 */
#ifndef WM_TRACE_CLOCK_ORIGIN_H
#define WM_TRACE_CLOCK_ORIGIN_H

#include "trace/reader.h"

#define WM_ORIGIN_EPOCH "unix-epoch"

struct wm_origin_pair {
	const struct wm_trace *traces[2];
	const struct wm_trace_clock *clocks[2];
};

/*
 * Finds two clocks, used by streams of these traces, that count from unrelated origins. Returns
 * false when there are none.
 */
bool wm_origins_differ(struct wm_trace *const *traces, uint32_t nr_traces,
		       struct wm_origin_pair *ret);

#endif
