/* SPDX-License-Identifier: MIT */
/*
 * writer_samples.c - the addresses and call chains of samples in perf's format (writer_perf.c),
 * with the names that a lookup returns. A profile has millions of frames at a few thousand places,
 * so the page caches the text of each place.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/stacks.h"
#include "view/text/writer_int.h"
#include "view/value_text.h"

#define CHAIN_MARKERS ((uint64_t)-4095) /* chain words from here on are markers */
#define FRAMES_MAX    127u              /* maximum frames per chain, as in perf script */
#define FRAME_ROOM    256u

#define TEXTS_BITS 13
#define TEXTS      (1u << TEXTS_BITS)
#define TEXT_CHUNK 32u              /* text is copied in pieces of this size */
#define TEXT_MAX   (5 * TEXT_CHUNK) /* longer text is not cached */

/* "    7f0123456789 name+0x1c (file)", or the chosen columns of that. */
struct place_text {
	uint64_t address;
	struct wm_place_scope scope;
	const char *caller; /* for an unwound frame: its file; else NULL */
	uint32_t bytes;     /* 0: the entry is empty */
	char text[TEXT_MAX];
};

struct wm_view_names {
	const struct wm_view_places *places;
	void *own;
	struct place_text texts[TEXTS];
	struct wm_named_place callers[WM_UNWIND_FRAMES_MAX];
};

/* A sample whose addresses are being written. */
struct sample {
	struct wm_pen *p;
	struct wm_view_names *names; /* NULL: addresses have no names */
	const struct view_trace *t;
	const struct wm_event *e;
	struct wm_place_scope scope; /* scope of the addresses being written */
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

/* --- the text of a place --------------------------------------------------------------- */

static void put_name(struct wm_pen *p, uint32_t columns, const struct wm_named_place *n)
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

/* Writes the address, 16 columns wide, and its name. */
static void put_place(const struct sample *s, const struct wm_named_place *n)
{
	static const uint32_t usual = WM_VIEW_SYM | WM_VIEW_SYMOFF | WM_VIEW_DSO;
	uint32_t columns = s->t->options->columns;

	s->p->at = wm_digits_hex_wide(s->p->at, n->address);
	if (columns || s->names)
		put_name(s->p, columns ? columns : usual, n);
	wm_pen_need(s->p, FRAME_ROOM);
}

/* Starts writing addresses of a mode. */
static void samples_set_mode(struct sample *s, enum wm_event_mode mode)
{
	s->scope.mode = mode;
	if (s->names &&
	    s->names->places->scope(s->names->own, s->t->index, s->e, mode, &s->scope) < 0)
		s->p->text->failed = true;
}

static struct place_text *text_of(const struct sample *s, uint64_t address)
{
	uint64_t process = (uint64_t)(uint32_t)s->scope.pid << 40;

	return &s->names->texts[(address ^ process) * 0x9e3779b97f4a7c15ull >> (64 - TEXTS_BITS)];
}

static inline bool put_cached(const struct sample *s, uint64_t address, const char *caller)
{
	const struct place_text *text = text_of(s, address);

	if (!text->bytes || text->address != address || text->caller != caller ||
	    !wm_place_scope_equal(&text->scope, &s->scope))
		return false;
	for (uint32_t i = 0; i < text->bytes; i += TEXT_CHUNK)
		memcpy(s->p->at + i, text->text + i, TEXT_CHUNK);
	s->p->at += text->bytes;
	return true;
}

/* Writes the place and caches its text for the address being looked up. */
static void put_new(const struct sample *s, uint64_t address, const char *caller,
		    const struct wm_named_place *n)
{
	size_t start = (size_t)(s->p->at - s->p->text->data), bytes;
	struct place_text *text;

	put_place(s, n);
	bytes = (size_t)(s->p->at - s->p->text->data) - start;
	if (!s->names || s->p->text->failed || bytes > TEXT_MAX)
		return;
	text = text_of(s, address);
	*text = (struct place_text){
	    .address = address, .scope = s->scope, .caller = caller, .bytes = (uint32_t)bytes};
	memcpy(text->text, s->p->text->data + start, bytes);
}

/* Looks up and writes an address. The caller has reserved FRAME_ROOM, all of which may be used. */
static void samples_put(const struct sample *s, uint64_t address)
{
	struct wm_named_place n = {.address = address};

	if (s->names && put_cached(s, address, NULL))
		return;
	if (s->names && s->names->places->find(s->names->own, s->t->index, s->e, address,
					       s->scope.mode, &n) < 0)
		s->p->text->failed = true;
	put_new(s, address, NULL, &n);
}

/* --- chains ------------------------------------------------------------------------------ */

static void samples_begin_frame(struct wm_pen *p)
{
	wm_pen_need(p, FRAME_ROOM);
	wm_pen_char(p, '\t');
}

/* Writes the callers that were unwound from the copy of the stack in the sample. */
static void put_callers(const struct sample *s)
{
	int nr = s->names->places->callers(s->names->own, s->t->index, s->e, s->names->callers);

	s->p->text->failed |= nr < 0;
	for (int i = 0; i < nr; i++) {
		const struct wm_named_place *n = &s->names->callers[i];

		samples_begin_frame(s->p);
		if (!n->file)
			put_place(s, n); /* indistinguishable from other places at the address */
		else if (!put_cached(s, n->address, n->file))
			put_new(s, n->address, n->file, n);
		wm_pen_char(s->p, '\n');
	}
}

/*
 * Returns whether a chain has a word that is neither an address nor a known marker; the whole chain
 * is then omitted, as in perf.
 */
static bool is_damaged(const struct wm_item *chain)
{
	enum wm_event_mode mode;

	for (uint32_t i = 1; i <= chain->count; i++)
		if (chain[i].u >= CHAIN_MARKERS && !wm_stacks_mode(chain[i].u, &mode))
			return true;
	return false;
}

void wm_view_put_chain(struct wm_pen *p, struct wm_view_page *page, const struct view_trace *t,
		       const struct wm_event *e, const struct wm_item *chain)
{
	struct sample s = {.p = p, .names = names_of(page, t->options->places), .t = t, .e = e};
	uint32_t left = is_damaged(chain) ? 0 : FRAMES_MAX;
	enum wm_event_mode mode;

	wm_pen_char(p, '\n');
	samples_set_mode(&s, e->mode);
	for (uint32_t i = 1; i <= chain->count && left; i++) {
		if (chain[i].u >= CHAIN_MARKERS) {
			if (wm_stacks_mode(chain[i].u, &mode)) /* cannot fail here */
				samples_set_mode(&s, mode);
			continue;
		}
		samples_begin_frame(p);
		samples_put(&s, chain[i].u);
		wm_pen_char(p, '\n');
		left--;
	}
	if (s.names)
		put_callers(&s);
}

void wm_view_put_address(struct wm_pen *p, struct wm_view_page *page, const struct view_trace *t,
			 const struct wm_event *e, uint64_t address)
{
	struct sample s = {.p = p, .names = names_of(page, t->options->places), .t = t, .e = e};
	size_t start;

	samples_set_mode(&s, e->mode);
	wm_pen_need(p, FRAME_ROOM);
	wm_pen_char(p, ' ');
	start = (size_t)(p->at - p->text->data);
	samples_put(&s, address);
	if (!p->text->failed)
		(void)wm_digits_hex_wide(p->text->data + start, address);
}

void wm_view_name_place(const struct view_asking *a, uint64_t address, enum wm_event_mode mode,
			struct wm_named_place *ret)
{
	struct wm_view_names *names = names_of(a->page, a->t->options->places);

	*ret = (struct wm_named_place){.address = address};
	if (names && names->places->find(names->own, a->t->index, a->e, address, mode, ret) < 0) {
		*ret = (struct wm_named_place){.address = address};
		a->page->text.failed = true;
	}
}

const char *wm_view_kernel_name(void *own, uint64_t address, uint64_t *ret_start)
{
	struct wm_named_place n;

	wm_view_name_place(own, address, WM_MODE_KERNEL, &n);
	*ret_start = address - n.offset;
	return n.symbol;
}
