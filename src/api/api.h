/* SPDX-License-Identifier: MIT */
/*
 * api.h - shared by the files that implement <waymark/read.h>: trace.c opens traces and describes
 * them, select.c binds globs and filters to event types, reader.c returns events, columns.c returns
 * arrays of them, value.c describes fields. The installed structures of values and fields have the
 * same layout as the reader's (item.h), under other names; value.c asserts this.
 */
#ifndef WM_API_API_H
#define WM_API_API_H

#include <waymark/read.h>

#include "api/sized.h"
#include "trace/event_comm.h"
#include "trace/event_select.h"
#include "trace/merge.h"

#define WM_API __attribute__((visibility("default")))

/* An event type, and this room's data about it. */
struct waymark_type {
	const struct wm_event_type *type;
	const char *name; /* "provider:name" */
	uint32_t number, trace;
	struct wm_field_ref comm; /* the context that names the thread */
};

struct waymark_trace {
	uint32_t nr_traces, nr_types, nr_streams;
	struct wm_trace **traces;
	uint32_t *first_type, *first_stream; /* number of each trace's first type and stream */
	struct waymark_type *types;          /* indexed by number */
	struct wm_timeline *timeline;
	struct wm_arena arena;
	bool is_borrowed; /* the caller owns the traces */
};

/* What a reader selects. */
struct wm_api_select {
	struct wm_select events;
	uint32_t stream; /* number of the only stream; WAYMARK_NO_NUMBER: all */
};

/* State for reading packet by packet. */
struct wm_api_walk {
	uint32_t trace;
	uint64_t packet, step; /* the next packet; the distance to the one after it */
	bool open;
	struct wm_packet_reader *reader; /* reader of packets of that trace */
	struct wm_batch batch;
	struct waymark_event *events;
	uint32_t nr_events, room_events;
	uint32_t at; /* index in `events` of the next one for waymark_next() */
};

struct waymark_reader {
	struct waymark_trace *trace;
	struct wm_api_select select;
	int64_t begin_ns, end_ns;
	bool unordered;
	uint32_t share, nr_shares;
	struct wm_merge *merge; /* for a reader in time order */
	struct wm_api_walk walk;
	struct waymark_event event; /* ordered: the last event returned */
	int err;                    /* error returned by all calls until waymark_seek() */
};

/* Fills `error`, which may be NULL. Always returns `err`. */
int wm_api_fail(struct waymark_error *error, int err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
int wm_api_fail_said(struct waymark_error *error, int err, const struct wm_diag *diag);

/*
 * Returns "provider:name", allocated in the arena, or `name` itself if it needs no provider; NULL:
 * out of memory.
 */
const char *wm_api_full_name(struct wm_arena *arena, const char *provider, const char *name);

/* Returns 0 or -errno; call wm_api_select_done() in either case. */
int wm_api_select(struct waymark_trace *t, const struct waymark_options *o,
		  struct wm_api_select *ret, struct waymark_error *error);
void wm_api_select_done(struct wm_api_select *s);

/*
 * Returns whether the event passes the reader's filters and belongs to its stream. `trace` is the
 * number of the event's trace.
 */
bool wm_api_passes(const struct waymark_reader *r, uint32_t trace, const struct wm_event *e);

/*
 * Creates a waymark_trace for an open trace that has another owner and outlives it; NULL: out of
 * memory.
 */
struct waymark_trace *wm_api_trace_of(struct wm_trace *one);

/* Converts an event of trace number `trace` to the installed structure. */
void wm_api_give(const struct waymark_trace *t, uint32_t trace, const struct wm_event *e,
		 struct waymark_event *ret);

/* Implements waymark_comm(). */
const char *wm_api_event_comm(const struct waymark_trace *t, const struct waymark_event *event,
			      uint32_t *ret_bytes);

/* Returns the name of the event's thread, not NUL-terminated. */
const char *wm_api_comm(const struct waymark_trace *t, const struct waymark_type *type,
			const struct wm_event *e, uint32_t *ret_bytes);

#endif
