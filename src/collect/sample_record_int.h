/* SPDX-License-Identifier: MIT */
/*
 * sample_record_int.h - a sample of the kernel as a record of a trace: who, where,
 * the call chain, registers and stack, and a tracepoint's own fields. Made once
 * for each event that is sampled. Knows no rings and no clocks.
 */
#ifndef WM_COLLECT_SAMPLE_RECORD_INT_H
#define WM_COLLECT_SAMPLE_RECORD_INT_H

#include <stddef.h>

#include "kdata/perf_sample.h"
#include "kdata/transcode.h"
#include "kernel/sampler.h"
#include "write/trace_writer.h"

struct wm_sample_event {
	struct wm_sampler_event sampled;
	/* Of a tracepoint; NULL: it is none. */
	const char *system, *name, *format;
	size_t format_bytes;
	/* Bytecode of a filter (event/filter.h) that samples must pass; NULL: all do. */
	const unsigned char *filter;
	size_t filter_bytes;
};

/* How one event's samples are read and written. */
struct wm_sample_plan {
	struct wm_perf_shape shape;
	uint64_t parts;                 /* WM_PERF_SAMPLE_* that are fields */
	struct wm_kplan *fields;        /* a tracepoint's; NULL: none */
	const struct wm_filter *filter; /* of the sieve's; NULL: all pass */
};

/*
 * Declares the event to the stream with that id; `machine` and `arena` are what
 * formats are parsed with. 0 or -errno; wm_sample_plan_done() in any case.
 */
int wm_sample_plan_make(struct wm_sample_plan *p, const struct wm_sample_event *e, int clockid,
			struct wm_kernel_stream *samples, uint32_t id,
			const struct wm_kmachine *machine, struct wm_arena *arena,
			struct wm_diag *diag);
void wm_sample_plan_done(struct wm_sample_plan *p);

/* No context and payload of one sample is longer. */
#define WM_SAMPLE_BYTES_MAX (16u * WM_PERF_RECORD_MAX)

/*
 * Context and payload of a sample (a whole record of the kernel's): bytes, or
 * -EBADMSG. *ret_pid and *ret_tid are whose it is.
 */
int64_t wm_sample_put(const struct wm_sample_plan *p, const void *record, size_t bytes,
		      unsigned char *to, uint32_t *ret_pid, uint32_t *ret_tid);

#endif
