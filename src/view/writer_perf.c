/* SPDX-License-Identifier: MIT */
/*
 * writer_perf.c - events as perf script shows them:
 *
 *             comm     tid [cpu]    seconds:     period event:               ip name+0x1 (file)
 *             comm     tid [cpu]    seconds: event: print form, or name=value...
 *
 * Of samples with a call chain, its addresses follow in lines of their own and
 * an empty one. Millions of lines are written, so what two have in common is
 * kept in the page: the thread's name and the whole second.
 */
#include <stdlib.h>
#include <string.h>

#include "view/value_text.h"
#include "view/writer_int.h"

#define NS_PER_SECOND 1000000000
#define COMM_WIDTH    16u
#define TID_WIDTH     7u
#define PERIOD_WIDTH  10u
#define CONTEXT_MIN   ((uint64_t)-4095) /* a word of a chain that is no address: what follows is */
#define HEAD_ROOM     256u

#define BLANKS "                " /* as wide as the widest column */

/* A number at the right end of a column, which it may be wider than. */
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

/* --- who, where, when ------------------------------------------------------------------- */

/* Up to that width; wider than a column: nothing. */
static void put_blanks(struct wm_pen *p, uint32_t have, uint32_t width)
{
	memcpy(p->at, BLANKS, sizeof(BLANKS) - 1);
	p->at += have < width ? width - have : 0;
}

/* A thread without a name is called by its number. */
static void put_comm(struct wm_pen *p, const char *comm, int32_t tid, uint32_t width)
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

/* Of an event whose name is in its own items, which pass; or of another one's trace. */
static void put_other_thread(struct wm_pen *p, const struct view_trace *t, const struct wm_event *e,
			     uint32_t width)
{
	uint32_t bytes;
	const char *comm = wm_view_comm(t, e, &bytes);

	if (bytes) {
		put_blanks(p, bytes, width);
		wm_view_put_safe(p, comm, bytes);
	} else {
		put_comm(p, "", e->tid, width);
	}
	wm_pen_char(p, ' ');
	put_wide(p, e->tid, TID_WIDTH);
	wm_pen_char(p, ' ');
}

/* Name and number. A name that the trace keeps is known by where it is. */
static void put_thread(struct wm_pen *p, struct wm_view_page *page, const struct view_trace *t,
		       const struct wm_event *e, uint32_t width)
{
	const struct wm_reader_ops *ops = t->trace->ops;
	const char *comm =
	    t->types[e->type->index].comm_part < 0 && ops->comm ? ops->comm(t->trace, e) : "";
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
	put_comm(p, comm, e->tid, width);
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

static void put_cpu(struct wm_pen *p, int32_t cpu)
{
	wm_pen_char(p, '[');
	if (cpu < 100)
		wm_pen_char(p, '0');
	if (cpu < 10)
		wm_pen_char(p, '0');
	p->at = wm_digits_u64(p->at, (uint32_t)cpu);
	WM_PEN_PUT(p, "] ");
}

/* The second, five wide, with the point; then microseconds. */
static void put_time(struct wm_pen *p, struct wm_view_page *page, int64_t ns)
{
	int64_t second = ns / NS_PER_SECOND;
	uint32_t micro = (uint32_t)llabs(ns % NS_PER_SECOND) / 1000;

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

/* --- samples --------------------------------------------------------------------------- */

/* The member of that number + 1; NULL: there is none. */
static const struct wm_item *member(const struct wm_event *e, enum wm_part part, uint32_t nr)
{
	uint32_t at = e->parts[part].at;

	if (!nr || at == e->parts[part].end)
		return NULL;
	while (--nr)
		at = e->items[at].next;
	return &e->items[at];
}

/* Sixteen wide; what is there, for who knows, as " name+0x1c (file)". */
static void put_address(struct wm_pen *p, const struct view_trace *t, const struct wm_event *e,
			uint64_t address)
{
	const struct wm_view_options *o = t->options;
	struct wm_view_place place = {.address = address};
	bool known = o->place && o->place(o->place_data, t->index, e, address, &place);

	wm_pen_need(p, HEAD_ROOM);
	p->at = wm_digits_hex_wide(p->at, place.address);
	if (!o->place)
		return;
	wm_pen_char(p, ' ');
	if (known && place.symbol) {
		wm_view_put_safe(p, place.symbol, (uint32_t)strlen(place.symbol));
		WM_PEN_PUT(p, "+0x");
		p->at = wm_digits_bits(p->at, place.offset, 4, "0123456789abcdef");
	} else {
		WM_PEN_PUT(p, "[unknown]");
	}
	WM_PEN_PUT(p, " (");
	if (known && place.file)
		wm_view_put_safe(p, place.file, (uint32_t)strlen(place.file));
	else
		WM_PEN_PUT(p, "[unknown]");
	wm_pen_char(p, ')');
}

static void put_chain(struct wm_pen *p, const struct view_trace *t, const struct wm_event *e,
		      const struct wm_item *chain)
{
	wm_pen_char(p, '\n');
	for (uint32_t i = 1; i <= chain->count; i++) {
		if (chain[i].u >= CONTEXT_MIN)
			continue;
		wm_pen_need(p, HEAD_ROOM);
		wm_pen_char(p, '\t');
		put_address(p, t, e, chain[i].u);
		wm_pen_need(p, HEAD_ROOM);
		wm_pen_char(p, '\n');
	}
}

static void put_sample(struct wm_pen *p, const struct view_trace *t, const struct wm_event *e,
		       const struct wm_item *chain)
{
	const struct view_type *type = &t->types[e->type->index];
	const struct wm_item *ip = member(e, WM_PART_STREAM_CONTEXT, type->sample.ip);

	if (chain) {
		put_chain(p, t, e, chain);
	} else if (ip && !e->type->print) {
		wm_pen_char(p, ' ');
		put_address(p, t, e, ip->u);
	}
}

/* --- the line ------------------------------------------------------------------------------ */

/* perf knows no contexts: what a sample carries beside its fields comes before them. */
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
	const struct wm_item *period = member(e, WM_PART_STREAM_CONTEXT, type->sample.period);

	put_wide(p, (int64_t)(period ? period->u : e->type->period), PERIOD_WIDTH);
	wm_pen_char(p, ' ');
}

void wm_view_write_perf(const struct wm_view *v, struct wm_view_page *page,
			const struct view_trace *t, const struct wm_event *e)
{
	const struct view_type *type = &t->types[e->type->index];
	bool is_sample = type->sample.ip && !v->options.nr_fields;
	const struct wm_item *chain =
	    is_sample ? member(e, type->sample.chain_part, type->sample.chain) : NULL;
	struct wm_pen p;

	if (!wm_pen_open(&p, &page->text))
		return;
	put_thread(&p, page, t, e, chain ? 0 : COMM_WIDTH);
	if (e->cpu >= 0)
		put_cpu(&p, e->cpu);
	if (e->ns != WM_TIME_NONE)
		put_time(&p, page, e->ns);
	if (is_sample && !e->type->print)
		put_period(&p, type, e);
	wm_view_put_piece(&p, &type->name);
	if (v->options.nr_fields || (!wm_view_put_print(&p, t, e) && !is_sample))
		put_all_parts(&p, type, e);
	if (is_sample)
		put_sample(&p, t, e, chain);
	wm_pen_need(&p, 2);
	wm_pen_char(&p, '\n');
	wm_pen_close(&p);
}
