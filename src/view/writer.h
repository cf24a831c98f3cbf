/* SPDX-License-Identifier: MIT */
/*
 * writer.h - writes the events of any trace (trace/reader.h) as text, in one of several formats. A
 * wm_view holds everything that can be prepared once; each
 * thread writes to its own wm_view_page.
 *
 *   waymark     [22:13:20.000001234] (+0.000000123) app:42/43 app:query: { cpu = 1 } { rows = 3 }
 *   babeltrace  babeltrace2 2.0.4's text; BABELTRACE_21: that of 2.1
 *   perf        as perf script: comm tid [cpu] seconds: event: print form, or address
 *   json        one object with an array of events; jsonl: one object per line
 *   csv         time_ns, name, cpu, pid, tid, comm, then the fields
 *   details     everything the trace says, a line for each property and field
 *
 * A page for a later piece of the trace lacks the time of the previous line: wm_view_page_join()
 * inserts the first line's delta once it is known.
 */
#ifndef WM_VIEW_WRITER_H
#define WM_VIEW_WRITER_H

#include "base/text.h"
#include "symbol/address_lookup.h"
#include "trace/reader.h"

/* In the order of the command-line option's choices. */
enum wm_view_format {
	WM_VIEW_WAYMARK,
	WM_VIEW_BABELTRACE,
	WM_VIEW_PERF,
	WM_VIEW_JSON,
	WM_VIEW_JSONL,
	WM_VIEW_CSV,
	WM_VIEW_DETAILS,
	WM_VIEW_BABELTRACE_21,
	WM_VIEW_NR_FORMATS
};

/*
 * Finds symbols for sample addresses, which perf's format shows (symbol/address_lookup.h). Each
 * page opens its own lookup, because lookups must be in time order, which holds only within a
 * thread. The functions return 0 or a count; -errno makes the page fail.
 */
struct wm_view_places {
	void *(*open)(const void *data); /* NULL: out of memory */
	void (*close)(void *own);
	int (*scope)(void *own, uint32_t trace, const struct wm_event *e, enum wm_event_mode mode,
		     struct wm_place_scope *ret);
	int (*find)(void *own, uint32_t trace, const struct wm_event *e, uint64_t address,
		    enum wm_event_mode mode, struct wm_named_place *ret);
	int (*callers)(void *own, uint32_t trace, const struct wm_event *e,
		       struct wm_named_place ret[WM_UNWIND_FRAMES_MAX]);
	const void *data;
};

/* How the waymark and babeltrace formats write times. */
enum wm_view_time {
	WM_VIEW_TIME_OF_DAY, /* hh:mm:ss.nnnnnnnnn */
	WM_VIEW_TIME_DATE,   /* YYYY-MM-DD hh:mm:ss.nnnnnnnnn */
	WM_VIEW_TIME_SECONDS,
	WM_VIEW_TIME_CYCLES, /* ticks of the clock */
};

/* The parts of an event whose field names the babeltrace format prints, as bits. */
enum wm_view_named {
	WM_VIEW_NAMES_PAYLOAD = 1,
	WM_VIEW_NAMES_CONTEXT = 2,
	WM_VIEW_NAMES_SCOPE = 4,
	WM_VIEW_NAMES_HEADER = 8,
	WM_VIEW_NAMES_DEFAULT = WM_VIEW_NAMES_PAYLOAD | WM_VIEW_NAMES_CONTEXT,
};

/*
 * What the babeltrace format prints before the event's name, in this order, as bits. With has_head,
 * JSON has the same as members of the event.
 */
enum wm_view_head {
	WM_VIEW_HEAD_TRACE = 1,
	WM_VIEW_HEAD_HOSTNAME = 2,
	WM_VIEW_HEAD_DOMAIN = 4,
	WM_VIEW_HEAD_PROCNAME = 8,
	WM_VIEW_HEAD_VPID = 16,
	WM_VIEW_HEAD_STREAM = 32,
	WM_VIEW_HEAD_LEVEL = 64,
	WM_VIEW_HEAD_DEFAULT = WM_VIEW_HEAD_HOSTNAME | WM_VIEW_HEAD_PROCNAME | WM_VIEW_HEAD_VPID,
};

/* The columns of perf's format, named as those of perf script -F. */
enum wm_view_column {
	WM_VIEW_COMM = 1 << 0,
	WM_VIEW_TID = 1 << 1,
	WM_VIEW_PID = 1 << 2,
	WM_VIEW_CPU = 1 << 3,
	WM_VIEW_TIME = 1 << 4,
	WM_VIEW_PERIOD = 1 << 5,
	WM_VIEW_EVENT = 1 << 6,
	WM_VIEW_TRACE = 1 << 7, /* a tracepoint's print form, or the fields of any other event */
	WM_VIEW_IP = 1 << 8,    /* the address, or the call chain */
	WM_VIEW_SYM = 1 << 9,
	WM_VIEW_SYMOFF = 1 << 10,
	WM_VIEW_DSO = 1 << 11,
	WM_VIEW_BRSTACK = 1 << 12,    /* the branches, as addresses */
	WM_VIEW_BRSTACKSYM = 1 << 13, /* and as symbols */
};

struct wm_view_options {
	enum wm_view_format format;
	const char *const *fields; /* the fields to show, and the columns of CSV */
	uint32_t nr_fields;        /* 0: show all fields */

	uint32_t columns; /* for perf's format: bits of enum wm_view_column; 0: the usual ones */

	const struct wm_view_places *places; /* NULL: addresses are not resolved */
	enum wm_view_time time;
	bool gmt, no_delta;
	int64_t offset_ns; /* added to all times */
	/* `names` and `head` replace the defaults */
	bool has_names, has_head;
	uint32_t names, head; /* bits of enum wm_view_named and enum wm_view_head */
};

struct wm_view;

/* What the next line needs to know about the previous ones. */
struct wm_view_past {
	bool any;        /* there are previous lines */
	bool has_time;   /* one of them had a time */
	int64_t last_ns; /* the last such time; ticks with WM_VIEW_TIME_CYCLES */
};

struct wm_view_page {
	struct wm_text text;
	uint64_t nr_events;
	struct wm_view_past past;
	/* other pages precede this one: `past` describes only the lines of this page */
	bool later;
	/* start of the unwritten part of `text`; the gap before it is for the first delta */
	size_t start;
	size_t joint;     /* offset for the first line's delta; SIZE_MAX: none */
	int64_t first_ns; /* time of that line */
	int64_t second;   /* the second in date, hh_mm_ss or seconds; INT64_MIN: none */
	char date[11];    /* "YYYY-MM-DD " */
	char hh_mm_ss[8];
	char seconds[24]; /* text of the seconds in perf's style, with the decimal point */
	uint8_t seconds_bytes;
	const char *comm; /* perf's last thread: pointer to the trace's string; NULL: none */
	int32_t tid;
	uint32_t comm_width;
	char thread[32]; /* text of the thread */
	uint8_t thread_bytes;
	struct wm_view_names *names; /* symbols for perf's addresses; NULL: none looked up yet */
};

/*
 * Returns NULL when out of memory. The options and traces are not copied and must not be changed.
 */
struct wm_view *wm_view_create(struct wm_trace *const *traces, uint32_t nr_traces,
			       const struct wm_view_options *options);
void wm_view_destroy(struct wm_view *v);

/*
 * Returns the parts (bits 1 << enum wm_part) that no line of the trace shows, as needed for
 * wm_want.no_parts. `types` is indexed by type; NULL: all types.
 */
uint32_t wm_view_unused(const struct wm_view *v, uint32_t trace, const bool *types);

void wm_view_page_init(struct wm_view_page *p, bool later);
void wm_view_page_done(struct wm_view_page *p);

/* Resets the page for another piece of the trace, keeping its memory. */
void wm_view_page_again(struct wm_view_page *p, bool later);

/* Drops the page's text from `start` on, after it has been written. */
void wm_view_page_clear(struct wm_view_page *p);

/* Write the text before and after all events. */
void wm_view_begin(const struct wm_view *v, struct wm_text *t);
void wm_view_end(const struct wm_view *v, struct wm_text *t);

/*
 * Appends a line for an event of trace number `trace`. Sets page->text.failed when out of memory.
 */
void wm_view_event_line(const struct wm_view *v, struct wm_view_page *p, uint32_t trace,
			const struct wm_event *e);

/*
 * Appends the event's filled-in print form; `trace` is the index of its trace. False: the event has
 * none.
 */
bool wm_view_message(const struct wm_view *v, uint32_t trace, const struct wm_event *e,
		     struct wm_text *out);

/*
 * Completes a `later` page using the state of the previous lines. More lines may be added
 * afterwards.
 */
void wm_view_page_join(const struct wm_view *v, struct wm_view_page *p,
		       const struct wm_view_past *past);

/* Writes the message that babeltrace2 prints on standard error for lost events or packets. */
void wm_view_loss(struct wm_text *t, const struct wm_trace *trace,
		  const struct wm_trace_loss *loss);

#endif
