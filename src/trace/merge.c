/* SPDX-License-Identifier: MIT */
/*
 * merge.c - see merge.h. The heap holds two kinds of entries: an *open* packet, keyed by its next
 * event, and for each lane of the timeline the next packet that is still *waiting*, keyed by its
 * start. At equal times waiting packets sort before open ones, so that no event precedes one of an
 * unopened packet. In a chained lane a packet waits until the previous one is finished.
 */
#include "trace/merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define KEY_OPEN        ((uint64_t)1 << 63)
#define KEY_TRACE_SHIFT 44

/* State of one lane: its next waiting packet. */
struct progress {
	const struct wm_lane *lane;
	uint64_t at;
};

/* A packet being read, or a reader that is free for another one. */
struct open_packet {
	struct progress *lane;
	const struct wm_packet *packet;
	struct wm_packet_reader *reader;
	struct wm_batch batch;
	uint32_t at; /* next event of the batch */
	bool told;   /* a fault about decreasing time was reported */
	int64_t last_ns;
	struct open_packet *next_free;
};

struct entry {
	int64_t ns;
	uint64_t key;             /* KEY_OPEN, trace, packet: orders entries with equal times */
	struct open_packet *open; /* NULL: waiting */
	struct progress *lane;
};

struct source {
	struct wm_trace *trace;
	struct wm_want want;
	struct open_packet *unused;
};

struct wm_merge {
	int64_t begin_ns, end_ns;
	struct source *sources;
	uint32_t nr_sources;
	const struct wm_timeline *timeline;
	struct wm_timeline *own; /* created by this merge; NULL: the caller's */
	struct progress *lanes;
	struct entry *heap; /* sized by the number of open packets */
	uint32_t nr_heap, room;
	/* packet of heap[0] while its events precede all others; else NULL */
	struct open_packet *front;
	int64_t limit_ns;    /* time of the last event for which `front` is valid */
	uint32_t trace;      /* index of the last event's trace */
	uint64_t done_bytes; /* sum of the sizes of the packets that were read to the end */
	int err;             /* first error; returned by all later calls */
};

/* --- the heap --------------------------------------------------------------------- */

static inline bool before(const struct entry *a, const struct entry *b)
{
	return a->ns < b->ns || (a->ns == b->ns && a->key < b->key);
}

static void sift_down(struct wm_merge *m, uint32_t i)
{
	struct entry e = m->heap[i];
	uint32_t child;

	while ((child = 2 * i + 1) < m->nr_heap) {
		if (child + 1 < m->nr_heap && before(&m->heap[child + 1], &m->heap[child]))
			child++;
		if (!before(&m->heap[child], &e))
			break;
		m->heap[i] = m->heap[child];
		i = child;
	}
	m->heap[i] = e;
}

static int merge_push(struct wm_merge *m, const struct entry *e)
{
	uint32_t i = m->nr_heap;

	if (WM_ARRAY_GROW(m->heap, m->room, (size_t)m->nr_heap + 1))
		return -ENOMEM;
	m->nr_heap++;
	while (i && before(e, &m->heap[(i - 1) / 2])) {
		m->heap[i] = m->heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	m->heap[i] = *e;
	return 0;
}

static void drop_first(struct wm_merge *m)
{
	m->heap[0] = m->heap[--m->nr_heap];
	if (m->nr_heap)
		sift_down(m, 0);
}

/* --- lanes ------------------------------------------------------------------------- */

static bool outside(const struct wm_merge *m, const struct wm_packet *p)
{
	return p->end_ns < m->begin_ns || (p->begin_ns >= m->end_ns && m->end_ns != INT64_MAX);
}

/* Pushes the lane's next packet inside the window onto the heap, if there is one. */
static int wait_next(struct wm_merge *m, struct progress *l)
{
	const struct wm_lane *lane = l->lane;

	for (; l->at < lane->end; l->at++) {
		struct entry e = {.lane = l};
		const struct wm_packet *p = wm_timeline_packet(m->timeline, lane, l->at, &e.key);

		if (p->begin_ns >= m->end_ns && !lane->chained && m->end_ns != INT64_MAX)
			return 0; /* the following packets are outside too */
		if (outside(m, p))
			continue;
		e.ns = p->begin_ns;
		e.key |= (uint64_t)lane->trace << KEY_TRACE_SHIFT;
		return merge_push(m, &e);
	}
	return 0;
}

/* --- open packets -------------------------------------------------------------------- */

static struct open_packet *take_reader(struct source *s)
{
	struct open_packet *o = s->unused;

	if (o) {
		s->unused = o->next_free;
		return o;
	}
	o = calloc(1, sizeof(*o));
	if (!o)
		return NULL;
	o->reader = s->trace->ops->reader_create(s->trace, &s->want);
	if (o->reader)
		return o;
	free(o);
	return NULL;
}

static void give_reader(struct wm_merge *m, struct source *s, struct open_packet *o)
{
	m->done_bytes += o->packet->bytes;
	o->next_free = s->unused;
	s->unused = o;
}

static void destroy_reader(struct source *s, struct open_packet *o)
{
	s->trace->ops->reader_destroy(o->reader);
	wm_batch_done(&o->batch);
	free(o);
}

static const char *merge_file_of(const struct wm_trace *t, const struct wm_packet *p)
{
	const char *file = t->streams[p->stream]->file;

	return file[0] ? file : t->path;
}

static void runs_back(struct wm_merge *m, struct open_packet *o, int64_t ns)
{
	struct wm_trace *t = m->sources[o->lane->lane->trace].trace;

	if (o->told)
		return;
	o->told = true;
	wm_trace_fault(t, merge_file_of(t, o->packet), o->packet->offset,
		       "time decreases by %llu ns in this packet",
		       (unsigned long long)((uint64_t)o->last_ns - (uint64_t)ns));
}

/*
 * Makes batch.events[at] the packet's next event in the window. Returns 1, 0 when the packet has no
 * more events, or -errno.
 */
static int merge_find_event(struct wm_merge *m, struct open_packet *o)
{
	struct wm_trace *t = m->sources[o->lane->lane->trace].trace;

	for (;;) {
		int64_t ns;

		if (o->at == o->batch.nr_events) {
			int got = wm_batch_read(t, o->reader, &o->batch);

			o->at = 0;
			if (got <= 0)
				return got;
			continue;
		}
		ns = o->batch.events[o->at].ns;
		if (ns < o->last_ns)
			runs_back(m, o, ns);
		o->last_ns = ns;
		if (ns >= m->end_ns && m->end_ns != INT64_MAX)
			return 0;
		if (ns >= m->begin_ns)
			return 1;
		o->at++;
	}
}

/*
 * Opens the packet of the first entry, which was waiting, and pushes the next packet of its lane.
 */
static int open_first(struct wm_merge *m)
{
	struct entry e = m->heap[0];
	struct source *s = &m->sources[e.lane->lane->trace];
	struct open_packet *o;
	uint64_t index;
	int got, err;

	drop_first(m);
	o = take_reader(s);
	if (!o)
		return -ENOMEM;
	o->lane = e.lane;
	o->packet = wm_timeline_packet(m->timeline, e.lane->lane, e.lane->at++, &index);
	o->batch.nr_events = o->at = 0;
	o->told = false;
	o->last_ns = INT64_MIN;
	err = s->trace->ops->reader_begin(o->reader, o->packet);
	got = err ? err : merge_find_event(m, o);
	if (got == 1) {
		e.ns = o->batch.events[o->at].ns;
		e.key |= KEY_OPEN;
		e.open = o;
		err = merge_push(m, &e);
	}
	if (got != 1 || err)
		give_reader(m, s, o);
	if (got < 0 || err)
		return got < 0 ? got : err;
	return got == 1 && e.lane->lane->chained ? 0 : wait_next(m, e.lane);
}

/* Restores the heap order after the first entry's events up to the limit were returned. */
static int put_back(struct wm_merge *m, struct open_packet *o)
{
	struct progress *l = o->lane;
	int got = merge_find_event(m, o);

	if (got < 0)
		return got;
	if (got) {
		m->heap[0].ns = o->batch.events[o->at].ns;
		sift_down(m, 0);
		return 0;
	}
	drop_first(m);
	give_reader(m, &m->sources[l->lane->trace], o);
	return l->lane->chained ? wait_next(m, l) : 0;
}

/* Returns the last time at which the first entry still precedes the second. */
static int64_t limit_of(const struct wm_merge *m)
{
	const struct entry *second = m->nr_heap > 1 ? &m->heap[1] : NULL;

	if (m->nr_heap > 2 && before(&m->heap[2], second))
		second = &m->heap[2];
	if (!second)
		return INT64_MAX;
	return m->heap[0].key < second->key ? second->ns : second->ns - 1;
}

/* --- interface ------------------------------------------------------------------------- */

static int merge_start(struct wm_merge *m)
{
	const struct wm_timeline *tl = m->timeline;
	int err = 0;

	for (uint32_t i = 0; i < m->nr_sources; i++) {
		m->sources[i].want.has_from = m->begin_ns != INT64_MIN;
		m->sources[i].want.from_ns = m->begin_ns;
	}
	for (uint32_t i = 0; i < tl->nr_lanes && !err; i++) {
		m->lanes[i].lane = &tl->lanes[i];
		m->lanes[i].at = wm_timeline_find(tl, &tl->lanes[i], m->begin_ns);
		err = wait_next(m, &m->lanes[i]);
	}
	return err;
}

static int make_sources(struct wm_merge *m, const struct wm_merge_options *options)
{
	const struct wm_timeline *tl = m->timeline;
	uint32_t merges = options && options->nr_merges ? options->nr_merges : 1, nr_open;

	if (__builtin_mul_overflow(tl->nr_open, merges, &nr_open))
		nr_open = UINT32_MAX;
	m->sources = calloc(tl->nr_traces + 1, sizeof(*m->sources));
	m->lanes = calloc(tl->nr_lanes + 1, sizeof(*m->lanes));
	if (!m->sources || !m->lanes)
		return -ENOMEM;
	m->nr_sources = tl->nr_traces;
	for (uint32_t i = 0; i < m->nr_sources; i++) {
		m->sources[i].trace = tl->traces[i];
		if (options && options->wants && options->wants[i])
			m->sources[i].want = *options->wants[i];
		if (m->sources[i].want.nr_open < nr_open)
			m->sources[i].want.nr_open = nr_open;
	}
	return merge_start(m);
}

struct wm_merge *wm_merge_create_on(const struct wm_timeline *timeline,
				    const struct wm_merge_options *options)
{
	struct wm_merge *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->timeline = timeline;
	m->begin_ns = options ? options->begin_ns : INT64_MIN;
	m->end_ns = options ? options->end_ns : INT64_MAX;
	if (make_sources(m, options)) {
		wm_merge_destroy(m);
		return NULL;
	}
	return m;
}

struct wm_merge *wm_merge_create(struct wm_trace *const *traces, uint32_t nr_traces,
				 const struct wm_merge_options *options)
{
	struct wm_timeline *own;
	struct wm_merge *m;

	if (wm_timeline_create(traces, nr_traces, &own))
		return NULL;
	m = wm_merge_create_on(own, options);
	if (m)
		m->own = own;
	else
		wm_timeline_destroy(own);
	return m;
}

int wm_merge_window(struct wm_merge *m, int64_t begin_ns, int64_t end_ns)
{
	for (uint32_t i = 0; i < m->nr_heap; i++)
		if (m->heap[i].open)
			give_reader(m, &m->sources[m->heap[i].lane->lane->trace], m->heap[i].open);
	m->nr_heap = 0;
	m->front = NULL;
	m->done_bytes = 0;
	m->begin_ns = begin_ns;
	m->end_ns = end_ns;
	m->err = merge_start(m);
	return m->err;
}

void wm_merge_destroy(struct wm_merge *m)
{
	if (!m)
		return;
	for (uint32_t i = 0; i < m->nr_heap; i++)
		if (m->heap[i].open)
			destroy_reader(&m->sources[m->heap[i].lane->lane->trace], m->heap[i].open);
	for (uint32_t i = 0; i < m->nr_sources; i++)
		while (m->sources[i].unused) {
			struct open_packet *o = m->sources[i].unused;

			m->sources[i].unused = o->next_free;
			destroy_reader(&m->sources[i], o);
		}
	wm_timeline_destroy(m->own);
	free(m->lanes);
	free(m->sources);
	free(m->heap);
	free(m);
}

/* Brings the packet with the earliest event to the front. Returns 1, 0 at the end, or -errno. */
static int find_front(struct wm_merge *m)
{
	int err = 0;

	if (m->front)
		err = put_back(m, m->front);
	m->front = NULL;
	while (!err && m->nr_heap && !m->heap[0].open)
		err = open_first(m);
	if (err)
		return err;
	if (!m->nr_heap)
		return 0;
	m->front = m->heap[0].open;
	m->limit_ns = limit_of(m);
	m->trace = m->front->lane->lane->trace;
	return 1;
}

int wm_merge_next(struct wm_merge *m, const struct wm_event **ret)
{
	struct open_packet *o = m->front;
	int got;

	if (m->err)
		return m->err;
	if (!o || o->at == o->batch.nr_events || o->batch.events[o->at].ns > m->limit_ns ||
	    o->batch.events[o->at].ns < o->last_ns || o->batch.events[o->at].ns >= m->end_ns) {
		got = find_front(m);
		if (got <= 0) {
			m->err = got;
			return got;
		}
		o = m->front;
	}
	*ret = &o->batch.events[o->at++];
	o->last_ns = (*ret)->ns;
	return 1;
}

uint32_t wm_merge_trace(const struct wm_merge *m)
{
	return m->trace;
}

/* Returns the bytes of an open packet that were read, estimated from the time of its last event. */
static uint64_t part_done(const struct open_packet *o)
{
	const struct wm_packet *p = o->packet;
	double whole = (double)p->end_ns - (double)p->begin_ns;
	double part = (double)o->last_ns - (double)p->begin_ns;

	if (p->begin_ns == INT64_MIN || p->end_ns == INT64_MAX || part <= 0)
		return 0;
	return part < whole ? (uint64_t)((double)p->bytes * (part / whole)) : p->bytes;
}

uint64_t wm_merge_done_bytes(const struct wm_merge *m)
{
	uint64_t bytes = m->done_bytes;

	for (uint32_t i = 0; i < m->nr_heap; i++)
		if (m->heap[i].open)
			bytes += part_done(m->heap[i].open);
	return bytes;
}
