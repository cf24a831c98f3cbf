/* SPDX-License-Identifier: MIT */
/*
 * sample_record_int.h - converts a kernel sample to a trace record: task, address, call chain,
 * registers, stack, and a tracepoint's own fields. A plan is made once for each sampled event. Must
 * not know about rings and clocks.
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
	/* Set for tracepoints, else NULL. */
	const char *system, *name, *format;
	size_t format_bytes;
	/* Bytecode of a filter (event/filter.h) that samples must pass; NULL: no filter. */
	const unsigned char *filter;
	size_t filter_bytes;
};

/* How to read and write one event's samples. */
struct wm_sample_plan {
	struct wm_perf_shape shape;
	uint64_t period; /* of samples that do not contain theirs */
	/* The WM_PERF_SAMPLE_* bits of the parts that become fields. */
	uint64_t parts;
	struct wm_kplan *fields;        /* a tracepoint's fields, else NULL */
	const struct wm_filter *filter; /* owned by the sieve; NULL: no filter */
};

/*
 * Declares the event to the stream with this id; its format is parsed with `machine` into `arena`.
 * Returns 0 or -errno; call wm_sample_plan_done() in both cases.
 */
int wm_sample_plan_make(struct wm_sample_plan *p, const struct wm_sample_event *e, int clockid,
			struct wm_kernel_stream *samples, uint32_t id,
			const struct wm_kmachine *machine, struct wm_arena *arena,
			struct wm_diag *diag);
void wm_sample_plan_done(struct wm_sample_plan *p);

/* limit for one sample's context and payload */
#define WM_SAMPLE_BYTES_MAX (16u * WM_PERF_RECORD_MAX)

/*
 * Writes a sample's context and payload; `record` is the whole kernel record. Returns the number of
 * bytes, or -EBADMSG. *ret_pid and *ret_tid identify the sampled task.
 */
int64_t wm_sample_put(const struct wm_sample_plan *p, const void *record, size_t bytes,
		      unsigned char *to, uint32_t *ret_pid, uint32_t *ret_tid);

#endif
