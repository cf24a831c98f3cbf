/* SPDX-License-Identifier: MIT */
/*
 * timeline.h - the packets of one or more traces in time order. It is built once and used by all
 * merges (merge.h) over these traces.
 *
 * A lane holds the packets of one stream. A merge opens a packet at its start time. In a chained
 * lane the start times are unknown, and packets are read one after the other.
 */
#ifndef WM_TRACE_TIMELINE_H
#define WM_TRACE_TIMELINE_H

#include "trace/reader.h"

#define WM_TIMELINE_TRACES_MAX (1u << 19)

struct wm_lane {
	uint32_t trace;
	bool chained;
	/* Packets that begin later never end earlier, so ends can be searched by bisection. */
	bool ends_rise;
	uint64_t first, end; /* indices into `order`, else into trace->packets */
	uint64_t *order;     /* sorted packet indices; NULL: already in order */
};

struct wm_timeline {
	struct wm_trace **traces; /* not owned */
	uint32_t nr_traces, nr_lanes;
	struct wm_lane *lanes;
	uint32_t nr_open; /* upper bound on the number of overlapping packets */
	bool has_chained;
};

/* The traces are not owned and must stay open. 0, -ENOMEM or -E2BIG. */
int wm_timeline_create(struct wm_trace *const *traces, uint32_t nr_traces,
		       struct wm_timeline **ret);
void wm_timeline_destroy(struct wm_timeline *l);

static inline const struct wm_packet *wm_timeline_packet(const struct wm_timeline *l,
							 const struct wm_lane *lane, uint64_t i,
							 uint64_t *ret_index)
{
	*ret_index = lane->order ? lane->order[i] : i;
	return &l->traces[lane->trace]->packets[*ret_index];
}

/*
 * Returns the first packet that may overlap a window beginning at `ns`: all earlier packets end
 * before it.
 */
uint64_t wm_timeline_find(const struct wm_timeline *l, const struct wm_lane *lane, int64_t ns);

/*
 * Divides [begin, end) into slices of about `bytes` bytes, at the starts of packets: slice i is
 * [ret[i], ret[i + 1]). Returns the number of slices, or -ENOMEM; *ret is malloc'ed and has one
 * more element than that. There is only one slice when the packets' times are unknown.
 */
int64_t wm_timeline_cut(const struct wm_timeline *l, int64_t begin_ns, int64_t end_ns,
			uint64_t bytes, int64_t **ret);

#endif
