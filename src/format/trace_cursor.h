/* SPDX-License-Identifier: MIT */
/*
 * trace_cursor.h - one stream file, record by record. Holds one packet in
 * memory, and only from the moment its first record is wanted; no descriptor
 * in between, so thousands of files can be read at once.
 */
#ifndef WM_FORMAT_TRACE_CURSOR_H
#define WM_FORMAT_TRACE_CURSOR_H

#include "format/trace_file.h"
#include "format/trace_layout.h"

struct wm_cursor {
	const struct wm_plan *plan;
	int dirfd; /* borrowed */
	struct wm_fault_sink sink;
	struct wm_stream_file file; /* owned */
	uint32_t at;                /* index of the packet */

	/* Of the packet. */
	struct wm_frame frame;
	unsigned char *buffer; /* NULL: not read yet, `clock` is the packet's begin */
	uint64_t nr_read;      /* records met so far */
	bool time_told;

	/* Of the record. */
	uint64_t clock;
	size_t pos, bytes; /* without padding */
	const struct wm_plan_event *event;
	uint64_t previous_end; /* of the packet before */
	bool overlap_told;
	int io_err; /* the last error of the file system; 0: none yet */
};

/* Takes over `file`. */
void wm_cursor_init(struct wm_cursor *c, const struct wm_plan *plan, int dirfd,
		    const struct wm_fault_sink *sink, struct wm_stream_file *file);
void wm_cursor_done(struct wm_cursor *c);

/*
 * Moves to the first packet (when nothing was read yet), into the packet (when
 * its records were not), or to the next record or packet. 1, 0 at the end,
 * -ENOMEM. Bad records end their packet with a fault.
 */
int wm_cursor_step(struct wm_cursor *c);

/* What stands behind the record's header. */
struct wm_record_parts {
	struct wm_mixed_context owner; /* of the packet, or of the record when mixed */
	const unsigned char *cpu;      /* NULL: none; u32, unaligned */
	const unsigned char *ustack;   /* NULL: none */
	uint32_t nr_ustack;
	const unsigned char *payload;
	uint32_t payload_bytes;
};
void wm_cursor_parts(const struct wm_cursor *c, struct wm_record_parts *ret);

#endif
