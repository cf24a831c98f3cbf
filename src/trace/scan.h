/* SPDX-License-Identifier: MIT */
/*
 * scan.h - all events of a trace in no order, packet by packet, on several
 * threads. For what adds up: counts, sums, hashes, histograms.
 */
#ifndef WM_TRACE_SCAN_H
#define WM_TRACE_SCAN_H

#include "trace/reader.h"

struct wm_scan_options {
	int64_t begin_ns, end_ns;   /* packets wholly outside are not read; events are not sifted */
	const struct wm_want *want; /* NULL: everything */
	uint32_t nr_threads;        /* 0: as many as there are processors */
};

/* How many threads that will be: at least 1. As many states are needed. */
uint32_t wm_scan_threads(uint32_t wanted);

/*
 * Calls batch(states[thread], ...) for each batch; never two at once with the
 * same state; a callback returns 0 or -errno, which ends it all. 0, or the first error of the
 * reader or of the callback.
 */
int wm_scan(struct wm_trace *t, const struct wm_scan_options *options,
	    int (*batch)(void *state, const struct wm_batch *b), void *const *states);

#endif
