/* SPDX-License-Identifier: MIT */
/*
 * index.c - finds the packets of a CTF stream file from their headers alone. LTTng's index files
 * are used only for their number of entries: the entries would have to be checked against the
 * headers anyway, and reading a header costs one page.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/plural.h"
#include "read/ctf/trace.h"
#include "trace/trace_layout.h"

int64_t wm_ctf_ns(const struct wm_trace_clock *c, uint64_t ticks)
{
	unsigned __int128 ns = ticks;
	__int128 sum;

	if (c->hz != WM_NS_PER_SECOND)
		ns = (ns * WM_NS_PER_SECOND + c->rest) / c->hz;
	sum = (__int128)ns + c->offset_ns;
	if (ns > INT64_MAX || sum > WM_CTF_NS_MAX)
		return WM_CTF_NS_MAX;
	return (int64_t)sum;
}

int64_t wm_ctf_pread(int fd, void *data, uint64_t bytes, uint64_t offset)
{
	uint64_t done = 0;

	while (done < bytes) {
		ssize_t n = pread(fd, (char *)data + done, bytes - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		done += (uint64_t)n;
	}
	return (int64_t)done;
}

#define TICKS_MAX (UINT32_MAX >> 4)

/* --- frames ------------------------------------------------------------------------------- */

static uint64_t slot(const struct wm_ctf_decoder *d, const struct wm_ctf_stream_plan *p,
		     enum wm_ctf_role role, uint64_t missing)
{
	return p->has[role] ? d->slots[role] : missing;
}

enum wm_ctf_status wm_ctf_frame_decode(struct wm_ctf_decoder *d, const struct wm_ctf_stream_plan *p,
				       struct wm_batch *b, uint32_t *ret_header,
				       struct wm_ctf_frame *ret)
{
	enum wm_ctf_status status;

	memset(d->slots, 0, WM_CTF_NR_ROLES * sizeof(*d->slots));
	/* Absent ids are -1. */
	memset(d->slots + WM_CTF_SLOT_CPU, 0xff,
	       (WM_CTF_SLOT_OTHERS - WM_CTF_SLOT_CPU) * sizeof(*d->slots));
	d->ops = p->ops;
	d->pos = 0;
	d->clock = 0;
	d->nr_empty = 0;
	d->first_item = 0;
	status = wm_ctf_decode(d, p->packet_header, b);
	*ret_header = b ? b->nr_items : 0;
	if (status)
		return status;
	status = wm_ctf_decode(d, p->packet_context, b);
	*ret = (struct wm_ctf_frame){
	    .plan = p,
	    .bits = d->pos,
	    .packet_bits = slot(d, p, WM_CTF_PACKET_SIZE, UINT64_MAX),
	    .content_bits = slot(d, p, WM_CTF_CONTENT_SIZE, UINT64_MAX),
	    .stream_id = slot(d, p, WM_CTF_STREAM_ID, p->class->id),
	    .instance = slot(d, p, WM_CTF_STREAM_INSTANCE, 0),
	    .sequence = slot(d, p, WM_CTF_SEQUENCE_NUMBER, 0),
	    .discarded = slot(d, p, WM_CTF_DISCARDED, 0),
	    .begin = slot(d, p, WM_CTF_TIME_BEGIN, 0),
	    .end = slot(d, p, WM_CTF_TIME_END, 0),
	};
	return status;
}

/* --- one file ------------------------------------------------------------------------------- */

struct walk {
	struct wm_trace *t;
	const struct wm_ctf_folder *folder;
	const char *name, *path;
	struct wm_ctf_founds *found;
	struct wm_ctf_file *file; /* NULL until the first packet has been decoded */
	int fd;
	uint64_t bytes, at; /* size of the file; offset of the current packet */
	struct wm_ctf_decoder d;
	unsigned char *head;
	uint64_t head_bytes, head_room;
	uint64_t slots[WM_CTF_SLOTS_MAX];
	struct wm_batch items; /* items of the current frame */
	/* the first packet's magic number, and its uuid if that follows directly */
	unsigned char sign[20];
	uint32_t nr_holes;      /* damaged ranges found so far */
	uint64_t last_bytes;    /* size of the previous packet */
	uint32_t sign_bytes;    /* size of `sign`; 0: no packet, or packets have no magic number */
	bool has_uuid;          /* `uuid` is set */
	bool keeps_ticks;       /* packet times in ticks are stored */
	unsigned char uuid[16]; /* the first packet's, which may differ from the metadata's */
};

/* Reads up to `bytes` bytes from the packet's start. */
static int ctf_index_load(struct walk *w, uint64_t bytes)
{
	int64_t got;

	if (bytes > w->bytes - w->at)
		bytes = w->bytes - w->at;
	if (w->head_room < bytes) {
		void *more = realloc(w->head, bytes + WM_CTF_SLACK);

		if (!more)
			return -ENOMEM;
		w->head = more;
		w->head_room = bytes;
	}
	got = wm_ctf_pread(w->fd, w->head, bytes, w->at);
	if (got < 0)
		return (int)got;
	memset(w->head + got, 0, WM_CTF_SLACK);
	w->head_bytes = (uint64_t)got;
	if ((uint64_t)got < bytes)
		w->bytes = w->at + (uint64_t)got; /* the file shrank */
	w->d.data = w->head;
	w->d.end = w->head_bytes * 8;
	w->d.limit = (w->bytes - w->at) * 8;
	return 0;
}

/*
 * Decodes the frame as one of stream class `p`; loads more bytes when it is longer than the buffer.
 */
static int decode_as(struct walk *w, const struct wm_ctf_stream_plan *p, struct wm_ctf_frame *ret,
		     enum wm_ctf_status *ret_status)
{
	for (;;) {
		uint64_t more = w->head_bytes * 2;
		uint32_t header;
		int err;

		w->items.nr_items = 0;
		*ret_status = wm_ctf_frame_decode(&w->d, p, &w->items, &header, ret);
		if (*ret_status == WM_CTF_NO_MEMORY)
			return -ENOMEM;
		if (*ret_status != WM_CTF_MORE || w->head_bytes == w->bytes - w->at ||
		    more > WM_CTF_HEAD_MAX)
			return 0;
		err = ctf_index_load(w, more);
		if (err)
			return err;
	}
}

static const struct wm_ctf_stream_plan *class_of(const struct wm_ctf_plan *plan, uint64_t id,
						 bool said)
{
	if (!said && plan->nr_streams == 1)
		return &plan->streams[0];
	return wm_ctf_plan_stream(plan, id);
}

/*
 * Decodes the frame at w->at. Returns 1, 0 when it is damaged and a fault was reported, or -errno.
 */
static int decode_frame(struct walk *w, struct wm_ctf_frame *ret)
{
	const struct wm_ctf_plan *plan = w->folder->plan;
	const struct wm_ctf_stream_plan *p = w->file ? w->file->plan : &plan->streams[0];
	enum wm_ctf_status status;
	int err = ctf_index_load(w, WM_CTF_HEAD_FIRST);

	if (!err)
		err = decode_as(w, p, ret, &status);
	if (err)
		return err;
	if (!w->file) {
		bool said = p->has[WM_CTF_STREAM_ID];
		uint64_t id = said ? w->d.slots[WM_CTF_STREAM_ID] : 0;
		const struct wm_ctf_stream_plan *right = class_of(plan, id, said);

		if (!right) {
			wm_trace_fault(w->t, w->name, w->at,
				       "a packet of stream class %llu, which the metadata does not "
				       "describe",
				       (unsigned long long)id);
			return 0;
		}
		if (right != p)
			err = decode_as(w, right, ret, &status);
		if (err)
			return err;
	}
	if (status) {
		const char *field = w->d.culprit ? w->d.culprit->name : NULL;

		wm_trace_fault(w->t, w->name, w->at, "the packet's header %s%s%s%s",
			       field ? "cannot be read: '" : "", field ? field : "",
			       field ? "' " : "",
			       status == WM_CTF_MORE ? "extends past the file's end" : w->d.reason);
		return 0;
	}
	return 1;
}

/* The uuid's bytes are the elements of a list, or one blob. Returns false when there is no uuid. */
static bool find_uuid(const struct walk *w, const struct wm_ctf_stream_plan *p,
		      unsigned char ret[16])
{
	for (uint32_t i = 0; p->uuid && i < w->items.nr_items; i = w->items.items[i].next) {
		const struct wm_item *item = &w->items.items[i];

		if (item->member != p->uuid || item->count != 16)
			continue;
		if (item->member->type->kind == WM_TYPE_BYTES)
			memcpy(ret, item->bytes, 16);
		for (uint32_t b = 0; b < 16 && item->member->type->kind == WM_TYPE_LIST; b++)
			ret[b] = (unsigned char)item[1 + b].u;
		return true;
	}
	return false;
}

/* Returns whether the packet has the same uuid as the first packet of the file. */
static bool same_uuid(struct walk *w, const struct wm_ctf_stream_plan *p)
{
	unsigned char uuid[16];

	if (!find_uuid(w, p, uuid))
		return true;
	if (!w->has_uuid)
		memcpy(w->uuid, uuid, 16);
	w->has_uuid = true;
	return !memcmp(w->uuid, uuid, 16);
}

/* Checks the values of the frame. Returns false when it reported a fault. */
static bool check_frame(struct walk *w, struct wm_ctf_frame *f)
{
	const struct wm_ctf_stream_plan *p = f->plan;
	uint64_t left = (w->bytes - w->at) * 8;

	if (p->has[WM_CTF_MAGIC] && w->d.slots[WM_CTF_MAGIC] != WM_PACKET_MAGIC)
		wm_trace_fault(w->t, w->name, w->at, "not a packet: its magic number is 0x%llx",
			       (unsigned long long)w->d.slots[WM_CTF_MAGIC]);
	else if (!same_uuid(w, p))
		wm_trace_fault(w->t, w->name, w->at, "a packet of another trace: its uuid differs");
	else if (w->file && p->has[WM_CTF_STREAM_ID] && f->stream_id != w->file->stream.class_id)
		wm_trace_fault(
		    w->t, w->name, w->at, "a packet of stream class %llu in a file of class %llu",
		    (unsigned long long)f->stream_id, (unsigned long long)w->file->stream.class_id);
	else if (f->packet_bits != UINT64_MAX && (f->packet_bits % 8 || f->packet_bits < f->bits))
		wm_trace_fault(
		    w->t, w->name, w->at,
		    "a packet of %llu bits; its size should be a multiple of 8 and at least the "
		    "%llu bits of its header",
		    (unsigned long long)f->packet_bits, (unsigned long long)f->bits);
	else if (f->content_bits != UINT64_MAX &&
		 (f->content_bits < f->bits || f->content_bits > f->packet_bits))
		wm_trace_fault(
		    w->t, w->name, w->at,
		    "a packet whose content has %llu bits, which should be at least the %llu of "
		    "its header "
		    "and at most the %llu of the packet",
		    (unsigned long long)f->content_bits, (unsigned long long)f->bits,
		    (unsigned long long)(f->packet_bits == UINT64_MAX ? left : f->packet_bits));
	else
		return !p->has_own_packets ||
		       wm_ctf_own_frame(w->t, w->name, w->at, w->bytes - w->at, f,
					wm_ctf_own_count(&w->items));
	return false;
}

static int add_found(struct wm_ctf_founds *l, const struct wm_ctf_found *f)
{
	if (WM_ARRAY_GROW(l->at, l->room, l->count + 1))
		return -ENOMEM;
	l->at[l->count++] = *f;
	return 0;
}

static struct wm_ctf_file *make_file(struct walk *w, const struct wm_ctf_frame *f)
{
	struct wm_ctf_file *file = wm_arena_get(&w->t->arena, sizeof(*file));

	if (!file)
		return NULL;
	file->folder = w->folder;
	file->plan = f->plan;
	file->path = w->path;
	file->bytes = w->bytes;
	file->has_instance = f->plan->has[WM_CTF_STREAM_INSTANCE];
	file->stream = (struct wm_stream){
	    .file = w->name,
	    .class_id = f->plan->class->id,
	    .instance = f->instance,
	    .cpu = f->plan->has[WM_CTF_SLOT_CPU] ? (int32_t)w->d.slots[WM_CTF_SLOT_CPU] : -1,
	    .clock = f->plan->clock,
	    .origin = &w->folder->origin,
	    .meta = wm_ctf_is_about_recording(f->plan->metadata, f->plan->class),
	};
	return file;
}

/* Stores the packet's times in ticks; *ret_part is 0 when there is no room for more. */
static bool keep_ticks(struct wm_ctf_trace *c, const struct wm_ctf_frame *f, uint32_t *ret_part)
{
	uint32_t n = c->nr_ticks;

	if (n == TICKS_MAX)
		return true;
	if ((n & (n - 1)) == 0) {
		void *more = realloc(c->ticks, (n ? 2 * (size_t)n : 1) * sizeof(*c->ticks));

		if (!more)
			return false;
		c->ticks = more;
	}
	c->ticks[n] = (struct wm_ctf_ticks){f->begin, f->end};
	*ret_part = ++c->nr_ticks;
	return true;
}

/* Adds the packet. A packet without a size extends to the end of the file. */
static int ctf_index_take(struct walk *w, struct wm_ctf_frame *f)
{
	const struct wm_trace_clock *clock = f->plan->clock;
	const struct wm_ctf_stream_plan *p = f->plan;
	uint64_t left = w->bytes - w->at;
	struct wm_ctf_found one = {.sequence = f->sequence, .discarded = f->discarded};

	if (f->packet_bits == UINT64_MAX && f->content_bits != UINT64_MAX)
		f->packet_bits = (f->content_bits + 7) & ~UINT64_C(7);
	if (f->content_bits == UINT64_MAX)
		f->content_bits = f->packet_bits;
	if (!w->file)
		w->file = make_file(w, f);
	if (!w->file)
		return -ENOMEM;
	if (p->has[WM_CTF_SLOT_CPU] && w->file->stream.cpu != (int32_t)w->d.slots[WM_CTF_SLOT_CPU])
		w->file->stream.cpu = -1;
	one.file = w->file;
	one.packet = (struct wm_packet){
	    .offset = w->at,
	    .bytes = f->packet_bits / 8 < left ? f->packet_bits / 8 : left,
	    .begin_ns = clock && p->has[WM_CTF_TIME_BEGIN] ? wm_ctf_ns(clock, f->begin) : INT64_MIN,
	    .end_ns = clock && p->has[WM_CTF_TIME_END] ? wm_ctf_ns(clock, f->end) : INT64_MAX,
	    .nr_events = f->content_bits == f->bits ? 0 : UINT64_MAX,
	    .own = f->content_bits < left * 8 ? f->content_bits : left * 8,
	};
	if (w->keeps_ticks && clock && clock->hz != WM_NS_PER_SECOND &&
	    !keep_ticks(w->t->own, f, &one.packet.part))
		return -ENOMEM;
	if (p->has_own_packets && one.packet.nr_events)
		one.packet.nr_events = wm_ctf_own_count(&w->items);
	if ((w->folder->quirks & WM_CTF_QUIRK_NO_END) && !f->end && f->begin)
		one.packet.end_ns = INT64_MAX;
	if (one.packet.begin_ns > one.packet.end_ns)
		one.packet.end_ns = INT64_MAX;
	if (f->packet_bits != UINT64_MAX && f->packet_bits / 8 > left) {
		wm_trace_fault(
		    w->t, w->name, w->at,
		    "the file ends in this packet of %llu bytes, of which %llu %s present",
		    (unsigned long long)(f->packet_bits / 8), (unsigned long long)left,
		    wm_plural(left, "is", "are"));
		w->t->incomplete = true;
	}
	return add_found(w->found, &one);
}

/* --- after a bad place ---------------------------------------------------------------------- */

#define SEARCH_BYTES (1u << 18)
#define PADDING_SEEN (1u << 14)

/* Stores the bytes with which the packets of this file begin. */
static void learn_sign(struct walk *w, const struct wm_ctf_stream_plan *p)
{
	if (w->sign_bytes || !p->has[WM_CTF_MAGIC])
		return;
	w->sign_bytes = 4;
	if (w->has_uuid && w->head_bytes >= sizeof(w->sign) && !memcmp(w->head + 4, w->uuid, 16))
		w->sign_bytes = 20;
	memcpy(w->sign, w->head, w->sign_bytes);
}

/*
 * Finds the next position after w->at that looks like the start of a packet, else the file's end.
 */
static int find_next(struct walk *w)
{
	uint64_t at = w->at + 1;

	if (++w->nr_holes == WM_CTF_HOLES_MAX) {
		wm_trace_fault(w->t, w->name, w->at,
			       "%u damaged places: the rest of the file is not read",
			       WM_CTF_HOLES_MAX);
		w->sign_bytes = 0;
	}
	while (w->sign_bytes && w->bytes - at >= w->sign_bytes) {
		unsigned char *found;
		int err;

		w->at = at;
		err = ctf_index_load(w, SEARCH_BYTES);
		if (err)
			return err;
		found = w->head_bytes < w->sign_bytes
			    ? NULL
			    : memmem(w->head, w->head_bytes, w->sign, w->sign_bytes);
		if (found) {
			w->at += (uint64_t)(found - w->head);
			return 0;
		}
		if (w->head_bytes < SEARCH_BYTES)
			break;
		at += SEARCH_BYTES - w->sign_bytes + 1;
	}
	w->at = w->bytes;
	return 0;
}

/*
 * Searches the padding of a packet for another packet: if the size was damaged, the packet may
 * include those that follow. A packet as large as the previous one is not searched.
 */
static int check_padding(struct walk *w, const struct wm_ctf_frame *f)
{
	uint64_t bytes = f->packet_bits / 8, content = (f->content_bits + 7) / 8, at = w->at;
	uint64_t padding = bytes - content < PADDING_SEEN ? bytes - content : PADDING_SEEN;
	unsigned char *found;
	int err;

	if (bytes == w->last_bytes || w->sign_bytes < sizeof(w->sign) || bytes > w->bytes - at ||
	    padding <= sizeof(w->sign))
		return 0;
	w->at += content;
	err = ctf_index_load(w, padding);
	found = err ? NULL : memmem(w->head, w->head_bytes, w->sign, w->sign_bytes);
	if (found)
		wm_trace_fault(w->t, w->name, w->at + (uint64_t)(found - w->head),
			       "a packet begins inside the one at %llu, which claims %llu bytes",
			       (unsigned long long)at, (unsigned long long)bytes);
	w->at = at;
	return err;
}

/* Adds one packet, or skips a damaged range. */
static int walk_one(struct walk *w)
{
	struct wm_ctf_frame f;
	int got = decode_frame(w, &f);

	if (got < 0)
		return got;
	if (!got || !check_frame(w, &f))
		return find_next(w);
	learn_sign(w, f.plan);
	got = ctf_index_take(w, &f);
	if (!f.packet_bits) {
		wm_trace_fault(w->t, w->name, w->at, "a packet of zero bits");
		return got ? got : find_next(w);
	}
	if (!got)
		got = check_padding(w, &f);
	w->last_bytes = f.packet_bits / 8;
	w->at += f.packet_bits / 8 < w->bytes - w->at ? f.packet_bits / 8 : w->bytes - w->at;
	return got;
}

static int walk_file(struct walk *w)
{
	int err = 0;

	while (w->at < w->bytes && !err)
		err = walk_one(w);
	return err;
}

/* In waymark's own traces the first bytes of packets are known from the metadata. */
static void expect_own(struct walk *w)
{
	const struct wm_ctf_metadata *m = w->folder->plan->metadata;
	const uint32_t magic = htole32(WM_PACKET_MAGIC);

	if (!m->has_uuid)
		return;
	memcpy(w->sign, &magic, sizeof(magic));
	memcpy(w->sign + sizeof(magic), m->uuid, 16);
	w->sign_bytes = sizeof(w->sign);
	memcpy(w->uuid, m->uuid, 16);
	w->has_uuid = true;
}

/* --- all of a file, or a part --------------------------------------------------------------- */

/* A file truncated between two packets is revealed only by its index. */
static void check_index(struct walk *w, uint64_t listed, uint64_t nr_packets)
{
	/* In waymark's own traces a fault has already been reported for damaged ranges. */
	if (listed <= nr_packets ||
	    (w->nr_holes && wm_ctf_has_own_packets(w->folder->plan->metadata)))
		return;
	wm_trace_fault(w->t, w->name, w->bytes, "its index lists %llu %s, of which %llu %s present",
		       (unsigned long long)listed, wm_plural(listed, "packet", "packets"),
		       (unsigned long long)nr_packets, wm_plural(nr_packets, "is", "are"));
	w->t->incomplete = true;
}

static int ctf_index_open_file(struct walk *w)
{
	struct stat st;

	w->fd = open(w->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (w->fd < 0 || fstat(w->fd, &st))
		return -errno;
	w->bytes = S_ISREG(st.st_mode) && st.st_size > 0 ? (uint64_t)st.st_size : 0;
	return 0;
}

/* Returns the path of the file, allocated in the trace's arena; NULL: out of memory. */
static char *path_of(struct wm_trace *t, const char *name)
{
	size_t bytes = strlen(t->path) + strlen(name) + 2;
	char *path = wm_arena_get(&t->arena, bytes);

	if (path)
		(void)snprintf(path, bytes, "%s/%s", t->path, name);
	return path;
}

static struct walk *walk_create(struct wm_trace *t, const struct wm_ctf_folder *folder,
				struct wm_ctf_founds *found)
{
	struct walk *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->t = t;
	w->folder = folder;
	w->found = found;
	w->fd = -1;
	w->d.slots = w->slots;
	wm_arena_init(&w->d.wide, WM_CTF_WIDE_MAX);
	if (wm_ctf_has_own_packets(folder->plan->metadata))
		expect_own(w);
	return w;
}

static void walk_destroy(struct walk *w)
{
	if (w->fd >= 0)
		close(w->fd);
	wm_arena_done(&w->d.wide);
	wm_batch_done(&w->items);
	free(w->head);
	free(w);
}

int wm_ctf_index_file(struct wm_trace *t, const struct wm_ctf_folder *folder, const char *name,
		      struct wm_ctf_founds *found)
{
	struct walk *w = walk_create(t, folder, found);
	uint64_t before = found->count, listed;
	int err;

	if (!w)
		return -ENOMEM;
	w->name = name;
	w->keeps_ticks = true;
	w->path = path_of(t, name);
	if (!w->path) {
		walk_destroy(w);
		return -ENOMEM;
	}
	listed = wm_ctf_indexed(w->path); /* before the file, because both may be growing */
	err = ctf_index_open_file(w);
	if (err)
		wm_trace_fault(t, name, 0, "cannot be read: %s", strerror(-err));
	else if (folder->plan->nr_streams && !(err = walk_file(w)))
		check_index(w, listed, found->count - before);
	else if (w->bytes)
		wm_trace_fault(t, name, 0, "the metadata describes no stream");
	walk_destroy(w);
	return err == -ENOMEM ? err : 0;
}

int wm_ctf_index_part(struct wm_trace *t, const struct wm_ctf_folder *folder,
		      struct wm_ctf_part *part, struct wm_ctf_founds *found)
{
	struct walk *w = walk_create(t, folder, found);
	int err;

	if (!w)
		return -ENOMEM;
	w->name = part->name;
	w->file = part->file;
	w->path = part->file ? part->file->path : path_of(t, part->name);
	err = w->path ? ctf_index_open_file(w) : -ENOMEM;
	if (!err) {
		w->at = part->at;
		w->bytes = part->end < w->bytes ? part->end : w->bytes;
		err = walk_file(w);
		part->at = w->at;
		part->file = w->file;
	}
	if (!err && w->file)
		w->file->bytes = w->bytes;
	walk_destroy(w);
	return err;
}
