/* SPDX-License-Identifier: MIT */
/*
 * trace_plan.h - how to read the packets of a trace that trace_writer.h
 * wrote: where the fields of a packet's frame are, and which class an event
 * id means. Made once from the metadata; sizes and offsets are the
 * metadata's, not this program's. Knows no files.
 *
 * What does not map (another tracer's trace) is refused with a reason.
 */
#ifndef WM_FORMAT_TRACE_PLAN_H
#define WM_FORMAT_TRACE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/class.h"
#include "format/ctf_type.h"

#define WM_FRAME_BYTES_MAX       4096u
#define WM_PLAN_STREAMS_MAX      65536u
#define WM_PLAN_PACKET_BYTES_MAX (256u << 20) /* larger packets are not believed */

/* Fields of a frame: those with a role in CTF have its number, ours follow. */
enum wm_plan_slot {
	WM_SLOT_EVENT_COUNT = WM_CTF_NR_ROLES,
	WM_SLOT_PID,
	WM_SLOT_VPID,
	WM_SLOT_TID,
	WM_SLOT_LEVEL,
	WM_SLOT_CPU,
	WM_SLOT_NR
};

struct wm_slot {
	uint32_t offset, bytes; /* bytes 0: not there */
};

struct wm_plan_event {
	const struct wm_class *class;
	uint32_t contexts; /* enum wm_context */
};

struct wm_plan_stream {
	uint64_t id;
	uint32_t records_at; /* bytes from the packet's begin */
	uint32_t frame_bytes;
	uint32_t context_bytes; /* behind each record's header */
	bool mixed;             /* they are a struct wm_mixed_context */
	bool kernel;            /* they are a struct wm_kernel_context */
	struct wm_slot slots[WM_SLOT_NR];
	uint32_t nr_ids;
	const struct wm_plan_event **events; /* by id; NULL: none */
};

struct wm_plan {
	const struct wm_ctf_metadata *metadata; /* borrowed; owns all pieces */
	const struct wm_ctf_clock *clock;
	struct wm_slot header[WM_SLOT_NR]; /* of the packet header: before the stream is known */
	uint32_t header_bytes;
	uint32_t nr_streams, nr_events;
	struct wm_plan_stream *streams; /* by id */
};

/* Frame of one packet. */
struct wm_frame {
	uint64_t offset; /* of the packet in its file */
	uint64_t bytes;  /* of the packet */
	uint64_t content_bytes;
	uint64_t begin, end, count, discarded, sequence, instance;
	uint32_t pid, vpid, tid, level, cpu;
	bool has_count, has_sequence;
	const struct wm_plan_stream *stream;
};

int wm_plan_build(struct wm_ctf_metadata *m, struct wm_plan *ret, struct wm_diag *diag);

/*
 * Reads a frame from the first bytes of a packet (up to WM_FRAME_BYTES_MAX of
 * them) at `offset` of a file that has `rest` bytes from there on. -EBADMSG
 * with the reason in `diag`; -ENODATA when all is well but the file ends
 * inside the packet (ret_frame is filled as far as the frame is there: bytes
 * is 0 when it is not).
 */
int wm_plan_frame(const struct wm_plan *p, const unsigned char *head, size_t bytes, uint64_t offset,
		  uint64_t rest, struct wm_frame *ret_frame, struct wm_diag *diag);

/* Does a packet of this trace seem to begin here? Looks at magic and uuid. */
bool wm_plan_looks_like(const struct wm_plan *p, const unsigned char *head, size_t bytes);

const struct wm_plan_event *wm_plan_event(const struct wm_plan_stream *s, uint32_t id);

/* Nanoseconds since the epoch (or since the clock's origin) of a raw clock value. */
uint64_t wm_plan_ns(const struct wm_plan *p, uint64_t clock);

/* --- trace_class.c -------------------------------------------------------- */

/*
 * One event of the metadata as a class of ours. `m` is where memory comes
 * from. -EBADMSG or -E2BIG when it does not map.
 */
int wm_plan_class(struct wm_ctf_metadata *m, const struct wm_ctf_event *e,
		  struct wm_plan_event *ret, struct wm_diag *diag);

#endif
