/* SPDX-License-Identifier: MIT */
/*
 * stream_order.c - sorts the packets of all files of a CTF trace into streams. One stream may have
 * several files (LTTng rotates them, and writes snapshots that overlap), and losses can only be
 * computed from the counters in all of them.
 *
 * Events with equal times in different streams are ordered by class, instance and file, as in
 * babeltrace2: stream indices are assigned in this order.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "read/ctf/trace.h"

static int stream_order_compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_origins(const struct wm_ctf_file *a, const struct wm_ctf_file *b)
{
	const char *x = a->stream.origin->uuid, *y = b->stream.origin->uuid;

	if (a->stream.origin == b->stream.origin)
		return 0;
	if (x && y && strcmp(x, y) != 0)
		return strcmp(x, y);
	if (!x != !y)
		return x ? 1 : -1;
	return x ? 0 : strcmp(a->stream.origin->name, b->stream.origin->name);
}

/* Returns 0 when the packets of both files belong to the same stream. */
static int compare_streams(const struct wm_ctf_file *a, const struct wm_ctf_file *b)
{
	int order = compare_origins(a, b);

	if (!order)
		order = stream_order_compare(a->stream.class_id, b->stream.class_id);
	if (!order && a->has_instance)
		order = stream_order_compare(a->stream.instance, b->stream.instance);
	if (!order && !a->has_instance)
		order = strcmp(a->stream.file, b->stream.file);
	return order;
}

static int by_stream(const void *a, const void *b)
{
	const struct wm_ctf_file *const *x = a, *const *y = b;
	int order = compare_streams(*x, *y);

	return order ? order : strcmp((*x)->stream.file, (*y)->stream.file);
}

/* Sorts by stream, then by time; packets without a time keep their file order. */
static int stream_order_by_time(const void *a, const void *b)
{
	const struct wm_ctf_found *x = a, *y = b;
	int order = compare_streams(x->file, y->file);

	if (order)
		return order;
	if (x->packet.begin_ns != y->packet.begin_ns)
		return x->packet.begin_ns < y->packet.begin_ns ? -1 : 1;
	if (x->file != y->file)
		return strcmp(x->file->stream.file, y->file->stream.file);
	return stream_order_compare(x->packet.offset, y->packet.offset);
}

static int stream_order_by_place(const void *a, const void *b)
{
	const struct wm_packet *x = a, *y = b;
	int order = stream_order_compare(x->stream, y->stream);

	return order ? order : stream_order_compare(x->offset, y->offset);
}

/* --- streams ---------------------------------------------------------------------------------- */

/* Streams without an instance id are numbered within their class. */
static void stream_order_number(struct wm_ctf_file *file, const struct wm_ctf_file *before)
{
	if (!file->has_instance && before && !compare_origins(file, before) &&
	    file->stream.class_id == before->stream.class_id)
		file->stream.instance = before->stream.instance + 1;
}

static int add_streams(struct wm_trace *t, const struct wm_ctf_founds *found)
{
	struct wm_ctf_file **files = calloc(found->count + 1, sizeof(struct wm_ctf_file *));
	uint64_t n = 0;
	int err = files ? 0 : -1;

	for (uint64_t i = 0; files && i < found->count; i++) {
		/* Packets of a file are adjacent. */
		if (!n || files[n - 1] != found->at[i].file)
			files[n++] = found->at[i].file;
	}
	if (n)
		qsort(files, n, sizeof(struct wm_ctf_file *), by_stream);
	for (uint64_t i = 0; i < n && !err; i++) {
		stream_order_number(files[i], i ? files[i - 1] : NULL);
		err = wm_trace_add_stream(t, &files[i]->stream);
	}
	free(files);
	return err;
}

/* --- packets of a stream ---------------------------------------------------------------------- */

/*
 * Returns whether two packets are the same: snapshots and chunks may repeat a packet from another
 * file.
 */
static bool is_double(const struct wm_ctf_found *a, const struct wm_ctf_found *b)
{
	const struct wm_ctf_stream_plan *p = a->file->plan;

	return a->file != b->file && a->file->has_instance && p->metadata->has_uuid && p->clock &&
	       p->has[WM_CTF_TIME_BEGIN] && p->has[WM_CTF_TIME_END] &&
	       a->packet.begin_ns == b->packet.begin_ns && a->packet.end_ns == b->packet.end_ns &&
	       a->packet.bytes == b->packet.bytes && a->packet.own == b->packet.own &&
	       a->sequence == b->sequence;
}

/* Returns the difference of two counters, which wrap at the size of their field. */
static uint64_t difference(uint64_t before, uint64_t now, uint8_t bits)
{
	return (now - before) & (bits && bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX);
}

/*
 * Returns whether a number that differs by `n` from the previous one follows it. A difference of
 * half the range or more means that the numbers started over.
 */
static bool is_ahead(uint64_t n, uint8_t bits)
{
	return n < UINT64_C(1) << ((bits && bits < 64 ? bits : 64) - 1);
}

static int stream_order_add_loss(struct wm_trace *t, const struct wm_ctf_found *at, uint64_t count,
				 bool packets, int64_t begin, int64_t end)
{
	/* A packet without times may begin and end at any time. */
	struct wm_trace_loss loss = {
	    .stream = at->file->stream.index,
	    .count = count,
	    .packets = packets,
	    .begin_ns = begin == INT64_MAX ? INT64_MIN : begin,
	    .end_ns = end == INT64_MIN ? INT64_MAX : end,
	    .cause = "",
	};

	return wm_trace_add_loss(t, &loss);
}

/* Adds the loss between two packets, or before the first one when `before` is NULL. */
static int stream_order_losses(struct wm_trace *t, const struct wm_ctf_found *before,
			       struct wm_ctf_found *now)
{
	const struct wm_ctf_stream_plan *p = now->file->plan;
	int64_t since = before ? before->packet.end_ns : INT64_MIN;
	uint64_t n;
	int err = 0;

	if (p->has[WM_CTF_DISCARDED]) {
		n = difference(before ? before->discarded : 0, now->discarded,
			       p->bits[WM_CTF_DISCARDED]);
		/* A 64-bit counter that decreases was restarted; it did not wrap. */
		if (before && now->discarded < before->discarded && p->bits[WM_CTF_DISCARDED] == 64)
			n = now->discarded;
		now->packet.lost = n;
		if (n)
			err = stream_order_add_loss(t, now, n, false, since, now->packet.end_ns);
	}
	if (!err && before && p->has[WM_CTF_SEQUENCE_NUMBER]) {
		n = difference(before->sequence, now->sequence, p->bits[WM_CTF_SEQUENCE_NUMBER]);
		if (n > 1 && is_ahead(n, p->bits[WM_CTF_SEQUENCE_NUMBER]))
			err =
			    stream_order_add_loss(t, now, n - 1, true, since, now->packet.begin_ns);
	}
	return err;
}

/*
 * Corrects the end of a packet when it is wrong or missing: no event is later than the start of the
 * next packet.
 */
static void mend_times(struct wm_ctf_found *p, const struct wm_ctf_found *before,
		       const struct wm_ctf_found *next)
{
	uint32_t quirks = p->file->folder->quirks;

	if ((quirks & WM_CTF_QUIRK_LATE_EVENTS) || p->packet.end_ns == INT64_MAX)
		p->packet.end_ns = next && next->packet.begin_ns > p->packet.begin_ns
				       ? next->packet.begin_ns
				       : INT64_MAX;
	if (quirks & WM_CTF_QUIRK_EARLY_EVENTS)
		p->packet.begin_ns = before ? before->packet.end_ns : INT64_MIN;
}

/* Sorts packets in the order in which a reader opens them. */
static int stream_order_by_begin(const void *a, const void *b)
{
	const struct wm_trace_loss *x = a, *y = b;

	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	return stream_order_compare(x->stream, y->stream);
}

static bool same_stream(const struct wm_ctf_founds *f, uint64_t a, uint64_t b)
{
	return b < f->count && !compare_streams(f->at[a].file, f->at[b].file);
}

/* Returns the number of packets that were dropped. */
static uint64_t drop_doubles(struct wm_ctf_founds *f)
{
	uint64_t kept = 0, found = f->count;

	for (uint64_t i = 0; i < f->count; i++) {
		if (kept && same_stream(f, kept - 1, i) && is_double(&f->at[kept - 1], &f->at[i]))
			continue;
		f->at[kept++] = f->at[i];
	}
	f->count = kept;
	return found - kept;
}

/* Checks packets in file order: when time decreases, one of the two packets is damaged. */
static void stream_order_check(struct wm_trace *t, const struct wm_ctf_founds *f)
{
	for (uint64_t i = 1; i < f->count; i++) {
		const struct wm_ctf_found *before = &f->at[i - 1], *now = &f->at[i];
		const struct wm_ctf_file *file = now->file;

		if (file != before->file || !file->plan->clock ||
		    !file->plan->has[WM_CTF_TIME_BEGIN] ||
		    now->packet.begin_ns >= before->packet.begin_ns)
			continue;
		wm_trace_fault(t, file->stream.file, now->packet.offset,
			       "a packet begins %" PRIu64 " ns earlier than the previous one",
			       (uint64_t)before->packet.begin_ns - (uint64_t)now->packet.begin_ns);
	}
}

int wm_ctf_order(struct wm_trace *t, struct wm_ctf_founds *f)
{
	int err = add_streams(t, f) ? -1 : 0;

	stream_order_check(t, f);

	if (f->count)
		qsort(f->at, f->count, sizeof(*f->at), stream_order_by_time);
	t->nr_repeated += drop_doubles(f);
	for (uint64_t i = 0; i < f->count && !err; i++) {
		struct wm_ctf_found *before = i && same_stream(f, i - 1, i) ? &f->at[i - 1] : NULL;

		if (before && before->file->plan->has_own_packets)
			wm_ctf_own_follow(t, before, &f->at[i]);
		err = stream_order_losses(t, before, &f->at[i]);
	}
	for (uint64_t i = 0; i < f->count && !err; i++) {
		struct wm_ctf_found *before = i && same_stream(f, i - 1, i) ? &f->at[i - 1] : NULL;

		mend_times(&f->at[i], before, same_stream(f, i, i + 1) ? &f->at[i + 1] : NULL);
	}
	for (uint64_t i = 0; i < f->count && !err; i++) {
		f->at[i].packet.stream = f->at[i].file->stream.index;
		err = wm_trace_add_packet(t, &f->at[i].packet);
	}
	if (!err && t->nr_losses)
		qsort(t->losses, t->nr_losses, sizeof(*t->losses), stream_order_by_begin);
	if (!err && t->nr_packets)
		qsort(t->packets, t->nr_packets, sizeof(*t->packets), stream_order_by_place);
	return err;
}
