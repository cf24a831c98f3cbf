/* SPDX-License-Identifier: MIT */
/* trace_cursor.c - see trace_cursor.h. */
#include "format/trace_cursor.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "event/context.h"
#include "format/record_size.h"

static uint32_t load32(const unsigned char *at)
{
	uint32_t n;

	memcpy(&n, at, sizeof(n));
	return le32toh(n);
}

static uint64_t load64(const unsigned char *at)
{
	uint64_t n;

	memcpy(&n, at, sizeof(n));
	return le64toh(n);
}

void wm_cursor_init(struct wm_cursor *c, const struct wm_plan *plan, int dirfd,
		    const struct wm_fault_sink *sink, struct wm_stream_file *file)
{
	*c = (struct wm_cursor){
	    .plan = plan, .dirfd = dirfd, .sink = *sink, .file = *file, .at = UINT32_MAX};
	*file = (struct wm_stream_file){0};
}

void wm_cursor_done(struct wm_cursor *c)
{
	free(c->buffer);
	c->buffer = NULL;
	wm_stream_file_done(&c->file);
}

static void tell(struct wm_cursor *c, uint64_t offset, const char *reason)
{
	c->sink.fault(c->sink.data, c->file.name, offset, reason);
}

static void tell_errno(struct wm_cursor *c, uint64_t offset, int err)
{
	char reason[WM_DIAG_SENTENCE];

	c->io_err = err;
	(void)snprintf(reason, sizeof(reason), "cannot be read: %s",
		       err == -ENODATA ? "the file became shorter" : strerror(-err));
	tell(c, offset, reason);
}

/* Reads bytes of the file; it is open only meanwhile. */
static int read_part(struct wm_cursor *c, void *buffer, size_t bytes, uint64_t offset)
{
	uint64_t size;
	int fd = wm_stream_file_open(c->dirfd, c->file.name, &size), err;

	if (fd < 0)
		return fd;
	err = wm_pread_all(fd, buffer, bytes, offset);
	close(fd);
	return err;
}

/* The next packet's frame. 1, 0 at the end. */
static int next_frame(struct wm_cursor *c)
{
	unsigned char head[WM_FRAME_BYTES_MAX];

	free(c->buffer);
	c->buffer = NULL;
	while (++c->at < c->file.nr_packets) {
		uint64_t at = c->file.packets[c->at], rest = c->file.bytes - at;
		size_t want = rest < sizeof(head) ? (size_t)rest : sizeof(head);
		struct wm_diag why = {.sentence = ""};
		int err = read_part(c, head, want, at);

		if (err) {
			tell_errno(c, at, err);
			continue;
		}
		if (wm_plan_frame(c->plan, head, want, at, rest, &c->frame, &why)) {
			tell(c, at, why.sentence); /* it was whole when we looked first */
			continue;
		}
		if (c->frame.begin < c->previous_end && !c->overlap_told) {
			c->overlap_told = true;
			tell(c, at, "a packet begins before the one before it ended");
		}
		c->previous_end = c->frame.end;
		c->clock = c->frame.begin;
		return 1;
	}
	c->at = c->file.nr_packets; /* stay at the end */
	return 0;
}

/* False: the packet can not be read, and that was told. */
static int load_packet(struct wm_cursor *c)
{
	int err;

	c->buffer = malloc((size_t)c->frame.bytes);
	if (!c->buffer)
		return -ENOMEM;
	err = read_part(c, c->buffer, (size_t)c->frame.bytes, c->frame.offset);
	if (err) {
		tell_errno(c, c->frame.offset, err);
		return 0;
	}
	c->pos = c->frame.stream->records_at;
	c->nr_read = 0;
	c->time_told = false;
	c->clock = c->frame.begin;
	return 1;
}

static void bad_record(struct wm_cursor *c, const char *why)
{
	char reason[WM_DIAG_SENTENCE];

	if (c->frame.has_count && c->frame.count > c->nr_read)
		(void)snprintf(reason, sizeof(reason), "%s; %llu of the packet's %llu events lost",
			       why, (unsigned long long)(c->frame.count - c->nr_read),
			       (unsigned long long)c->frame.count);
	else
		(void)snprintf(reason, sizeof(reason), "%s", why);
	tell(c, c->frame.offset + c->pos, reason);
}

/* What a wrong record looks like, or NULL and the record is the cursor's. */
static const char *read_record(struct wm_cursor *c, char *buf, size_t buf_bytes)
{
	const struct wm_plan_stream *s = c->frame.stream;
	size_t avail = (size_t)c->frame.content_bytes - c->pos;
	size_t extra = s->context_bytes;
	const unsigned char *record = c->buffer + c->pos;
	int64_t bytes;
	uint64_t header;

	if (avail < WM_RECORD_HEADER_BYTES + extra)
		return "an event runs over the end of its packet";
	header = load64(record);
	c->event = wm_plan_event(s, wm_record_id(header));
	if (!c->event) {
		(void)snprintf(buf, buf_bytes, "event id %u is not described",
			       wm_record_id(header));
		return buf;
	}
	/* Behind the mixed context all is as if the header stood there. */
	bytes = wm_record_size(c->event->class, c->event->contexts, record + extra, avail - extra);
	if (bytes < 0)
		return "an event runs over the end of its packet";
	c->bytes = (size_t)bytes + extra;
	c->clock = wm_record_clock(header, c->clock);
	return NULL;
}

/* Times behind the packet's end are not believed: they would spoil the order of the others. */
static void bound_time(struct wm_cursor *c)
{
	if (c->clock <= c->frame.end)
		return;
	if (!c->time_told)
		tell(c, c->frame.offset + c->pos, "an event's time is after its packet's end");
	c->time_told = true;
	c->clock = c->frame.end;
}

/* The record at `pos`: 1, or 0 when the packet has no more. */
static int take_record(struct wm_cursor *c)
{
	const char *why;
	char buf[64];

	if (c->pos >= c->frame.content_bytes) {
		if (c->frame.has_count && c->frame.count != c->nr_read) {
			(void)snprintf(buf, sizeof(buf), "a packet of %llu events holds %llu",
				       (unsigned long long)c->frame.count,
				       (unsigned long long)c->nr_read);
			tell(c, c->frame.offset, buf);
		}
		return 0;
	}
	why = read_record(c, buf, sizeof(buf));
	if (why) {
		bad_record(c, why);
		return 0;
	}
	c->nr_read++;
	bound_time(c);
	return 1;
}

int wm_cursor_step(struct wm_cursor *c)
{
	int got;

	if (c->at == UINT32_MAX)
		return next_frame(c);
	if (c->at >= c->file.nr_packets)
		return 0;
	if (c->buffer) {
		c->pos = (c->pos + c->bytes + WM_RECORD_ALIGN - 1) & ~(size_t)(WM_RECORD_ALIGN - 1);
	} else {
		got = load_packet(c);
		if (got <= 0)
			return got ? got : next_frame(c);
	}
	return take_record(c) ? 1 : next_frame(c);
}

void wm_cursor_parts(const struct wm_cursor *c, struct wm_record_parts *ret)
{
	const unsigned char *at = c->buffer + c->pos, *end = at + c->bytes;
	const struct wm_frame *f = &c->frame;

	*ret = (struct wm_record_parts){.owner = {f->pid, f->vpid, f->tid, f->level}};
	at += WM_RECORD_HEADER_BYTES;
	if (f->stream->mixed) {
		ret->owner = (struct wm_mixed_context){load32(at), load32(at + 4), load32(at + 8),
						       load32(at + 12)};
	}
	if (f->stream->kernel)
		ret->owner = (struct wm_mixed_context){.tid = load32(at)};
	at += f->stream->context_bytes;
	if (c->event->contexts & WM_CONTEXT_CPU) {
		ret->cpu = at;
		at += sizeof(uint32_t);
	}
	if (c->event->contexts & WM_CONTEXT_USTACK) {
		ret->nr_ustack = load32(at);
		ret->ustack = at + sizeof(uint32_t);
		at = ret->ustack + (size_t)ret->nr_ustack * sizeof(uint64_t);
	}
	ret->payload = at;
	ret->payload_bytes = (uint32_t)(end - at);
}
