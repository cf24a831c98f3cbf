/* SPDX-License-Identifier: MIT */
/* writer_text.c - events as lines: waymark's and babeltrace2's formats. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/plural.h"
#include "view/text/writer_int.h"
#include "view/value_text.h"

#define HEAD_ROOM 256u

/* --- babeltrace2 ------------------------------------------------------------------------ */

/* Converts the time as babeltrace2 does: with doubles, unless a tick is a nanosecond. */
static int64_t babeltrace_ns(const struct wm_view *v, const struct wm_event *e)
{
	const struct wm_trace_clock *c = e->stream->clock;

	if (!c || c->hz == WM_NS_PER_SECOND)
		return e->ns;
	return (int64_t)((uint64_t)c->offset_ns + (uint64_t)v->options.offset_ns +
			 (uint64_t)(1e9 * (double)e->clock / (double)c->hz));
}

/*
 * Writes the time. Times before the origin are written as in babeltrace2: the first in seconds,
 * later ones as clock times.
 */
static void babeltrace_time(struct wm_pen *p, struct wm_view_page *page, int64_t ns,
			    const struct wm_view_options *o)
{
	uint64_t positive = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;

	if (o->time != WM_VIEW_TIME_SECONDS && (ns >= 0 || page->past.has_time || page->later))
		wm_view_put_time(p, page, (int64_t)positive, o);
	else
		wm_view_put_seconds(p, ns);
}

/* Writes the time and the delta with rarely used options. */
static void babeltrace_other_moment(const struct wm_view *v, struct wm_pen *p,
				    struct wm_view_page *page, const struct wm_event *e)
{
	const struct wm_view_options *o = &v->options;
	bool named = o->names & WM_VIEW_NAMES_HEADER, cycles = o->time == WM_VIEW_TIME_CYCLES;
	int64_t ns = cycles ? (int64_t)e->clock : babeltrace_ns(v, e);

	if (named)
		WM_PEN_PUT(p, "timestamp = ");
	else
		wm_pen_char(p, '[');
	if (cycles)
		wm_view_put_cycles(p, e->clock);
	else
		babeltrace_time(p, page, ns, o);
	if (!o->no_delta) {
		if (named)
			WM_PEN_PUT(p, ", delta = ");
		else
			WM_PEN_PUT(p, "] (");
		wm_view_put_delta(p, page, ns, o);
	}
	if (named)
		WM_PEN_PUT(p, ", ");
	else if (o->no_delta)
		WM_PEN_PUT(p, "] ");
	else
		WM_PEN_PUT(p, ") ");
	if (o->no_delta)
		page->past.has_time = true;
}

/* Writes "[TIME] (DELTA) ". */
static void babeltrace_moment(const struct wm_view *v, struct wm_pen *p, struct wm_view_page *page,
			      const struct wm_event *e)
{
	int64_t ns;

	if (v->has_other_moment) {
		babeltrace_other_moment(v, p, page, e);
		return;
	}
	ns = babeltrace_ns(v, e);
	wm_pen_char(p, '[');
	babeltrace_time(p, page, ns, &v->options);
	WM_PEN_PUT(p, "] (");
	wm_view_put_delta(p, page, ns, &v->options);
	WM_PEN_PUT(p, ") ");
}

static const char *const scope_names[WM_NR_PARTS] = {
    [WM_PART_PACKET_CONTEXT] = "stream.packet.context = ",
    [WM_PART_STREAM_CONTEXT] = "stream.event.context = ",
    [WM_PART_CONTEXT] = "event.context = ",
    [WM_PART_FIELDS] = "event.fields = ",
};

void wm_view_write_babeltrace(const struct wm_view *v, struct wm_view_page *page,
			      const struct view_trace *t, const struct wm_event *e)
{
	const struct view_type *type = &t->types[e->type->index];
	bool any = false, scopes = v->options.names & WM_VIEW_NAMES_SCOPE;
	struct wm_pen p;

	if (!wm_pen_open(&p, &page->text))
		return;
	if (e->ns != WM_TIME_NONE)
		babeltrace_moment(v, &p, page, e);
	wm_view_put_piece(&p, &t->streams[e->stream->index]);
	wm_view_put_piece(&p, &type->name);
	for (int part = 0; part < WM_NR_PARTS; part++) {
		if (!type->parts[part])
			continue;
		wm_pen_need(&p, HEAD_ROOM);
		if (any)
			WM_PEN_PUT(&p, ", ");
		any = true;
		if (scopes) {
			wm_pen_add(&p, scope_names[part], strlen(scope_names[part]));
			wm_pen_need(&p, HEAD_ROOM);
		}
		wm_pen_char(&p, '{');
		wm_shape_members(&p, type->parts[part], e->items, e->parts[part].at,
				 e->parts[part].end, 0);
		wm_pen_need(&p, HEAD_ROOM);
		WM_PEN_PUT(&p, " }");
	}
	wm_pen_need(&p, 2);
	wm_pen_char(&p, '\n');
	wm_pen_close(&p);
}

static void loss_time(struct wm_text *t, int64_t ns)
{
	struct wm_view_page page;
	struct wm_pen p;

	wm_view_page_init(&page, false);
	if (!wm_pen_open(&p, t))
		return;
	babeltrace_time(&p, &page, ns, &(struct wm_view_options){.time = WM_VIEW_TIME_OF_DAY});
	wm_pen_close(&p);
}

void wm_view_loss(struct wm_text *t, const struct wm_trace *trace, const struct wm_trace_loss *l)
{
	const struct wm_stream *s =
	    l->stream < trace->nr_streams ? trace->streams[l->stream] : NULL;
	const char *name = s ? wm_trace_stream_word(trace, s, "hostname") : NULL;
	const char *uuid = s && s->origin ? s->origin->shown_uuid : wm_trace_word(trace, "uuid");
	uint64_t n = l->count == UINT64_MAX ? 0 : l->count; /* if unknown, use the plural */
	const char *what =
	    l->packets ? wm_plural(n, "packet", "packets") : wm_plural(n, "event", "events");

	if (l->count == UINT64_MAX)
		wm_text_f(t, "WARNING: Tracer may have discarded %s ", what);
	else
		wm_text_f(t, "WARNING: Tracer discarded %llu %s ", (unsigned long long)l->count,
			  what);
	if (l->begin_ns > INT64_MIN && l->end_ns < INT64_MAX) {
		wm_text_str(t, "between [");
		loss_time(t, l->begin_ns);
		wm_text_str(t, "] and [");
		loss_time(t, l->end_ns);
		wm_text_str(t, "] ");
	} else {
		wm_text_str(t, "(unknown time range) ");
	}
	wm_text_f(t, "in trace \"%s\" ", name ? name : "");
	wm_text_f(t, uuid ? "(UUID: %s) " : "(no UUID) ", uuid);
	if (s)
		wm_text_f(t, "within stream \"%s%s%s\" (stream class ID: %llu, stream ID: %llu).\n",
			  trace->path, s->file[0] ? "/" : "", s->file,
			  (unsigned long long)s->class_id, (unsigned long long)s->instance);
	else
		wm_text_str(t, "within stream \"(unknown)\".\n");
}

/* --- waymark ------------------------------------------------------------------------------- */

static void writer_text_put_number(struct wm_pen *p, int32_t n)
{
	if (n < 0)
		wm_pen_char(p, '?');
	else
		p->at = wm_digits_u64(p->at, (uint32_t)n);
}

/* Writes "command:pid/tid ", or nothing if all are unknown. */
static void writer_text_put_thread(struct wm_pen *p, const struct view_trace *t,
				   const struct wm_event *e)
{
	uint32_t bytes;
	const char *comm = wm_view_comm(t, e, &bytes);

	if (!bytes && e->pid < 0 && e->tid < 0)
		return;
	if (bytes)
		wm_view_put_safe(p, comm, bytes);
	else
		wm_pen_char(p, '?');
	if (e->pid >= 0 || e->tid >= 0) {
		wm_pen_char(p, ':');
		writer_text_put_number(p, e->pid);
	}
	if (e->tid >= 0) {
		wm_pen_char(p, '/');
		writer_text_put_number(p, e->tid);
	}
	wm_pen_char(p, ' ');
}

/* Writes "{ cpu = 1, contexts... } ", or nothing if there are none. */
static void writer_text_put_contexts(struct wm_pen *p, const struct view_type *type,
				     const struct wm_event *e)
{
	uint32_t nr = 0;

	wm_pen_need(p, HEAD_ROOM);
	wm_pen_char(p, '{');
	if (e->cpu >= 0) {
		WM_PEN_PUT(p, " cpu = ");
		writer_text_put_number(p, e->cpu);
		nr = 1;
	}
	if (wm_view_level(type, e)) {
		wm_pen_put(p, nr ? ", level = " : " level = ", nr ? 10 : 9);
		p->at = wm_digits_u64(p->at, wm_view_level(type, e));
		nr++;
	}
	for (int part = 0; part < WM_PART_FIELDS; part++)
		if (type->parts[part])
			nr = wm_shape_members(p, type->parts[part], e->items, e->parts[part].at,
					      e->parts[part].end, nr);
	if (type->contexts)
		nr = wm_shape_members(p, type->contexts, e->items, e->parts[WM_PART_FIELDS].at,
				      e->parts[WM_PART_FIELDS].end, nr);
	wm_pen_need(p, HEAD_ROOM);
	if (nr)
		WM_PEN_PUT(p, " } ");
	else
		p->at--; /* removes the opening brace */
}

static void writer_text_put_fields(struct wm_pen *p, const struct view_type *type,
				   const struct wm_event *e)
{
	wm_pen_char(p, '{');
	if (type->parts[WM_PART_FIELDS])
		wm_shape_members(p, type->parts[WM_PART_FIELDS], e->items,
				 e->parts[WM_PART_FIELDS].at, e->parts[WM_PART_FIELDS].end, 0);
	wm_pen_need(p, HEAD_ROOM);
	WM_PEN_PUT(p, " }");
}

/* Writes "[TIME] (DELTA) ". */
static void waymark_moment(const struct wm_view_options *o, struct wm_pen *p,
			   struct wm_view_page *page, const struct wm_event *e)
{
	bool cycles = o->time == WM_VIEW_TIME_CYCLES;

	wm_pen_char(p, '[');
	if (cycles)
		wm_view_put_cycles(p, e->clock);
	else if (o->time != WM_VIEW_TIME_SECONDS && e->stream->clock &&
		 e->stream->clock->is_epoch && e->ns >= 0)
		wm_view_put_time(p, page, e->ns, o);
	else
		wm_view_put_seconds(p, e->ns);
	if (o->no_delta) {
		WM_PEN_PUT(p, "] ");
		return;
	}
	WM_PEN_PUT(p, "] (");
	wm_view_put_delta(p, page, cycles ? (int64_t)e->clock : e->ns, o);
	WM_PEN_PUT(p, ") ");
}

void wm_view_write_waymark(const struct wm_view *v, struct wm_view_page *page,
			   const struct view_trace *t, const struct wm_event *e)
{
	const struct view_type *type = &t->types[e->type->index];
	struct wm_pen p;

	if (!wm_pen_open(&p, &page->text))
		return;
	if (e->ns != WM_TIME_NONE)
		waymark_moment(&v->options, &p, page, e);
	if (t->has_heads)
		wm_view_put_piece(&p, &t->streams[e->stream->index]);
	writer_text_put_thread(&p, t, e);
	wm_view_put_piece(&p, &type->name);
	writer_text_put_contexts(&p, type, e);
	if (v->options.nr_fields || !wm_view_put_print(&p, page, t, e))
		writer_text_put_fields(&p, type, e);
	wm_pen_need(&p, 2);
	wm_pen_char(&p, '\n');
	wm_pen_close(&p);
}
