/* SPDX-License-Identifier: MIT */
/*
 * lane_int.h - the files of a trace that grow: a lane is one stream file and its
 * index file, an ordered run of packets that do not overlap in time.
 *
 * Between two calls both files hold whole packets and whole entries, the same
 * ones, whatever failed: a short write is cut back, and when even that fails
 * the lane is `torn` and is cut before anything else is written to it.
 *
 * Only so many lanes are kept open at once; the least recently used is closed.
 */
#ifndef WM_WRITE_LANE_INT_H
#define WM_WRITE_LANE_INT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/trace_layout.h"

#define WM_LANES_OPEN_MAX 64u

struct wm_lane {
	char name[32]; /* of the stream file */
	uint32_t stream, number;
	uint64_t end;                /* of the last packet */
	uint64_t bytes, index_bytes; /* that are good */
	uint64_t nr_packets, discarded;
	uint64_t used;    /* when: a count */
	int fd, index_fd; /* -1: closed */
	bool torn;
};

/* Where lanes live, and those open. */
struct wm_lane_folder {
	int dirfd, index_dirfd; /* borrowed */
	unsigned char uuid[WM_TRACE_UUID_BYTES];
	struct wm_lane *open[WM_LANES_OPEN_MAX];
	uint32_t nr_open, max_open;
	uint64_t uses;
	uint64_t bytes; /* of all lanes, indexes included */
};

/* Who wrote a packet's records, when it was one thread. */
struct wm_packet_owner {
	uint32_t pid, vpid, tid, level;
};

struct wm_lane_packet {
	const struct wm_packet_owner *owner; /* NULL: not in this kind of stream */
	bool has_cpu;                        /* a kernel stream's */
	uint32_t cpu;
	uint64_t begin, end; /* begin at or after lane->end */
	uint64_t count, lost;
	const void *payload;
	size_t payload_bytes; /* a multiple of 8 */
	size_t padding_bytes; /* of the last record: the end of the payload that is no content */
};

void wm_lane_init(struct wm_lane *lane, const char *name, uint32_t stream, uint32_t number);

/*
 * Writes a packet, then its index entry. On failure -errno, and neither is
 * there. A first packet with a loss gets an empty one before it, since
 * readers count differences.
 */
int wm_lane_write(struct wm_lane_folder *f, struct wm_lane *lane,
		  const struct wm_lane_packet *packet);

/* Closes its files. A torn one gets its last chance; -errno when it stays torn. */
int wm_lane_close(struct wm_lane_folder *f, struct wm_lane *lane);

#endif
