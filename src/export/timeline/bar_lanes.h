/* SPDX-License-Identifier: MIT */
/*
 * bar_lanes.h - bars of one row that lie beside one another or one inside the
 * other stay in it; one that overlaps another in part gets a lane below.
 * Bars come as they end. A lane remembers its last few bars only: what lies
 * farther back is taken for one, so a bar may come lower than it must, and
 * never where it cannot be drawn.
 */
#ifndef WM_EXPORT_TIMELINE_BAR_LANES_H
#define WM_EXPORT_TIMELINE_BAR_LANES_H

#include <stdint.h>

#define WM_LANES_MAX  64u /* of one row */
#define WM_LANE_SPANS 16u

struct wm_lane_spans {
	uint32_t nr;
	struct {
		int64_t begin_ns, end_ns;
	} spans[WM_LANE_SPANS]; /* rising, disjoint */
};

struct wm_lanes {
	struct wm_lane_spans *lanes;
	uint32_t nr;
};

void wm_lanes_done(struct wm_lanes *l);

/* Which lane the bar is in, from 0; WM_LANES_MAX: it fits in none; -ENOMEM. */
int wm_lanes_place(struct wm_lanes *l, int64_t begin_ns, int64_t end_ns);

#endif
