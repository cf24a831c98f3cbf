/* SPDX-License-Identifier: MIT */
/*
 * timeline.h - the packets of one or more traces by time: made once, used by all merges over them
 * (merge.h), in any window.
 *
 * A lane is the packets of one stream. They are merged as soon as they begin; in a chained lane,
 * where begins are unknown, they are read in sequence.
 */
#ifndef WM_TRACE_TIMELINE_H
#define WM_TRACE_TIMELINE_H

#include "trace/reader.h"

#define WM_TIMELINE_TRACES_MAX (1u << 19)

struct wm_lane {
	uint32_t trace;
	bool chained;
	bool ends_rise;      /* ends increase like begins: all ended packets come first */
	uint64_t first, end; /* indices into `order`, else into trace->packets */
	uint64_t *order;     /* NULL: the packets are in order */
};

struct wm_timeline {
	struct wm_trace **traces; /* not owned */
	uint32_t nr_traces, nr_lanes;
	struct wm_lane *lanes;
	uint32_t nr_open; /* upper bound of overlapping packets */
	bool has_chained;
};

/* The traces remain the caller's, and stay open. -ENOMEM, -E2BIG. */
int wm_timeline_create(struct wm_trace *const *traces, uint32_t nr_traces,
		       struct wm_timeline **ret);
void wm_timeline_destroy(struct wm_timeline *l);

static inline const struct wm_packet *wm_lane_packet(const struct wm_timeline *l,
						     const struct wm_lane *lane, uint64_t i,
						     uint64_t *ret_index)
{
	*ret_index = lane->order ? lane->order[i] : i;
	return &l->traces[lane->trace]->packets[*ret_index];
}

/* The first packet that may be in a window that begins at `ns`: all earlier ones end before. */
uint64_t wm_lane_find(const struct wm_timeline *l, const struct wm_lane *lane, int64_t ns);

/*
 * Cuts [begin, end) at begins of packets into slices of about `bytes` bytes: slice i is [ret[i],
 * ret[i + 1]). Returns the number of slices (ret, malloc'ed, has one more), or -ENOMEM. One slice
 * when times of packets are unknown.
 */
int64_t wm_timeline_cut(const struct wm_timeline *l, int64_t begin_ns, int64_t end_ns,
			uint64_t bytes, int64_t **ret);

#endif
