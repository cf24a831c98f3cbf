/* SPDX-License-Identifier: MIT */
/*
 * merge.h - the events of one or more traces in time order.
 *
 * The merge keeps a heap of open packets, keyed by the time of their next event; a packet is opened
 * when time reaches its start. The first packet yields a run: all its events before the next
 * packet's time are returned without heap operations (galloping). Events with equal times are
 * ordered by trace, by stream index, by packet, and within a packet by file order.
 *
 * Decreasing time inside a packet is a fault in the trace, reported once per packet; the event is
 * returned in file order.
 */
#ifndef WM_TRACE_MERGE_H
#define WM_TRACE_MERGE_H

#include "trace/reader.h"
#include "trace/timeline.h"

struct wm_merge;

struct wm_merge_options {
	int64_t begin_ns, end_ns; /* begin <= time < end; INT64_MIN and INT64_MAX: unbounded */
	const struct wm_want *const
	    *wants;         /* one for each trace; NULL, or a NULL entry: everything */
	uint32_t nr_merges; /* merges in use at once: the more, the less memory each uses; 0: one */
};

/* Returns NULL when out of memory. The traces are not owned and must stay open. */
struct wm_merge *wm_merge_create(struct wm_trace *const *traces, uint32_t nr_traces,
				 const struct wm_merge_options *options);

/*
 * Creates a merge on an existing timeline, which is not owned: for callers that run several merges
 * over the same traces.
 */
struct wm_merge *wm_merge_create_on(const struct wm_timeline *timeline,
				    const struct wm_merge_options *options);
/* Restarts the merge with another window, reusing its readers. 0 or -ENOMEM. */
int wm_merge_window(struct wm_merge *m, int64_t begin_ns, int64_t end_ns);

void wm_merge_destroy(struct wm_merge *m);

/* Returns 1 and an event, which is valid until the next call; 0 at the end; or -errno. */
int wm_merge_next(struct wm_merge *m, const struct wm_event **ret);

/* Returns the index of the last event's trace. */
uint32_t wm_merge_trace(const struct wm_merge *m);

/*
 * Returns the bytes of finished packets, plus an estimate by time for open ones, for progress
 * displays. Too slow to call for each event, because it visits all open packets.
 */
uint64_t wm_merge_done_bytes(const struct wm_merge *m);

#endif
