/* SPDX-License-Identifier: MIT */
/*
 * perfdata_read.c - the packets' reader: a packet's records, put in order of
 * time. Records without a time stay behind the one they follow in the file.
 */
#include <errno.h>
#include <stdlib.h>

#include "format/perfdata_int.h"

struct place {
	int64_t time;
	uint32_t offset; /* in the packet */
};

struct wm_packet_reader {
	struct wm_pd *pd;
	struct wm_want want;
	const struct wm_packet *packet;
	const struct wm_pd_source *source;
	unsigned char *data;
	size_t room;
	struct place *places;
	uint32_t nr_places, room_places, at;
};

struct wm_packet_reader *wm_pd_reader_create(struct wm_trace *t, const struct wm_want *want)
{
	struct wm_packet_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->pd = t->own;
	if (want)
		r->want = *want;
	return r;
}

void wm_pd_reader_destroy(struct wm_packet_reader *r)
{
	if (!r)
		return;
	free(r->data);
	free(r->places);
	free(r);
}

static int reserve(struct wm_packet_reader *r, const struct wm_packet *p)
{
	if (p->bytes > r->room) {
		free(r->data);
		r->data = malloc(p->bytes);
		r->room = r->data ? p->bytes : 0;
	}
	if (p->nr_events > r->room_places) {
		free(r->places);
		r->places = malloc(p->nr_events * sizeof(*r->places));
		r->room_places = r->places ? (uint32_t)p->nr_events : 0;
	}
	return r->data && r->places ? 0 : -ENOMEM;
}

static int by_time(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static bool is_before(const struct wm_packet_reader *r, const struct place *p)
{
	int64_t ns = wm_pd_ns(r->pd, p->time);

	return ns != WM_TIME_NONE && ns < r->want.from_ns;
}

/* The index walked the same bytes; they may have changed since. */
static void find_records(struct wm_packet_reader *r)
{
	const struct wm_packet *p = r->packet;
	int64_t last = WM_TIME_NONE;
	bool sorted = true;
	size_t at = 0;

	r->nr_places = r->at = 0;
	while (p->bytes - at >= WM_PERF_HEADER_BYTES && r->nr_places < r->room_places) {
		struct wm_perf_header h = wm_perf_header_get(r->data + at, r->pd->swap);
		int64_t time;

		if (!wm_pd_sane(&h) || h.size > p->bytes - at)
			break;
		if (h.type < WM_PERF_KIND_USER) {
			time = wm_pd_time(r->pd, r->data + at, &h);
			if (time == WM_TIME_NONE)
				time = last;
			sorted &= time >= last;
			last = time;
			r->places[r->nr_places++] = (struct place){time, (uint32_t)at};
		}
		at += h.size;
	}
	if (!sorted) /* then there are two at least */
		qsort(r->places, r->nr_places, sizeof(*r->places), by_time);
	while (r->want.has_from && r->at < r->nr_places && is_before(r, &r->places[r->at]))
		r->at++;
}

int wm_pd_reader_begin(struct wm_packet_reader *r, const struct wm_packet *p)
{
	int err = reserve(r, p);

	if (err)
		return err;
	r->packet = p;
	r->source = &r->pd->sources[r->pd->trace->streams[p->stream]->instance];
	err = wm_pd_pread(r->source, r->data, p->bytes, p->offset);
	if (err == -ENODATA) {
		wm_trace_fault(r->pd->trace, r->source->file, p->offset,
			       "the file became shorter: %llu records are missing",
			       (unsigned long long)p->nr_events);
		r->nr_places = r->at = 0;
		return 0;
	}
	if (!err)
		find_records(r);
	return err;
}

int wm_pd_reader_read(struct wm_packet_reader *r, struct wm_batch *b)
{
	while (r->at < r->nr_places && b->nr_events < wm_want_events(&r->want)) {
		const struct place *p = &r->places[r->at++];
		int err = wm_pd_event(r->pd, r->packet, r->data + p->offset,
				      r->packet->offset + p->offset, p->time, &r->want, b);

		if (err < 0)
			return err;
	}
	return (int)b->nr_events;
}
