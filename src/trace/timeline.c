/* SPDX-License-Identifier: MIT */
/* timeline.c - see timeline.h. */
#include "trace/timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"

/* --- lanes ------------------------------------------------------------------------- */

struct begin {
	int64_t ns;
	uint64_t index; /* index of the packet, or its size in bytes */
};

static int timeline_by_begin(const void *a, const void *b)
{
	const struct begin *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static int sort_lane(struct wm_lane *l, const struct wm_packet *packets)
{
	uint64_t n = l->end - l->first;
	struct begin *begins = calloc(n, sizeof(*begins));

	l->order = calloc(n, sizeof(*l->order));
	if (!l->order || !begins) {
		free(begins);
		return -ENOMEM;
	}
	for (uint64_t i = 0; i < n; i++)
		begins[i] = (struct begin){packets[l->first + i].begin_ns, l->first + i};
	qsort(begins, n, sizeof(*begins), timeline_by_begin);
	for (uint64_t i = 0; i < n; i++)
		l->order[i] = begins[i].index;
	free(begins);
	l->first = 0;
	l->end = n;
	return 0;
}

/*
 * Examines a lane's packets without sorting them. Returns an upper bound on the number of packets
 * that can be open at once.
 */
static uint32_t timeline_look_at(struct wm_lane *l, const struct wm_packet *packets,
				 bool *ret_sorted)
{
	int64_t begin = INT64_MIN, end = INT64_MIN;
	uint32_t open = 0, most = 1;

	*ret_sorted = l->ends_rise = true;
	for (uint64_t i = l->first; i < l->end; i++) {
		const struct wm_packet *p = &packets[i];

		l->chained |= p->begin_ns == INT64_MIN;
		*ret_sorted &= p->begin_ns >= begin;
		begin = p->begin_ns;
		open = p->begin_ns < end ? open + 1 : 1;
		l->ends_rise &= p->end_ns >= end;
		if (p->end_ns > end)
			end = p->end_ns;
		if (open > most)
			most = open;
	}
	l->ends_rise &= *ret_sorted;
	return l->chained ? 1 : most;
}

static int add_lane(struct wm_timeline *tl, uint32_t trace, uint64_t first, uint64_t end)
{
	const struct wm_packet *packets = tl->traces[trace]->packets;
	struct wm_lane *l = &tl->lanes[tl->nr_lanes++];
	bool sorted;

	*l = (struct wm_lane){.trace = trace, .first = first, .end = end};
	tl->nr_open += timeline_look_at(l, packets, &sorted);
	tl->has_chained |= l->chained;
	return l->chained || sorted ? 0 : sort_lane(l, packets);
}

/* Returns the index after the last adjacent packet of the same stream. */
static uint64_t lane_end(const struct wm_trace *t, uint64_t i)
{
	uint32_t stream = t->packets[i].stream;

	while (i < t->nr_packets && t->packets[i].stream == stream)
		i++;
	return i;
}

static int make_lanes(struct wm_timeline *tl)
{
	uint64_t n = 0;
	int err = 0;

	for (uint32_t t = 0; t < tl->nr_traces; t++)
		for (uint64_t i = 0; i < tl->traces[t]->nr_packets; n++)
			i = lane_end(tl->traces[t], i);
	if (n > UINT32_MAX)
		return -E2BIG;
	tl->lanes = calloc(n + 1, sizeof(*tl->lanes));
	if (!tl->lanes)
		return -ENOMEM;
	for (uint32_t t = 0; t < tl->nr_traces && !err; t++)
		for (uint64_t i = 0, end; i < tl->traces[t]->nr_packets && !err; i = end) {
			end = lane_end(tl->traces[t], i);
			err = add_lane(tl, t, i, end);
		}
	return err;
}

int wm_timeline_create(struct wm_trace *const *traces, uint32_t nr_traces, struct wm_timeline **ret)
{
	struct wm_timeline *l;
	int err;

	if (nr_traces > WM_TIMELINE_TRACES_MAX)
		return -E2BIG;
	l = calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	l->nr_traces = nr_traces;
	l->traces = calloc(nr_traces + 1, sizeof(*l->traces));
	if (l->traces && nr_traces)
		memcpy(l->traces, traces, nr_traces * sizeof(*traces));
	err = l->traces ? make_lanes(l) : -ENOMEM;
	if (err) {
		wm_timeline_destroy(l);
		return err;
	}
	*ret = l;
	return 0;
}

void wm_timeline_destroy(struct wm_timeline *l)
{
	if (!l)
		return;
	for (uint32_t i = 0; i < l->nr_lanes; i++)
		free(l->lanes[i].order);
	free(l->lanes);
	free(l->traces);
	free(l);
}

uint64_t wm_timeline_find(const struct wm_timeline *l, const struct wm_lane *lane, int64_t ns)
{
	uint64_t index;

	if (!lane->ends_rise)
		return lane->first;
	return WM_SEARCH(lane->first, lane->end, i,
			 wm_timeline_packet(l, lane, i, &index)->end_ns < ns);
}

/* --- slices -------------------------------------------------------------------------- */

/*
 * Returns the starts of all packets in the window, in time order, with `index` set to the
 * packet's size.
 */
static struct begin *all_begins(const struct wm_timeline *l, int64_t begin_ns, int64_t end_ns,
				uint64_t *ret_nr)
{
	struct begin *begins;
	uint64_t n = 0;

	for (uint32_t t = 0; t < l->nr_traces; t++)
		n += l->traces[t]->nr_packets;
	begins = calloc(n + 1, sizeof(*begins));
	n = 0;
	for (uint32_t t = 0; begins && t < l->nr_traces; t++)
		for (uint64_t i = 0; i < l->traces[t]->nr_packets; i++) {
			const struct wm_packet *p = &l->traces[t]->packets[i];

			if (p->end_ns >= begin_ns && p->begin_ns < end_ns)
				begins[n++] = (struct begin){p->begin_ns, p->bytes};
		}
	if (begins)
		qsort(begins, n, sizeof(*begins), timeline_by_begin);
	*ret_nr = n;
	return begins;
}

int64_t wm_timeline_cut(const struct wm_timeline *l, int64_t begin_ns, int64_t end_ns,
			uint64_t bytes, int64_t **ret)
{
	uint64_t nr, sum = 0, slices = 0;
	struct begin *begins = all_begins(l, begin_ns, end_ns, &nr);
	int64_t *cuts = calloc(nr + 2, sizeof(*cuts));

	if (!begins || !cuts) {
		free(begins);
		free(cuts);
		return -ENOMEM;
	}
	cuts[0] = begin_ns;
	for (uint64_t i = 0; i < nr && !l->has_chained; i++) {
		/*
		 * A packet may end exactly where the next one begins. The cut is 1 ns later, so
		 * that the ended packet is not read again for the next slice.
		 */
		if (sum >= bytes && begins[i].ns > cuts[slices] && begins[i].ns < end_ns - 1) {
			cuts[++slices] = begins[i].ns + 1;
			sum = 0;
		}
		sum += begins[i].index;
	}
	cuts[++slices] = end_ns;
	free(begins);
	*ret = cuts;
	return (int64_t)slices;
}
