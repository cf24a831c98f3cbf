/* SPDX-License-Identifier: MIT */
/*
 * trace_reader.h - reads traces that trace_writer.h wrote, finished, growing,
 * damaged or cut, in order of time. The general reader is a later room-mate;
 * this one must be right, and fear nothing: all bytes are hostile.
 *
 * Damage is not an error: reading goes on with the next good part, and each
 * loss is kept as a wm_trace_fault with file, offset and reason.
 *
 * Order: by clock value; equal ones by stream class id, then lane, then file
 * name, and in one file as they stand (babeltrace2 does the same, but rounds
 * to nanoseconds first). time_ns is exact, rounded down; babeltrace2 computes
 * with doubles and can be a nanosecond or two off on a cycle clock.
 */
#ifndef WM_FORMAT_TRACE_READER_H
#define WM_FORMAT_TRACE_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "event/class.h"

struct wm_trace_reader;

struct wm_trace_event {
	uint64_t time_ns; /* since the epoch */
	uint64_t clock;   /* raw */
	uint32_t pid, vpid, tid, level;
	const char *comm; /* of the process, "" when unknown */
	const struct wm_class *class;
	bool has_cpu;
	uint32_t cpu;
	const unsigned char *ustack; /* nr_ustack little-endian u64s, innermost first; unaligned */
	uint32_t nr_ustack;
	const unsigned char *payload;
	uint32_t payload_bytes;
	bool recorder; /* of the recorder's own stream: waymark:process and the like */
};

struct wm_trace_fault {
	char file[256];
	uint64_t offset;
	char reason[WM_DIAG_SENTENCE];
};

struct wm_trace_summary {
	uint64_t events, packets, bytes, begin_ns, end_ns;
	uint64_t clock_hz, clock_error_ns;
	uint32_t nr_streams, nr_classes, nr_processes;
	char format[16], host[65], tracer[64], command[256], clock[32];
	uint64_t lost[8];         /* enum wm_lost */
	uint64_t lost_unknown;    /* and those nobody knows a cause for */
	uint64_t recorder_events; /* not in `events` */
};

/* A process of the trace, from its joining to its end. */
struct wm_trace_process {
	uint32_t pid, ppid, vpid, uid;
	uint64_t begin_clock, end_clock; /* raw; end UINT64_MAX: not seen to end */
	uint64_t begin_ns;
	const char *comm, *path;
};

int wm_trace_reader_open(const char *dir, struct wm_trace_reader **ret, struct wm_diag *diag);
void wm_trace_reader_close(struct wm_trace_reader *r);

/* 1 and an event (valid until the next call), 0 at the end, -errno. */
int wm_trace_reader_next(struct wm_trace_reader *r, struct wm_trace_event *ret);

/* Faults are added while reading; when there are very many, the last one says how many more. */
uint32_t wm_trace_reader_nr_faults(const struct wm_trace_reader *r);
const struct wm_trace_fault *wm_trace_reader_fault(const struct wm_trace_reader *r, uint32_t i);

uint32_t wm_trace_reader_nr_processes(const struct wm_trace_reader *r);
const struct wm_trace_process *wm_trace_reader_process(const struct wm_trace_reader *r, uint32_t i);

/* Totals; walks packets, not events. Loss counts come from the recorder's stream. */
int wm_trace_reader_summary(struct wm_trace_reader *r, struct wm_trace_summary *ret);

/*
 * Makes other readers take the trace again: cuts partial tails of stream
 * files back to the last whole packet, takes bad places between packets out,
 * ends packets before the first record that cannot be read, and writes index
 * files anew where they do not agree with the packets. Calls `fn` for each
 * thing done. Whatever this reader can read stays; a second run does nothing.
 * -EBUSY when the trace is still being written.
 */
int wm_trace_repair(const char *dir, void (*fn)(const struct wm_trace_fault *, void *), void *data,
		    struct wm_diag *diag);

#endif
