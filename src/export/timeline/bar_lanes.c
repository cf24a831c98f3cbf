/* SPDX-License-Identifier: MIT */
/* bar_lanes.c - see bar_lanes.h. */
#include "export/timeline/bar_lanes.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void wm_lanes_done(struct wm_lanes *l)
{
	free(l->lanes);
	*l = (struct wm_lanes){0};
}

/* Joins the two oldest spans to make room; bars can no longer be placed between them. */
static void join_oldest(struct wm_lane_spans *s)
{
	s->spans[1].begin_ns = s->spans[0].begin_ns;
	s->nr--;
	memmove(&s->spans[0], &s->spans[1], s->nr * sizeof(s->spans[0]));
}

/*
 * Adds the bar and joins it with the spans inside it. Returns false when a span partly overlaps it.
 */
static bool bar_lanes_put(struct wm_lane_spans *s, int64_t begin_ns, int64_t end_ns)
{
	uint32_t first = s->nr, last;

	while (first && s->spans[first - 1].end_ns > begin_ns)
		first--;
	for (last = first; last < s->nr && s->spans[last].begin_ns < end_ns; last++)
		if (s->spans[last].begin_ns < begin_ns || s->spans[last].end_ns > end_ns)
			return false;
	if (first == last && s->nr == WM_LANE_SPANS) {
		if (first < 2)
			return false; /* the bar is older than all stored spans */
		join_oldest(s);
		first--;
		last--;
	}
	memmove(&s->spans[first + 1], &s->spans[last], (s->nr - last) * sizeof(s->spans[0]));
	s->nr = s->nr - (last - first) + 1;
	s->spans[first].begin_ns = begin_ns;
	s->spans[first].end_ns = end_ns;
	return true;
}

int wm_lanes_place(struct wm_lanes *l, int64_t begin_ns, int64_t end_ns)
{
	struct wm_lane_spans *more;

	for (uint32_t i = 0; i < l->nr; i++)
		if (bar_lanes_put(&l->lanes[i], begin_ns, end_ns))
			return (int)i;
	if (l->nr == WM_BAR_LANES_MAX)
		return WM_BAR_LANES_MAX;
	more = realloc(l->lanes, (l->nr + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	l->lanes = more;
	more[l->nr] = (struct wm_lane_spans){0};
	(void)bar_lanes_put(&more[l->nr], begin_ns, end_ns);
	return (int)l->nr++;
}
