/* SPDX-License-Identifier: MIT */
/*
 * merge.h - the events of one or more traces in order of time.
 *
 * A heap of open packets, keyed by the time of their next event; a packet is
 * opened when time gets to its begin. The one in front gives a run: all its
 * events before the next one's time come without looking at the heap again
 * (galloping). Equal times: by trace, by stream's index, by packet, and in
 * one packet as they stand.
 *
 * Time that runs back inside a packet is a fault of the trace, said once for
 * each packet; the event comes where it stands.
 */
#ifndef WM_TRACE_MERGE_H
#define WM_TRACE_MERGE_H

#include "trace/reader.h"
#include "trace/timeline.h"

struct wm_merge;

struct wm_merge_options {
	int64_t begin_ns, end_ns; /* begin <= time < end; INT64_MIN and MAX: everything */
	const struct wm_want *const
	    *wants;         /* one for each trace; NULL, or one of them: everything */
	uint32_t nr_merges; /* at work at a time: readers hold less each; 0: one */
};

/* NULL: out of memory. The traces stay the caller's, and open. */
struct wm_merge *wm_merge_create(struct wm_trace *const *traces, uint32_t nr_traces,
				 const struct wm_merge_options *options);

/* The same for who makes several merges: the timeline stays the caller's. */
struct wm_merge *wm_merge_create_on(const struct wm_timeline *timeline,
				    const struct wm_merge_options *options);
/* Another window, as if made anew; readers are used again. 0 or -ENOMEM. */
int wm_merge_window(struct wm_merge *m, int64_t begin_ns, int64_t end_ns);

void wm_merge_destroy(struct wm_merge *m);

/* 1 and an event, valid until the next call; 0 at the end; -errno. */
int wm_merge_next(struct wm_merge *m, const struct wm_event **ret);

/* Which trace the last event is of: its index. */
uint32_t wm_merge_trace(const struct wm_merge *m);

/*
 * Bytes of the packets that are done with, and of the open ones as much as they
 * got on in time: for who shows how far it is. Not for each event: it looks at
 * all that is open.
 */
uint64_t wm_merge_done_bytes(const struct wm_merge *m);

#endif
