/* SPDX-License-Identifier: MIT */
/* writer_int.h - shared by the files of the writer: writer.c makes it, writer_*.c use it. */
#ifndef WM_VIEW_TEXT_WRITER_INT_H
#define WM_VIEW_TEXT_WRITER_INT_H

#include <string.h>

#include "trace/event_comm.h"
#include "view/shape.h"
#include "view/value_text.h"
#include "view/writer.h"

/* Prepared data of an event's type: shapes of its parts, and its name. */
struct view_type {
	const struct wm_shape *parts[WM_NR_PARTS]; /* NULL: not shown */
	struct wm_piece name;     /* in the format's form, with the separator after it */
	uint32_t needs;           /* bits 1 << enum wm_part: parts with items that its lines show */
	struct wm_field_ref comm; /* the context that names the thread */
	struct {
		uint32_t ip, period, chain; /* member's number + 1; 0: none. ip: set for samples */
		enum wm_part chain_part;    /* the others are in the stream's context */
	} sample;                           /* for perf's format */
	const struct wm_shape *form;        /* fields for the print form; NULL: none */
	const struct wm_shape *contexts;    /* the fields that are contexts; NULL: none */
	int level_part; /* the part that has a member level, shown when not 0; -1: none */
	uint32_t level_member;
};

struct view_trace {
	struct wm_trace *trace;
	const struct wm_view_options *options;
	uint32_t index;           /* of the trace */
	struct view_type *types;  /* by index */
	struct wm_piece *streams; /* by index: the text before the name (babeltrace) */
	struct wm_piece place;    /* JSON of several traces: which one */
};

struct wm_view {
	struct wm_view_options options;
	struct wm_arena arena;
	struct wm_shapes shapes;
	struct wm_shapes forms; /* with wm_style_people, for print forms */
	struct view_trace *traces;
	uint32_t nr_traces;
};

typedef void wm_view_write(const struct wm_view *v, struct wm_view_page *page,
			   const struct view_trace *t, const struct wm_event *e);

wm_view_write wm_view_write_waymark, wm_view_write_babeltrace, wm_view_write_perf,
    wm_view_write_json, wm_view_write_jsonl, wm_view_write_csv;

/* hh:mm:ss.nnnnnnnnn, local time. The caller has reserved 80 bytes. */
void wm_view_put_time(struct wm_pen *p, struct wm_view_page *page, int64_t ns);

/* "+1.000000123" or, without a previous time, "+?.?????????"; records the time. */
void wm_view_put_delta(struct wm_pen *p, struct wm_view_page *page, int64_t ns);

/* The thread's name as bytes, from the event or the trace; "" when unknown. */
const char *wm_view_comm(const struct view_trace *t, const struct wm_event *e, uint32_t *ret_bytes);

/* Escaped. Afterwards there are 256 bytes of room. */
static inline void wm_view_put_safe(struct wm_pen *p, const char *text, uint32_t bytes)
{
	wm_pen_close(p);
	wm_view_safe(p->text, text, bytes, false);
	wm_pen_resume(p);
}

/*
 * Pieces are padded: a short one is copied with a fixed size, and only its own
 * bytes are kept.
 */
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

/* The level of signal nesting, for a type that has one; 0: none. */
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

/* Appends the event's print form; false: its type has none that can be filled. */
bool wm_view_put_print(struct wm_pen *p, const struct view_trace *t, const struct wm_event *e);

/* The same for a text; the type must have a print form. */
bool wm_view_print(const struct view_trace *t, const struct wm_event *e, struct wm_text *out);

/* A page's address lookup (writer_perf.c); accepts NULL. */
void wm_view_names_destroy(struct wm_view_names *n);

/* CSV's heading. */
void wm_view_csv_head(const struct wm_view *v, struct wm_text *t);

#endif
