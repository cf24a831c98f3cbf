/* SPDX-License-Identifier: MIT */
/*
 * writer_int.h - declarations shared by the files of the writer: writer.c prepares the data,
 * writer_*.c use it.
 */
#ifndef WM_VIEW_TEXT_WRITER_INT_H
#define WM_VIEW_TEXT_WRITER_INT_H

#include <string.h>

#include "trace/event_comm.h"
#include "view/shape.h"
#include "view/value_text.h"
#include "view/writer.h"

/* Prepared data about an event type: shapes of its parts, and its name. */
struct view_type {
	const struct wm_shape *parts[WM_NR_PARTS]; /* NULL: not shown */
	struct wm_piece name;     /* name as the format writes it, followed by the separator */
	uint32_t needs;           /* bits 1 << enum wm_part: parts whose items its lines show */
	struct wm_field_ref comm; /* the context that names the thread */
	struct {
		/* number of the member + 1; 0: none. `ip` is set for samples only */
		uint32_t ip, period, chain, branches;
		/* the part that contains `chain` and the one that contains `branches`; the others
		 * are in the stream's context */
		enum wm_part chain_part, branches_part;
	} sample;                        /* for perf's format */
	const struct wm_shape *form;     /* fields for the print form; NULL: none */
	const struct wm_shape *contexts; /* the fields that are contexts; NULL: none */
	/* the part with a member "level", which is shown unless 0; -1: none */
	int level_part;
	uint32_t level_member;
};

struct view_trace {
	struct wm_trace *trace;
	const struct wm_view_options *options;
	uint32_t index;          /* index of the trace */
	struct view_type *types; /* by index */
	/* by index: text before the log level and the name (babeltrace) */
	struct wm_piece *streams;
	struct wm_piece place; /* JSON for several traces: which one */
	bool has_heads;        /* the pieces of `streams` are not empty */
};

struct wm_view {
	struct wm_view_options options;
	bool has_other_moment; /* babeltrace: not "[TIME] (DELTA) " with the time of day */
	struct wm_arena arena;
	struct wm_shapes shapes;
	struct wm_shapes bare;  /* babeltrace's style without names */
	struct wm_shapes forms; /* with wm_style_people, for print forms */
	struct view_trace *traces;
	uint32_t nr_traces;
};

typedef void wm_view_write(const struct wm_view *v, struct wm_view_page *page,
			   const struct view_trace *t, const struct wm_event *e);

wm_view_write wm_view_write_waymark, wm_view_write_babeltrace, wm_view_write_perf,
    wm_view_write_json, wm_view_write_jsonl, wm_view_write_csv, wm_view_write_details;

/* Write a time; the caller must have reserved 80 bytes. The first: the time of day, or the date. */
void wm_view_put_time(struct wm_pen *p, struct wm_view_page *page, int64_t ns,
		      const struct wm_view_options *o);
void wm_view_put_seconds(struct wm_pen *p, int64_t ns);
void wm_view_put_cycles(struct wm_pen *p, uint64_t cycles);

/* Writes a number with at least that many digits; returns its end. */
char *wm_view_padded(char *at, uint64_t n, uint32_t digits);

/*
 * Writes "+1.000000123" or, without a previous time, "+?.?????????"; stores the time for the next
 * call. With WM_VIEW_TIME_CYCLES, `ns` is in ticks.
 */
void wm_view_put_delta(struct wm_pen *p, struct wm_view_page *page, int64_t ns,
		       const struct wm_view_options *o);

/* Returns the thread's name, from the event or the trace, not NUL-terminated; "" when unknown. */
const char *wm_view_comm(const struct view_trace *t, const struct wm_event *e, uint32_t *ret_bytes);

/* Writes text with control characters escaped. Leaves 256 bytes of room. */
static inline void wm_view_put_safe(struct wm_pen *p, const char *text, uint32_t bytes)
{
	wm_pen_close(p);
	wm_view_safe(p->text, text, bytes, false);
	wm_pen_resume(p);
}

/* Pieces are padded, so that a short one can be copied with a fixed size. */
#define WM_VIEW_PIECE_PADDING 64u

static inline void wm_view_put_piece(struct wm_pen *p, const struct wm_piece *piece)
{
	if (piece->bytes > WM_VIEW_PIECE_PADDING) {
		wm_pen_add(p, piece->text, piece->bytes);
		return;
	}
	wm_pen_need(p, WM_VIEW_PIECE_PADDING);
	memcpy(p->at, piece->text, WM_VIEW_PIECE_PADDING);
	p->at += piece->bytes;
}

/* Returns the signal nesting level, for a type that has one; 0: none. */
static inline uint64_t wm_view_level(const struct view_type *type, const struct wm_event *e)
{
	uint32_t at;

	if (type->level_part < 0)
		return 0;
	at = e->parts[type->level_part].at;
	for (uint32_t k = 0; k < type->level_member; k++)
		at = e->items[at].next;
	return e->items[at].u;
}

/*
 * Writes what precedes the names of a stream's events, or the members that JSON adds to these
 * events.
 */
void wm_view_head_of(const struct wm_view *v, const struct wm_trace *trace,
		     const struct wm_stream *s, struct wm_text *t);

/* Writes the log level, if selected, and the name, as in the babeltrace format. */
void wm_view_babeltrace_name(const struct wm_view *v, struct wm_text *t,
			     const struct wm_event_type *type);

/* Appends the event's filled-in print form; false: its type has none, or it cannot be filled in. */
bool wm_view_put_print(struct wm_pen *p, struct wm_view_page *page, const struct view_trace *t,
		       const struct wm_event *e);

/*
 * Like wm_view_put_print(), but appends to a struct wm_text; the type must have a print form.
 * Without a page (NULL), kernel addresses are named only if the trace has the symbols.
 */
bool wm_view_print(struct wm_view_page *page, const struct view_trace *t, const struct wm_event *e,
		   struct wm_text *out);

/* An event whose print form is being written. */
struct view_asking {
	struct wm_view_page *page;
	const struct view_trace *t;
	const struct wm_event *e;
};

/* Finds the names of an address in the event; without a lookup, none. */
void wm_view_name_place(const struct view_asking *a, uint64_t address, enum wm_event_mode mode,
			struct wm_named_place *ret);

/* Names a kernel address in the print form of a struct view_asking; see kdata/kernel_names.h. */
const char *wm_view_kernel_name(void *own, uint64_t address, uint64_t *ret_start);

/* Frees a page's address lookup; accepts NULL. */
void wm_view_names_destroy(struct wm_view_names *n);

/* Write a sample's call chain, a line for each frame, or its only address, in perf's style. */
void wm_view_put_chain(struct wm_pen *p, struct wm_view_page *page, const struct view_trace *t,
		       const struct wm_event *e, const struct wm_item *chain);
/* Leaves the address unconverted: perf shows file offsets only in call chains. */
void wm_view_put_address(struct wm_pen *p, struct wm_view_page *page, const struct view_trace *t,
			 const struct wm_event *e, uint64_t address);

/* Write a sample's branches; `column` is WM_VIEW_BRSTACK or WM_VIEW_BRSTACKSYM. */
void wm_view_put_branches(struct wm_pen *p, struct wm_view_page *page, const struct view_trace *t,
			  const struct wm_event *e, const struct wm_item *list, uint32_t column);

/* Writes the first line of CSV, the column names. */
void wm_view_csv_head(const struct wm_view *v, struct wm_text *t);

#endif
