/* SPDX-License-Identifier: MIT */
/* intersection.c - see intersection.h. Readers sort streams by trace, class and instance. */
#include "trace/intersection.h"

#include <errno.h>
#include <string.h>

static bool is_same_trace(const struct wm_stream *a, const struct wm_stream *b)
{
	if (a->origin == b->origin)
		return true;
	return a->origin && b->origin && a->origin->uuid && b->origin->uuid &&
	       !strcmp(a->origin->uuid, b->origin->uuid);
}

static bool is_same_stream(const struct wm_stream *a, const struct wm_stream *b)
{
	return is_same_trace(a, b) && a->class_id == b->class_id && a->instance == b->instance;
}

static int64_t lesser_ns(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t greater_ns(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/*
 * Extends the spans of the files [at, end), which belong to one stream, to run from the first
 * packet's start to the last packet's end.
 */
static void unite_files(struct wm_time_span *spans, uint32_t at, uint32_t end)
{
	struct wm_time_span s = spans[at];

	for (uint32_t i = at; i < end; i++) {
		s.begin_ns = lesser_ns(s.begin_ns, spans[i].begin_ns);
		s.end_ns = greater_ns(s.end_ns, spans[i].end_ns);
	}
	for (uint32_t i = at; i < end; i++)
		spans[i] = s;
}

static void intersect(struct wm_time_span *spans, uint32_t at, uint32_t end)
{
	struct wm_time_span s = spans[at];

	for (uint32_t i = at; i < end; i++) {
		s.begin_ns = greater_ns(s.begin_ns, spans[i].begin_ns);
		s.end_ns = lesser_ns(s.end_ns, spans[i].end_ns);
	}
	for (uint32_t i = at; i < end; i++)
		spans[i] = s;
}

static void each_group(const struct wm_trace *t, struct wm_time_span *spans,
		       bool (*same)(const struct wm_stream *a, const struct wm_stream *b),
		       void (*of_group)(struct wm_time_span *spans, uint32_t at, uint32_t end))
{
	for (uint32_t at = 0, end; at < t->nr_streams; at = end) {
		for (end = at + 1; end < t->nr_streams && same(t->streams[at], t->streams[end]);)
			end++;
		of_group(spans, at, end);
	}
}

/* Replaces the unknown bounds of a packet with the times of its first and last event. */
static int read_bounds(struct wm_packet_reader *r, struct wm_trace *t, const struct wm_packet *p,
		       struct wm_batch *b, struct wm_time_span *bounds)
{
	struct wm_time_span found = {INT64_MAX, INT64_MIN};
	int got = t->ops->reader_begin(r, p);

	if (got < 0)
		return got;
	while ((got = wm_batch_read(t, r, b)) > 0)
		for (uint32_t i = 0; i < b->nr_events; i++) {
			if (b->events[i].ns == WM_TIME_NONE)
				return 0;
			found.begin_ns = lesser_ns(found.begin_ns, b->events[i].ns);
			found.end_ns = greater_ns(found.end_ns, b->events[i].ns);
		}
	if (found.begin_ns > found.end_ns)
		found = (struct wm_time_span){bounds->begin_ns, bounds->begin_ns};
	if (bounds->end_ns == INT64_MAX)
		bounds->end_ns = found.end_ns;
	if (bounds->begin_ns == INT64_MIN)
		bounds->begin_ns = found.begin_ns;
	return got;
}

/* Adds the packets' times to the spans of their streams. */
static int add_packets(struct wm_trace *t, struct wm_packet_reader *r, struct wm_batch *b,
		       struct wm_time_span *spans)
{
	int err = 0;

	for (uint64_t i = 0; i < t->nr_packets && !err; i++) {
		const struct wm_packet *p = &t->packets[i];
		struct wm_time_span *s = &spans[p->stream], bounds = {p->begin_ns, p->end_ns};
		bool no_begin = bounds.begin_ns == INT64_MIN, no_end = bounds.end_ns == INT64_MAX;

		/* Packets with neither bound known are not read. */
		if (no_begin != no_end)
			err = read_bounds(r, t, p, b, &bounds);
		s->begin_ns = lesser_ns(s->begin_ns, bounds.begin_ns);
		s->end_ns = greater_ns(s->end_ns, bounds.end_ns);
	}
	return err;
}

int wm_intersection_find(struct wm_trace *t, struct wm_time_span *ret)
{
	const struct wm_want want = {.no_parts = (1u << WM_NR_PARTS) - 1};
	struct wm_packet_reader *r = t->ops->reader_create(t, &want);
	struct wm_batch b = {0};
	int err = -ENOMEM;

	for (uint32_t i = 0; i < t->nr_streams; i++)
		ret[i] = (struct wm_time_span){INT64_MAX, INT64_MIN};
	if (r)
		err = add_packets(t, r, &b, ret);
	if (r)
		t->ops->reader_destroy(r);
	wm_batch_done(&b);
	each_group(t, ret, is_same_stream, unite_files);
	each_group(t, ret, is_same_trace, intersect);
	return err;
}
