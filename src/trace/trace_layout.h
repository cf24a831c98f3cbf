/* SPDX-License-Identifier: MIT */
/*
 * trace_layout.h - the binary layouts of a trace directory: packet frames, record headers, index
 * files. doc/format/trace.md describes them. Shared by the writer and the reader; independent of
 * files and events.
 */
#ifndef WM_TRACE_TRACE_LAYOUT_H
#define WM_TRACE_TRACE_LAYOUT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define WM_PACKET_MAGIC     0xc1fc1fc1u
#define WM_TRACE_UUID_BYTES 16

/* Stream class 0 is the recorder's own; user streams count from 1. */
#define WM_STREAM_RECORDER 0u

/*
 * The frame before the records of every packet. Little-endian, without padding, a multiple of
 * 8 bytes, so records keep the 8-byte alignment they had in memory.
 */
struct wm_packet_frame {
	/* CTF packet header */
	uint32_t magic;
	unsigned char uuid[WM_TRACE_UUID_BYTES];
	uint32_t stream_id;
	uint64_t stream_instance_id; /* the lane */
	/* CTF packet context */
	uint64_t timestamp_begin, timestamp_end; /* raw clock values */
	uint64_t content_size, packet_size;      /* bits, frame included */
	uint64_t packet_seq_num;                 /* counts from 0 in each stream */
	uint64_t events_discarded;               /* running total of the stream */
	uint64_t event_count;                    /* records in this packet */
	/* absent in stream class 0 and in mixed streams */
	union {
		struct { /* user streams */
			uint32_t pid, vpid, tid, level;
		};
		uint64_t cpu_id; /* kernel streams */
	};
};

#define WM_FRAME_BYTES_USER   104u
#define WM_FRAME_BYTES_KERNEL 96u
#define WM_FRAME_BYTES_PLAIN  88u

static_assert(sizeof(struct wm_packet_frame) == WM_FRAME_BYTES_USER, "on disk");
static_assert(offsetof(struct wm_packet_frame, stream_id) == 20, "on disk");
static_assert(offsetof(struct wm_packet_frame, timestamp_begin) == 32, "on disk");
static_assert(offsetof(struct wm_packet_frame, pid) == WM_FRAME_BYTES_PLAIN, "on disk");

/* A record: header, contexts, fields, zero padding to a multiple of 8 bytes. */
#define WM_RECORD_HEADER_BYTES 8u
#define WM_RECORD_ALIGN        8u
#define WM_RECORD_TIME_BITS    48 /* header = clock << 16 | id */

static inline uint16_t wm_header_id(uint64_t header)
{
	return (uint16_t)header;
}

static inline uint64_t wm_header_make(uint16_t id, uint64_t clock)
{
	return clock << 16 | id;
}

/*
 * The full clock value of a record: the lowest value >= `before` whose low 48 bits are the
 * header's.
 */
static inline uint64_t wm_header_clock(uint64_t header, uint64_t before)
{
	uint64_t low = header >> 16, mask = ((uint64_t)1 << WM_RECORD_TIME_BITS) - 1;
	uint64_t clock = (before & ~mask) | low;

	return clock < before ? clock + mask + 1 : clock;
}

/* Event context of a mixed stream: follows each record's header. */
struct wm_mixed_context {
	uint32_t pid, vpid, tid, level;
};

static_assert(sizeof(struct wm_mixed_context) == 16, "on disk");

/* Event context of a kernel stream, after the record's header: ftrace's common fields. */
struct wm_kernel_context {
	uint32_t tid;
	uint8_t flags, preempt_count;
} __attribute__((packed));

static_assert(sizeof(struct wm_kernel_context) == 6, "on disk");

/* Event context of a stream of samples, after the record's header. */
struct wm_sample_context {
	int32_t pid, tid;
	uint64_t ip, period;
};

static_assert(sizeof(struct wm_sample_context) == 24, "on disk");

/* Event context of a stream of process counters, after the record's header. */
struct wm_task_context {
	int32_t pid, tid;
};

static_assert(sizeof(struct wm_task_context) == 8, "on disk");

/* index/NAME.idx: one header, one entry per packet. BIG-endian (LTTng's index 1.1). */
#define WM_INDEX_MAGIC 0xc1f1dcc1u
#define WM_INDEX_MAJOR 1u
#define WM_INDEX_MINOR 1u

struct wm_index_header {
	uint32_t magic, major, minor, entry_bytes;
};

struct wm_index_entry {
	uint64_t offset;                    /* bytes, in the stream file */
	uint64_t packet_size, content_size; /* bits */
	uint64_t timestamp_begin, timestamp_end;
	uint64_t events_discarded;
	uint64_t stream_id, stream_instance_id, packet_seq_num;
};

static_assert(sizeof(struct wm_index_header) == 16, "on disk");
static_assert(sizeof(struct wm_index_entry) == 72, "on disk");

#endif
