/* SPDX-License-Identifier: MIT */
/*
 * index.c - one walk over all records: where packets start and end, in the file and in time; comms;
 * losses.
 */
#include <errno.h>
#include <stdio.h>

#include "read/perfdata/perfdata_int.h"

#define ROUND_BYTES (WM_PD_PACKET_BYTES / 4) /* a round of at least this size ends a packet */

int64_t wm_pd_time_any(const struct wm_pd *pd, const unsigned char *record,
		       const struct wm_perf_header *h)
{
	const struct wm_pd_attr *a = wm_pd_attr_of(pd, record);
	int at = a && h->type == WM_PERF_SAMPLE ? a->shape.time_in_sample : -1;
	uint64_t time;

	if (at > 0 && at + 8 <= h->size)
		time = wm_get_u64(record + at, pd->swap);
	else if (!a || wm_kperf_record_time(&a->shape, record, &time))
		return WM_TIME_NONE;
	return wm_pd_time_word(time);
}

struct indexing {
	struct wm_pd *pd;
	struct wm_pd_source *source;
	struct wm_diag *diag;
	struct wm_packet packet; /* packet being filled; bytes 0: none */
	bool reads;              /* counters are read with samples */
	bool timed;              /* a record of the packet has a time */
	int64_t last;            /* last time in the file */
	int64_t before;          /* last time in this packet */
	bool has_rounds;         /* perf ends everything it writes with a FINISHED_ROUND */
	bool in_round;           /* there were records after the last round's end */
	/* perf inject, which drops the ends of rounds, added a build-id in this round */
	bool injected;
};

static int perfdata_index_end_packet(struct indexing *x)
{
	struct wm_packet *p = &x->packet;
	int err = 0;

	if (!x->timed)
		p->begin_ns = p->end_ns = wm_pd_ns(x->pd, x->last);
	if (p->bytes)
		err = wm_trace_add_packet(x->pd->trace, p);
	*p = (struct wm_packet){.stream = x->source->stream->index};
	x->timed = false;
	x->before = WM_TIME_NONE;
	return err;
}

/*
 * Records before the first one with a time describe the state when perf began: their packets sort
 * before all others, whatever the first time in their file is.
 */
static void put_untimed_first(const struct wm_pd *pd)
{
	const struct wm_trace *t = pd->trace;
	int64_t first = INT64_MAX;

	for (uint64_t i = 0; i < t->nr_packets; i++)
		if (t->packets[i].begin_ns != WM_TIME_NONE && t->packets[i].begin_ns < first)
			first = t->packets[i].begin_ns;
	for (uint64_t i = 0; i < t->nr_packets && first < INT64_MAX; i++)
		if (t->packets[i].begin_ns == WM_TIME_NONE)
			t->packets[i].begin_ns = t->packets[i].end_ns = first;
}

static void note_time(struct indexing *x, int64_t time)
{
	int64_t ns = wm_pd_ns(x->pd, time);

	if (time != WM_TIME_NONE) {
		x->packet.own |= time < x->before ? WM_PD_RUNS_BACK : 0;
		x->before = time;
	}
	x->pd->untimed |= ns == WM_TIME_NONE && x->last != WM_TIME_NONE;
	if (ns == WM_TIME_NONE)
		return;
	if (!x->timed || ns < x->packet.begin_ns)
		x->packet.begin_ns = ns;
	if (!x->timed || ns > x->packet.end_ns)
		x->packet.end_ns = ns;
	x->timed = true;
	x->last = time;
}

/*
 * The kernel reports losses of all kinds when the buffer has room again. At the end, newer versions
 * of perf read how many samples each event lost, and write records without a time: these count the
 * same losses again, plus those after which the buffer never had room. Samples that a perf filter
 * dropped are not lost.
 */
static int perfdata_index_note_loss(struct indexing *x, const struct wm_pd_walk *w, int64_t time)
{
	const struct wm_pd_attr *a = wm_pd_attr_of(x->pd, w->record);
	struct wm_trace_loss loss = {.stream = x->source->stream->index, .cause = "full"};
	struct wm_perf_record r;

	if (!a || wm_kperf_record_parse(&a->shape, w->record, w->header.size, &r, NULL) != 1)
		return 0;
	if (w->header.type == WM_PERF_LOST_SAMPLES && time == WM_TIME_NONE &&
	    a->attr.read_format & WM_PERF_FORMAT_LOST) {
		if (!(w->header.misc & WM_PERF_MISC_LOST_SAMPLES_BPF))
			x->pd->nr_lost_samples += r.lost.lost;
		return 0;
	}
	x->pd->nr_lost += r.lost.lost;
	loss.count = r.lost.lost;
	loss.begin_ns = loss.end_ns = wm_pd_ns(x->pd, time == WM_TIME_NONE ? x->last : time);
	return wm_trace_add_loss(x->pd->trace, &loss);
}

/* Adds lost samples that the kernel did not report in the stream. */
static int note_lost_at_end(struct wm_pd *pd)
{
	struct wm_trace_loss loss = {
	    .cause = "full", .begin_ns = WM_TIME_NONE, .end_ns = WM_TIME_NONE};

	if (pd->nr_lost_samples <= pd->nr_lost)
		return 0;
	loss.count = pd->nr_lost_samples - pd->nr_lost;
	return wm_trace_add_loss(pd->trace, &loss);
}

/* Adds the build-id that the kernel itself recorded for a mapped file. */
static int note_binary(struct indexing *x, const struct wm_pd_walk *w)
{
	const struct wm_pd_attr *a = wm_pd_attr_of(x->pd, w->record);
	struct wm_perf_record r;

	if (!(w->header.misc & WM_PERF_MISC_MMAP_BUILD_ID) || !a ||
	    wm_kperf_record_parse(&a->shape, w->record, w->header.size, &r, NULL) != 1 ||
	    !r.mmap.build_id)
		return 0;
	return wm_trace_add_binary(x->pd->trace, r.mmap.filename.data, r.mmap.filename.bytes,
				   r.mmap.build_id, r.mmap.build_id_bytes,
				   (w->header.misc & WM_PERF_MISC_MODE_MASK) ==
				       WM_PERF_MISC_KERNEL);
}

static int note_meta(struct indexing *x, const struct wm_pd_walk *w, int64_t time)
{
	x->packet.own |= WM_PD_HAS_META;
	switch (w->header.type) {
	case WM_PERF_COMM:
	case WM_PERF_FORK:
		return wm_pd_comm_note(x->pd, w->record, &w->header, wm_pd_ns(x->pd, time));
	case WM_PERF_MMAP2:
		return note_binary(x, w);
	case WM_PERF_LOST:
	case WM_PERF_LOST_SAMPLES:
		return perfdata_index_note_loss(x, w, time);
	default:
		return 0;
	}
}

/* Counts the events of a record, and extracts what concerns other records. */
static inline int index_contents(struct indexing *x, const struct wm_pd_walk *w, int64_t time)
{
	int nr;

	if (w->header.type != WM_PERF_SAMPLE) {
		x->packet.nr_events++;
		return note_meta(x, w, time);
	}
	x->pd->has_samples = true;
	nr = x->reads ? wm_pd_counters_note(x->pd, w->record, &w->header, &x->packet) : 1;
	if (nr > 0)
		x->packet.nr_events += (uint64_t)nr;
	return nr < 0 ? nr : 0;
}

static int index_record(struct indexing *x, const struct wm_pd_walk *w)
{
	struct wm_packet *p = &x->packet;
	int64_t time = wm_pd_time(x->pd, w->record, &w->header);
	int err = 0;

	if ((p->bytes && w->at - p->offset > WM_PD_PACKET_BYTES) || p->own & WM_PD_HAS_COUNTS ||
	    (x->last == WM_TIME_NONE && time != WM_TIME_NONE))
		err = perfdata_index_end_packet(x);
	if (!p->bytes)
		p->offset = w->offset;
	p->bytes = w->at - p->offset;
	note_time(x, time);
	return err ? err : index_contents(x, w, time);
}

/* Adds a count from perf stat; its time is in a later record. */
static int index_count(struct indexing *x, const struct wm_pd_walk *w)
{
	struct wm_packet *p = &x->packet;
	int err = 0;

	if (p->bytes && (!(p->own & WM_PD_HAS_COUNTS) || w->at - p->offset > WM_PD_PACKET_BYTES))
		err = perfdata_index_end_packet(x);
	if (!p->bytes)
		p->offset = w->offset;
	p->bytes = w->at - p->offset;
	p->nr_events++;
	p->own |= WM_PD_HAS_COUNTS;
	return err || x->pd->is_pipe ? err : wm_pd_stat_seen(x->pd);
}

/*
 * Reads a record that describes others. In file form the attrs are those in the header; in pipe
 * form these records have already been read.
 */
static int perfdata_index_describe(struct indexing *x, const struct wm_pd_walk *w)
{
	if (x->pd->is_pipe || w->header.type == WM_PD_ATTR)
		return 0;
	if (w->header.type == WM_PD_COMPRESSED || w->header.type == WM_PD_COMPRESSED2)
		wm_trace_fault(x->pd->trace, x->source->file, w->offset,
			       "compressed records are left out, because the header does not "
			       "describe the compression");
	return wm_pd_describe(x->pd, w, x->diag);
}

/* Counts the data of a processor's tracer, such as Intel PT, which are packets of another format.
 */
static void count_aux(struct wm_pd *pd, const struct wm_pd_walk *w)
{
	if (w->header.type == WM_PD_AUXTRACE)
		pd->aux_bytes += w->tail;
	else if (w->header.type == WM_PD_AUXTRACE_INFO && w->header.size >= 12)
		pd->aux_kind = wm_get_u32(w->record + 8, pd->swap);
}

static void warn_of_aux(const struct wm_pd *pd)
{
	static const char *const kinds[] = {"AUX data",      "Intel PT", "Intel BTS",
					    "ARM CoreSight", "ARM SPE",  "S390 CPU sampling",
					    "HiSilicon PTT"};
	bool is_known = pd->aux_kind < sizeof(kinds) / sizeof(kinds[0]);

	if (pd->aux_bytes)
		wm_trace_warn(pd->trace, "", 0,
			      "%llu bytes of %s are not decoded: 'perf script --itrace' makes "
			      "events of them",
			      (unsigned long long)pd->aux_bytes,
			      kinds[is_known ? pd->aux_kind : 0]);
}

/* Indexes a record of the perf tool. */
static int index_own(struct indexing *x, const struct wm_pd_walk *w)
{
	uint32_t type = w->header.type;
	int err = 0;

	if (wm_pd_is_count(&w->header))
		return index_count(x, w);
	x->pd->nr_own++;
	wm_pd_own_check(w);
	count_aux(x->pd, w);
	if (type == WM_PD_STAT_ROUND && w->header.size == WM_PD_ROUND_BYTES &&
	    (err = wm_pd_stat_round(x->pd, w)))
		return err;
	x->has_rounds |= type == WM_PD_FINISHED_ROUND || type == WM_PD_FEATURE;
	x->injected |= type == WM_PD_BUILD_ID && x->in_round;
	if (type == WM_PD_FINISHED_ROUND)
		x->in_round = x->injected = false;
	err = perfdata_index_describe(x, w);
	if (!err && (x->packet.bytes >= ROUND_BYTES || w->tail))
		err = perfdata_index_end_packet(x);
	return err;
}

/* Compares the end of the records with the length in the header; in pipe form there is none. */
static void perfdata_index_check_end(const struct indexing *x, const struct wm_pd_walk *w)
{
	bool open = x->has_rounds && x->in_round && !x->injected;

	if (x->pd->is_pipe && open && w->at == x->source->end)
		wm_trace_fault(x->pd->trace, x->source->file, w->at,
			       "the file ends inside a round of records: it was truncated, or perf "
			       "was killed");
}

static int index_source(struct wm_pd *pd, struct wm_pd_source *s, struct wm_diag *diag)
{
	struct indexing x = {
	    .pd = pd, .source = s, .diag = diag, .last = WM_TIME_NONE, .before = WM_TIME_NONE};
	struct wm_pd_walk w;
	int got = 0, err = wm_pd_walk_begin(&w, pd, s);

	x.packet.stream = s->stream->index;
	for (uint32_t i = 0; i < pd->nr_attrs; i++)
		x.reads |= wm_pd_reads(&pd->attrs[i]);
	while (!err && (got = wm_pd_walk_next(&w)) == 1) {
		if (w.header.type < WM_PERF_KIND_USER) {
			err = index_record(&x, &w);
			x.in_round = true;
		} else {
			err = index_own(&x, &w);
		}
	}
	if (!err && !got)
		perfdata_index_check_end(&x, &w);
	wm_pd_walk_done(&w);
	err = err ? err : got;
	return err ? err : perfdata_index_end_packet(&x);
}

int wm_pd_index(struct wm_pd *pd, struct wm_diag *diag)
{
	char number[24];
	int err = 0;

	for (uint32_t i = 0; !err && i < pd->nr_sources; i++)
		err = index_source(pd, &pd->sources[i], diag);
	if (!err)
		err = note_lost_at_end(pd);
	warn_of_aux(pd);
	wm_pd_stat_packets(pd);
	put_untimed_first(pd);
	snprintf(number, sizeof(number), "%llu", (unsigned long long)pd->nr_own);
	if (!err)
		err = wm_trace_add_word(pd->trace, "perf's own records", number);
	return err ? err : wm_pd_comm_sort(pd);
}
