/* SPDX-License-Identifier: MIT */
/*
 * bar_lanes.h - places bars in lanes. Bars of one row that are disjoint or nested share a lane; a
 * bar that partly overlaps another gets a lane below.
 *
 * Bars arrive in the order of their ends. A lane stores only its last few bars and treats older
 * ones as one bar. Therefore a bar may be placed lower than necessary, but never so that it partly
 * overlaps another.
 */
#ifndef WM_EXPORT_TIMELINE_BAR_LANES_H
#define WM_EXPORT_TIMELINE_BAR_LANES_H

#include <stdint.h>

#define WM_BAR_LANES_MAX 64u /* lanes per row */
#define WM_LANE_SPANS    16u

struct wm_lane_spans {
	uint32_t nr;
	struct {
		int64_t begin_ns, end_ns;
	} spans[WM_LANE_SPANS]; /* ascending, disjoint */
};

struct wm_lanes {
	struct wm_lane_spans *lanes;
	uint32_t nr;
};

void wm_lanes_done(struct wm_lanes *l);

/* Returns the bar's lane, from 0; WM_BAR_LANES_MAX: no lane is free; -ENOMEM. */
int wm_lanes_place(struct wm_lanes *l, int64_t begin_ns, int64_t end_ns);

#endif
