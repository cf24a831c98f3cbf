/* SPDX-License-Identifier: MIT */
/*
 * metadata.h - the text of a trace's `metadata` file, in CTF 1.8 (TSDL) and in CTF 2 (JSON),
 * through one table of functions. doc/format/trace.md describes it. Uses event classes; independent
 * of files and packets.
 *
 * Names and strings come from hostile programs: the output is always well-formed.
 */
#ifndef WM_WRITE_METADATA_H
#define WM_WRITE_METADATA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/text.h"
#include "event/class.h"
#include "trace/trace_layout.h"

#define WM_TRACE_FORMAT_VERSION 1
#define WM_COMMAND_BYTES_MAX    4096u

struct wm_meta_trace {
	unsigned char uuid[WM_TRACE_UUID_BYTES];
	char hostname[65];
	char created[24]; /* ISO 8601 */
	char *command;    /* NULL: unknown */
	enum wm_clock_kind clock_kind;
	uint64_t clock_hz, clock_start, start_realtime_ns, clock_error_ns;
	uint64_t sample_regs;     /* registers in samples' regs_user; 0: no samples */
	uint64_t sample_error_ns; /* upper bound of the error of the samples' times */
};

enum wm_stream_kind {
	WM_STREAM_KIND_RECORDER, /* the recorder's own: no pid in the packet context */
	WM_STREAM_KIND_USER,     /* packets of one thread: its pid and tid in the packet context */
	WM_STREAM_KIND_MIXED,    /* packets of many threads: pid and tid in the event context */
	WM_STREAM_KIND_COUNTERS, /* counters of the whole machine from /proc: only fields */
	/* counters of a process from /proc: pid and tid in the event context */
	WM_STREAM_KIND_TASK_COUNTERS,
	WM_STREAM_KIND_KERNEL,  /* packets of one CPU: its number in the packet context; tid, flags
				 * and preempt_count in the event context */
	WM_STREAM_KIND_SAMPLES, /* packets of one CPU; event context: pid, tid, ip, period */
	WM_STREAM_KIND_TASKS,   /* packets of one CPU; task events: only fields */
	WM_NR_STREAM_KINDS
};

/* Returns whether each packet has the events of one CPU, whose number is in the packet context. */
static inline bool wm_stream_class_kind_has_cpu(enum wm_stream_kind kind)
{
	return kind >= WM_STREAM_KIND_KERNEL;
}

struct wm_meta_format {
	/* Writes everything before the first stream class. */
	void (*preamble)(struct wm_text *t, const struct wm_meta_trace *trace);
	/*
	 * Append declarations after the preamble, each stream before its events. Text once written
	 * never changes.
	 */
	void (*stream)(struct wm_text *t, uint32_t stream, enum wm_stream_kind kind);
	void (*event)(struct wm_text *t, uint32_t stream, uint32_t id, uint32_t contexts,
		      const struct wm_class *class);
};

extern const struct wm_meta_format wm_meta_ctf1, wm_meta_ctf2;

/* --- shared by both languages (metadata_text.c) ----------------------------- */

/*
 * Write a text as a quoted string of TSDL or JSON. In JSON, bytes that are not UTF-8 become U+FFFD.
 */
void wm_meta_tsdl_string(struct wm_text *t, const char *s);
void wm_meta_json_string(struct wm_text *t, const char *s);

const char *wm_meta_clock_name(enum wm_clock_kind kind);
void wm_meta_uuid(struct wm_text *t, const unsigned char uuid[WM_TRACE_UUID_BYTES]);

/*
 * The time from the epoch to clock value 0: whole seconds, perhaps negative, and the remaining
 * cycles, less than one second.
 */
void wm_meta_clock_offset(const struct wm_meta_trace *trace, int64_t *ret_seconds,
			  uint64_t *ret_cycles);

/* The release's version, as numbers. */
void wm_meta_version(uint32_t ret_parts[3]);

/*
 * The name of a scalar's type alias without "wm_": "i4", "u1", "b1", "c1", "z1"... A hostile
 * description cannot produce any other name.
 */
struct wm_scalar_name {
	char letters[3];
};
struct wm_scalar_name wm_meta_scalar(const struct wm_field *f);

/* A label's value, truncated to the width of its enumeration. */
struct wm_label_value {
	bool is_signed;
	int64_t value; /* reinterpret as uint64_t when not signed */
};
struct wm_label_value wm_meta_label(const struct wm_field *f, int64_t value);

/*
 * Writes "provider:name" through `quote`. The provider's part contains no colon, so that readers
 * can split the name at the first one.
 */
void wm_meta_event_name(struct wm_text *t, const struct wm_class *class,
			void (*quote)(struct wm_text *t, const char *s));

/*
 * Length of the well-formed UTF-8 character at `s`, where at least one byte is readable; 0 when it
 * is not well-formed.
 */
uint32_t wm_meta_utf8(const char *s);

/*
 * The member names of one event, in the order of its fields. They are unique and, if `identifiers`,
 * valid identifiers. Length members have names of their own.
 */
struct wm_meta_member {
	char name[WM_CLASS_NAME_MAX + 16];
	char length[WM_CLASS_NAME_MAX + 32]; /* "" except for sequences and blobs */
};

struct wm_meta_members {
	struct wm_meta_member *at; /* one per field; NULL when out of memory */
	uint32_t count;
};
/* `taken` lists names that the caller uses itself, terminated by NULL. */
struct wm_meta_members wm_meta_members(const struct wm_class *class, bool identifiers,
				       const char *const *taken);
void wm_meta_members_done(struct wm_meta_members *m);

#endif
