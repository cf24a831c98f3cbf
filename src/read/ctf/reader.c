/* SPDX-License-Identifier: MIT */
/*
 * reader.c - reads the events of one packet. Only a window of the packet is in memory, however
 * large the packet is. The window moves between batches, never during one, because items point into
 * it. Files are closed after each read, because thousands of streams may be merged at once.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/plural.h"
#include "read/ctf/trace.h"

#define IDS_BEGIN WM_CTF_SLOT_CPU
#define NR_IDS    (WM_CTF_SLOT_OTHERS - WM_CTF_SLOT_CPU)

#define WANT_HEAD ((1u << WM_PART_PACKET_HEADER) | (1u << WM_PART_PACKET_CONTEXT))
#define WANT_BODY                                                                                  \
	((1u << WM_PART_STREAM_CONTEXT) | (1u << WM_PART_CONTEXT) | (1u << WM_PART_FIELDS))

struct wm_packet_reader {
	struct wm_trace *t;
	const struct wm_want *want;

	/* State of the packet: */
	const struct wm_packet *packet;
	const struct wm_ctf_file *file;
	const struct wm_ctf_stream_plan *plan;
	bool ended, is_quick;
	bool is_before;     /* all events so far were before want->from_ns */
	bool is_late;       /* an event after the packet's end was reported */
	bool is_beyond;     /* an event whose time exceeds 64 bits was reported */
	uint64_t nr_events; /* events decoded so far, including unwanted ones */
	uint64_t content_bytes;
	uint64_t ids[NR_IDS]; /* pid, tid... from the packet's header */
	struct wm_batch head; /* items of the packet's header and context */
	uint32_t nr_header;
	unsigned char *head_data;
	struct wm_arena head_wide;

	/*
	 * The window: `have` bytes of the packet starting at offset `base`, a multiple of the
	 * plan's align_bytes.
	 */
	unsigned char *data;
	uint64_t base, have, room;

	struct wm_ctf_decoder d;
	uint32_t nr_slots;
};

struct wm_packet_reader *wm_ctf_reader_create(struct wm_trace *t, const struct wm_want *want)
{
	struct wm_packet_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->t = t;
	r->want = want;
	wm_arena_init(&r->d.wide, WM_CTF_WIDE_MAX);
	wm_arena_init(&r->head_wide, WM_CTF_WIDE_MAX);
	return r;
}

void wm_ctf_reader_destroy(struct wm_packet_reader *r)
{
	if (!r)
		return;
	wm_batch_done(&r->head);
	wm_arena_done(&r->d.wide);
	wm_arena_done(&r->head_wide);
	free(r->head_data);
	free(r->data);
	free(r->d.slots);
	free(r);
}

static void forget_wide(struct wm_arena *a)
{
	if (!a->used)
		return;
	wm_arena_done(a);
	wm_arena_init(a, WM_CTF_WIDE_MAX);
}

/* Ends the packet with a fault at the decoder's position. */
static void ctf_reader_damaged(struct wm_packet_reader *r, uint64_t at_bits, const char *what,
			       const char *field, const char *reason)
{
	wm_trace_fault(r->t, r->file->stream.file, r->packet->offset + r->base + at_bits / 8,
		       "%s%s%.60s%s%s", what, field ? ": '" : "", field ? field : "",
		       field ? "' " : " ", reason);
	r->ended = true;
}

/* --- the window ------------------------------------------------------------------------ */

static int set_room(struct wm_packet_reader *r, uint64_t room)
{
	unsigned char *more;

	if (room <= r->room)
		return 0;
	more = realloc(r->data, room + WM_CTF_SLACK);
	if (!more)
		return -ENOMEM;
	r->data = more;
	r->room = room;
	return 0;
}

/* Reads more bytes of the packet into the window. */
static int ctf_reader_fill(struct wm_packet_reader *r)
{
	uint64_t left = r->content_bytes - r->base - r->have;
	uint64_t bytes = r->room - r->have < left ? r->room - r->have : left;
	int fd = open(r->file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int64_t got;

	if (fd < 0)
		return -errno;
	got = wm_ctf_pread(fd, r->data + r->have, bytes, r->packet->offset + r->base + r->have);
	close(fd);
	if (got < 0)
		return (int)got;
	r->have += (uint64_t)got;
	memset(r->data + r->have, 0, WM_CTF_SLACK);
	if ((uint64_t)got < bytes) {
		wm_trace_fault(r->t, r->file->stream.file, r->packet->offset + r->base + r->have,
			       "the file shrank while it was read");
		r->content_bytes = r->base + r->have;
	}
	r->d.data = r->data;
	r->d.limit = r->packet->own < r->content_bytes * 8 ? r->packet->own : r->content_bytes * 8;
	r->d.limit -= r->base * 8;
	r->d.end = r->have * 8 < r->d.limit ? r->have * 8 : r->d.limit;
	return 0;
}

/*
 * Moves the start of the window to the event at `at_bits`; enlarges the window when it is already
 * there.
 */
static int refill(struct wm_packet_reader *r, uint64_t at_bits)
{
	uint64_t align = r->file->folder->plan->align_bytes;
	uint64_t skip = at_bits / 8 & ~(align - 1);
	int err;

	if (!skip && r->have == r->room) {
		if (r->room >= WM_CTF_EVENT_MAX) {
			ctf_reader_damaged(r, at_bits, "an event", NULL, "of more than 16 MiB");
			return 0;
		}
		err = set_room(r, 2 * r->room);
		if (err)
			return err;
	}
	memmove(r->data, r->data + skip, r->have - skip);
	r->base += skip;
	r->have -= skip;
	r->d.pos = at_bits - skip * 8;
	return ctf_reader_fill(r);
}

/* --- the packet's frame ------------------------------------------------------------------- */

static int make_slots(struct wm_packet_reader *r)
{
	uint64_t *more;

	if (r->plan->nr_slots <= r->nr_slots)
		return 0;
	more = realloc(r->d.slots, r->plan->nr_slots * sizeof(*more));
	if (!more)
		return -ENOMEM;
	memset(more, 0, r->plan->nr_slots * sizeof(*more));
	r->d.slots = more;
	r->nr_slots = r->plan->nr_slots;
	return 0;
}

/* Copies the bytes of the frame, because its items must remain valid when the window moves. */
static int keep_head(struct wm_packet_reader *r, uint64_t bits)
{
	uint64_t bytes = (bits + 7) / 8;
	unsigned char *copy = realloc(r->head_data, bytes + WM_CTF_SLACK);
	const unsigned char *data = r->d.data;
	struct wm_arena wide = r->d.wide;
	struct wm_ctf_frame f;

	if (!copy)
		return -ENOMEM;
	r->head_data = copy;
	memcpy(copy, r->data, bytes);
	memset(copy + bytes, 0, WM_CTF_SLACK);
	forget_wide(&r->head_wide);
	r->d.data = copy;
	r->d.wide = r->head_wide;
	if (wm_ctf_frame_decode(&r->d, r->plan, &r->head, &r->nr_header, &f) == WM_CTF_NO_MEMORY)
		return -ENOMEM;
	r->head_wide = r->d.wide;
	r->d.data = data;
	r->d.wide = wide;
	return 0;
}

static void keep_ids(struct wm_packet_reader *r)
{
	for (uint32_t i = 0; i < NR_IDS; i++)
		r->ids[i] = r->d.slots[IDS_BEGIN + i];
}

static int begin_frame(struct wm_packet_reader *r)
{
	for (;;) {
		enum wm_ctf_status status;
		struct wm_ctf_frame f;
		uint32_t header;
		int err;

		status = wm_ctf_frame_decode(&r->d, r->plan, NULL, &header, &f);
		if (status == WM_CTF_NO_MEMORY)
			return -ENOMEM;
		if (status == WM_CTF_MORE && r->d.end < r->d.limit && r->room < WM_CTF_HEAD_MAX) {
			err = set_room(r, 2 * r->room);
			if (!err)
				err = ctf_reader_fill(r);
			if (err)
				return err;
			continue;
		}
		if (status) {
			ctf_reader_damaged(r, 0, "the packet's header", NULL,
					   "has changed since the trace was opened");
			return 0;
		}
		keep_ids(r);
		if (r->want && (r->want->no_parts & WANT_HEAD) == WANT_HEAD)
			return 0;
		return keep_head(r, f.bits);
	}
}

int wm_ctf_reader_begin(struct wm_packet_reader *r, const struct wm_packet *p)
{
	uint64_t window = wm_want_window(r->want);
	int err;

	r->packet = p;
	r->file = (const struct wm_ctf_file *)r->t->streams[p->stream];
	r->plan = r->file->plan;
	r->ended = r->is_late = r->is_beyond = false;
	r->is_before = r->want && r->want->has_from;
	r->nr_events = 0;
	r->is_quick =
	    r->plan->quick.is_usable && r->want && (r->want->no_parts & 1u << WM_PART_HEADER);
	r->content_bytes = (p->own + 7) / 8;
	r->base = r->have = 0;
	r->head.nr_items = r->nr_header = 0;
	if (window > r->content_bytes)
		window = r->content_bytes;
	err = make_slots(r);
	if (!err)
		err = set_room(r, window < 64 ? 64 : window);
	if (!err)
		err = ctf_reader_fill(r);
	return err ? err : begin_frame(r);
}

/* --- events --------------------------------------------------------------------------------- */

static int32_t ctf_reader_id_of(uint64_t first, uint64_t second)
{
	uint64_t id = first <= INT32_MAX ? first : second;

	return id <= INT32_MAX ? (int32_t)id : -1;
}

static struct wm_batch *ctf_reader_wanted(const struct wm_packet_reader *r, struct wm_batch *b,
					  enum wm_part part)
{
	return r->want && (r->want->no_parts & 1u << part) ? NULL : b;
}

/* Decodes the parts after the header. */
static enum wm_ctf_status decode_body(struct wm_packet_reader *r, struct wm_batch *b,
				      const struct wm_ctf_event_plan *plan, struct wm_event *e)
{
	struct wm_part_range *parts = &e->parts[WM_PART_STREAM_CONTEXT];
	uint32_t unwanted = r->want ? r->want->no_parts & WANT_BODY : 0;
	enum wm_ctf_status status = WM_CTF_OK;

	if (!unwanted)
		return wm_ctf_decode_all(&r->d, plan->body, 3, b, parts);
	for (uint32_t i = 0; i < 3 && !status; i++) {
		parts[i].at = b->nr_items;
		status = wm_ctf_decode(&r->d, (struct wm_ctf_program){plan->body[i]},
				       ctf_reader_wanted(r, b, WM_PART_STREAM_CONTEXT + i));
		parts[i].end = b->nr_items;
	}
	return status;
}

/*
 * In waymark's traces no event is later than its packet's end. Clamps a later time, which would
 * break the order of the merge, to the end.
 */
static void bound_time(struct wm_packet_reader *r, struct wm_event *e)
{
	if (!r->is_late)
		wm_trace_fault(r->t, r->file->stream.file, r->packet->offset,
			       "an event's time is after its packet's end");
	r->is_late = true;
	e->ns = r->packet->end_ns;
}

static void finish_own(struct wm_packet_reader *r, struct wm_event *e)
{
	if (r->plan->has_own_packets && e->ns > r->packet->end_ns)
		bound_time(r, e);
	if (wm_ctf_is_task(r->plan))
		e->pid = wm_ctf_own_pid(r->t, e->tid, e->ns);
}

static void finish_event(struct wm_packet_reader *r, struct wm_event *e)
{
	const uint64_t *slots = r->d.slots;

	e->stream = &r->file->stream;
	e->packet = r->packet;
	e->cpu = ctf_reader_id_of(slots[WM_CTF_SLOT_CPU], UINT64_MAX);
	e->pid = ctf_reader_id_of(slots[WM_CTF_SLOT_PID], slots[WM_CTF_SLOT_VPID]);
	e->tid = ctf_reader_id_of(slots[WM_CTF_SLOT_TID], slots[WM_CTF_SLOT_VTID]);
	e->mode = WM_MODE_UNKNOWN;
	e->raw = NULL;
	e->raw_bytes = 0;
	e->parts[WM_PART_PACKET_HEADER] = (struct wm_part_range){0, r->nr_header};
	e->parts[WM_PART_PACKET_CONTEXT] = (struct wm_part_range){r->nr_header, r->head.nr_items};
	if (r->plan->is_own)
		finish_own(r, e);
}

/*
 * Converts the time of an event when its clock is unusual or the time is very far from the origin.
 */
static int64_t far_time(struct wm_packet_reader *r, uint64_t ticks, uint64_t at_bits)
{
	int64_t ns = wm_ctf_ns(r->plan->clock, ticks);

	if (ns == WM_CTF_NS_MAX && !r->is_beyond) {
		wm_trace_fault(r->t, r->file->stream.file,
			       r->packet->offset + r->base + at_bits / 8,
			       "an event's time (%llu ticks) is centuries from the clock's "
			       "origin, beyond the range of 64-bit nanoseconds: such times are "
			       "shown as %lld ns",
			       (unsigned long long)ticks, (long long)ns);
		r->is_beyond = true;
	}
	return ns;
}

static int64_t ctf_reader_time_of(struct wm_packet_reader *r, uint64_t ticks, uint64_t at_bits)
{
	const struct wm_trace_clock *c = r->plan->clock;

	if (!c)
		return WM_TIME_NONE;
	/* Offsets are below 2^62, so that the sum cannot overflow. */
	if (c->hz == WM_NS_PER_SECOND && ticks < (UINT64_C(1) << 62))
		return c->offset_ns + (int64_t)ticks;
	return far_time(r, ticks, at_bits);
}

/* Returns whether the caller does not want the event. */
static bool is_unwanted(struct wm_packet_reader *r, const struct wm_ctf_event_plan *plan,
			int64_t ns)
{
	r->is_before = r->is_before && ns != WM_TIME_NONE && ns < r->want->from_ns;
	return r->is_before || (r->want && r->want->types && !r->want->types[plan->type->index]);
}

/* Reads or skips the event at d->pos. Sets *ret_bad when it reported damage. */
static enum wm_ctf_status read_event(struct wm_packet_reader *r, struct wm_batch *b, bool *ret_bad)
{
	const struct wm_ctf_event_plan *plan;
	struct wm_ctf_decoder *d = &r->d;
	uint64_t begin = d->pos;
	enum wm_ctf_status status;
	struct wm_event *e;

	if (!wm_batch_room(b, 0))
		return WM_CTF_NO_MEMORY;
	e = &b->events[b->nr_events];
	if (r->plan->ids_in_events)
		memcpy(d->slots + IDS_BEGIN, r->ids, sizeof(r->ids));
	d->first_item = e->parts[WM_PART_HEADER].at = b->nr_items;
	if (!r->is_quick || !wm_ctf_decode_quick(d, &r->plan->quick)) {
		d->slots[WM_CTF_EVENT_ID] = 0; /* the header may lack it */
		status = wm_ctf_decode(d, r->plan->event_header,
				       ctf_reader_wanted(r, b, WM_PART_HEADER));
		if (status)
			return status;
	}
	e->parts[WM_PART_HEADER].end = b->nr_items;
	plan = wm_ctf_plan_of(r->plan, d->slots);
	if (!plan) {
		ctf_reader_damaged(r, begin, "an event", NULL,
				   "of a kind the metadata does not describe");
		*ret_bad = true;
		return WM_CTF_BAD;
	}
	e->clock = d->clock;
	e->ns = ctf_reader_time_of(r, e->clock, begin);
	if (is_unwanted(r, plan, e->ns)) {
		b->nr_items = d->first_item;
		return wm_ctf_decode_all(d, plan->body, 3, NULL, NULL);
	}
	status = decode_body(r, b, plan, e);
	if (status)
		return status;
	e->type = plan->type;
	finish_event(r, e);
	b->nr_events++;
	return WM_CTF_OK;
}

/*
 * Called when the window does not contain all of the event at `begin`. 1: try again; 0: end the
 * batch.
 */
static int get_more(struct wm_packet_reader *r, const struct wm_batch *b, uint64_t begin)
{
	int err;

	if (r->d.end == r->d.limit) {
		ctf_reader_damaged(r, begin, "an event", r->d.culprit ? r->d.culprit->name : NULL,
				   r->d.reason);
		return 0;
	}
	if (b->nr_events)
		return 0;
	err = refill(r, begin);
	return err ? err : 1;
}

/*
 * Called after the last event: reports a fault when the clock is later than the packet's end, which
 * damaged times can cause.
 */
static void ctf_reader_check_end(struct wm_packet_reader *r)
{
	int64_t ns = ctf_reader_time_of(r, r->d.clock, r->d.pos);

	if (ns == WM_TIME_NONE || ns <= r->packet->end_ns)
		return;
	wm_trace_fault(r->t, r->file->stream.file, r->packet->offset,
		       "the last event of this packet is %" PRIu64 " ns after its end",
		       (uint64_t)ns - (uint64_t)r->packet->end_ns);
}

/*
 * Compares the number of events in a fully read packet with the number that it declares.
 */
static void ctf_reader_check_count(struct wm_packet_reader *r)
{
	const struct wm_packet *p = r->packet;

	if (p->nr_events != UINT64_MAX && p->nr_events != r->nr_events)
		wm_trace_fault(r->t, r->file->stream.file, p->offset,
			       "this packet has %llu %s and should have %llu",
			       (unsigned long long)r->nr_events,
			       wm_plural(r->nr_events, "event", "events"),
			       (unsigned long long)p->nr_events);
}

/* Returns whether the packet has no more events. */
static bool at_end(const struct wm_packet_reader *r)
{
	const struct wm_ctf_type *header = r->plan->class->event_header;
	uint64_t mask = header ? header->align - 1 : 0;

	return ((r->d.pos + mask) & ~mask) >= r->d.limit;
}

/*
 * Reads one event. Returns 1 to continue, 0 when the batch is full or the packet has ended, or
 * -errno.
 */
static int ctf_reader_step(struct wm_packet_reader *r, struct wm_batch *b)
{
	uint64_t begin = r->d.pos, clock = r->d.clock;
	uint32_t nr_items = b->nr_items;
	enum wm_ctf_status status;
	bool said = false;

	if (at_end(r)) {
		r->ended = true;
		if (r->plan->is_own)
			ctf_reader_check_count(r);
		else
			ctf_reader_check_end(r);
		return 0;
	}
	status = read_event(r, b, &said);
	if (status == WM_CTF_OK && r->d.pos > begin) {
		r->nr_events++;
		return 1;
	}
	b->nr_items = nr_items;
	if (status == WM_CTF_NO_MEMORY)
		return -ENOMEM;
	r->d.clock = clock;
	r->d.pos = begin;
	if (status == WM_CTF_MORE)
		return get_more(r, b, begin);
	if (status == WM_CTF_OK) {
		b->nr_events -= b->nr_events > 0;
		ctf_reader_damaged(r, begin, "an event", NULL, "of zero bits");
	} else if (!said) {
		ctf_reader_damaged(r, begin, "an event", r->d.culprit ? r->d.culprit->name : NULL,
				   r->d.reason);
	}
	return 0;
}

/* Adds the items of the frame to the empty batch: the events of a packet share them. */
static bool add_head(struct wm_packet_reader *r, struct wm_batch *b)
{
	if (!r->head.nr_items)
		return true;
	if (!wm_batch_room(b, r->head.nr_items))
		return false;
	memcpy(b->items, r->head.items, r->head.nr_items * sizeof(*b->items));
	b->nr_items = r->head.nr_items;
	return true;
}

int wm_ctf_reader_read(struct wm_packet_reader *r, struct wm_batch *b)
{
	uint32_t events = wm_want_events(r->want);
	int err = 1;

	if (r->ended)
		return 0;
	forget_wide(&r->d.wide);
	if (!add_head(r, b))
		return -ENOMEM;
	while (b->nr_events < events && !r->ended && err > 0)
		err = ctf_reader_step(r, b);
	return err < 0 ? err : (int)b->nr_events;
}

uint64_t wm_ctf_reader_at(const struct wm_packet_reader *r, uint64_t *ret_events)
{
	*ret_events = r->nr_events;
	return r->base + (r->d.pos + 7) / 8;
}
