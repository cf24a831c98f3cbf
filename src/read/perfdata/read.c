/* SPDX-License-Identifier: MIT */
/*
 * read.c - the packet reader: returns a packet's records in time order. Most packets are in order
 * (the index records which), and their records are read in file order. The records of the other
 * packets are listed and sorted; they consist of sorted runs (the processors' buffers, one after
 * the other), so runs are merged. Records without a time stay after the one they follow in the
 * file.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/plural.h"
#include "read/perfdata/fixed_sample.h"

struct place {
	int64_t time;
	uint32_t offset; /* offset in the packet */
};

struct wm_packet_reader {
	struct wm_pd *pd;
	struct wm_want want;
	const struct wm_packet *packet;
	const struct wm_pd_source *source;
	bool only_meta; /* no samples are wanted */
	unsigned char *data;
	size_t room, bytes; /* allocated; bytes of the packet read */
	size_t next;        /* offset of the next unread record */
	int64_t last;       /* time of the previous record */
	bool is_listed;     /* the records are listed in `places`, to be sorted */
	struct place *places, *spare;
	uint32_t nr_places, room_places, at;
	uint64_t *values; /* values of the counters read with samples; NULL: there are none */
};

static bool wants_samples(const struct wm_pd *pd, const struct wm_want *want)
{
	bool any = !want || !want->types;

	for (uint32_t i = 0; !any && i < pd->nr_attrs; i++)
		any = want->types[pd->attrs[i].type->index] ||
		      (pd->attrs[i].counts && want->types[pd->attrs[i].counts->index]);
	return any;
}

struct wm_packet_reader *wm_pd_reader_create(struct wm_trace *t, const struct wm_want *want)
{
	struct wm_packet_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->pd = t->own;
	if (want)
		r->want = *want;
	r->only_meta = !wants_samples(r->pd, want);
	return r;
}

void wm_pd_reader_destroy(struct wm_packet_reader *r)
{
	if (!r)
		return;
	free(r->data);
	free(r->places);
	free(r->spare);
	free(r->values);
	free(r);
}

/* --- records in file order ------------------------------------------------------- */

/*
 * Takes the next kernel record. The index walked the same bytes, but they may have changed since.
 */
static bool take_next(struct wm_packet_reader *r, struct place *ret)
{
	while (r->bytes - r->next >= WM_PERF_HEADER_BYTES) {
		const unsigned char *record = r->data + r->next;
		struct wm_perf_header h = wm_kperf_header_get(record, r->pd->swap);

		if (!wm_pd_sane(&h) || h.size > r->bytes - r->next)
			break;
		*ret = (struct place){r->last, (uint32_t)r->next};
		r->next += h.size;
		if (r->packet->own & WM_PD_HAS_COUNTS && wm_pd_is_count(&h)) {
			ret->time = wm_pd_stat_time(r->pd, r->packet->offset + ret->offset);
			return true;
		}
		if (h.type < WM_PERF_KIND_USER) {
			int64_t time = wm_pd_time(r->pd, record, &h);

			ret->time = time == WM_TIME_NONE ? r->last : time;
			r->last = ret->time;
			return true;
		}
	}
	return false;
}

/* --- records in order --------------------------------------------------------------- */

static int reserve_places(struct wm_packet_reader *r, uint64_t nr)
{
	if (nr <= r->room_places)
		return 0;
	free(r->places);
	free(r->spare);
	r->places = reallocarray(NULL, nr, sizeof(*r->places));
	r->spare = reallocarray(NULL, nr, sizeof(*r->spare));
	r->room_places = r->places && r->spare ? (uint32_t)nr : 0;
	return r->room_places ? 0 : -ENOMEM;
}

/* Returns the end of the run that begins at `at`. */
static uint32_t end_of_run(const struct place *p, uint32_t at, uint32_t nr)
{
	while (++at < nr && p[at].time >= p[at - 1].time)
		;
	return at;
}

/* Records with equal times keep the order of their runs. */
static void merge_runs(const struct place *a, const struct place *a_end, const struct place *b_end,
		       struct place *to)
{
	const struct place *b = a_end;

	while (a < a_end && b < b_end) {
		bool second = b->time < a->time;

		*to++ = second ? *b : *a;
		b += second;
		a += !second;
	}
	memcpy(to, a, (size_t)(a_end - a) * sizeof(*a));
	memcpy(to + (a_end - a), b, (size_t)(b_end - b) * sizeof(*b));
}

/* Merges pairs of runs; false: there was only one run. */
static bool merge_pairs(struct wm_packet_reader *r)
{
	struct place *from = r->places, *to = r->spare;
	uint32_t nr = r->nr_places, first = end_of_run(from, 0, nr);

	if (first == nr)
		return false;
	for (uint32_t at = 0; at < nr;) {
		uint32_t end = first < nr ? end_of_run(from, first, nr) : nr;

		merge_runs(from + at, from + first, from + end, to + at);
		at = end;
		first = at < nr ? end_of_run(from, at, nr) : nr;
	}
	r->places = to;
	r->spare = from;
	return true;
}

static int list_records(struct wm_packet_reader *r)
{
	struct place p;
	uint64_t nr = 0;
	int err;

	/* A record may yield no event, or several. */
	while (r->packet->own >> WM_PD_STARTS_SHIFT && take_next(r, &p))
		nr++;
	if (nr) {
		r->next = 0;
		r->last = WM_TIME_NONE;
	}
	err = reserve_places(r, nr ? nr : r->packet->nr_events);
	if (err)
		return err;
	while (r->nr_places < r->room_places && take_next(r, &r->places[r->nr_places]))
		r->nr_places++;
	while (r->nr_places && merge_pairs(r))
		;
	return 0;
}

/* --- entry points --------------------------------------------------------------------- */

static int reserve_data(struct wm_packet_reader *r, uint64_t bytes)
{
	if (bytes <= r->room)
		return 0;
	free(r->data);
	r->data = malloc(bytes);
	r->room = r->data ? bytes : 0;
	return r->data ? 0 : -ENOMEM;
}

static int read_data(struct wm_packet_reader *r)
{
	const struct wm_packet *p = r->packet;
	int err = reserve_data(r, p->bytes);

	if (!err)
		err = wm_pd_pread(r->source, r->data, p->bytes, p->offset);
	if (err == -ENODATA) {
		wm_trace_fault(r->pd->trace, r->source->file, p->offset,
			       "the file became shorter: %llu %s missing",
			       (unsigned long long)p->nr_events,
			       wm_plural(p->nr_events, "record is", "records are"));
		return 0;
	}
	if (!err)
		r->bytes = p->bytes;
	return err;
}

int wm_pd_reader_begin(struct wm_packet_reader *r, const struct wm_packet *p)
{
	int err;

	r->packet = p;
	r->source = &r->pd->sources[r->pd->trace->streams[p->stream]->instance];
	r->bytes = r->next = 0;
	r->nr_places = r->at = 0;
	r->last = WM_TIME_NONE;
	r->is_listed = p->own & WM_PD_RUNS_BACK;
	if (r->only_meta && !(p->own & WM_PD_HAS_META))
		return 0;
	err = read_data(r);
	if (!err)
		err = wm_pd_counters_begin(r->pd, p, &r->values);
	return err || !r->is_listed ? err : list_records(r);
}

static bool is_before(const struct wm_packet_reader *r, const struct place *p)
{
	int64_t ns = wm_pd_ns(r->pd, p->time);

	return ns != WM_TIME_NONE && ns < r->want.from_ns;
}

static bool perfdata_read_take(struct wm_packet_reader *r, struct place *ret)
{
	if (!r->is_listed)
		return take_next(r, ret);
	if (r->at == r->nr_places)
		return false;
	*ret = r->places[r->at++];
	return true;
}

/* Skips a record before the window, but updates the values of its counters. 0 or -ENOMEM. */
static int pass_over(struct wm_packet_reader *r, const struct place *p, struct wm_batch *b)
{
	uint32_t nr_events = b->nr_events, nr_items = b->nr_items;
	int got = 0;

	if (r->packet->own >> WM_PD_STARTS_SHIFT)
		got = wm_pd_event(r->pd, r->packet, r->data + p->offset,
				  r->packet->offset + p->offset, p->time, r->values, &r->want, b);
	b->nr_events = nr_events;
	b->nr_items = nr_items;
	return got < 0 ? got : 0;
}

int wm_pd_reader_read(struct wm_packet_reader *r, struct wm_batch *b)
{
	uint32_t max = wm_want_events(&r->want);
	struct place p;

	while (b->nr_events < max && perfdata_read_take(r, &p)) {
		int err;

		if (r->want.has_from && is_before(r, &p)) {
			err = pass_over(r, &p, b);
			if (err)
				return err;
			continue;
		}
		if (r->packet->own & WM_PD_HAS_COUNTS) {
			err = wm_pd_stat_event(r->pd, r->packet, r->data + p.offset,
					       r->packet->offset + p.offset, p.time, &r->want, b);
			if (err < 0)
				return err;
			continue;
		}
		err = wm_pd_straight(r->pd, r->packet, r->data + p.offset, p.time, &r->want, b);
		if (!err)
			err = wm_pd_event(r->pd, r->packet, r->data + p.offset,
					  r->packet->offset + p.offset, p.time, r->values, &r->want,
					  b);
		if (err < 0)
			return err;
	}
	return (int)b->nr_events;
}
