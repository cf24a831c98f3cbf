/* SPDX-License-Identifier: MIT */
/*
 * api.h - what the files behind <waymark/read.h> share: trace.c opens and tells
 * what is there, select.c binds globs and filters to the types of events,
 * reader.c gives events, columns.c arrays of them, value.c tells about fields.
 *
 * The installed structures of values and fields are the reader's own (item.h),
 * by another name: value.c holds both to one layout.
 */
#ifndef WM_API_API_H
#define WM_API_API_H

#include <waymark/read.h>

#include "trace/event_comm.h"
#include "trace/event_select.h"
#include "trace/merge.h"

#define WM_API __attribute__((visibility("default")))

/* A type of events, with what belongs to it here. */
struct waymark_type {
	const struct wm_event_type *type;
	const char *name; /* "provider:name" */
	uint32_t number, trace;
	struct wm_field_ref comm; /* the context that names the thread */
};

struct waymark_trace {
	uint32_t nr_traces, nr_types, nr_streams;
	struct wm_trace **traces;
	uint32_t *first_type, *first_stream; /* numbers, by trace */
	struct waymark_type *types;          /* by number */
	struct wm_timeline *timeline;
	struct wm_arena arena;
	bool is_borrowed; /* the traces are somebody else's */
};

/* What a reader gives of its traces. */
struct wm_api_select {
	struct wm_select events;
	uint32_t stream; /* the only one, by number; WAYMARK_NO_NUMBER: all */
};

/* One packet after the other. */
struct wm_api_walk {
	uint32_t trace;
	uint64_t packet, step; /* the next one; how many there are from one to the next */
	bool open;
	struct wm_packet_reader *reader; /* of that trace */
	struct wm_batch batch;
	struct waymark_event *events;
	uint32_t nr_events, room_events;
	uint32_t at; /* next of `events`, for who asks for one at a time */
};

struct waymark_reader {
	struct waymark_trace *trace;
	struct wm_api_select select;
	int64_t begin_ns, end_ns;
	bool unordered;
	uint32_t share, nr_shares;
	struct wm_merge *merge; /* ordered */
	struct wm_api_walk walk;
	struct waymark_event event; /* ordered: the last one given */
	int err;                    /* sticky, until waymark_seek() */
};

/* Fills `error`, which may be NULL. Always returns `err`. */
int wm_api_fail(struct waymark_error *error, int err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
int wm_api_fail_said(struct waymark_error *error, int err, const struct wm_diag *diag);
int wm_api_fail_diag(struct waymark_error *error, int err, const char *path,
		     const struct wm_diag *diag);

/* "provider:name" in the arena, or `name` itself when that is all; NULL: out of memory. */
const char *wm_api_full_name(struct wm_arena *arena, const char *provider, const char *name);

/* 0 or -errno; wm_api_select_done() in any case. */
int wm_api_select(struct waymark_trace *t, const struct waymark_options *o,
		  struct wm_api_select *ret, struct waymark_error *error);
void wm_api_select_done(struct wm_api_select *s);

/* Is the event, of the trace of that number, wanted? */
bool wm_api_passes(const struct waymark_reader *r, uint32_t trace, const struct wm_event *e);

/* The same over a trace that is open elsewhere and outlives it; NULL: out of memory. */
struct waymark_trace *wm_api_trace_of(struct wm_trace *one);

/* An event of the trace of that number, as it is given. */
void wm_api_give(const struct waymark_trace *t, uint32_t trace, const struct wm_event *e,
		 struct waymark_event *ret);

/* waymark_comm() of it. */
const char *wm_api_event_comm(const struct waymark_trace *t, const struct waymark_event *event,
			      uint32_t *ret_bytes);

/* The name of the event's thread; bytes that end with no NUL. */
const char *wm_api_comm(const struct waymark_trace *t, const struct waymark_type *type,
			const struct wm_event *e, uint32_t *ret_bytes);

#endif
