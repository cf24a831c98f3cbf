/* SPDX-License-Identifier: MIT */
/*
 * record.c - sizes of a producer's records: of a packet's last record, and of any record for
 * callers that split a packet.
 */
#include "write/trace_writer.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#include "trace/trace_layout.h"
#include "write/record_size_int.h"
#include "write/writer_int.h"

int64_t wm_writer_record_size(const struct wm_producer *p, const void *at, size_t avail)
{
	const struct wm_interned_event *e;
	uint64_t header;

	if (avail < WM_RECORD_HEADER_BYTES)
		return -EBADMSG;
	memcpy(&header, at, sizeof(header));
	e = wm_numbering_get(&p->ids, wm_header_id(le64toh(header)));
	return e ? wm_packed_size(e->class, e->contexts, at, avail) : -EBADMSG;
}

int64_t wm_producer_record_bytes(const struct wm_producer *p, const void *at, size_t avail)
{
	int64_t size = wm_writer_record_size(p, at, avail);

	if (size < 0)
		return size;
	size = (size + WM_RECORD_ALIGN - 1) & ~(int64_t)(WM_RECORD_ALIGN - 1);
	return (uint64_t)size <= avail ? size : -EBADMSG;
}
