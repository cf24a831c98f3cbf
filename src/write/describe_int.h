/* SPDX-License-Identifier: MIT */
/*
 * describe_int.h - what a recording's metadata contains: the trace, its kinds of streams, the event
 * classes of traced programs and of the kernel. doc/format/trace.md describes it. It is the same in
 * both languages, except where a reader of one of them would not accept it. metadata.h prints it.
 */
#ifndef WM_WRITE_DESCRIBE_INT_H
#define WM_WRITE_DESCRIBE_INT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/text.h"
#include "event/class.h"
#include "write/metadata.h"

#define WM_TRACE_FORMAT_VERSION 1
#define WM_COMMAND_BYTES_MAX    4096u

struct wm_described_trace {
	unsigned char uuid[WM_TRACE_UUID_BYTES];
	char hostname[65];
	char created[24]; /* ISO 8601 */
	char *command;    /* NULL: unknown */
	enum wm_clock_kind clock_kind;
	uint64_t clock_hz, clock_start, start_realtime_ns, clock_error_ns;
	uint64_t sample_regs;     /* registers in samples' regs_user; 0: no samples */
	uint64_t sample_error_ns; /* upper bound on the error of the samples' times */
};

enum wm_stream_kind {
	WM_STREAM_KIND_RECORDER, /* the recorder's own: no pid in the packet context */
	WM_STREAM_KIND_USER,     /* packets of one thread: its pid and tid in the packet context */
	WM_STREAM_KIND_MIXED,    /* packets of many threads: pid and tid in the event context */
	WM_STREAM_KIND_COUNTERS, /* machine-wide counters from /proc: only fields */
	/* per-process counters from /proc: pid and tid in the event context */
	WM_STREAM_KIND_TASK_COUNTERS,
	WM_STREAM_KIND_KERNEL,  /* packets of one CPU: its number in the packet context; tid, flags
				 * and preempt_count in the event context */
	WM_STREAM_KIND_SAMPLES, /* packets of one CPU; event context: pid, tid, ip, period */
	WM_STREAM_KIND_TASKS,   /* packets of one CPU; task events: only fields */
	WM_NR_STREAM_KINDS
};

/*
 * Returns whether each packet holds the events of one CPU, whose number is in the packet context.
 */
static inline bool wm_stream_class_kind_has_cpu(enum wm_stream_kind kind)
{
	return kind >= WM_STREAM_KIND_KERNEL;
}

/* Each appends to `t`; when out of memory it sets t->failed. */
void wm_describe_trace(struct wm_text *t, enum wm_meta_language language,
		       const struct wm_described_trace *trace);
void wm_describe_stream(struct wm_text *t, enum wm_meta_language language, uint32_t stream,
			enum wm_stream_kind kind);
void wm_describe_event(struct wm_text *t, enum wm_meta_language language, uint32_t stream,
		       uint32_t id, uint32_t contexts, const struct wm_class *class);

/*
 * The time from the epoch to clock value 0: whole seconds, perhaps negative, and the remaining
 * cycles, less than one second.
 */
void wm_describe_clock_offset(const struct wm_described_trace *trace, int64_t *ret_seconds,
			      int64_t *ret_cycles);

/* --- describe_fields.c ------------------------------------------------------- */

/*
 * Describes the members of an event with these contexts: the structures `context` and `fields`,
 * each NULL when it has no members. They are allocated in the arena. Returns 0 or -ENOMEM.
 */
int wm_describe_fields(struct wm_arena *arena, enum wm_meta_language language, uint32_t contexts,
		       const struct wm_class *class, struct wm_meta_scope *ret_context,
		       struct wm_meta_scope *ret_fields);

#endif
