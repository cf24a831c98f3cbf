/* SPDX-License-Identifier: MIT */
/*
 * cpu_packet_int.h - assembles one CPU's records into a packet. Records are built in the packet's
 * memory. The packet is written when it is full, when it spans as much time as a packet may, and
 * when its owner flushes it.
 */
#ifndef WM_COLLECT_CPU_PACKET_INT_H
#define WM_COLLECT_CPU_PACKET_INT_H

#include <stddef.h>
#include <stdint.h>

#include "collect/source.h"
#include "trace/trace_layout.h"
#include "write/trace_writer.h"

#define WM_CPU_PACKET_BYTES ((size_t)256 << 10) /* a packet that reaches this size is written */
#define WM_CPU_PACKET_SPAN  ((uint64_t)1 << 45) /* longest time a packet may span, in ticks */

struct wm_cpu_packet {
	struct wm_kernel_stream *stream;
	unsigned char *buffer;
	size_t room;
	/* The packet being filled. `lost` may be set before its first record. */
	uint32_t cpu, ring; /* see struct wm_kernel_packet */
	uint64_t begin, end, count, lost;
	size_t bytes;
	uint32_t padding; /* padding bytes after the last record */
	/* Counters over all packets; `written` is in bytes of payload. */
	uint64_t events, packets, written, lost_disk;
	int error; /* -errno of the last write that failed; 0: none failed */
};

/* `record_bytes` is the size of the longest record. Returns 0 or -ENOMEM. */
int wm_cpu_packet_init(struct wm_cpu_packet *p, struct wm_kernel_stream *stream,
		       size_t record_bytes);
void wm_cpu_packet_done(struct wm_cpu_packet *p);

/* Writes the packet. Returns 0 or -errno; after an error its records are counted as lost. */
int wm_cpu_packet_flush(struct wm_cpu_packet *p);

/* Adds the records written and lost to the source's totals. */
void wm_cpu_packet_account(const struct wm_cpu_packet *p, struct wm_source_totals *t);

/* Returns the address for the next record; first flushes the packet if necessary. */
static inline unsigned char *wm_cpu_packet_at(struct wm_cpu_packet *p, uint64_t clock)
{
	if (p->bytes >= WM_CPU_PACKET_BYTES || (p->count && clock - p->begin >= WM_CPU_PACKET_SPAN))
		(void)wm_cpu_packet_flush(p); /* errors are in the totals */
	return p->buffer + p->bytes;
}

/*
 * Adds the record built at wm_cpu_packet_at(); `bytes` is its size without padding. Clock values
 * must not decrease.
 */
static inline void wm_cpu_packet_add(struct wm_cpu_packet *p, uint64_t clock, size_t bytes)
{
	uint32_t padding = (uint32_t)(-bytes & (WM_RECORD_ALIGN - 1));

	__builtin_memset(p->buffer + p->bytes + bytes, 0, padding);
	p->bytes += bytes + padding;
	p->padding = padding;
	if (!p->count++)
		p->begin = clock;
	p->end = clock;
}

#endif
