/* SPDX-License-Identifier: MIT */
/*
 * writer_perf.c - events in the format of perf script:
 *
 *             comm     tid [cpu]    seconds:     period event:               ip name+0x1 (file)
 *             comm     tid [cpu]    seconds: event: print form, or name=value...
 *
 * The addresses of a sample's call chain follow on separate lines, and an empty
 * line after them. Millions of lines are written, so the page caches the text
 * that successive lines share: the thread's name and the whole second.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/stacks.h"
#include "base/clock.h"
#include "view/text/writer_int.h"
#include "view/value_text.h"

#define COMM_WIDTH   16u
#define TID_WIDTH    7u
#define PERIOD_WIDTH 10u
#define CONTEXT_MIN  ((uint64_t)-4095) /* words of a chain from here on are markers */
#define HEAD_ROOM    256u
#define FRAMES_MAX   127u /* limit of frames of a chain, as in perf script */

#define NAME_TEXTS_BITS 9
#define NAME_TEXTS      (1u << NAME_TEXTS_BITS)
#define NAME_TEXT_MAX   96u /* longer ones are not cached */

#define BLANKS "                " /* as many blanks as the widest column has */

/* Writes a right-aligned number; one that is wider than the column is not truncated. */
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

/* Pads to the width; nothing if the text is wider. */
static void put_blanks(struct wm_pen *p, uint32_t have, uint32_t width)
{
	memcpy(p->at, BLANKS, sizeof(BLANKS) - 1);
	p->at += have < width ? width - have : 0;
}

/* Writes the name of a thread; if it has none, its tid. */
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

/* Writes a name that cannot be cached, because it is in the event's own items, or missing. */
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

/* Writes name and tid. A name that the trace owns is cached by its address. */
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
	if (cpu < 100)
		wm_pen_char(p, '0');
	if (cpu < 10)
		wm_pen_char(p, '0');
	p->at = wm_digits_u64(p->at, (uint32_t)cpu);
	WM_PEN_PUT(p, "] ");
}

/* Writes the seconds, at least five columns wide, the point, and the microseconds. */
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

/* perf script prints the time as in the record, without what makes it wall time. */
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

/* --- addresses ------------------------------------------------------------------------- */

/* " name+0x1c (file)", cached by place. */
struct name_text {
	const char *symbol, *file; /* compared as pointers: they stay valid */
	uint64_t offset;
	uint32_t bytes; /* 0: the entry is empty */
	char text[NAME_TEXT_MAX];
};

struct wm_view_names {
	const struct wm_view_places *places;
	void *own;
	struct name_text texts[NAME_TEXTS];
	struct wm_named_place callers[WM_UNWIND_FRAMES_MAX];
};

void wm_view_names_destroy(struct wm_view_names *n)
{
	if (n && n->own)
		n->places->close(n->own);
	free(n);
}

/* Returns the page's lookup; NULL: there is none, or out of memory, which sets text.failed. */
static struct wm_view_names *names_of(struct wm_view_page *page,
				      const struct wm_view_places *places)
{
	struct wm_view_names *n = page->names;

	if (n || !places)
		return n;
	n = calloc(1, sizeof(*n));
	if (n) {
		n->places = places;
		n->own = places->open(places->data);
	}
	if (n && n->own) {
		page->names = n;
		return n;
	}
	wm_view_names_destroy(n);
	page->text.failed = true;
	return NULL;
}

static void put_new_name(struct wm_pen *p, const struct wm_named_place *n)
{
	wm_pen_char(p, ' ');
	if (n->symbol) {
		wm_view_put_safe(p, n->symbol, (uint32_t)strlen(n->symbol));
		WM_PEN_PUT(p, "+0x");
		p->at = wm_digits_bits(p->at, n->offset, 4, "0123456789abcdef");
	} else {
		WM_PEN_PUT(p, "[unknown]");
	}
	WM_PEN_PUT(p, " (");
	if (n->file)
		wm_view_put_safe(p, n->file, (uint32_t)strlen(n->file));
	else
		WM_PEN_PUT(p, "[unknown]");
	wm_pen_char(p, ')');
}

static struct name_text *writer_perf_text_of(struct wm_view_names *names,
					     const struct wm_named_place *n)
{
	uint64_t hash =
	    ((uintptr_t)(n->symbol ? n->symbol : n->file) + n->offset) * 0x9e3779b97f4a7c15ull;

	return &names->texts[hash >> (64 - NAME_TEXTS_BITS)];
}

/* Writes the name of an address. The caller must have reserved NAME_TEXT_MAX bytes. */
static void writer_perf_put_name(struct wm_pen *p, struct wm_view_names *names,
				 const struct wm_named_place *n)
{
	struct name_text *text = writer_perf_text_of(names, n);
	size_t start, bytes;

	if (text->bytes && text->symbol == n->symbol && text->offset == n->offset &&
	    text->file == n->file) {
		memcpy(p->at, text->text, sizeof(text->text));
		p->at += text->bytes;
		return;
	}
	start = (size_t)(p->at - p->text->data);
	put_new_name(p, n);
	bytes = (size_t)(p->at - p->text->data) - start;
	*text = (struct name_text){.symbol = n->symbol, .file = n->file, .offset = n->offset};
	if (bytes <= sizeof(text->text)) {
		text->bytes = (uint32_t)bytes;
		memcpy(text->text, p->text->data + start, bytes);
	}
}

/* Writes the address, 16 columns wide, and its name if there is a lookup. */
static void put_place(struct wm_pen *p, struct wm_view_names *names, const struct wm_named_place *n)
{
	wm_pen_need(p, HEAD_ROOM);
	p->at = wm_digits_hex_wide(p->at, n->address);
	if (names)
		writer_perf_put_name(p, names, n);
}

static void writer_perf_find_place(const struct wm_pen *p, const struct wm_view_names *names,
				   const struct view_trace *t, const struct wm_event *e,
				   enum wm_event_mode mode, struct wm_named_place *n)
{
	if (names && names->places->find(names->own, t->index, e, n->address, mode, n) < 0)
		p->text->failed = true;
}

/* --- samples --------------------------------------------------------------------------- */

/* A sample whose call chain is written. */
struct perf_chain {
	struct wm_pen *p;
	struct wm_view_names *names; /* NULL: addresses have no names */
	const struct view_trace *t;
	const struct wm_event *e;
	uint32_t columns; /* for put_chosen_frame() */
};

static void put_frame(const struct perf_chain *c, const struct wm_named_place *n)
{
	wm_pen_need(c->p, HEAD_ROOM);
	wm_pen_char(c->p, '\t');
	put_place(c->p, c->names, n);
	wm_pen_need(c->p, HEAD_ROOM);
	wm_pen_char(c->p, '\n');
}

/*
 * Returns whether a chain has a word that is neither an address nor a known marker; the whole chain
 * is omitted then, as in perf.
 */
static bool is_damaged(const struct wm_item *chain)
{
	enum wm_event_mode mode;

	for (uint32_t i = 1; i <= chain->count; i++)
		if (chain[i].u >= CONTEXT_MIN && !wm_stacks_mode(chain[i].u, &mode))
			return true;
	return false;
}

/*
 * Calls `frame` for each frame, and then for the callers that were unwound from the copy of the
 * stack. Inlined, so that `frame` is no indirect call: a chain has dozens of frames.
 */
static inline __attribute__((always_inline)) void
put_chain(const struct perf_chain *c, const struct wm_item *chain,
	  void (*frame)(const struct perf_chain *c, const struct wm_named_place *n))
{
	enum wm_event_mode mode = c->e->mode;
	uint32_t left = is_damaged(chain) ? 0 : FRAMES_MAX;
	int nr;

	wm_pen_char(c->p, '\n');
	for (uint32_t i = 1; i <= chain->count && left; i++) {
		struct wm_named_place n = {.address = chain[i].u};

		if (chain[i].u >= CONTEXT_MIN) {
			(void)wm_stacks_mode(chain[i].u, &mode); /* cannot fail here */
			continue;
		}
		writer_perf_find_place(c->p, c->names, c->t, c->e, mode, &n);
		frame(c, &n);
		left--;
	}
	if (!c->names)
		return;
	nr = c->names->places->callers(c->names->own, c->t->index, c->e, c->names->callers);
	c->p->text->failed |= nr < 0;
	for (int i = 0; i < nr; i++)
		frame(c, &c->names->callers[i]);
}

/* Writes the sampled address unconverted: perf shows offsets in files only in call chains. */
static void put_address(struct wm_pen *p, struct wm_view_names *names, const struct view_trace *t,
			const struct wm_event *e, uint64_t address)
{
	struct wm_named_place n = {.address = address};

	writer_perf_find_place(p, names, t, e, e->mode, &n);
	n.address = address;
	wm_pen_char(p, ' ');
	put_place(p, names, &n);
}

static void put_sample(struct wm_pen *p, struct wm_view_page *page, const struct view_trace *t,
		       const struct wm_event *e, const struct wm_item *chain)
{
	const struct view_type *type = &t->types[e->type->index];
	const struct wm_item *ip = writer_perf_member(e, WM_PART_STREAM_CONTEXT, type->sample.ip);

	if (chain)
		put_chain(&(struct perf_chain){p, names_of(page, t->options->places), t, e, 0},
			  chain, put_frame);
	else if (ip && !e->type->print)
		put_address(p, names_of(page, t->options->places), t, e, ip->u);
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

/* Writes the name of an address in the chosen columns. */
static void put_chosen_name(struct wm_pen *p, uint32_t columns, const struct wm_named_place *n)
{
	const char *symbol = n->symbol ? n->symbol : "[unknown]";
	const char *file = n->file ? n->file : "[unknown]";

	if (columns & WM_VIEW_SYM) {
		wm_pen_char(p, ' ');
		wm_view_put_safe(p, symbol, (uint32_t)strlen(symbol));
	}
	if (columns & WM_VIEW_SYM && columns & WM_VIEW_SYMOFF && n->symbol) {
		WM_PEN_PUT(p, "+0x");
		p->at = wm_digits_bits(p->at, n->offset, 4, "0123456789abcdef");
	}
	if (columns & WM_VIEW_DSO) {
		WM_PEN_PUT(p, " (");
		wm_view_put_safe(p, file, (uint32_t)strlen(file));
		wm_pen_char(p, ')');
	}
}

static void put_chosen_frame(const struct perf_chain *c, const struct wm_named_place *n)
{
	wm_pen_need(c->p, HEAD_ROOM);
	wm_pen_char(c->p, '\t');
	c->p->at = wm_digits_hex_wide(c->p->at, n->address);
	put_chosen_name(c->p, c->columns, n);
	wm_pen_need(c->p, HEAD_ROOM);
	wm_pen_char(c->p, '\n');
}

/* Writes the address, or the whole chain, of a sample. */
static void put_chosen_place(struct wm_pen *p, struct wm_view_page *page, uint32_t columns,
			     const struct view_trace *t, const struct wm_event *e,
			     const struct wm_item *chain)
{
	const struct wm_view_places *places = t->options->places;
	struct wm_view_names *names = names_of(page, places);
	const struct wm_item *ip =
	    writer_perf_member(e, WM_PART_STREAM_CONTEXT, t->types[e->type->index].sample.ip);
	struct wm_named_place n = {.address = ip ? ip->u : 0};

	if (chain) {
		put_chain(&(struct perf_chain){p, names, t, e, columns}, chain, put_chosen_frame);
		return;
	}
	writer_perf_find_place(p, names, t, e, e->mode, &n);
	wm_pen_need(p, HEAD_ROOM);
	wm_pen_char(p, ' ');
	p->at = wm_digits_hex_wide(p->at, n.address = ip ? ip->u : 0);
	put_chosen_name(p, columns, &n);
}

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
	if (columns & WM_VIEW_TRACE && !wm_view_put_print(&p, t, e) && !type->sample.ip)
		put_all_parts(&p, type, e);
	if (columns & WM_VIEW_IP && type->sample.ip)
		put_chosen_place(&p, page, columns, t, e, chain);
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
	if (v->options.nr_fields || (!wm_view_put_print(&p, t, e) && !is_sample))
		put_all_parts(&p, type, e);
	if (is_sample)
		put_sample(&p, page, t, e, chain);
	wm_pen_need(&p, 2);
	wm_pen_char(&p, '\n');
	wm_pen_close(&p);
}
