/* SPDX-License-Identifier: MIT */
/*
 * index.c - walks every page once, reading only the records' headers, so that the packets' times
 * and counts are exact, and damage and losses are reported before the first event is shown.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "read/tracedat/tracedat_int.h"

#define CHUNK_HEADER_BYTES 8u
#define UNPACKED_BASE      (64ull << 20) /* a file may decompress to this size, ... */
#define UNPACKED_RATIO                                                                             \
	256u             /* ... plus this multiple of its own size; more is a decompression bomb */
#define LOSSES_MAX 4096u /* losses stored separately; more are added to the last one */

struct indexing {
	struct wm_td *td;
	const struct wm_td_cpu *cpu;
	const struct wm_stream *stream;
	unsigned char *unknown; /* bit set: ids that have been reported */
	unsigned char *data;    /* pages, decompressed */
	size_t room;

	bool open; /* a packet is being filled */
	struct wm_packet packet;
	uint64_t origin;   /* file offset of `data`, or of its compressed form */
	uint64_t packed;   /* bytes of the compressed form; 0: not compressed */
	uint64_t unpacked; /* decompressed bytes of all chunks so far */
	int64_t last_ns;   /* time of the stream's last record so far */
	bool any;
};

static int close_packet(struct indexing *x)
{
	if (!x->open)
		return 0;
	x->open = false;
	if (!x->packed)
		x->packet.bytes = (uint64_t)(uint32_t)x->packet.own * x->cpu->page_bytes;
	return wm_trace_add_packet(x->td->trace, &x->packet);
}

/* Begins a packet with page `i` of the pages in memory. */
static void open_packet(struct indexing *x, uint32_t i, const struct wm_page_cursor *c)
{
	int64_t ns = wm_td_ns(x->td, x->cpu, c->begin);

	x->open = true;
	x->packet = (struct wm_packet){
	    .offset = x->packed ? x->origin : x->origin + (uint64_t)i * x->cpu->page_bytes,
	    .bytes = x->packed,
	    .begin_ns = ns,
	    .end_ns = ns,
	    .stream = x->stream->index,
	    .part = (uint32_t)(x->cpu - x->td->cpus),
	    .lost = c->lost == WM_PAGE_LOST_UNKNOWN ? 0 : c->lost,
	    .own = x->packed ? (uint64_t)i << 32 : 0,
	};
}

static int tracedat_index_add_loss(struct indexing *x, const struct wm_page_cursor *c)
{
	struct wm_trace *t = x->td->trace;
	int64_t end = wm_td_ns(x->td, x->cpu, c->begin);
	struct wm_trace_loss loss = {
	    .stream = x->stream->index,
	    .count = c->lost,
	    .begin_ns = x->any && x->last_ns < end ? x->last_ns : end,
	    .end_ns = end,
	    .cause = "overrun",
	};
	struct wm_trace_loss *last = t->nr_losses ? &t->losses[t->nr_losses - 1] : NULL;

	if (t->nr_losses < LOSSES_MAX || last->stream != loss.stream)
		return wm_trace_add_loss(t, &loss);
	if (__builtin_add_overflow(last->count, loss.count, &last->count) ||
	    loss.count == WM_PAGE_LOST_UNKNOWN)
		last->count = UINT64_MAX;
	last->end_ns = loss.end_ns;
	return 0;
}

/* Returns whether records of that id are events; reports other ids once. */
static bool is_event(struct indexing *x, const struct wm_page_cursor *c, uint64_t offset)
{
	uint32_t id = c->bytes >= 2 ? wm_get_u16(c->data, c->swap) : UINT16_MAX;

	if (id < x->td->nr_types && x->td->types[id])
		return true;
	if (!(x->unknown[id / 8] & 1u << id % 8)) {
		x->unknown[id / 8] |= (unsigned char)(1u << id % 8);
		wm_trace_fault(
		    x->td->trace, "", offset,
		    "records of event %u, which the file does not describe, are left out", id);
	}
	return false;
}

static uint64_t tracedat_index_place_of(const struct indexing *x, uint32_t i, size_t offset)
{
	return x->packed ? x->origin : x->origin + (uint64_t)i * x->cpu->page_bytes + offset;
}

int wm_td_page_next(const struct wm_td *td, const struct wm_td_cpu *cpu, struct wm_page_cursor *c,
		    int64_t *last_ns)
{
	const unsigned char *at = c->at;
	int got = wm_page_next(c);
	int64_t ns;

	if (got != 1)
		return got;
	ns = wm_td_ns(td, cpu, c->time);
	if (ns < *last_ns) {
		c->at = at;
		return -EBADMSG;
	}
	*last_ns = ns;
	return 1;
}

/* Counts the records of a page and finds the time of the last one. */
static void walk_page(struct indexing *x, uint32_t i, struct wm_page_cursor *c)
{
	int64_t ns = wm_td_ns(x->td, x->cpu, c->begin);
	int got;

	while ((got = wm_td_page_next(x->td, x->cpu, c, &ns)) == 1)
		x->packet.nr_events +=
		    is_event(x, c, tracedat_index_place_of(x, i, wm_page_offset(c)));
	if (got < 0)
		wm_trace_fault(x->td->trace, "", tracedat_index_place_of(x, i, wm_page_offset(c)),
			       "not a valid record: the rest of the page (%zu %s) is left out",
			       (size_t)(c->end - c->at),
			       wm_plural((size_t)(c->end - c->at), "byte", "bytes"));
	x->packet.end_ns = x->last_ns = ns;
	x->packet.own++;
	x->any = true;
}

static int tracedat_index_add_page(struct indexing *x, uint32_t i, const unsigned char *page,
				   size_t bytes)
{
	struct wm_diag why = {.offset = 0};
	struct wm_page_cursor c;
	uint32_t nr = (uint32_t)x->packet.own;
	int err;

	if (wm_page_open(&c, &x->td->layout, page, bytes, &why)) {
		wm_trace_fault(x->td->trace, "", tracedat_index_place_of(x, i, (size_t)why.offset),
			       "%s", why.sentence);
		return close_packet(x);
	}
	if (!c.committed && !c.lost)
		wm_trace_fault(x->td->trace, "", tracedat_index_place_of(x, i, 0),
			       "a page without records: its events are lost");
	if (!c.committed && !c.lost && !x->open)
		return 0;
	if (c.lost || (x->open && wm_td_ns(x->td, x->cpu, c.begin) < x->last_ns && c.committed) ||
	    (x->open && !x->packed && nr >= WM_TD_PACKET_PAGES)) {
		err = close_packet(x);
		if (!err && c.lost)
			err = tracedat_index_add_loss(x, &c);
		if (err)
			return err;
	}
	if (!x->open)
		open_packet(x, i, &c);
	if (c.committed)
		walk_page(x, i, &c);
	else
		x->packet.own++;
	return 0;
}

static int add_pages(struct indexing *x, size_t bytes)
{
	uint32_t size = x->cpu->page_bytes;
	int err = 0;

	for (size_t at = 0; !err && at < bytes; at += size)
		err = tracedat_index_add_page(x, (uint32_t)(at / size), x->data + at,
					      bytes - at < size ? bytes - at : size);
	return err ? err : close_packet(x);
}

static int tracedat_index_reserve(struct indexing *x, size_t bytes)
{
	if (bytes <= x->room)
		return 0;
	free(x->data);
	x->data = malloc(bytes);
	x->room = x->data ? bytes : 0;
	return x->data ? 0 : -ENOMEM;
}

static int index_plain(struct indexing *x)
{
	const struct wm_td_cpu *c = x->cpu;
	uint64_t window = (uint64_t)c->page_bytes * WM_TD_PACKET_PAGES;
	int err = tracedat_index_reserve(x, window);

	for (uint64_t at = 0; !err && at < c->bytes; at += window) {
		uint64_t bytes = c->bytes - at < window ? c->bytes - at : window;

		x->origin = c->offset + at;
		err = wm_td_pread(x->td, x->data, bytes, x->origin);
		if (!err)
			err = add_pages(x, bytes);
	}
	return err;
}

/* Several pages compressed together. */
struct chunk {
	uint64_t at; /* offset of the compressed bytes */
	uint32_t packed, bytes;
};

static uint64_t unpacked_max(const struct indexing *x)
{
	return UNPACKED_BASE + UNPACKED_RATIO * x->td->file_bytes;
}

/* Reports why a chunk whose pages end at `end` or before cannot be read. */
static void fault_chunk(const struct indexing *x, const struct chunk *c, uint64_t end)
{
	struct wm_trace *t = x->td->trace;
	uint64_t at = c->at - CHUNK_HEADER_BYTES, left = end - c->at;

	if (c->packed > left)
		wm_trace_fault(t, "", at,
			       "compressed pages claim %u bytes, but %llu are left: these pages "
			       "and all after them are lost",
			       c->packed, (unsigned long long)left);
	else if (c->bytes > WM_TD_CHUNK_MAX)
		wm_trace_fault(t, "", at,
			       "compressed pages claim %u bytes decompressed, the limit is %u: "
			       "these pages and all after them are lost",
			       c->bytes, WM_TD_CHUNK_MAX);
	else
		wm_trace_fault(t, "", at,
			       "compressed pages claim %llu bytes decompressed in total, the limit "
			       "for a file of this size is %llu: the rest is lost",
			       (unsigned long long)x->unpacked,
			       (unsigned long long)unpacked_max(x));
}

/*
 * Reads the header of the chunk at `at`. Returns 1, 0 when it is invalid and a fault was reported,
 * or -errno.
 */
static int tracedat_index_read_chunk(struct indexing *x, uint64_t at, uint64_t end,
				     struct chunk *ret)
{
	unsigned char head[CHUNK_HEADER_BYTES];
	int err = -ENODATA;

	if (end - at >= sizeof(head))
		err = wm_td_pread(x->td, head, sizeof(head), at);
	if (err == -ENODATA)
		wm_trace_fault(x->td->trace, "", at, "compressed pages are missing at the end");
	if (err)
		return err == -ENODATA ? 0 : err;
	ret->packed = wm_get_u32(head, x->td->machine.swap);
	ret->bytes = wm_get_u32(head + 4, x->td->machine.swap);
	ret->at = at + sizeof(head);
	x->unpacked += ret->bytes;
	if (ret->packed <= end - ret->at && ret->bytes <= WM_TD_CHUNK_MAX &&
	    x->unpacked <= unpacked_max(x))
		return 1;
	fault_chunk(x, ret, end);
	return 0;
}

static int index_chunk(struct indexing *x, const struct chunk *c)
{
	unsigned char *from = malloc(c->packed ? c->packed : 1);
	int err = from ? tracedat_index_reserve(x, c->bytes) : -ENOMEM;

	if (!err)
		err = wm_td_pread(x->td, from, c->packed, c->at);
	x->origin = c->at;
	x->packed = c->packed;
	if (!err && wm_td_unpack(x->td->codec, x->data, c->bytes, from, c->packed))
		err = add_pages(x, c->bytes);
	else if (!err)
		wm_trace_fault(x->td->trace, "", c->at,
			       "compressed pages cannot be decompressed: %u %s of events lost",
			       c->bytes, wm_plural(c->bytes, "byte", "bytes"));
	free(from);
	return err;
}

/*
 * Indexes compressed pages. Ignores the byte count in the file, because writers do not include the
 * chunks' headers in it.
 */
static int index_packed(struct indexing *x)
{
	const struct wm_td_cpu *c = x->cpu;
	uint64_t at = c->offset + 4, end = x->td->file_bytes;
	unsigned char head[4];
	int err;

	if (c->bytes < 4)
		return 0;
	err = wm_td_pread(x->td, head, sizeof(head), c->offset);
	if (err)
		return err;
	for (uint32_t left = wm_get_u32(head, x->td->machine.swap); !err && left; left--) {
		struct chunk chunk = {0};
		int got = tracedat_index_read_chunk(x, at, end, &chunk);

		if (!got) /* the fault is reported; later chunks cannot be located */
			got = wm_claims_add(&x->td->claims, c->offset, end - c->offset);
		if (got <= 0)
			return got;
		err = index_chunk(x, &chunk);
		at = chunk.at + chunk.packed;
	}
	if (!err)
		err = wm_claims_add(&x->td->claims, c->offset,
				    at - c->offset > c->bytes ? at - c->offset : c->bytes);
	if (!err && at - c->offset < c->bytes)
		wm_trace_fault(
		    x->td->trace, "", at, "%llu %s the last chunk of compressed pages",
		    (unsigned long long)(c->offset + c->bytes - at),
		    wm_plural(c->offset + c->bytes - at, "byte follows", "bytes follow"));
	return err;
}

/* Clips the range of the pages to the file. */
static bool check_place(struct wm_td *td, struct wm_td_cpu *c)
{
	uint64_t left = c->offset < td->file_bytes ? td->file_bytes - c->offset : 0;

	if (c->bytes > left) {
		wm_trace_fault(td->trace, "", c->offset,
			       "CPU %u claims %llu %s of pages, the file has %llu", c->cpu,
			       (unsigned long long)c->bytes, wm_plural(c->bytes, "byte", "bytes"),
			       (unsigned long long)left);
		c->bytes = left;
	}
	if (c->page_bytes < td->layout.page_bytes)
		c->page_bytes = td->layout.page_bytes;
	if (c->page_bytes > td->layout.page_bytes && c->bytes)
		wm_trace_fault(td->trace, "", c->offset,
			       "pages of CPU %u claim %u bytes each, but their description has %u: "
			       "the bytes beyond are lost",
			       c->cpu, c->page_bytes, td->layout.page_bytes);
	if (c->page_bytes > WM_TD_CHUNK_MAX / WM_TD_PACKET_PAGES) {
		wm_trace_fault(td->trace, "", c->offset,
			       "pages of CPU %u claim %u bytes each, the limit is %u", c->cpu,
			       c->page_bytes, WM_TD_CHUNK_MAX / WM_TD_PACKET_PAGES);
		return false;
	}
	return c->bytes > 0;
}

static int tracedat_index_add_stream(struct wm_td *td, struct wm_td_cpu *c)
{
	struct wm_stream *s = wm_arena_get(&td->trace->arena, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->file = "";
	s->cpu = c->cpu <= INT32_MAX ? (int32_t)c->cpu : -1;
	s->class_id = c->buffer;
	s->instance = c->cpu;
	if (td->buffers[c->buffer].name[0])
		s->buffer = td->buffers[c->buffer].name;
	s->clock = td->clock;
	c->stream = s;
	c->sync = c->cpu < td->nr_syncs && td->syncs[c->cpu].nr ? &td->syncs[c->cpu] : NULL;
	return wm_trace_add_stream(td->trace, s);
}

/* Checks the size of the ring's pages: a power-of-two multiple of the processor's page size. */
static void check_layout(const struct wm_td *td)
{
	uint32_t bytes = td->layout.page_bytes;

	if (bytes & (bytes - 1))
		wm_trace_fault(td->trace, "", 0,
			       "the described page size of %u bytes is not a power of two: events "
			       "may be missing",
			       bytes);
}

int wm_td_index(struct wm_td *td)
{
	struct indexing x = {.td = td, .unknown = calloc(1, WM_KFORMATS_IDS / 8)};
	int err = x.unknown ? 0 : -ENOMEM;

	check_layout(td);
	for (uint32_t i = 0; !err && i < td->nr_cpus; i++)
		err = wm_claims_add(&td->claims, td->cpus[i].offset,
				    td->cpus[i].packed ? 0 : td->cpus[i].bytes);
	for (uint32_t i = 0; !err && i < td->nr_cpus; i++) {
		struct wm_td_cpu *c = &td->cpus[i];

		if (!check_place(td, c))
			continue;
		err = tracedat_index_add_stream(td, c);
		x.cpu = c;
		x.stream = c->stream;
		x.packed = 0;
		x.any = x.open = false;
		if (!err)
			err = c->packed ? index_packed(&x) : index_plain(&x);
		if (err == -ENODATA) {
			wm_trace_fault(td->trace, "", c->offset, "the file became shorter");
			err = 0;
		}
	}
	free(x.unknown);
	free(x.data);
	return err;
}
