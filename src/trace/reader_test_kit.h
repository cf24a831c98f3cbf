/* SPDX-License-Identifier: MIT */
/*
 * reader_test_kit.h - synthetic traces for testing code above reader.h: a test adds packets and the
 * times of their events; each event has one field, `n`, which numbers the events of the trace in
 * the order they were added. For tests only.
 *
 *   struct fake *f = fake_create();
 *   fake_packet(f, 0);                 stream 0
 *   fake_event(f, 10); fake_event(f, 20);
 *   t = fake_trace(f);                 wm_trace_close(t) frees everything
 */
#ifndef WM_TRACE_READER_TEST_KIT_H
#define WM_TRACE_READER_TEST_KIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "trace/reader.h"

struct fake {
	int64_t *times;
	uint64_t nr_events, room_times;
	struct wm_packet *packets;
	uint64_t nr_packets, room_packets;
	uint32_t nr_streams;
	uint32_t batch;     /* events per batch; 0: as many as requested */
	int begin_err;      /* result of reader_begin() for packet `bad` */
	int read_err;       /* result after all events of packet `bad` */
	uint64_t bad;       /* index */
	uint32_t nr_open;   /* readers in use */
	uint32_t max_open;  /* maximum of nr_open */
	uint64_t nr_begun;  /* packets opened */
	uint32_t nr_create; /* readers created */
};

struct wm_packet_reader {
	struct fake *fake;
	struct wm_trace *trace;
	struct wm_want want;
	const struct wm_packet *packet;
	uint64_t at, end;
};

static const struct wm_type fake_number = {.kind = WM_TYPE_UNSIGNED, .bits = 64};
static const struct wm_member fake_member = {.name = "n", .type = &fake_number};
static const struct wm_type fake_fields = {
    .kind = WM_TYPE_STRUCT, .nr_members = 1, .members = &fake_member};

static inline struct fake *fake_create(void)
{
	struct fake *f = calloc(1, sizeof(*f));

	f->bad = UINT64_MAX;
	return f;
}

static inline struct wm_packet *fake_packet(struct fake *f, uint32_t stream)
{
	struct wm_packet *p;

	(void)WM_ARRAY_GROW(f->packets, f->room_packets, (size_t)f->nr_packets + 1);
	p = &f->packets[f->nr_packets++];
	*p = (struct wm_packet){.stream = stream,
				.own = f->nr_events,
				.begin_ns = INT64_MAX,
				.end_ns = INT64_MIN,
				.offset = 1000 * f->nr_packets};
	if (stream >= f->nr_streams)
		f->nr_streams = stream + 1;
	return p;
}

static inline void fake_event(struct fake *f, int64_t ns)
{
	struct wm_packet *p = &f->packets[f->nr_packets - 1];

	(void)WM_ARRAY_GROW(f->times, f->room_times, (size_t)f->nr_events + 1);
	f->times[f->nr_events++] = ns;
	p->nr_events++;
	p->bytes += 16;
	if (ns < p->begin_ns)
		p->begin_ns = ns;
	if (ns > p->end_ns)
		p->end_ns = ns;
}

static inline void fake_close(struct wm_trace *t)
{
	struct fake *f = t->own;

	assert_int_equal(f->nr_open, 0);
	free(f->times);
	free(f->packets);
	free(f);
}

static inline struct wm_packet_reader *fake_reader_create(struct wm_trace *t,
							  const struct wm_want *want)
{
	struct wm_packet_reader *r = calloc(1, sizeof(*r));
	struct fake *f = t->own;
	uint32_t open = __atomic_add_fetch(&f->nr_open, 1, __ATOMIC_RELAXED);

	if (open > f->max_open)
		f->max_open = open;
	__atomic_add_fetch(&f->nr_create, 1, __ATOMIC_RELAXED);
	*r = (struct wm_packet_reader){.fake = f, .trace = t};
	if (want)
		r->want = *want;
	return r;
}

static inline int fake_reader_begin(struct wm_packet_reader *r, const struct wm_packet *p)
{
	__atomic_add_fetch(&r->fake->nr_begun, 1, __ATOMIC_RELAXED);
	r->packet = p;
	r->at = p->own;
	r->end = p->own + p->nr_events;
	return (uint64_t)(p - r->trace->packets) == r->fake->bad ? r->fake->begin_err : 0;
}

static inline int fake_reader_read(struct wm_packet_reader *r, struct wm_batch *b)
{
	uint32_t wanted = r->fake->batch ? r->fake->batch : wm_want_events(&r->want), n = 0;

	while (r->at < r->end && n < wanted) {
		struct wm_event *e;
		uint32_t at = b->nr_items;

		if (!wm_batch_room(b, 1))
			return -ENOMEM;
		wm_batch_item(b, &fake_member)->u = r->at;
		e = &b->events[b->nr_events++];
		*e = (struct wm_event){.ns = r->fake->times[r->at],
				       .type = r->trace->types[0],
				       .stream = r->trace->streams[r->packet->stream],
				       .packet = r->packet,
				       .cpu = -1,
				       .pid = -1,
				       .tid = -1};
		for (int i = 0; i < WM_NR_PARTS; i++)
			e->parts[i] = (struct wm_part_range){at, at};
		e->parts[WM_PART_FIELDS].end = b->nr_items;
		r->at++;
		n++;
	}
	if (!n && (uint64_t)(r->packet - r->trace->packets) == r->fake->bad)
		return r->fake->read_err;
	return (int)n;
}

static inline void fake_reader_destroy(struct wm_packet_reader *r)
{
	__atomic_sub_fetch(&r->fake->nr_open, 1, __ATOMIC_RELAXED);
	free(r);
}

static const struct wm_reader_ops fake_ops = {.name = "fake",
					      .close = fake_close,
					      .reader_create = fake_reader_create,
					      .reader_begin = fake_reader_begin,
					      .reader_read = fake_reader_read,
					      .reader_destroy = fake_reader_destroy};

/* The trace owns `f` from now on. */
static inline struct wm_trace *fake_trace(struct fake *f)
{
	struct wm_trace *t = wm_trace_create("fake");
	struct wm_event_type *type = wm_arena_get(&t->arena, sizeof(*type));
	struct wm_trace_clock *clock = wm_arena_get(&t->arena, sizeof(*clock));

	t->own = f;
	t->ops = &fake_ops;
	*type = (struct wm_event_type){.name = "fake", .level = -1, .provider = ""};
	type->parts[WM_PART_FIELDS] = &fake_fields;
	assert_int_equal(wm_trace_add_type(t, type), 0);
	*clock = (struct wm_trace_clock){.name = "fake", .hz = WM_NS_PER_SECOND};
	assert_int_equal(wm_trace_add_clock(t, clock), 0);
	for (uint32_t i = 0; i < f->nr_streams; i++) {
		struct wm_stream *s = wm_arena_get(&t->arena, sizeof(*s));

		*s = (struct wm_stream){.file = "stream", .cpu = -1, .clock = clock};
		assert_int_equal(wm_trace_add_stream(t, s), 0);
	}
	for (uint64_t i = 0; i < f->nr_packets; i++)
		assert_int_equal(wm_trace_add_packet(t, &f->packets[i]), 0);
	return t;
}

/* Returns the event's field `n`. */
static inline uint64_t fake_number_of(const struct wm_event *e)
{
	return e->items[e->parts[WM_PART_FIELDS].at].u;
}

#endif
