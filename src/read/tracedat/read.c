/* SPDX-License-Identifier: MIT */
/* read.c - the packet reader: converts the records of a packet's pages to events. */
#include <errno.h>
#include <stdlib.h>

#include "base/plural.h"
#include "read/kernel_items_int.h"
#include "read/tracedat/tracedat_int.h"

struct wm_packet_reader {
	struct wm_td *td;
	struct wm_want want;
	const struct wm_packet *packet;
	const struct wm_td_cpu *cpu;
	unsigned char *data, *packed; /* the pages, and their compressed form */
	size_t room, packed_room;
	size_t at, end; /* offsets in `data`: the next page, the end of the last page */
	struct wm_page_cursor page;
	bool in_page;
	int64_t last_ns;
	bool is_before; /* all events so far were before want.from_ns */
	uint64_t nr_read;
};

struct wm_packet_reader *wm_td_reader_create(struct wm_trace *t, const struct wm_want *want)
{
	struct wm_packet_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->td = t->own;
	if (want)
		r->want = *want;
	return r;
}

void wm_td_reader_destroy(struct wm_packet_reader *r)
{
	if (!r)
		return;
	free(r->data);
	free(r->packed);
	free(r);
}

static int tracedat_read_reserve(unsigned char **data, size_t *room, size_t bytes)
{
	if (bytes <= *room)
		return 0;
	free(*data);
	*data = malloc(bytes);
	*room = *data ? bytes : 0;
	return *data ? 0 : -ENOMEM;
}

/* Loads the packet's chunk. -EBADMSG if it changed since indexing. */
static int load_packed(struct wm_packet_reader *r, size_t *ret_bytes)
{
	const struct wm_packet *p = r->packet;
	unsigned char head[8];
	uint32_t bytes;
	int err = wm_td_pread(r->td, head, sizeof(head), p->offset - sizeof(head));

	bytes = wm_get_u32(head + 4, r->td->machine.swap);
	if (!err && bytes > WM_TD_CHUNK_MAX)
		err = -EBADMSG;
	if (!err)
		err = tracedat_read_reserve(&r->packed, &r->packed_room, p->bytes);
	if (!err)
		err = tracedat_read_reserve(&r->data, &r->room, bytes);
	if (!err)
		err = wm_td_pread(r->td, r->packed, p->bytes, p->offset);
	if (!err && !wm_td_unpack(r->td->codec, r->data, bytes, r->packed, p->bytes))
		err = -EBADMSG;
	*ret_bytes = bytes;
	return err;
}

static int load_plain(struct wm_packet_reader *r, size_t *ret_bytes)
{
	uint64_t end = r->cpu->offset + r->cpu->bytes, bytes = r->packet->bytes;
	int err;

	if (bytes > end - r->packet->offset)
		bytes = end - r->packet->offset;
	err = tracedat_read_reserve(&r->data, &r->room, bytes);
	*ret_bytes = bytes;
	return err ? err : wm_td_pread(r->td, r->data, bytes, r->packet->offset);
}

int wm_td_reader_begin(struct wm_packet_reader *r, const struct wm_packet *p)
{
	size_t bytes = 0, first;
	int err;

	r->packet = p;
	r->cpu = &r->td->cpus[p->part];
	r->in_page = false;
	r->is_before = r->want.has_from;
	r->nr_read = 0;
	r->last_ns = INT64_MIN;
	r->at = r->end = 0;
	err = r->cpu->packed ? load_packed(r, &bytes) : load_plain(r, &bytes);
	if (err == -ENODATA || err == -EBADMSG) {
		wm_trace_fault(r->td->trace, "", p->offset,
			       "the file changed while it was read: %llu %s missing",
			       (unsigned long long)p->nr_events,
			       wm_plural(p->nr_events, "event is", "events are"));
		return 0;
	}
	if (err)
		return err;
	first = (size_t)(p->own >> 32) * r->cpu->page_bytes;
	r->end = first + (size_t)(uint32_t)p->own * r->cpu->page_bytes;
	r->end = r->end < bytes ? r->end : bytes;
	r->at = first;
	return 0;
}

/* Opens the next page with records. */
static bool next_page(struct wm_packet_reader *r)
{
	while (!r->in_page && r->at < r->end) {
		size_t bytes =
		    r->end - r->at < r->cpu->page_bytes ? r->end - r->at : r->cpu->page_bytes;

		r->in_page =
		    wm_page_open(&r->page, &r->td->layout, r->data + r->at, bytes, NULL) == 0;
		r->at += bytes;
	}
	return r->in_page;
}

static int tracedat_read_add_event(struct wm_packet_reader *r, struct wm_batch *b)
{
	const struct wm_page_cursor *c = &r->page;
	uint32_t id = c->bytes >= 2 ? wm_get_u16(c->data, c->swap) : UINT16_MAX;
	const struct wm_event_type *type = id < r->td->nr_types ? r->td->types[id] : NULL;
	const struct wm_td_event *own;
	struct wm_event *e;
	uint32_t at;

	if (!type) /* the index reported the unknown id */
		return 0;
	r->nr_read++;
	if (r->want.types && !r->want.types[type->index])
		return 0;
	r->is_before = r->is_before && r->last_ns < r->want.from_ns;
	if (r->is_before)
		return 0;
	own = type->own;
	if (!wm_batch_room(b, own->nr_items))
		return -ENOMEM;
	e = &b->events[b->nr_events++];
	*e = (struct wm_event){
	    .ns = r->last_ns,
	    .clock = c->time,
	    .type = type,
	    .stream = r->cpu->stream,
	    .packet = r->packet,
	    .cpu = r->cpu->stream->cpu,
	    .pid = -1,
	    .tid = own->pid ? (int32_t)wm_kfield_number(own->pid, c->swap, c->data, c->bytes) : -1,
	    .raw = c->data,
	    .raw_bytes = c->bytes,
	};
	for (enum wm_part part = WM_PART_STREAM_CONTEXT; part <= WM_PART_FIELDS; part++) {
		const struct wm_kfield *fields = own->format->fields;

		if (!type->parts[part] || r->want.no_parts & 1u << part)
			continue;
		at = b->nr_items;
		fields += part == WM_PART_FIELDS ? own->format->nr_common : 1;
		if (!wm_kitems_add(&r->td->machine, type->parts[part], fields, c->data, c->bytes,
				   b))
			return -ENOMEM;
		b->events[b->nr_events - 1].parts[part] = (struct wm_part_range){at, b->nr_items};
	}
	return 0;
}

/* Called after the last page: reports missing events. */
static void tracedat_read_finish(struct wm_packet_reader *r)
{
	uint64_t missing = r->packet->nr_events - r->nr_read;

	if (r->end && r->nr_read < r->packet->nr_events)
		wm_trace_fault(r->td->trace, "", r->packet->offset,
			       "the file changed while it was read: %llu %s missing",
			       (unsigned long long)missing,
			       wm_plural(missing, "event is", "events are"));
	r->end = r->at = 0;
}

int wm_td_reader_read(struct wm_packet_reader *r, struct wm_batch *b)
{
	while (b->nr_events < wm_want_events(&r->want)) {
		int err;

		if (!next_page(r)) {
			tracedat_read_finish(r);
			break;
		}
		if (wm_td_page_next(r->td, r->cpu, &r->page, &r->last_ns) != 1) {
			r->in_page = false; /* damaged; the index reported it */
			continue;
		}
		err = tracedat_read_add_event(r, b);
		if (err)
			return err;
	}
	return (int)b->nr_events;
}
