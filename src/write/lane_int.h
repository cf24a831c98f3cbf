/* SPDX-License-Identifier: MIT */
/*
 * lane_int.h - the files of a trace that grow: a lane is one stream file and its index file. It
 * holds packets in time order that do not overlap.
 *
 * Between calls both files hold only complete packets and entries, the same number in each, even
 * after failures: a short write is cut back, and when the cut fails the lane is `torn` and is cut
 * before anything else is written to it.
 *
 * The number of open lanes is limited; the least recently used one is closed.
 */
#ifndef WM_WRITE_LANE_INT_H
#define WM_WRITE_LANE_INT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/trace_layout.h"

#define WM_LANES_OPEN_MAX 64u

struct wm_lane_file {
	char name[32]; /* name of the stream file */
	uint32_t stream, number;
	uint64_t end;                /* end time of the last packet */
	uint64_t bytes, index_bytes; /* sizes of the complete packets and entries */
	uint64_t nr_packets, discarded;
	uint64_t used;    /* value of the folder's use counter at the last use */
	int fd, index_fd; /* -1: closed */
	bool torn;
};

/* The folder that holds the lanes, and the open ones. */
struct wm_lane_folder {
	int dirfd, index_dirfd; /* not owned */
	unsigned char uuid[WM_TRACE_UUID_BYTES];
	struct wm_lane_file *open[WM_LANES_OPEN_MAX];
	uint32_t nr_open, max_open;
	uint64_t uses;
	uint64_t bytes; /* bytes of all lanes, indexes included */
};

/* The thread that wrote all records of a packet. */
struct wm_packet_owner {
	uint32_t pid, vpid, tid, level;
};

struct wm_lane_packet {
	/* NULL: packets of this kind of stream have no owner */
	const struct wm_packet_owner *owner;
	bool has_cpu; /* for kernel streams */
	uint32_t cpu;
	uint64_t begin, end; /* clock values; begin is not before lane->end */
	uint64_t count, lost;
	const void *payload;
	size_t payload_bytes; /* a multiple of 8 */
	/* padding of the last record, which the packet's content size excludes */
	size_t padding_bytes;
};

void wm_lane_file_init(struct wm_lane_file *lane, const char *name, uint32_t stream,
		       uint32_t number);

/*
 * Writes a packet, then its index entry. On failure returns -errno, and neither is in its file.
 * When a lane's first packet has a loss, an empty packet is written before it, since readers use
 * the differences between loss counters.
 */
int wm_lane_file_write(struct wm_lane_folder *f, struct wm_lane_file *lane,
		       const struct wm_lane_packet *packet);

/*
 * Closes the lane's files. Tries once more to truncate a torn lane; returns -errno when that fails.
 */
int wm_lane_file_close(struct wm_lane_folder *f, struct wm_lane_file *lane);

#endif
