/* SPDX-License-Identifier: MIT */
/*
 * trace_writer.c - the writer's public functions: they create the folder, accept producers and
 * packets, and close the trace. See trace_writer.h, and writer_int.h for the other files.
 */
#include "write/trace_writer.h"

#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/moment.h"
#include "event/context.h"
#include "write/writer_int.h"

#define CLOCK_HZ_MAX      ((uint64_t)1 << 40)
#define PAYLOAD_BYTES_MAX ((size_t)1 << 30)

/* --- creation --------------------------------------------------------------- */

static bool is_empty_folder(int dirfd)
{
	int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	bool empty = true;

	if (!d) {
		if (fd >= 0)
			(void)close(fd); /* nothing was written */
		return false;
	}
	while (empty && (e = readdir(d)))
		empty = !strcmp(e->d_name, ".") || !strcmp(e->d_name, "..");
	(void)closedir(d); /* nothing was written */
	return empty;
}

static int open_folder(struct wm_trace_writer *w, const char *dir, bool *ret_made,
		       struct wm_diag *diag)
{
	*ret_made = !mkdir(dir, 0700);
	if (!*ret_made && errno != EEXIST)
		return wm_diag_set(diag, -errno, dir, -1, "cannot create the folder: %s",
				   strerror(errno));
	w->dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (w->dirfd < 0)
		return wm_diag_set(diag, -errno, dir, -1, "cannot open the folder: %s",
				   strerror(errno));
	if (!*ret_made && !is_empty_folder(w->dirfd))
		return wm_diag_set(diag, -EEXIST, dir, -1,
				   "the folder is not empty; use a new one");
	if (mkdirat(w->dirfd, "index", 0700))
		return wm_diag_set(diag, -errno, dir, -1, "cannot write in the folder: %s",
				   strerror(errno));
	w->index_dirfd = openat(w->dirfd, "index", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (w->index_dirfd < 0)
		return wm_diag_set(diag, -errno, dir, -1, "cannot open the folder's index: %s",
				   strerror(errno));
	return 0;
}

static int trace_writer_describe(struct wm_trace_writer *w, const struct wm_trace_options *o)
{
	struct wm_described_trace *m = &w->meta;
	int64_t seconds = (int64_t)(o->start_realtime_ns / WM_NS_PER_SECOND);

	if (!o->clock_hz || o->clock_hz > CLOCK_HZ_MAX)
		return -EINVAL;
	m->clock_kind = o->clock_kind;
	m->clock_hz = o->clock_hz;
	m->clock_start = o->clock_start;
	m->start_realtime_ns = o->start_realtime_ns;
	m->clock_error_ns = o->clock_error_ns;
	if (getrandom(m->uuid, sizeof(m->uuid), 0) != (ssize_t)sizeof(m->uuid))
		return -EIO;
	m->uuid[6] = (unsigned char)((m->uuid[6] & 0x0f) | 0x40); /* version 4: random */
	m->uuid[8] = (unsigned char)((m->uuid[8] & 0x3f) | 0x80);
	if (gethostname(m->hostname, sizeof(m->hostname) - 1))
		strcpy(m->hostname, "localhost"); /* fits */
	if (wm_moment_print_utc(seconds, m->created, sizeof(m->created)))
		return -EINVAL;
	if (o->command) {
		m->command = strndup(o->command, WM_COMMAND_BYTES_MAX);
		if (!m->command)
			return -ENOMEM;
	}
	memcpy(w->folder.uuid, m->uuid, sizeof(m->uuid));
	return 0;
}

static void trace_writer_destroy(struct wm_trace_writer *w)
{
	uint32_t i;

	while (w->producers) {
		struct wm_producer *p = w->producers;

		w->producers = p->next;
		wm_numbering_done(&p->ids);
		wm_producer_names_done(p);
		free(p);
	}
	for (i = 0; i < w->nr_streams; i++)
		wm_stream_class_destroy(w->streams[i]);
	free(w->streams);
	wm_mixed_destroy(w->mixed);
	for (i = 0; i < WM_NR_KERNEL_STREAMS; i++)
		wm_stream_kernel_destroy(w->kernel[i]);
	wm_stream_recorder_done(&w->recorder);
	wm_numbering_store_done(&w->events);
	wm_text_done(&w->declared);
	wm_text_done(&w->formats);
	free(w->meta.command);
	if (w->index_dirfd >= 0)
		(void)close(w->index_dirfd); /* a directory: close() cannot lose data */
	if (w->dirfd >= 0)
		(void)close(w->dirfd);
	free(w);
}

int wm_writer_create(const char *dir, const struct wm_trace_options *o,
		     struct wm_trace_writer **ret, struct wm_diag *diag)
{
	struct wm_trace_writer *w = calloc(1, sizeof(*w));
	bool made = false;
	int err;

	if (!w)
		return wm_diag_set(diag, -ENOMEM, dir, -1, "out of memory");
	w->dirfd = w->index_dirfd = -1;
	wm_numbering_store_init(&w->events);
	w->language = o->format == WM_TRACE_CTF2 ? WM_META_JSON : WM_META_TSDL;
	w->limits = (struct wm_writer_limits){WM_LANES_PER_STREAM_MAX, WM_LANE_FILES_MAX,
					      WM_MIXED_BYTES_MAX};
	err = trace_writer_describe(w, o);
	if (err) {
		(void)wm_diag_set(diag, err, dir, -1, "cannot describe the trace: %s",
				  strerror(-err));
		goto fail;
	}
	err = open_folder(w, dir, &made, diag);
	if (err)
		goto fail;
	w->folder.dirfd = w->dirfd;
	w->folder.index_dirfd = w->index_dirfd;
	w->folder.max_open = WM_LANES_OPEN_MAX;
	err = wm_stream_recorder_init(w);
	if (!err)
		err = wm_stream_class_metadata(w);
	if (err) {
		(void)wm_diag_set(diag, err, dir, -1, "cannot write the metadata: %s",
				  strerror(-err));
		(void)unlinkat(w->dirfd, "index", AT_REMOVEDIR); /* undo: restore the folder */
		goto fail;
	}
	*ret = w;
	return 0;
fail:
	trace_writer_destroy(w);
	if (made)
		(void)rmdir(dir); /* fails when another process put a file there */
	return err;
}

void wm_writer_clock_hz(struct wm_trace_writer *w, uint64_t hz)
{
	if (!hz || hz > CLOCK_HZ_MAX || hz == w->meta.clock_hz)
		return;
	w->meta.clock_hz = hz;
	w->clock_refined = true;
}

/* --- producers -------------------------------------------------------------- */

int wm_producer_add(struct wm_trace_writer *w, const struct wm_producer_info *info,
		    struct wm_producer **ret)
{
	struct wm_producer *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->writer = w;
	p->pid = info->pid;
	p->vpid = info->vpid;
	(void)snprintf(p->comm, sizeof(p->comm), "%s", info->comm);
	wm_table_init(&p->by_tid);
	p->next = w->producers;
	p->link = &w->producers;
	if (p->next)
		p->next->link = &p->next;
	w->producers = p;
	wm_stream_recorder_process(w, info);
	*ret = p;
	return 0;
}

/* Queues a report of the records that this producer lost on a full disk. */
static void report_disk_loss(struct wm_producer *p)
{
	const struct wm_recorder_loss l = {.pid = p->pid,
					   .cpu = -1,
					   .from = p->disk_from,
					   .to = p->disk_to,
					   .cause = "disk",
					   .count = p->disk_count};

	if (p->disk_count)
		wm_stream_recorder_lost(p->writer, &l);
	p->disk_count = 0;
}

void wm_producer_remove(struct wm_producer *p, uint64_t clock)
{
	report_disk_loss(p);
	wm_stream_recorder_process_end(p->writer, p->pid, clock);
	wm_stream_class_forget(p);
	*p->link = p->next;
	if (p->next)
		p->next->link = p->link;
	wm_numbering_done(&p->ids);
	wm_producer_names_done(p);
	free(p);
}

int wm_producer_event(struct wm_producer *p, uint32_t id, uint32_t contexts, struct wm_class *class)
{
	struct wm_interned_event *event, *known;
	int err;

	if (id >= WM_EVENT_IDS || (contexts & ~WM_CONTEXT_ALL)) {
		wm_class_destroy(class);
		return -EINVAL;
	}
	event = wm_numbering_intern(&p->writer->events, class, contexts);
	if (!event)
		return -ENOMEM;
	known = wm_numbering_get(&p->ids, id);
	if (known)
		return known == event ? 0 : -EEXIST;
	err = wm_numbering_set(&p->ids, id, event);
	if (!err)
		wm_stream_class_unplace(p);
	return err;
}

/* --- packets ---------------------------------------------------------------- */

/* Returns the size of the last record's padding at the payload's end. */
static int64_t last_padding(const struct wm_producer *p, const struct wm_raw_packet *packet)
{
	const unsigned char *data = packet->payload.iov_base;
	size_t bytes = packet->payload.iov_len, at = packet->last_offset;
	bool walk = !at && packet->count > 1;
	int64_t size;

	if (!bytes)
		return 0;
	for (;;) {
		if (at >= bytes || at % WM_RECORD_ALIGN)
			return -EBADMSG;
		size = wm_writer_record_size(p, data + at, bytes - at);
		if (size < 0)
			return size;
		if (bytes - at - (size_t)size < WM_RECORD_ALIGN)
			return (int64_t)(bytes - at - (size_t)size);
		if (!walk)
			return -EBADMSG;
		at += ((size_t)size + WM_RECORD_ALIGN - 1) & ~(size_t)(WM_RECORD_ALIGN - 1);
	}
}

/*
 * Returns the time of the first record. The chunk's start is only close to it, since that clock
 * value was read separately; and the more exact the starts of packets are, the fewer lanes are
 * needed.
 */
static uint64_t first_clock(const struct wm_raw_packet *packet)
{
	const uint64_t mask = ((uint64_t)1 << WM_RECORD_TIME_BITS) - 1;
	uint64_t header, ahead;

	if (!packet->payload.iov_len)
		return packet->begin;
	memcpy(&header, packet->payload.iov_base, sizeof(header));
	ahead = ((le64toh(header) >> 16) - packet->begin) & mask;
	if (ahead <= packet->end - packet->begin)
		return packet->begin + ahead;
	ahead = mask + 1 - ahead;
	if (ahead < WM_PACKET_SPAN_MAX / 2 && ahead <= packet->begin)
		return packet->begin - ahead;
	return packet->begin;
}

static int trace_writer_check(const struct wm_raw_packet *packet)
{
	size_t bytes = packet->payload.iov_len;

	if (packet->begin > packet->end || packet->end - packet->begin >= WM_PACKET_SPAN_MAX)
		return -EINVAL;
	if (bytes % WM_RECORD_ALIGN || bytes > PAYLOAD_BYTES_MAX)
		return -EINVAL;
	if (!bytes != !packet->count || packet->count > bytes / WM_RECORD_HEADER_BYTES)
		return -EINVAL;
	return 0;
}

static int trace_writer_write_packet(struct wm_producer *p, const struct wm_raw_packet *packet,
				     size_t padding)
{
	struct wm_trace_writer *w = p->writer;
	struct wm_packet_owner owner = {p->pid, p->vpid, packet->tid, packet->level};
	struct wm_lane_packet out = {
	    .owner = &owner,
	    .begin = first_clock(packet),
	    .end = packet->end,
	    .count = packet->count,
	    .lost = p->carry + packet->lost,
	    .payload = packet->payload.iov_base,
	    .payload_bytes = packet->payload.iov_len,
	    .padding_bytes = padding,
	};
	struct wm_lane_file *lane;
	int err = wm_stream_class_place(p);

	if (!err)
		err = wm_stream_class_metadata(w);
	if (err)
		return err;
	if (wm_stream_recorder_due(w, packet->end))
		(void)wm_stream_recorder_flush(w); /* on failure the events remain queued */
	err = wm_stream_class_lane(w, p->stream, out.begin, &lane);
	if (err == -EMLINK)
		return wm_mixed_add(p, packet, out.begin, out.lost);
	return err ? err : wm_lane_file_write(&w->folder, lane, &out);
}

static void note_disk_loss(struct wm_producer *p, const struct wm_raw_packet *packet)
{
	p->writer->totals.lost_disk += packet->count;
	p->carry += packet->lost + packet->count;
	if (!p->disk_count)
		p->disk_from = packet->begin;
	p->disk_count += packet->count;
	p->disk_to = packet->end;
}

int wm_producer_packet(struct wm_producer *p, const struct wm_raw_packet *packet)
{
	struct wm_trace_writer *w = p->writer;
	int err = trace_writer_check(packet);
	int64_t padding;

	if (err)
		return err;
	padding = last_padding(p, packet);
	if (padding < 0)
		return (int)padding;
	err = trace_writer_write_packet(p, packet, (size_t)padding);
	if (err) {
		if (err != -EBADMSG)
			note_disk_loss(p, packet);
		return err;
	}
	p->carry = 0;
	wm_producer_name_thread(p, packet);
	w->totals.events += packet->count;
	w->totals.packets++;
	report_disk_loss(p);
	(void)wm_mixed_tick(w, packet->end); /* mixed.c counts the records of a failed write */
	return 0;
}

void wm_writer_samples(struct wm_trace_writer *w, uint64_t regs, uint64_t error_ns)
{
	w->meta.sample_regs = regs;
	w->meta.sample_error_ns = error_ns;
	w->clock_refined = true; /* written with the next change of the metadata */
}

/* --- the recorder's stream -------------------------------------------------- */

int wm_writer_module(struct wm_producer *p, const struct wm_module_info *m)
{
	wm_stream_recorder_module(p->writer, p->pid, m);
	return 0;
}

int wm_writer_lost(struct wm_producer *p, uint64_t from, uint64_t to, const char *cause,
		   uint64_t count)
{
	const struct wm_recorder_loss l = {
	    .pid = p->pid, .cpu = -1, .from = from, .to = to, .cause = cause, .count = count};

	wm_stream_recorder_lost(p->writer, &l);
	return 0;
}

/* --- the end ---------------------------------------------------------------- */

void wm_writer_totals(const struct wm_trace_writer *w, struct wm_trace_totals *ret)
{
	*ret = w->totals;
	ret->bytes = w->folder.bytes + w->metadata_bytes + w->kernel_bytes;
}

static int first_error(int a, int b)
{
	return a ? a : b;
}

int wm_writer_flush(struct wm_trace_writer *w)
{
	struct wm_producer *p;
	uint32_t i;
	int err = wm_mixed_flush(w);

	for (p = w->producers; p; p = p->next)
		report_disk_loss(p);
	for (i = 0; i < WM_NR_KERNEL_STREAMS; i++)
		if (w->kernel[i])
			wm_stream_kernel_flush(w->kernel[i]);
	return first_error(err, wm_stream_recorder_flush(w));
}

int wm_writer_close(struct wm_trace_writer *w)
{
	uint32_t i, k;
	int err;

	if (!w)
		return 0;
	err = wm_writer_flush(w);
	w->metadata_old |= w->clock_refined;
	err = first_error(err, wm_stream_class_metadata(w));
	for (i = 0; i < w->nr_streams; i++)
		for (k = 0; k < w->streams[i]->nr_lanes; k++)
			err = first_error(err,
					  wm_lane_file_close(&w->folder, w->streams[i]->lanes[k]));
	trace_writer_destroy(w);
	return err;
}
