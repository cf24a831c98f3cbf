/* SPDX-License-Identifier: MIT */
/*
 * mixed.c - used when lanes run out: extracts the records of many threads from their packets and
 * sorts them by time. Each record gets an event context that names its thread, and its id is
 * renumbered, so that one mixed stream class can hold the records of all threads.
 *
 * Records are held back for half a second of trace time, because packets with older records may
 * still arrive. A record that arrives even later goes to another lane of the class. This is the
 * only part of the writer that processes individual events.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "write/record_size_int.h"
#include "write/writer_int.h"

#define PACKET_BYTES (256u << 10)

struct waiting {
	uint64_t clock;
	size_t at;      /* offset in `data` */
	uint32_t bytes; /* without padding */
};

struct wm_mixed {
	struct wm_stream_class *stream;
	struct wm_text data; /* padded records, as they will be written */
	struct waiting *waiting;
	size_t count, room;
	uint64_t oldest, newest; /* clocks of the waiting records */
	uint64_t end;            /* all records with an earlier clock were written */
	uint64_t lost;           /* added to the next packet's events_discarded */
};

static size_t padded(size_t bytes)
{
	return (bytes + WM_RECORD_ALIGN - 1) & ~(size_t)(WM_RECORD_ALIGN - 1);
}

void wm_mixed_destroy(struct wm_mixed *m)
{
	if (!m)
		return;
	wm_text_done(&m->data);
	free(m->waiting);
	free(m);
}

static int mixed_create(struct wm_trace_writer *w)
{
	struct wm_mixed *m = calloc(1, sizeof(*m));
	int err;

	if (!m)
		return -ENOMEM;
	err = wm_stream_class_create(w, WM_STREAM_KIND_MIXED, &m->stream);
	if (err) {
		wm_mixed_destroy(m);
		return err;
	}
	w->mixed = m;
	return 0;
}

/* Returns the event's id in the mixed stream. */
static int mixed_id(struct wm_trace_writer *w, struct wm_interned_event *e)
{
	struct wm_stream_class *s = w->mixed->stream;
	int err;

	if (e->mixed_id != UINT32_MAX)
		return (int)e->mixed_id;
	if (s->ids.count >= WM_EVENT_IDS)
		return -EOVERFLOW;
	err = wm_stream_class_event(w, s, s->ids.count, e);
	if (err)
		return err;
	e->mixed_id = s->ids.count - 1;
	return (int)e->mixed_id;
}

static int mixed_append(struct wm_mixed *m, const unsigned char *record, size_t bytes,
			uint64_t clock, uint16_t id, const struct wm_mixed_context *owner)
{
	static const char zeros[WM_RECORD_ALIGN];
	uint64_t header = htole64(wm_header_make(id, clock));
	size_t all = bytes + sizeof(*owner);

	if (WM_ARRAY_GROW(m->waiting, m->room, m->count + 1))
		return -ENOMEM;
	m->waiting[m->count] = (struct waiting){clock, m->data.bytes, (uint32_t)all};
	wm_text_add(&m->data, &header, sizeof(header));
	wm_text_add(&m->data, owner, sizeof(*owner));
	wm_text_add(&m->data, record + WM_RECORD_HEADER_BYTES, bytes - WM_RECORD_HEADER_BYTES);
	wm_text_add(&m->data, zeros, padded(all) - all);
	if (m->data.failed)
		return -ENOMEM;
	m->count++;
	return 0;
}

/* Copies the payload, then extracts the records from the copy. */
static int mixed_take_apart(struct wm_producer *p, const struct wm_raw_packet *packet,
			    uint64_t begin, const unsigned char *data)
{
	struct wm_mixed *m = p->writer->mixed;
	const struct wm_mixed_context owner = {htole32(p->pid), htole32(p->vpid),
					       htole32(packet->tid), htole32(packet->level)};
	size_t bytes = packet->payload.iov_len, at;
	uint64_t header, clock = begin;
	struct wm_interned_event *e;
	int64_t size;
	int id, err;

	for (at = 0; at < bytes; at += padded((size_t)size)) {
		memcpy(&header, data + at, sizeof(header));
		header = le64toh(header);
		clock = wm_header_clock(header, clock);
		e = wm_numbering_get(&p->ids, wm_header_id(header));
		if (!e || clock > packet->end)
			return -EBADMSG;
		size = wm_packed_size(e->class, e->contexts, data + at, bytes - at);
		if (size < 0)
			return (int)size;
		id = mixed_id(p->writer, e);
		if (id < 0)
			return id;
		err = mixed_append(m, data + at, (size_t)size, clock, (uint16_t)id, &owner);
		if (err)
			return err;
	}
	return 0;
}

static void note_span(struct wm_mixed *m, size_t from)
{
	size_t i;

	for (i = from; i < m->count; i++) {
		if (!i || m->waiting[i].clock < m->oldest)
			m->oldest = m->waiting[i].clock;
		if (!i || m->waiting[i].clock > m->newest)
			m->newest = m->waiting[i].clock;
	}
}

int wm_mixed_add(struct wm_producer *p, const struct wm_raw_packet *packet, uint64_t begin,
		 uint64_t lost)
{
	struct wm_trace_writer *w = p->writer;
	unsigned char *copy = malloc(packet->payload.iov_len + 1);
	int err = copy ? 0 : -ENOMEM;
	size_t count, bytes;

	if (!err && !w->mixed)
		err = mixed_create(w);
	if (err) {
		free(copy);
		return err;
	}
	count = w->mixed->count;
	bytes = w->mixed->data.bytes;
	memcpy(copy, packet->payload.iov_base, packet->payload.iov_len);
	err = mixed_take_apart(p, packet, begin, copy);
	free(copy);
	if (err) {
		w->mixed->count = count;
		wm_text_cut(&w->mixed->data, bytes);
		return err;
	}
	w->mixed->lost += lost;
	note_span(w->mixed, count);
	return 0;
}

static int by_clock(const void *a, const void *b)
{
	const struct waiting *x = a, *y = b;

	if (x->clock != y->clock)
		return x->clock < y->clock ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static int write_run(struct wm_trace_writer *w, const struct waiting *run, size_t count)
{
	struct wm_mixed *m = w->mixed;
	struct wm_lane_packet packet = {
	    .begin = run->clock, .end = run[count - 1].clock, .count = count, .lost = m->lost};
	struct wm_lane_file *lane;
	struct wm_text t;
	size_t i;
	int err;

	wm_text_init(&t);
	for (i = 0; i < count; i++)
		wm_text_add(&t, m->data.data + run[i].at, padded(run[i].bytes));
	packet.payload = t.data;
	packet.payload_bytes = t.bytes;
	packet.padding_bytes = padded(run[count - 1].bytes) - run[count - 1].bytes;
	err = t.failed ? -ENOMEM : wm_stream_class_metadata(w);
	if (!err)
		err = wm_stream_class_lane(w, m->stream, packet.begin, &lane);
	if (!err)
		err = wm_lane_file_write(&w->folder, lane, &packet);
	wm_text_done(&t);
	if (!err) {
		m->lost = 0;
		return 0;
	}
	/*
	 * The records were counted as written when they were added. Pid 0 means several processes.
	 */
	m->lost += count;
	w->totals.events -= count;
	w->totals.lost_disk += count;
	wm_stream_recorder_lost(w, &(struct wm_recorder_loss){.cpu = -1,
							      .from = packet.begin,
							      .to = packet.end,
							      .cause = "disk",
							      .count = count});
	return err;
}

/* Returns how many of the sorted records go into the next packet. */
static size_t run_length(const struct wm_mixed *m, const struct waiting *run, size_t count)
{
	size_t i, bytes = 0;

	for (i = 0; i < count; i++) {
		bytes += padded(run[i].bytes);
		if (i && (bytes > PACKET_BYTES || run[i].clock - run->clock >= WM_PACKET_SPAN_MAX))
			break;
		/*
		 * Late records go into a separate packet, so that the others can continue the
		 * current lane.
		 */
		if (run->clock < m->end && run[i].clock >= m->end)
			break;
	}
	return i;
}

static int mixed_by_place(const void *a, const void *b)
{
	const struct waiting *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

/* Drops the first `done` waiting records; the others move down in place. */
static void mixed_drop(struct wm_mixed *m, size_t done)
{
	size_t i, at = 0, bytes;

	m->count -= done;
	memmove(m->waiting, m->waiting + done, m->count * sizeof(*m->waiting));
	qsort(m->waiting, m->count, sizeof(*m->waiting), mixed_by_place);
	for (i = 0; i < m->count; i++) {
		bytes = padded(m->waiting[i].bytes);
		memmove(m->data.data + at, m->data.data + m->waiting[i].at, bytes);
		m->waiting[i].at = at;
		at += bytes;
	}
	wm_text_cut(&m->data, at);
	note_span(m, 0);
}

/* Writes the records up to clock `upto`. */
static int mixed_flush(struct wm_trace_writer *w, uint64_t upto)
{
	struct wm_mixed *m = w->mixed;
	size_t n, at = 0, run;
	int err = 0, one;

	qsort(m->waiting, m->count, sizeof(*m->waiting), by_clock);
	for (n = 0; n < m->count && m->waiting[n].clock <= upto; n++)
		;
	for (; at < n; at += run) {
		run = run_length(m, m->waiting + at, n - at);
		one = write_run(w, m->waiting + at, run);
		err = err ? err : one;
	}
	if (n && m->waiting[n - 1].clock > m->end)
		m->end = m->waiting[n - 1].clock;
	mixed_drop(m, n);
	return err;
}

int wm_mixed_tick(struct wm_trace_writer *w, uint64_t clock)
{
	struct wm_mixed *m = w->mixed;
	int err = 0;

	if (!m || !m->count)
		return 0;
	if (clock > m->oldest && clock - m->oldest >= w->meta.clock_hz)
		err = mixed_flush(w, clock - w->meta.clock_hz / 2);
	if (m->data.bytes >= w->limits.mixed_bytes)
		err = mixed_flush(w, m->oldest + (m->newest - m->oldest) / 2);
	return err;
}

int wm_mixed_flush(struct wm_trace_writer *w)
{
	return w->mixed && w->mixed->count ? mixed_flush(w, UINT64_MAX) : 0;
}
