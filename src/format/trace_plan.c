/* SPDX-License-Identifier: MIT */
/*
 * trace_plan.c - see trace_plan.h. Frames are read with sizes and offsets of
 * the metadata; every number out of a frame is compared with the file before
 * it is used.
 */
#include "format/trace_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/trace_layout.h"

#define NS_PER_SECOND 1000000000u

static int refuse(struct wm_diag *diag, const char *why)
{
	return wm_diag_set(diag, -EBADMSG, diag ? diag->where : NULL, -1,
			   "not a trace of waymark's: %s", why);
}

/* --- frames: where their fields are --------------------------------------------------- */

static const struct {
	const char *name;
	enum wm_plan_slot slot;
} own_names[] = {
    {"event_count", WM_SLOT_EVENT_COUNT},
    {"pid", WM_SLOT_PID},
    {"vpid", WM_SLOT_VPID},
    {"tid", WM_SLOT_TID},
    {"level", WM_SLOT_LEVEL},
    {"cpu_id", WM_SLOT_CPU},
};

static uint32_t slot_of(const struct wm_ctf_metadata *m, enum wm_ctf_scope scope,
			const struct wm_ctf_member *member)
{
	uint32_t slot = wm_ctf_member_role(m, scope, member);

	for (size_t i = 0; !slot && i < sizeof(own_names) / sizeof(*own_names); i++) {
		if (!strcmp(member->name, own_names[i].name))
			slot = own_names[i].slot;
	}
	return slot;
}

/* Bits of a field whose size never changes, or 0 when it is not of that kind. */
static uint64_t fixed_bits(const struct wm_ctf_type *t)
{
	if (t->kind == WM_CTF_INTEGER && (t->order == WM_CTF_LITTLE || t->bits == 8))
		return t->bits;
	if (t->kind == WM_CTF_ARRAY && t->element->kind == WM_CTF_INTEGER && t->element->bits == 8)
		return 8 * t->length;
	return 0;
}

/* Lays out a structure from byte `at` on; returns the byte behind it. */
static int64_t lay_out(const struct wm_ctf_metadata *m, enum wm_ctf_scope scope,
		       const struct wm_ctf_type *t, uint64_t at, struct wm_slot *slots,
		       struct wm_diag *diag)
{
	uint64_t bit = at * 8;

	if (!t)
		return (int64_t)at;
	bit = (bit + t->align - 1) & ~((uint64_t)t->align - 1);
	for (uint32_t i = 0; i < t->nr_members; i++) {
		const struct wm_ctf_member *member = &t->members[i];
		uint64_t bits = fixed_bits(member->type);
		uint32_t slot = slot_of(m, scope, member);

		bit = (bit + member->type->align - 1) & ~((uint64_t)member->type->align - 1);
		if (!bits || bits % 8 || bit % 8 || bit / 8 + bits / 8 > WM_FRAME_BYTES_MAX)
			return refuse(diag, "a packet's frame has other fields");
		if (slot)
			slots[slot] = (struct wm_slot){(uint32_t)(bit / 8), (uint32_t)(bits / 8)};
		bit += bits;
	}
	return (int64_t)(bit / 8);
}

static int check_slots(const struct wm_slot *slots, struct wm_diag *diag)
{
	static const uint8_t needed[] = {WM_CTF_MAGIC,       WM_CTF_UUID,         WM_CTF_STREAM_ID,
					 WM_CTF_PACKET_SIZE, WM_CTF_CONTENT_SIZE, WM_CTF_TIME_BEGIN,
					 WM_CTF_TIME_END};

	for (size_t i = 0; i < sizeof(needed); i++) {
		if (!slots[needed[i]].bytes)
			return refuse(diag, "a packet's frame lacks a field");
	}
	for (uint32_t i = 0; i < WM_SLOT_NR; i++) {
		if (slots[i].bytes > 8 && i != WM_CTF_UUID)
			return refuse(diag, "a packet's frame has a field of another size");
	}
	if (slots[WM_CTF_MAGIC].offset || slots[WM_CTF_MAGIC].bytes != 4 ||
	    slots[WM_CTF_UUID].bytes != WM_TRACE_UUID_BYTES)
		return refuse(diag, "a packet's magic or uuid is elsewhere");
	return 0;
}

/* The event header must be the 8 bytes of trace_layout.h. */
static int check_event_header(const struct wm_ctf_metadata *m, const struct wm_ctf_stream *s,
			      struct wm_diag *diag)
{
	struct wm_slot slots[WM_SLOT_NR] = {0};
	const struct wm_slot *id = &slots[WM_CTF_EVENT_ID], *time = &slots[WM_CTF_EVENT_TIME];
	int64_t end = lay_out(m, WM_CTF_EVENT_HEADER, s->event_header, 0, slots, diag);

	if (end < 0)
		return (int)end;
	if (end != WM_RECORD_HEADER_BYTES || id->offset || id->bytes != 2 || time->offset != 2 ||
	    time->bytes != WM_RECORD_TIME_BITS / 8 || s->event_header->align != WM_RECORD_ALIGN * 8)
		return refuse(diag, "the event header is another");
	return 0;
}

static bool is_kernel(const struct wm_slot *slots, int64_t end)
{
	const struct wm_slot *tid = &slots[WM_SLOT_TID];

	return end == sizeof(struct wm_kernel_context) && !tid->offset && tid->bytes == 4;
}

static int check_context(const struct wm_ctf_metadata *m, const struct wm_ctf_stream *s,
			 struct wm_plan_stream *ret, struct wm_diag *diag)
{
	struct wm_slot slots[WM_SLOT_NR] = {0};
	int64_t end = lay_out(m, WM_CTF_STREAM_EVENT_CONTEXT, s->event_context, 0, slots, diag);

	if (end < 0)
		return (int)end;
	ret->context_bytes = (uint32_t)end;
	ret->kernel = is_kernel(slots, end);
	if (ret->kernel)
		return 0;
	for (uint32_t i = 0; end && i < 4; i++) {
		if (slots[WM_SLOT_PID + i].offset != 4 * i || slots[WM_SLOT_PID + i].bytes != 4)
			return refuse(diag, "the events' common context is another");
	}
	if (end && end != sizeof(struct wm_mixed_context))
		return refuse(diag, "the events' common context is another");
	ret->mixed = end != 0;
	return 0;
}

static int plan_stream(const struct wm_plan *p, const struct wm_ctf_stream *s,
		       struct wm_plan_stream *ret, struct wm_diag *diag)
{
	int64_t end;
	int err;

	ret->id = s->id;
	memcpy(ret->slots, p->header, sizeof(ret->slots));
	end = lay_out(p->metadata, WM_CTF_PACKET_CONTEXT, s->packet_context, p->header_bytes,
		      ret->slots, diag);
	err = end < 0 ? (int)end : check_slots(ret->slots, diag);
	if (!err)
		err = check_event_header(p->metadata, s, diag);
	if (!err)
		err = check_context(p->metadata, s, ret, diag);
	if (err)
		return err;
	ret->frame_bytes = (uint32_t)end;
	ret->records_at = (ret->frame_bytes + WM_RECORD_ALIGN - 1) & ~(WM_RECORD_ALIGN - 1);
	return 0;
}

/* --- streams and events ----------------------------------------------------------------- */

static int by_id(const void *a, const void *b)
{
	const struct wm_plan_stream *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static struct wm_plan_stream *find_stream(const struct wm_plan *p, uint64_t id)
{
	struct wm_plan_stream key = {.id = id};

	return bsearch(&key, p->streams, p->nr_streams, sizeof(key), by_id);
}

static int plan_streams(struct wm_plan *p, struct wm_ctf_metadata *m, struct wm_diag *diag)
{
	int err = 0;

	if (m->nr_streams > WM_PLAN_STREAMS_MAX)
		return refuse(diag, "too many stream classes");
	p->streams = wm_arena_array(&m->arena, m->nr_streams + 1, sizeof(*p->streams));
	if (!p->streams)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->nr_streams && !err; i++)
		err = plan_stream(p, &m->streams[i], &p->streams[i], diag);
	p->nr_streams = m->nr_streams;
	qsort(p->streams, p->nr_streams, sizeof(*p->streams), by_id);
	return err;
}

static int plan_event(struct wm_plan *p, struct wm_ctf_metadata *m, const struct wm_ctf_event *e,
		      struct wm_diag *diag)
{
	struct wm_plan_stream *s = find_stream(p, e->stream_id);
	struct wm_plan_event *event = wm_arena_get(&m->arena, sizeof(*event));
	int err = event ? wm_plan_class(m, e, event, diag) : -ENOMEM;

	if (!err)
		s->events[e->id] = event;
	return err;
}

static int plan_events(struct wm_plan *p, struct wm_ctf_metadata *m, struct wm_diag *diag)
{
	int err = 0;

	for (uint32_t i = 0; i < m->nr_events; i++) {
		struct wm_plan_stream *s = find_stream(p, m->events[i].stream_id);

		if (m->events[i].id > UINT16_MAX)
			return refuse(diag, "an event id of more than 16 bits");
		if (s->nr_ids <= m->events[i].id)
			s->nr_ids = (uint32_t)m->events[i].id + 1;
	}
	for (uint32_t i = 0; i < p->nr_streams; i++) {
		struct wm_plan_stream *s = &p->streams[i];

		s->events = wm_arena_array(&m->arena, s->nr_ids, sizeof(*s->events));
		if (!s->events)
			return -ENOMEM;
	}
	for (uint32_t i = 0; i < m->nr_events && !err; i++)
		err = plan_event(p, m, &m->events[i], diag);
	p->nr_events = m->nr_events;
	return err;
}

int wm_plan_build(struct wm_ctf_metadata *m, struct wm_plan *ret, struct wm_diag *diag)
{
	struct wm_plan p = {.metadata = m};
	int64_t end;
	int err;

	if (!m->nr_clocks)
		return refuse(diag, "it has no clock");
	if (!m->packet_header || !m->has_uuid)
		return refuse(diag, "its packets have no header or no uuid");
	p.clock = &m->clocks[0];
	end = lay_out(m, WM_CTF_PACKET_HEADER, m->packet_header, 0, p.header, diag);
	if (end < 0)
		return (int)end;
	p.header_bytes = (uint32_t)end;
	err = plan_streams(&p, m, diag);
	if (!err)
		err = plan_events(&p, m, diag);
	if (!err)
		*ret = p;
	return err;
}

const struct wm_plan_event *wm_plan_event(const struct wm_plan_stream *s, uint32_t id)
{
	return id < s->nr_ids ? s->events[id] : NULL;
}

uint64_t wm_plan_ns(const struct wm_plan *p, uint64_t clock)
{
	const struct wm_ctf_clock *c = p->clock;
	__int128 cycles = (__int128)c->offset_cycles + clock, ns;

	ns = cycles * NS_PER_SECOND;
	ns = c->hz == NS_PER_SECOND ? cycles : ns / c->hz;
	ns += (__int128)c->offset_seconds * NS_PER_SECOND;
	return ns < 0 ? 0 : ns > (__int128)UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

/* --- one frame ---------------------------------------------------------------------------- */

static uint64_t load(const unsigned char *head, const struct wm_slot *slot)
{
	uint64_t n = 0;

	for (uint32_t i = slot->bytes; i-- > 0;)
		n = n << 8 | head[slot->offset + i];
	return n;
}

bool wm_plan_looks_like(const struct wm_plan *p, const unsigned char *head, size_t bytes)
{
	const struct wm_slot *uuid = &p->header[WM_CTF_UUID];

	return bytes >= p->header_bytes &&
	       load(head, &p->header[WM_CTF_MAGIC]) == WM_PACKET_MAGIC &&
	       !memcmp(head + uuid->offset, p->metadata->uuid, WM_TRACE_UUID_BYTES);
}

static void fill(const struct wm_plan_stream *s, const unsigned char *head, struct wm_frame *f)
{
	const struct wm_slot *slots = s->slots;

	f->stream = s;
	f->bytes = load(head, &slots[WM_CTF_PACKET_SIZE]) / 8;
	f->content_bytes = load(head, &slots[WM_CTF_CONTENT_SIZE]) / 8;
	f->begin = load(head, &slots[WM_CTF_TIME_BEGIN]);
	f->end = load(head, &slots[WM_CTF_TIME_END]);
	f->discarded = load(head, &slots[WM_CTF_DISCARDED]);
	f->sequence = load(head, &slots[WM_CTF_SEQUENCE_NUMBER]);
	f->has_sequence = slots[WM_CTF_SEQUENCE_NUMBER].bytes != 0;
	f->instance = load(head, &slots[WM_CTF_STREAM_INSTANCE]);
	f->count = load(head, &slots[WM_SLOT_EVENT_COUNT]);
	f->has_count = slots[WM_SLOT_EVENT_COUNT].bytes != 0;
	f->pid = (uint32_t)load(head, &slots[WM_SLOT_PID]);
	f->vpid = (uint32_t)load(head, &slots[WM_SLOT_VPID]);
	f->tid = (uint32_t)load(head, &slots[WM_SLOT_TID]);
	f->level = (uint32_t)load(head, &slots[WM_SLOT_LEVEL]);
	f->cpu = (uint32_t)load(head, &slots[WM_SLOT_CPU]);
}

static int check_frame(const unsigned char *head, const struct wm_frame *f, uint64_t rest,
		       struct wm_diag *diag)
{
	const struct wm_slot *slots = f->stream->slots;
	uint64_t bits = load(head, &slots[WM_CTF_PACKET_SIZE]);
	uint64_t content = load(head, &slots[WM_CTF_CONTENT_SIZE]);
	const char *where = diag ? diag->where : NULL;
	int64_t at = (int64_t)f->offset;

	if (bits % 64 || content % 8 || f->bytes < f->stream->records_at ||
	    f->bytes > WM_PLAN_PACKET_BYTES_MAX)
		return wm_diag_set(diag, -EBADMSG, where, at,
				   "a packet of %llu bits, which can not be",
				   (unsigned long long)bits);
	if (f->content_bytes < f->stream->frame_bytes || f->content_bytes > f->bytes)
		return wm_diag_set(diag, -EBADMSG, where, at,
				   "a packet of %llu bytes with %llu used, which can not be",
				   (unsigned long long)f->bytes,
				   (unsigned long long)f->content_bytes);
	if (f->end < f->begin)
		return wm_diag_set(diag, -EBADMSG, where, at,
				   "a packet that ends before it begins");
	if (f->has_count && f->count > f->content_bytes / WM_RECORD_HEADER_BYTES)
		return wm_diag_set(diag, -EBADMSG, where, at,
				   "a packet of %llu bytes with %llu events, which can not be",
				   (unsigned long long)f->bytes, (unsigned long long)f->count);
	if (f->bytes > rest)
		return wm_diag_set(diag, -ENODATA, where, at,
				   "the last packet is cut: %llu of %llu bytes, %llu events lost",
				   (unsigned long long)rest, (unsigned long long)f->bytes,
				   (unsigned long long)f->count);
	return 0;
}

int wm_plan_frame(const struct wm_plan *p, const unsigned char *head, size_t bytes, uint64_t offset,
		  uint64_t rest, struct wm_frame *ret_frame, struct wm_diag *diag)
{
	const char *where = diag ? diag->where : NULL;
	struct wm_frame f = {.offset = offset};
	const struct wm_plan_stream *s;
	uint64_t id;

	*ret_frame = f;
	if (bytes < p->header_bytes)
		return wm_diag_set(diag, -ENODATA, where, (int64_t)offset,
				   "the file ends inside a packet's header");
	if (load(head, &p->header[WM_CTF_MAGIC]) != WM_PACKET_MAGIC)
		return wm_diag_set(diag, -EBADMSG, where, (int64_t)offset,
				   "no packet begins here: its first bytes are 0x%08llx",
				   (unsigned long long)load(head, &p->header[WM_CTF_MAGIC]));
	if (!wm_plan_looks_like(p, head, bytes))
		return wm_diag_set(diag, -EBADMSG, where, (int64_t)offset,
				   "a packet of another trace (its uuid differs)");
	id = load(head, &p->header[WM_CTF_STREAM_ID]);
	s = find_stream(p, id);
	if (!s)
		return wm_diag_set(diag, -EBADMSG, where, (int64_t)offset,
				   "a packet of stream %llu, which the metadata does not describe",
				   (unsigned long long)id);
	if (bytes < s->frame_bytes)
		return wm_diag_set(diag, -ENODATA, where, (int64_t)offset,
				   "the file ends inside a packet's header");
	fill(s, head, &f);
	*ret_frame = f;
	return check_frame(head, &f, rest, diag);
}
