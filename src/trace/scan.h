/* SPDX-License-Identifier: MIT */
/*
 * scan.h - reads all events of a trace on several threads, packet by packet and in no particular
 * order: for counts, sums, hashes and histograms.
 */
#ifndef WM_TRACE_SCAN_H
#define WM_TRACE_SCAN_H

#include "trace/reader.h"

struct wm_scan_options {
	int64_t begin_ns, end_ns;   /* packets outside are not read; events are not filtered */
	const struct wm_want *want; /* NULL: everything */
	uint32_t nr_threads;        /* 0: one per processor */
};

/*
 * Returns the number of threads that wm_scan() will use, at least 1. The caller provides one state
 * for each.
 */
uint32_t wm_scan_threads(uint32_t wanted);

/*
 * Calls batch(states[thread], ...) for each batch, never concurrently with the same state. A
 * callback returns 0 or -errno, which ends the scan. Returns 0, or the first error of the reader or
 * of the callback.
 */
int wm_scan(struct wm_trace *t, const struct wm_scan_options *options,
	    int (*batch)(void *state, const struct wm_batch *b), void *const *states);

#endif
