/* SPDX-License-Identifier: MIT */
/*
 * merge.c - see merge.h. The heap holds two kinds of entries: an *open* packet,
 * keyed by its next event, and for each lane (the packets of one stream) the
 * next one that is still *waiting*, keyed by its begin. At equal times what
 * waits comes before what is open, so no event is passed that a packet not yet
 * opened might hold.
 *
 * A lane whose packets do not all say when they begin is read one packet after
 * the other. One whose packets do not begin in order of their places is sorted.
 */
#include "format/merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define KEY_OPEN         ((uint64_t)1 << 63)
#define KEY_TRACE_SHIFT  44
#define MERGE_TRACES_MAX (1u << 19)

/* The packets of one stream, those of the window only, in order of begin. */
struct lane {
	uint32_t trace;
	bool chained;     /* one after the other: begins are not known */
	uint64_t at, end; /* next one that waits: of `order`, else of trace->packets */
	uint64_t *order;  /* NULL: they lie in order */
};

/* A packet being read, or a reader waiting for another one. */
struct open_packet {
	struct lane *lane;
	const struct wm_packet *packet;
	struct wm_packet_reader *reader;
	struct wm_batch batch;
	uint32_t at; /* next event of the batch */
	bool told;   /* that time runs back */
	int64_t last_ns;
	struct open_packet *next_free;
};

struct entry {
	int64_t ns;
	uint64_t key;             /* opened, trace, packet: breaks ties */
	struct open_packet *open; /* NULL: waits */
	struct lane *lane;
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
	struct lane *lanes;
	uint32_t nr_lanes;
	struct entry *heap; /* room grows with what is open at once */
	uint32_t nr_heap, room;
	struct open_packet *front; /* heap[0]'s, while its events come before all others' */
	int64_t limit_ns;          /* the last time of which that holds */
	uint32_t trace;            /* of the last event */
	int err;                   /* sticky */
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

static int push(struct wm_merge *m, const struct entry *e)
{
	uint32_t i = m->nr_heap;

	if (m->nr_heap == m->room) {
		uint32_t room = m->room ? 2 * m->room : 64;
		struct entry *more = realloc(m->heap, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		m->heap = more;
		m->room = room;
	}
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

static uint64_t place(const struct lane *l, uint64_t i)
{
	return l->order ? l->order[i] : i;
}

/* Puts the lane's next packet of the window on the heap, if there is one. */
static int wait_next(struct wm_merge *m, struct lane *l)
{
	const struct wm_packet *packets = m->sources[l->trace].trace->packets, *p;
	struct entry e = {.lane = l};

	while (l->at < l->end && outside(m, &packets[place(l, l->at)]))
		l->at++;
	if (l->at == l->end)
		return 0;
	p = &packets[place(l, l->at)];
	e.ns = p->begin_ns;
	e.key = (uint64_t)l->trace << KEY_TRACE_SHIFT | place(l, l->at);
	return push(m, &e);
}

struct begin {
	int64_t ns;
	uint64_t index;
};

static int by_begin(const void *a, const void *b)
{
	const struct begin *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static int sort_lane(struct lane *l, const struct wm_packet *packets)
{
	uint64_t n = l->end - l->at;
	struct begin *begins = calloc(n, sizeof(*begins));

	l->order = calloc(n, sizeof(*l->order));
	if (!l->order || !begins) {
		free(begins);
		return -ENOMEM;
	}
	for (uint64_t i = 0; i < n; i++)
		begins[i] = (struct begin){packets[l->at + i].begin_ns, l->at + i};
	qsort(begins, n, sizeof(*begins), by_begin);
	for (uint64_t i = 0; i < n; i++)
		l->order[i] = begins[i].index;
	free(begins);
	l->at = 0;
	l->end = n;
	return 0;
}

/*
 * What is known of a lane's packets without sorting them. Returns how many may
 * be open at once: at most so many begin before all that lie ahead have ended.
 */
static uint32_t look_at(struct lane *l, const struct wm_packet *packets, bool *ret_sorted)
{
	int64_t begin = INT64_MIN, end = INT64_MIN;
	uint32_t open = 0, most = 1;

	*ret_sorted = true;
	for (uint64_t i = l->at; i < l->end; i++) {
		const struct wm_packet *p = &packets[i];

		l->chained |= p->begin_ns == INT64_MIN;
		*ret_sorted &= p->begin_ns >= begin;
		begin = p->begin_ns;
		open = p->begin_ns < end ? open + 1 : 1;
		if (p->end_ns > end)
			end = p->end_ns;
		if (open > most)
			most = open;
	}
	return l->chained ? 1 : most;
}

static int add_lane(struct wm_merge *m, uint32_t trace, uint64_t first, uint64_t end,
		    uint32_t *nr_open)
{
	const struct wm_packet *packets = m->sources[trace].trace->packets;
	struct lane *l = &m->lanes[m->nr_lanes++];
	bool sorted;

	*l = (struct lane){.trace = trace, .at = first, .end = end};
	*nr_open += look_at(l, packets, &sorted);
	return l->chained || sorted ? 0 : sort_lane(l, packets);
}

/* The end of the packets that lie together and are of one stream. */
static uint64_t lane_end(const struct wm_trace *t, uint64_t i)
{
	uint32_t stream = t->packets[i].stream;

	while (i < t->nr_packets && t->packets[i].stream == stream)
		i++;
	return i;
}

static int make_lanes(struct wm_merge *m, uint32_t *nr_open)
{
	uint64_t n = 0;
	int err = 0;

	for (uint32_t t = 0; t < m->nr_sources; t++)
		for (uint64_t i = 0; i < m->sources[t].trace->nr_packets; n++)
			i = lane_end(m->sources[t].trace, i);
	if (n > UINT32_MAX)
		return -E2BIG;
	m->lanes = calloc(n + 1, sizeof(*m->lanes));
	if (!m->lanes)
		return -ENOMEM;
	for (uint32_t t = 0; t < m->nr_sources && !err; t++) {
		struct wm_trace *trace = m->sources[t].trace;

		for (uint64_t i = 0, end; i < trace->nr_packets && !err; i = end) {
			end = lane_end(trace, i);
			err = add_lane(m, t, i, end, nr_open);
		}
	}
	return err;
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

static void give_reader(struct source *s, struct open_packet *o)
{
	o->next_free = s->unused;
	s->unused = o;
}

static void destroy_reader(struct source *s, struct open_packet *o)
{
	s->trace->ops->reader_destroy(o->reader);
	wm_batch_done(&o->batch);
	free(o);
}

static const char *file_of(const struct wm_trace *t, const struct wm_packet *p)
{
	const char *file = t->streams[p->stream]->file;

	return file[0] ? file : t->path;
}

static void runs_back(struct wm_merge *m, struct open_packet *o, int64_t ns)
{
	struct wm_trace *t = m->sources[o->lane->trace].trace;

	if (o->told)
		return;
	o->told = true;
	wm_trace_fault(t, file_of(t, o->packet), o->packet->offset,
		       "time runs back by %llu ns in this packet",
		       (unsigned long long)((uint64_t)o->last_ns - (uint64_t)ns));
}

/*
 * Makes batch.events[at] the packet's next event of the window. 1, or 0 when
 * it has no more, or -errno.
 */
static int find_event(struct wm_merge *m, struct open_packet *o)
{
	struct wm_trace *t = m->sources[o->lane->trace].trace;

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

/* The first entry waits: opens its packet, and lets the lane's next one wait. */
static int open_first(struct wm_merge *m)
{
	struct entry e = m->heap[0];
	struct source *s = &m->sources[e.lane->trace];
	struct open_packet *o;
	int got, err;

	drop_first(m);
	o = take_reader(s);
	if (!o)
		return -ENOMEM;
	o->lane = e.lane;
	o->packet = &s->trace->packets[place(e.lane, e.lane->at++)];
	o->batch.nr_events = o->at = 0;
	o->told = false;
	o->last_ns = INT64_MIN;
	err = s->trace->ops->reader_begin(o->reader, o->packet);
	got = err ? err : find_event(m, o);
	if (got == 1) {
		e.ns = o->batch.events[o->at].ns;
		e.key |= KEY_OPEN;
		e.open = o;
		err = push(m, &e);
	}
	if (got != 1 || err)
		give_reader(s, o);
	if (got < 0 || err)
		return got < 0 ? got : err;
	return got == 1 && e.lane->chained ? 0 : wait_next(m, e.lane);
}

/* The first entry's events up to the limit were given: where does it belong now? */
static int put_back(struct wm_merge *m, struct open_packet *o)
{
	struct lane *l = o->lane;
	int got = find_event(m, o);

	if (got < 0)
		return got;
	if (got) {
		m->heap[0].ns = o->batch.events[o->at].ns;
		sift_down(m, 0);
		return 0;
	}
	drop_first(m);
	give_reader(&m->sources[l->trace], o);
	return l->chained ? wait_next(m, l) : 0;
}

/* The last time at which the first entry still comes before the second. */
static int64_t limit_of(const struct wm_merge *m)
{
	const struct entry *second = m->nr_heap > 1 ? &m->heap[1] : NULL;

	if (m->nr_heap > 2 && before(&m->heap[2], second))
		second = &m->heap[2];
	if (!second)
		return INT64_MAX;
	return m->heap[0].key < second->key ? second->ns : second->ns - 1;
}

/* --- what is called ------------------------------------------------------------------- */

static int start(struct wm_merge *m)
{
	uint32_t nr_open = 0;
	int err = make_lanes(m, &nr_open);

	for (uint32_t i = 0; i < m->nr_sources; i++)
		if (nr_open > m->sources[i].want.nr_open)
			m->sources[i].want.nr_open = nr_open;
	for (uint32_t i = 0; i < m->nr_lanes && !err; i++)
		err = wait_next(m, &m->lanes[i]);
	return err;
}

struct wm_merge *wm_merge_create(struct wm_trace *const *traces, uint32_t nr_traces,
				 const struct wm_merge_options *options)
{
	struct wm_merge *m = calloc(1, sizeof(*m));

	if (!m || nr_traces > MERGE_TRACES_MAX) {
		free(m);
		return NULL;
	}
	m->begin_ns = options ? options->begin_ns : INT64_MIN;
	m->end_ns = options ? options->end_ns : INT64_MAX;
	m->sources = calloc(nr_traces + 1, sizeof(*m->sources));
	if (!m->sources) {
		wm_merge_destroy(m);
		return NULL;
	}
	m->nr_sources = nr_traces;
	for (uint32_t i = 0; i < nr_traces; i++) {
		m->sources[i].trace = traces[i];
		if (options && options->wants && options->wants[i])
			m->sources[i].want = *options->wants[i];
	}
	if (start(m)) {
		wm_merge_destroy(m);
		return NULL;
	}
	return m;
}

void wm_merge_destroy(struct wm_merge *m)
{
	if (!m)
		return;
	for (uint32_t i = 0; i < m->nr_heap; i++)
		if (m->heap[i].open)
			destroy_reader(&m->sources[m->heap[i].lane->trace], m->heap[i].open);
	for (uint32_t i = 0; i < m->nr_sources; i++)
		while (m->sources[i].unused) {
			struct open_packet *o = m->sources[i].unused;

			m->sources[i].unused = o->next_free;
			destroy_reader(&m->sources[i], o);
		}
	for (uint32_t i = 0; i < m->nr_lanes; i++)
		free(m->lanes[i].order);
	free(m->lanes);
	free(m->sources);
	free(m->heap);
	free(m);
}

/* Brings the packet with the earliest event to the front. 1, 0 at the end, -errno. */
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
	m->trace = m->front->lane->trace;
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
