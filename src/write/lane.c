/* SPDX-License-Identifier: MIT */
/*
 * lane.c - see lane_int.h. Writes go to offsets tracked here, never to the end of the file, so that
 * the remains of a failed write are overwritten even when they could not be truncated.
 */
#include "write/lane_int.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

void wm_lane_file_init(struct wm_lane_file *lane, const char *name, uint32_t stream,
		       uint32_t number)
{
	*lane = (struct wm_lane_file){.stream = stream, .number = number, .fd = -1, .index_fd = -1};
	(void)snprintf(lane->name, sizeof(lane->name), "%s", name); /* our names are short */
}

static void lane_close_files(struct wm_lane_folder *f, struct wm_lane_file *lane)
{
	uint32_t i;

	if (lane->fd >= 0)
		(void)close(lane->fd); /* writes were direct: close() cannot lose data */
	if (lane->index_fd >= 0)
		(void)close(lane->index_fd);
	lane->fd = lane->index_fd = -1;
	for (i = 0; i < f->nr_open; i++)
		if (f->open[i] == lane)
			f->open[i] = f->open[--f->nr_open];
}

/* Closes the least recently used lane when too many are open. */
static void evict(struct wm_lane_folder *f)
{
	struct wm_lane_file *oldest = NULL;
	uint32_t i;

	if (f->nr_open < f->max_open)
		return;
	for (i = 0; i < f->nr_open; i++)
		if (!oldest || f->open[i]->used < oldest->used)
			oldest = f->open[i];
	if (oldest)
		lane_close_files(f, oldest);
}

static int open_files(struct wm_lane_folder *f, struct wm_lane_file *lane)
{
	const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW;
	char index[sizeof(lane->name) + 8];
	int err;

	if (lane->fd >= 0)
		return 0;
	evict(f);
	(void)snprintf(index, sizeof(index), "%s.idx", lane->name); /* fits */
	lane->fd = openat(f->dirfd, lane->name, flags, 0600);
	if (lane->fd < 0)
		return -errno;
	lane->index_fd = openat(f->index_dirfd, index, flags, 0600);
	if (lane->index_fd < 0) {
		err = -errno;
		(void)close(lane->fd); /* nothing was written */
		lane->fd = -1;
		return err;
	}
	f->open[f->nr_open++] = lane;
	return 0;
}

/* Truncates both files to their complete packets and entries. */
static int lane_cut(struct wm_lane_file *lane)
{
	lane->torn = ftruncate(lane->fd, (off_t)lane->bytes) ||
		     ftruncate(lane->index_fd, (off_t)lane->index_bytes);
	return lane->torn ? -errno : 0;
}

static int lane_write_all(int fd, struct iovec *iov, int count, uint64_t offset)
{
	ssize_t n;

	while (count) {
		n = pwritev(fd, iov, count, (off_t)offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -EIO;
		offset += (uint64_t)n;
		while (count && (size_t)n >= iov->iov_len) {
			n -= (ssize_t)iov->iov_len;
			iov++;
			count--;
		}
		if (count) {
			iov->iov_base = (char *)iov->iov_base + n;
			iov->iov_len -= (size_t)n;
		}
	}
	return 0;
}

static uint32_t frame_bytes(const struct wm_lane_packet *packet)
{
	return packet->owner     ? WM_FRAME_BYTES_USER
	       : packet->has_cpu ? WM_FRAME_BYTES_KERNEL
				 : WM_FRAME_BYTES_PLAIN;
}

static void fill_frame(struct wm_packet_frame *frame, const struct wm_lane_folder *f,
		       const struct wm_lane_file *lane, const struct wm_lane_packet *packet)
{
	uint64_t bytes = frame_bytes(packet) + packet->payload_bytes;

	*frame = (struct wm_packet_frame){
	    .magic = htole32(WM_PACKET_MAGIC),
	    .stream_id = htole32(lane->stream),
	    .stream_instance_id = htole64(lane->number),
	    .timestamp_begin = htole64(packet->begin),
	    .timestamp_end = htole64(packet->end),
	    .content_size = htole64((bytes - packet->padding_bytes) * 8),
	    .packet_size = htole64(bytes * 8),
	    .packet_seq_num = htole64(lane->nr_packets),
	    .events_discarded = htole64(lane->discarded + packet->lost),
	    .event_count = htole64(packet->count),
	};
	memcpy(frame->uuid, f->uuid, sizeof(frame->uuid));
	if (packet->has_cpu)
		frame->cpu_id = htole64(packet->cpu);
	if (packet->owner) {
		frame->pid = htole32(packet->owner->pid);
		frame->vpid = htole32(packet->owner->vpid);
		frame->tid = htole32(packet->owner->tid);
		frame->level = htole32(packet->owner->level);
	}
}

static uint64_t lane_big(uint64_t little)
{
	return htobe64(le64toh(little));
}

/* Writes the index entry of the packet at lane->bytes; returns its bytes or -errno. */
static int write_entry(const struct wm_lane_file *lane, const struct wm_packet_frame *frame)
{
	struct wm_index_header header = {htobe32(WM_INDEX_MAGIC), htobe32(WM_INDEX_MAJOR),
					 htobe32(WM_INDEX_MINOR),
					 htobe32(sizeof(struct wm_index_entry))};
	struct wm_index_entry entry = {
	    .offset = htobe64(lane->bytes),
	    .packet_size = lane_big(frame->packet_size),
	    .content_size = lane_big(frame->content_size),
	    .timestamp_begin = lane_big(frame->timestamp_begin),
	    .timestamp_end = lane_big(frame->timestamp_end),
	    .events_discarded = lane_big(frame->events_discarded),
	    .stream_id = htobe64(lane->stream),
	    .stream_instance_id = htobe64(lane->number),
	    .packet_seq_num = htobe64(lane->nr_packets),
	};
	struct iovec iov[2] = {{&header, lane->index_bytes ? 0 : sizeof(header)},
			       {&entry, sizeof(entry)}};
	int bytes = (int)(iov[0].iov_len + iov[1].iov_len);
	int err = lane_write_all(lane->index_fd, iov, 2, lane->index_bytes);

	return err ? err : bytes;
}

static int lane_write_packet(struct wm_lane_folder *f, struct wm_lane_file *lane,
			     const struct wm_lane_packet *packet)
{
	struct wm_packet_frame frame;
	struct iovec iov[2] = {{&frame, frame_bytes(packet)},
			       {(void *)packet->payload, packet->payload_bytes}};
	uint64_t bytes = iov[0].iov_len + iov[1].iov_len;
	int err;

	fill_frame(&frame, f, lane, packet);
	err = lane_write_all(lane->fd, iov, 2, lane->bytes);
	if (!err)
		err = write_entry(lane, &frame);
	if (err < 0) {
		/* On failure the lane is torn, and cut before the next write. */
		(void)lane_cut(lane);
		return err;
	}
	lane->bytes += bytes;
	lane->index_bytes += (uint64_t)err;
	f->bytes += bytes + (uint64_t)err;
	lane->nr_packets++;
	lane->discarded += packet->lost;
	lane->end = packet->end;
	return 0;
}

int wm_lane_file_write(struct wm_lane_folder *f, struct wm_lane_file *lane,
		       const struct wm_lane_packet *packet)
{
	struct wm_lane_packet empty = {.owner = packet->owner,
				       .has_cpu = packet->has_cpu,
				       .cpu = packet->cpu,
				       .begin = packet->begin,
				       .end = packet->begin};
	int err = open_files(f, lane);

	lane->used = ++f->uses;
	if (!err && lane->torn)
		err = lane_cut(lane);
	if (!err && !lane->nr_packets && packet->lost)
		err = lane_write_packet(f, lane, &empty);
	return err ? err : lane_write_packet(f, lane, packet);
}

int wm_lane_file_close(struct wm_lane_folder *f, struct wm_lane_file *lane)
{
	int err = 0;

	if (lane->torn)
		err = open_files(f, lane);
	if (!err && lane->torn)
		err = lane_cut(lane);
	lane_close_files(f, lane);
	return err;
}
