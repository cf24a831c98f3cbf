/* SPDX-License-Identifier: MIT */
/*
 * writer.h - events of any trace (trace/reader.h) as text, in one of several
 * formats. What can be made before is made once, in a wm_view; each thread
 * writes into a wm_view_page of its own.
 *
 *   waymark     [22:13:20.000001234] (+0.000000123) app:42/43 app:query: { cpu = 1 } { rows = 3 }
 *   babeltrace  babeltrace2 2.0.4's text, byte for byte
 *   perf        as perf script: comm tid [cpu] seconds: event: print form, or address
 *   json        one array of objects; jsonl: an object a line
 *   csv         time_ns, name, cpu, pid, tid, comm, then the fields
 *
 * Pages of later pieces of a trace do not know the time of the line before:
 * wm_view_page_join() puts the first line's delta in when it is known.
 */
#ifndef WM_VIEW_WRITER_H
#define WM_VIEW_WRITER_H

#include "base/text.h"
#include "symbol/address_lookup.h"
#include "trace/reader.h"

/* In the order of the option's choices. */
enum wm_view_format {
	WM_VIEW_WAYMARK,
	WM_VIEW_BABELTRACE,
	WM_VIEW_PERF,
	WM_VIEW_JSON,
	WM_VIEW_JSONL,
	WM_VIEW_CSV,
	WM_VIEW_NR_FORMATS
};

/*
 * Who knows what is at the addresses of samples, which perf's format shows
 * (symbol/address_lookup.h). Each page opens one of its own, as threads ask each in
 * order of time. 0 or a count; -errno ends the page.
 */
struct wm_view_places {
	void *(*open)(const void *data); /* NULL: no memory */
	void (*close)(void *own);
	int (*find)(void *own, uint32_t trace, const struct wm_event *e, uint64_t address,
		    enum wm_event_mode mode, struct wm_named_place *ret);
	int (*callers)(void *own, uint32_t trace, const struct wm_event *e,
		       struct wm_named_place ret[WM_UNWIND_FRAMES_MAX]);
	const void *data;
};

struct wm_view_options {
	enum wm_view_format format;
	const char *const *fields; /* only these are shown, and make CSV's columns */
	uint32_t nr_fields;        /* 0: all */

	const struct wm_view_places *places; /* NULL: nobody does */
};

struct wm_view;

/* What the lines so far say to the next one. */
struct wm_view_past {
	bool any;      /* there were lines */
	bool has_time; /* of the last one that had a time: */
	int64_t last_ns;
};

struct wm_view_page {
	struct wm_text text;
	uint64_t nr_events;
	struct wm_view_past past;
	bool later;       /* there may be lines before this page: `past` is of its own only */
	size_t start;     /* of what is to be written in `text`; before it is room for the joint */
	size_t joint;     /* where the first line's delta belongs; SIZE_MAX: nowhere */
	int64_t first_ns; /* of that line */
	int64_t second;   /* of hh_mm_ss, or seconds; INT64_MIN: of none */
	char hh_mm_ss[8];
	char seconds[24]; /* perf's, with the point */
	uint8_t seconds_bytes;
	const char *comm; /* perf's last thread: which string of the trace; NULL: none */
	int32_t tid;
	uint32_t comm_width;
	char thread[32]; /* as it was written */
	uint8_t thread_bytes;
	struct wm_view_names *names; /* of perf's addresses; NULL: none were asked for */
};

/* NULL: out of memory. Options and traces stay the caller's, and as they are. */
struct wm_view *wm_view_create(struct wm_trace *const *traces, uint32_t nr_traces,
			       const struct wm_view_options *options);
void wm_view_destroy(struct wm_view *v);

/*
 * The parts (bits 1 << enum wm_part) whose items no line of the trace shows, of
 * those types (by index; NULL: all): struct wm_want's no_parts.
 */
uint32_t wm_view_unused(const struct wm_view *v, uint32_t trace, const bool *types);

void wm_view_page_init(struct wm_view_page *p, bool later);
void wm_view_page_done(struct wm_view_page *p);

/* The same page for what is later: its memory is used again. */
void wm_view_page_again(struct wm_view_page *p, bool later);

/* Forgets its text from `start` on, which was written. */
void wm_view_page_clear(struct wm_view_page *p);

/* What stands before all events, and behind them. */
void wm_view_begin(const struct wm_view *v, struct wm_text *t);
void wm_view_end(const struct wm_view *v, struct wm_text *t);

/* Adds the event, of the trace of that index. page->text.failed tells of no memory. */
void wm_view_event_line(const struct wm_view *v, struct wm_view_page *p, uint32_t trace,
			const struct wm_event *e);

/* Adds the event's print form, of the trace of that index; false: it has none. */
bool wm_view_message(const struct wm_view *v, uint32_t trace, const struct wm_event *e,
		     struct wm_text *out);

/* Completes a `later` page, which may be written on, with what the lines before it were. */
void wm_view_page_join(const struct wm_view *v, struct wm_view_page *p,
		       const struct wm_view_past *past);

/* What babeltrace2 says on standard error of lost events or packets. */
void wm_view_loss(struct wm_text *t, const struct wm_trace *trace,
		  const struct wm_trace_loss *loss);

#endif
