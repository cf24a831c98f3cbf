/* SPDX-License-Identifier: MIT */
/*
 * packet.c - packets of the output. The packets of a CTF trace are reproduced with their times and
 * counters, including those without events; one too large for memory is split. For other traces, a
 * packet ends when it has reached a certain size, and where events were lost. See ctf_int.h.
 *
 * A file is opened and closed for each packet, because there may be more streams than descriptors.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "export/ctf/ctf_int.h"

#define KEEP_FACTOR 4u /* buffers larger than this many normal packets are freed */

/* --- times ---------------------------------------------------------------------------------- */

uint64_t wm_cx_ticks(const struct wm_trace_clock *c, int64_t ns, bool last)
{
	__int128 since = (__int128)ns - c->offset_ns + last;
	__int128 ticks;

	if (since < 0)
		return 0;
	/*
	 * The first tick that reads as `ns`, or with `last` the tick before the
	 * first that reads as ns + 1.
	 */
	ticks = (since * (__int128)c->hz + WM_NS_PER_SECOND - 1) / WM_NS_PER_SECOND - last;
	return ticks < 0 ? 0 : ticks > UINT64_MAX ? UINT64_MAX : (uint64_t)ticks;
}

static uint64_t ctf_packet_ticks_of(const struct wm_cx_stream *s, const struct wm_event *e)
{
	uint64_t base;

	if (wm_cx_keeps_ticks(s->class) || !s->class->clock)
		return e->clock;
	base = (uint64_t)wm_cx_base_ns(s->trace, s->class->clock);
	if (e->ns != WM_TIME_NONE)
		return (uint64_t)e->ns - base;
	/*
	 * In CTF, either all events of a stream have times or none do: an event without a time gets
	 * that of the previous one.
	 */
	if (s->last || !s->trace->nr_packets || s->trace->begin_ns <= INT64_MIN / 2)
		return s->last;
	return (uint64_t)s->trace->begin_ns - base;
}

static const struct wm_packet *packet_at(const struct wm_cx_stream *s, uint64_t i)
{
	return &s->trace->packets[s->order ? s->order[i] : i];
}

/* Returns the input packet after the current one; NULL: none, or that one is out of order. */
static const struct wm_packet *packet_after(const struct wm_cx_stream *s, const struct wm_packet *p)
{
	uint64_t i = s->next_packet;

	/*
	 * While its events are being written, next_packet is already past it; with an empty packet
	 * it is not.
	 */
	if (i < s->end_packet && packet_at(s, i) == p)
		i++;
	return p && i < s->end_packet ? packet_at(s, i) : NULL;
}

static uint64_t lesser_ticks(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * Returns the tick at which an input packet begins. When only the time is known, several ticks may
 * correspond to it, and the previous packet may end at one of them.
 */
static uint64_t begin_tick(const struct wm_cx_stream *s, const struct wm_packet *p)
{
	const struct wm_trace_clock *c = s->class->clock;
	uint64_t begin, end, ticks = wm_cx_ticks(c, p->begin_ns, false);

	if (wm_ctf_packet_ticks(s->trace, p, &begin, &end) && wm_ctf_ns(c, begin) == p->begin_ns)
		return begin;
	if (ticks < s->end_ticks && wm_cx_ticks(c, p->begin_ns, true) >= s->end_ticks)
		return s->end_ticks;
	return ticks;
}

/* Returns the tick at which an input packet ends; it is not after the start of the next packet. */
static uint64_t end_tick(const struct wm_cx_stream *s, const struct wm_packet *p, uint64_t begin)
{
	const struct wm_trace_clock *c = s->class->clock;
	const struct wm_packet *next = packet_after(s, p);
	uint64_t ticks = wm_cx_ticks(c, p->end_ns, true), known, end;

	if (wm_ctf_packet_ticks(s->trace, p, &known, &end) && wm_ctf_ns(c, end) == p->end_ns)
		return end;
	/* Some tracers write packets whose end equals their start in ns: keep them that way. */
	if (p->end_ns == p->begin_ns && !s->nr_events)
		ticks = begin;
	if (next && next->begin_ns >= p->end_ns)
		ticks = lesser_ticks(ticks, wm_cx_ticks(c, next->begin_ns, false));
	return ticks;
}

/*
 * Sets the times of an output packet: the first piece of an input packet begins where that packet
 * begins, the last one ends where it ends.
 */
static void bounds(const struct wm_cx_stream *s, bool is_last, uint64_t *begin, uint64_t *end)
{
	const struct wm_packet *p = s->at;
	uint64_t ticks;

	*begin = s->first;
	*end = s->last;
	if (!wm_cx_keeps_ticks(s->class) || !s->class->clock || !p)
		return;
	if (!s->is_begun && p->begin_ns != INT64_MIN) {
		ticks = begin_tick(s, p);
		*begin = !s->nr_events || ticks < *begin ? ticks : *begin;
	}
	if (is_last && p->end_ns != INT64_MAX) {
		ticks = end_tick(s, p, *begin);
		*end = !s->nr_events || ticks > *end ? ticks : *end;
	}
	if (!s->nr_events && *end < *begin)
		*end = *begin;
}

/* --- counters ------------------------------------------------------------------------------- */

/* Adds the losses up to `ns` to the counters. Returns whether there were any. */
static bool count_losses(struct wm_cx_stream *s, int64_t ns)
{
	const struct wm_trace_loss *l;
	bool any = false;

	for (; (l = wm_export_next_loss(&s->losses, ns)); s->losses.next++) {
		if (l->packets)
			s->sequence += l->count;
		else /* CTF cannot express an unknown number */
			s->lost += l->count == UINT64_MAX ? 1 : l->count;
		any = true;
	}
	return any;
}

/* --- writing ---------------------------------------------------------------------------------- */

static int ctf_packet_append(const struct wm_cx *cx, const char *file, const void *head,
			     size_t head_bytes, const void *body, size_t body_bytes)
{
	int fd =
	    openat(cx->out.fd, file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	int err;

	if (fd < 0)
		return -errno;
	err = wm_file_write(fd, head, head_bytes);
	if (!err && body_bytes)
		err = wm_file_write(fd, body, body_bytes);
	if (close(fd) && !err)
		err = -errno;
	return err;
}

/* Writes the frame, in the order that metadata.c declares. */
static void make_frame(struct wm_text *t, const struct wm_cx_stream *s,
		       const struct wm_index_entry *x)
{
	const struct wm_cx_class *c = s->class;

	wm_cx_put(t, WM_PACKET_MAGIC, 4);
	if (c->folder->has_uuid)
		wm_text_add(t, c->folder->uuid, sizeof(c->folder->uuid));
	wm_cx_put(t, x->stream_id, 8);
	wm_cx_put(t, x->stream_instance_id, 8);
	if (c->clock) {
		wm_cx_put(t, x->timestamp_begin, 8);
		wm_cx_put(t, x->timestamp_end, 8);
	}
	wm_cx_put(t, x->content_size, 8);
	wm_cx_put(t, x->packet_size, 8);
	wm_cx_put(t, x->packet_seq_num, 8);
	wm_cx_put(t, x->events_discarded, 8);
	if (c->has_cpu)
		wm_cx_put(t, (uint32_t)s->from->cpu, 4);
	wm_text_add(t, s->context.data ? s->context.data : "", s->context.bytes);
}

static int ctf_packet_write_index(const struct wm_cx *cx, const struct wm_cx_stream *s,
				  const struct wm_index_entry *x)
{
	const struct wm_index_header header = {htobe32(WM_INDEX_MAGIC), htobe32(WM_INDEX_MAJOR),
					       htobe32(WM_INDEX_MINOR),
					       htobe32(sizeof(struct wm_index_entry))};
	uint64_t entry[sizeof(*x) / sizeof(uint64_t)];

	memcpy(entry, x, sizeof(entry));
	for (size_t i = 0; i < sizeof(entry) / sizeof(entry[0]); i++)
		entry[i] = htobe64(entry[i]);
	return ctf_packet_append(cx, s->index, &header, s->nr_packets ? 0 : sizeof(header), entry,
				 sizeof(entry));
}

/* Writes the collected events as one packet. `is_last`: the input packet has no more events. */
static int ctf_packet_flush(struct wm_cx *cx, struct wm_cx_stream *s, bool is_last)
{
	struct wm_index_entry x = {.offset = s->file_bytes,
				   .stream_id = s->class->id,
				   .stream_instance_id = s->from->instance};
	struct wm_text frame;
	int err;

	bounds(s, is_last, &x.timestamp_begin, &x.timestamp_end);
	if (wm_cx_keeps_ticks(s->class) && !s->is_begun && s->at) {
		s->lost += s->at->lost;
		(void)count_losses(s, s->at->begin_ns);
	}
	x.packet_seq_num = s->sequence++;
	x.events_discarded = s->lost;
	wm_text_init(&frame);
	make_frame(&frame, s, &x);
	s->end_ticks = x.timestamp_end;
	x.content_size = x.packet_size = 8 * (frame.bytes + s->body.bytes);
	x.content_size -= s->nr_events ? s->unused : s->context_unused;
	wm_text_cut(&frame, 0);
	make_frame(&frame, s, &x);
	err = frame.failed || s->body.failed || s->context.failed ? -ENOMEM : 0;
	if (!err)
		err = ctf_packet_append(cx, s->file, frame.data, frame.bytes, s->body.data,
					s->body.bytes);
	if (!err)
		err = ctf_packet_write_index(cx, s, &x);
	s->file_bytes += frame.bytes + s->body.bytes;
	s->nr_packets++;
	wm_text_done(&frame);
	if (s->body.room > KEEP_FACTOR * cx->packet_bytes) {
		wm_text_done(&s->body);
		wm_text_init(&s->body);
	}
	wm_text_cut(&s->body, 0);
	s->nr_events = 0;
	s->is_begun = true;
	if (is_last)
		s->at = NULL;
	return err;
}

/* --- packets of the input ------------------------------------------------------------- */

static int write_empty(struct wm_cx *cx, struct wm_cx_stream *s, const struct wm_packet *p)
{
	/* Only packets inside the time window are written. */
	if (p->end_ns < cx->x->begin_ns || p->begin_ns >= cx->x->end_ns)
		return 0;
	s->at = p;
	s->is_begun = false;
	return ctf_packet_flush(cx, s, true);
}

/* Writes the packets before `p`, which have no selected events. */
static int skip_to(struct wm_cx *cx, struct wm_cx_stream *s, const struct wm_packet *p)
{
	uint64_t i = s->next_packet;
	int err = 0;

	while (i < s->end_packet && packet_at(s, i) != p)
		i++;
	if (i == s->end_packet)
		return 0; /* `p` is out of order: it has already been passed */
	for (; !err && s->next_packet < i; s->next_packet++)
		err = write_empty(cx, s, packet_at(s, s->next_packet));
	s->next_packet = i + 1;
	return err;
}

static void set_context(struct wm_cx_stream *s, const struct wm_event *e)
{
	wm_text_cut(&s->context, 0);
	wm_cx_encode(&s->context, s->class->packet_context, e->items,
		     e->parts[WM_PART_PACKET_CONTEXT]);
	s->context_unused = wm_cx_unused_bits(s->class->packet_context, e->items,
					      e->parts[WM_PART_PACKET_CONTEXT], 0);
}

/* Called when the next event is in another packet. */
static int change_packet(struct wm_cx *cx, struct wm_cx_stream *s, const struct wm_event *e)
{
	int err = s->at ? ctf_packet_flush(cx, s, true) : 0;

	if (!s->context.bytes)
		set_context(s, e);
	if (!err)
		err = skip_to(cx, s, e->packet);
	set_context(s, e);
	s->at = e->packet;
	s->is_begun = false;
	return err;
}

/* --- the three steps of a stream -------------------------------------------------------------- */

/* Appends the contexts and fields of an event. */
static void encode_body(struct wm_cx_stream *s, const struct wm_cx_event *event,
			const struct wm_event *e)
{
	const struct wm_meta_field *common = s->class->stream_context
						 ? s->class->stream_context
						 : event->parts[WM_PART_STREAM_CONTEXT];

	wm_cx_encode(&s->body, common, e->items, e->parts[WM_PART_STREAM_CONTEXT]);
	wm_cx_encode(&s->body, event->parts[WM_PART_CONTEXT], e->items, e->parts[WM_PART_CONTEXT]);
	wm_cx_encode(&s->body, event->parts[WM_PART_FIELDS], e->items, e->parts[WM_PART_FIELDS]);
	s->unused = 0;
	if (!event->has_odd_bits)
		return;
	s->unused = wm_cx_unused_bits(common, e->items, e->parts[WM_PART_STREAM_CONTEXT], 0);
	s->unused = wm_cx_unused_bits(event->parts[WM_PART_CONTEXT], e->items,
				      e->parts[WM_PART_CONTEXT], s->unused);
	s->unused = wm_cx_unused_bits(event->parts[WM_PART_FIELDS], e->items,
				      e->parts[WM_PART_FIELDS], s->unused);
}

int wm_cx_stream_event(struct wm_cx *cx, struct wm_cx_stream *s, const struct wm_cx_event *event,
		       const struct wm_event *e)
{
	const struct wm_cx_class *c = s->class;
	uint64_t ticks;
	size_t begin;
	int err = 0;

	if (wm_cx_keeps_ticks(c)) {
		if (s->at != e->packet)
			err = change_packet(cx, s, e);
	} else {
		bool lost = wm_export_next_loss(&s->losses, e->ns);

		if (lost && s->nr_events)
			err = ctf_packet_flush(cx, s, false);
		if (lost)
			(void)count_losses(s, e->ns);
	}
	ticks = ctf_packet_ticks_of(s, e);
	begin = s->body.bytes;
	wm_cx_put(&s->body, event->id, c->id_bytes);
	if (c->clock)
		wm_cx_put(&s->body, ticks, 8);
	encode_body(s, event, e);
	if (s->body.failed) {
		wm_text_cut(&s->body, begin);
		wm_export_skip(cx->x, "larger than the buffer (256 MiB at most)", 1);
		return err;
	}
	if (!s->nr_events || ticks < s->first)
		s->first = ticks;
	if (!s->nr_events || ticks > s->last)
		s->last = ticks;
	s->nr_events++;
	if (!err && s->body.bytes >= cx->packet_bytes)
		err = ctf_packet_flush(cx, s, false);
	return err;
}

int wm_cx_stream_finish(struct wm_cx *cx, struct wm_cx_stream *s)
{
	bool is_ctf = wm_cx_keeps_ticks(s->class);
	bool lost = !is_ctf && count_losses(s, INT64_MAX);
	struct wm_event nothing = {0};
	int err = 0;

	if (s->nr_events || s->at || lost)
		err = ctf_packet_flush(cx, s, true);
	if (!s->context.bytes)
		set_context(s, &nothing);
	for (; is_ctf && !err && s->next_packet < s->end_packet; s->next_packet++)
		err = write_empty(cx, s, packet_at(s, s->next_packet));
	return err;
}

void wm_cx_stream_done(struct wm_cx_stream *s)
{
	wm_text_done(&s->body);
	wm_text_done(&s->context);
	free(s->order);
}

/* --- opening -------------------------------------------------------------------------- */

struct placed {
	int64_t begin_ns;
	uint64_t index;
};

static int ctf_packet_by_begin(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

/* Sorts packets [at, end) by time; most are in order already. */
static int set_order(struct wm_cx_stream *s, uint64_t at, uint64_t end)
{
	const struct wm_packet *p = s->trace->packets;
	struct placed *list;
	uint64_t i = at + 1;

	s->next_packet = at;
	s->end_packet = end;
	while (i < end && p[i - 1].begin_ns <= p[i].begin_ns)
		i++;
	if (i >= end)
		return 0;
	list = calloc(end - at, sizeof(*list));
	s->order = calloc(end - at, sizeof(*s->order));
	for (i = 0; list && i < end - at; i++)
		list[i] = (struct placed){p[at + i].begin_ns, at + i};
	if (list)
		qsort(list, end - at, sizeof(*list), ctf_packet_by_begin);
	for (i = 0; list && s->order && i < end - at; i++)
		s->order[i] = list[i].index;
	s->next_packet = 0;
	s->end_packet = end - at;
	free(list);
	return list && s->order ? 0 : -ENOMEM;
}

int wm_cx_make_folders(const struct wm_cx *cx, const char *folder)
{
	char path[4096];

	for (size_t n = 1; *folder && folder[n - 1]; n++) {
		if (folder[n] && folder[n] != '/')
			continue;
		if (n >= sizeof(path))
			return -ENAMETOOLONG;
		memcpy(path, folder, n);
		path[n] = '\0';
		if (mkdirat(cx->out.fd, path, 0700) && errno != EEXIST)
			return -errno;
	}
	return 0;
}

static int ctf_packet_set_names(struct wm_cx *cx, struct wm_cx_stream *s)
{
	const struct wm_stream *from = s->from;
	const char *folder = s->class->folder->name, *base = strrchr(from->file, '/');
	char name[64], path[2][4096], *slash;
	int n, m;

	base = base ? base + 1 : from->file;
	if (!wm_cx_keeps_ticks(s->class)) {
		(void)snprintf(name, sizeof(name), "stream%llu_%llu",
			       (unsigned long long)from->class_id,
			       (unsigned long long)from->instance);
		base = name;
	}
	n = snprintf(path[0], sizeof(path[0]), "%s%s%s", folder, *folder ? "/" : "", base);
	m = snprintf(path[1], sizeof(path[1]), "%s%sindex/%s.idx", folder, *folder ? "/" : "",
		     base);
	if (n >= (int)sizeof(path[0]) || m >= (int)sizeof(path[1]))
		return -ENAMETOOLONG;
	s->file = wm_arena_copy(&cx->arena, path[0], (size_t)n);
	s->index = wm_arena_copy(&cx->arena, path[1], (size_t)m);
	if (!s->file || !s->index)
		return -ENOMEM;
	slash = strrchr(path[1], '/');
	*slash = '\0';
	return wm_cx_make_folders(cx, path[1]);
}

int wm_cx_stream_open(struct wm_cx *cx, uint32_t trace, const struct wm_stream *from,
		      struct wm_cx_stream *s)
{
	struct wm_trace *t = cx->x->traces[trace];
	uint64_t at = s->next_packet, end = s->end_packet;
	int err;

	s->from = from;
	s->trace = t;
	wm_text_init(&s->body);
	wm_text_init(&s->context);
	err = wm_cx_class_get(cx, trace, from, &s->class);
	if (!err)
		err = ctf_packet_set_names(cx, s);
	return err ? err : set_order(s, at, end);
}
