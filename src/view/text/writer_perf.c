/* SPDX-License-Identifier: MIT */
/*
 * writer_perf.c - events in the format of perf script:
 *
 *             comm     tid [cpu]    seconds:     period event:               ip name+0x1 (file)
 *             comm     tid [cpu]    seconds: event: print form, or name=value...
 *
 * The addresses of a sample's call chain follow on separate lines, then an empty line. Millions of
 * lines are written, so the page caches the text
 * that successive lines share: the thread's name and the whole second.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "view/text/writer_int.h"
#include "view/value_text.h"

#define COMM_WIDTH   16u
#define TID_WIDTH    7u
#define PERIOD_WIDTH 10u

#define BLANKS "                " /* as many blanks as the widest column needs */

/* Writes a right-aligned number; a number wider than the column is not truncated. */
static void put_wide(struct wm_pen *p, int64_t n, uint32_t width)
{
	uint64_t digits = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
	uint32_t bytes = wm_digits_count(digits) + (n < 0);

	memcpy(p->at, BLANKS, sizeof(BLANKS) - 1);
	p->at += width > bytes ? width - bytes : 0;
	if (n < 0)
		wm_pen_char(p, '-');
	p->at = wm_digits_u64(p->at, digits);
}

/* --- thread, cpu, time ------------------------------------------------------------------ */

/* Pads to the width; does nothing if the text is wider. */
static void put_blanks(struct wm_pen *p, uint32_t have, uint32_t width)
{
	memcpy(p->at, BLANKS, sizeof(BLANKS) - 1);
	p->at += have < width ? width - have : 0;
}

/* Writes a thread's name or, if it has none, its tid. */
static void writer_perf_put_comm(struct wm_pen *p, const char *comm, int32_t tid, uint32_t width)
{
	uint32_t bytes = (uint32_t)strlen(comm);

	if (bytes) {
		put_blanks(p, bytes, width);
		wm_view_put_safe(p, comm, bytes);
		return;
	}
	put_blanks(p, 1 + (tid < 0) + wm_digits_count((uint64_t)llabs(tid)), width);
	wm_pen_char(p, ':');
	p->at = wm_digits_i64(p->at, tid);
}

/* Writes a name that cannot be cached because it is in the event's own items, or is missing. */
static void put_other_thread(struct wm_pen *p, const struct view_trace *t, const struct wm_event *e,
			     uint32_t width)
{
	uint32_t bytes;
	const char *comm = wm_view_comm(t, e, &bytes);

	if (bytes) {
		put_blanks(p, bytes, width);
		wm_view_put_safe(p, comm, bytes);
	} else {
		writer_perf_put_comm(p, "", e->tid, width);
	}
	wm_pen_char(p, ' ');
	put_wide(p, e->tid, TID_WIDTH);
	wm_pen_char(p, ' ');
}

/* Writes name and tid. A name owned by the trace is cached by its address. */
static void writer_perf_put_thread(struct wm_pen *p, struct wm_view_page *page,
				   const struct view_trace *t, const struct wm_event *e,
				   uint32_t width)
{
	const struct wm_reader_ops *ops = t->trace->ops;
	const char *comm =
	    !t->types[e->type->index].comm.type && ops->comm ? ops->comm(t->trace, e) : "";
	size_t start, bytes;

	if (!comm[0]) {
		put_other_thread(p, t, e, width);
		return;
	}
	if (comm == page->comm && e->tid == page->tid && width == page->comm_width) {
		memcpy(p->at, page->thread, sizeof(page->thread));
		p->at += page->thread_bytes;
		return;
	}
	start = (size_t)(p->at - p->text->data);
	writer_perf_put_comm(p, comm, e->tid, width);
	wm_pen_char(p, ' ');
	put_wide(p, e->tid, TID_WIDTH);
	wm_pen_char(p, ' ');
	bytes = (size_t)(p->at - p->text->data) - start;
	page->comm = bytes <= sizeof(page->thread) ? comm : NULL;
	page->tid = e->tid;
	page->comm_width = width;
	page->thread_bytes = (uint8_t)bytes;
	if (page->comm)
		memcpy(page->thread, p->text->data + start, bytes);
}

static void writer_perf_put_cpu(struct wm_pen *p, int32_t cpu)
{
	wm_pen_char(p, '[');
	if (cpu < 1000) {
		wm_pen_char(p, (char)('0' + cpu / 100));
		p->at = wm_digits_pair(p->at, (uint32_t)cpu % 100);
	} else {
		p->at = wm_digits_u64(p->at, (uint32_t)cpu);
	}
	WM_PEN_PUT(p, "] ");
}

/* Writes the seconds (at least five columns wide), the decimal point and the microseconds. */
static void put_time(struct wm_pen *p, struct wm_view_page *page, int64_t ns)
{
	int64_t second = ns / WM_NS_PER_SECOND;
	uint32_t micro = (uint32_t)llabs(ns % WM_NS_PER_SECOND) / 1000;

	if (second != page->second) {
		struct wm_pen text = {.at = page->seconds};

		put_wide(&text, second, 5);
		wm_pen_char(&text, '.');
		page->second = second;
		page->seconds_bytes = (uint8_t)(text.at - page->seconds);
	}
	memcpy(p->at, page->seconds, sizeof(page->seconds));
	p->at = wm_digits_pair(p->at + page->seconds_bytes, micro / 10000);
	p->at = wm_digits_pair(p->at, micro / 100 % 100);
	p->at = wm_digits_pair(p->at, micro % 100);
	WM_PEN_PUT(p, ": ");
}

/* perf script prints the time as recorded, without the offset that makes it wall time. */
static int64_t raw_offset_of(const struct wm_event *e)
{
	const struct wm_trace_clock *c = e->stream->clock;

	return c && c->is_shown_raw ? c->offset_ns : 0;
}

/* Returns the member whose number + 1 is given; NULL: none. */
static const struct wm_item *writer_perf_member(const struct wm_event *e, enum wm_part part,
						uint32_t nr)
{
	uint32_t at = e->parts[part].at;

	if (!nr || at == e->parts[part].end)
		return NULL;
	while (--nr)
		at = e->items[at].next;
	return &e->items[at];
}

/* --- samples --------------------------------------------------------------------------- */

static void put_sample(struct wm_pen *p, struct wm_view_page *page, const struct view_trace *t,
		       const struct wm_event *e, const struct wm_item *chain)
{
	const struct view_type *type = &t->types[e->type->index];
	const struct wm_item *ip = writer_perf_member(e, WM_PART_STREAM_CONTEXT, type->sample.ip);

	if (chain)
		wm_view_put_chain(p, page, t, e, chain);
	else if (t->options->columns || (ip && !e->type->print))
		wm_view_put_address(p, page, t, e, ip ? ip->u : 0);
}

/* --- the line ------------------------------------------------------------------------------ */

/* perf has no contexts: a sample's other members are written before its fields. */
static void put_all_parts(struct wm_pen *p, const struct view_type *type, const struct wm_event *e)
{
	uint32_t nr = 0;

	for (int part = 0; part < WM_NR_PARTS; part++) {
		if (part == WM_PART_FIELDS && type->contexts)
			nr = wm_shape_members(p, type->contexts, e->items, e->parts[part].at,
					      e->parts[part].end, nr);
		if (type->parts[part])
			nr = wm_shape_members(p, type->parts[part], e->items, e->parts[part].at,
					      e->parts[part].end, nr);
	}
}

static void put_period(struct wm_pen *p, const struct view_type *type, const struct wm_event *e)
{
	const struct wm_item *period =
	    writer_perf_member(e, WM_PART_STREAM_CONTEXT, type->sample.period);

	put_wide(p, (int64_t)(period ? period->u : e->type->period), PERIOD_WIDTH);
	wm_pen_char(p, ' ');
}

/* --- chosen columns --------------------------------------------------------------------- */

static void put_chosen_task(struct wm_pen *p, uint32_t columns, const struct view_trace *t,
			    const struct wm_event *e, uint32_t width)
{
	uint32_t bytes;
	const char *comm = wm_view_comm(t, e, &bytes);

	if (columns & WM_VIEW_COMM && bytes) {
		put_blanks(p, bytes, width);
		wm_view_put_safe(p, comm, bytes);
	} else if (columns & WM_VIEW_COMM) {
		writer_perf_put_comm(p, "", e->tid, width);
	}
	if (columns & WM_VIEW_COMM)
		wm_pen_char(p, ' ');
	if (columns & WM_VIEW_PID)
		put_wide(p, e->pid, TID_WIDTH);
	if (columns & WM_VIEW_PID && columns & WM_VIEW_TID) {
		wm_pen_char(p, '/');
		p->at = wm_digits_i64(p->at, e->tid);
	} else if (columns & WM_VIEW_TID) {
		put_wide(p, e->tid, TID_WIDTH);
	}
	if (columns & (WM_VIEW_PID | WM_VIEW_TID))
		wm_pen_char(p, ' ');
}

static void put_chosen_branches(struct wm_pen *p, uint32_t columns, struct wm_view_page *page,
				const struct view_trace *t, const struct wm_event *e)
{
	const struct view_type *type = &t->types[e->type->index];
	const struct wm_item *list =
	    writer_perf_member(e, type->sample.branches_part, type->sample.branches);

	if (list && columns & WM_VIEW_BRSTACK) /* as in perf, the other column is then left out */
		wm_view_put_branches(p, page, t, e, list, WM_VIEW_BRSTACK);
	else if (list && columns & WM_VIEW_BRSTACKSYM)
		wm_view_put_branches(p, page, t, e, list, WM_VIEW_BRSTACKSYM);
}

static void write_chosen(const struct wm_view *v, struct wm_view_page *page,
			 const struct view_trace *t, const struct wm_event *e)
{
	const struct view_type *type = &t->types[e->type->index];
	uint32_t columns = v->options.columns;
	const struct wm_item *chain =
	    type->sample.ip && columns & WM_VIEW_IP
		? writer_perf_member(e, type->sample.chain_part, type->sample.chain)
		: NULL;
	struct wm_pen p;

	if (!wm_pen_open(&p, &page->text))
		return;
	put_chosen_task(&p, columns, t, e, chain ? 0 : COMM_WIDTH);
	if (columns & WM_VIEW_CPU && e->cpu >= 0)
		writer_perf_put_cpu(&p, e->cpu);
	if (columns & WM_VIEW_TIME && e->ns != WM_TIME_NONE)
		put_time(&p, page, e->ns - raw_offset_of(e));
	if (columns & WM_VIEW_PERIOD && type->sample.ip)
		put_period(&p, type, e);
	if (columns & WM_VIEW_EVENT)
		wm_view_put_piece(&p, &type->name);
	if (columns & WM_VIEW_TRACE && !wm_view_put_print(&p, page, t, e) && !type->sample.ip)
		put_all_parts(&p, type, e);
	if (columns & WM_VIEW_IP && type->sample.ip)
		put_sample(&p, page, t, e, chain);
	if (columns & (WM_VIEW_BRSTACK | WM_VIEW_BRSTACKSYM))
		put_chosen_branches(&p, columns, page, t, e);
	wm_pen_need(&p, 2);
	wm_pen_char(&p, '\n');
	wm_pen_close(&p);
}

void wm_view_write_perf(const struct wm_view *v, struct wm_view_page *page,
			const struct view_trace *t, const struct wm_event *e)
{
	const struct view_type *type = &t->types[e->type->index];
	bool is_sample = type->sample.ip && !v->options.nr_fields;
	const struct wm_item *chain =
	    is_sample ? writer_perf_member(e, type->sample.chain_part, type->sample.chain) : NULL;
	struct wm_pen p;

	if (v->options.columns) {
		write_chosen(v, page, t, e);
		return;
	}
	if (!wm_pen_open(&p, &page->text))
		return;
	writer_perf_put_thread(&p, page, t, e, chain ? 0 : COMM_WIDTH);
	if (e->cpu >= 0)
		writer_perf_put_cpu(&p, e->cpu);
	if (e->ns != WM_TIME_NONE)
		put_time(&p, page, e->ns - raw_offset_of(e));
	if (is_sample && !e->type->print)
		put_period(&p, type, e);
	wm_view_put_piece(&p, &type->name);
	if (v->options.nr_fields || (!wm_view_put_print(&p, page, t, e) && !is_sample))
		put_all_parts(&p, type, e);
	if (is_sample)
		put_sample(&p, page, t, e, chain);
	wm_pen_need(&p, 2);
	wm_pen_char(&p, '\n');
	wm_pen_close(&p);
}
