/* SPDX-License-Identifier: MIT */
/*
 * writer_test_kit.h - for tests of the text formats: a trace of one event that a test fills field
 * by field, and its lines.
 */
#ifndef WM_VIEW_TEXT_WRITER_TEST_KIT_H
#define WM_VIEW_TEXT_WRITER_TEST_KIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "view/writer.h"

#define NR(a) ((uint32_t)(sizeof(a) / sizeof((a)[0])))

/* --- a trace ------------------------------------------------------------------------------ */

#define NUMBER(kind_, bits_, look_)                                                                \
	{                                                                                          \
		.kind = kind_, .bits = bits_, .look = look_                                        \
	}
static const struct wm_type u64 = NUMBER(WM_TYPE_UNSIGNED, 64, 0);
static const struct wm_type u8 = NUMBER(WM_TYPE_UNSIGNED, 8, 0);
static const struct wm_type i32 = NUMBER(WM_TYPE_SIGNED, 32, 0);
static const struct wm_type x32 = NUMBER(WM_TYPE_UNSIGNED, 32, WM_LOOK_HEX);
static const struct wm_type sx8 = NUMBER(WM_TYPE_SIGNED, 8, WM_LOOK_HEX);
static const struct wm_type so8 = NUMBER(WM_TYPE_SIGNED, 8, WM_LOOK_OCTAL);
static const struct wm_type b4 = NUMBER(WM_TYPE_UNSIGNED, 4, WM_LOOK_BINARY);
static const struct wm_type f32 = NUMBER(WM_TYPE_FLOAT, 32, 0);
static const struct wm_type f64 = NUMBER(WM_TYPE_FLOAT, 64, 0);
static const struct wm_type yes = NUMBER(WM_TYPE_BOOL, 8, 0);
static const struct wm_type text = {.kind = WM_TYPE_STRING};
static const struct wm_type bytes = {.kind = WM_TYPE_BYTES};
static const struct wm_type list = {.kind = WM_TYPE_LIST, .element = {NULL, &u8}};
static const struct wm_type maybe = {.kind = WM_TYPE_OPTIONAL, .element = {NULL, &u8}};
static const struct wm_type_label color_labels[] = {
    {"RED", 0, 0, 4}, {"WARM", 0, 1, 0}, {"BLUE \"x\"", 2, 2, 0}, {"RED", 0, 0, 0, true}};
static const struct wm_type color = {.kind = WM_TYPE_UNSIGNED,
				     .bits = 8,
				     .is_enum = true,
				     .labels = color_labels,
				     .nr_labels = NR(color_labels)};
static const struct wm_member point_members[] = {{"x", &i32}, {"y", &list}};
static const struct wm_type nothing = {.kind = WM_TYPE_STRUCT};
static const struct wm_type choice = {
    .kind = WM_TYPE_CHOICE, .members = point_members, .nr_members = NR(point_members)};

struct world {
	struct wm_trace *trace;
	struct wm_type parts[WM_NR_PARTS];
	struct wm_member members[WM_NR_PARTS][16];
	struct wm_event_type type;
	struct wm_stream stream;
	struct wm_trace_clock clock;
	struct wm_item items[64];
	struct wm_event event;
	uint32_t nr_items;
};

static inline void no_close(struct wm_trace *t)
{
}

static inline bool print_form(const struct wm_trace *t, const struct wm_event *e,
			      const struct wm_kernel_names *names, struct wm_text *out)
{
	wm_text_f(out, "a \"form\" of %u bytes", e->raw_bytes);
	return e->raw_bytes;
}

static const struct wm_reader_ops ops = {.name = "test", .close = no_close, .print = print_form};

static inline void setup(struct world *w)
{
	*w = (struct world){0};
	w->trace = wm_trace_create("trace");
	w->trace->ops = &ops;
	w->clock = (struct wm_trace_clock){.name = "c", .hz = 1000000000, .is_epoch = true};
	w->stream = (struct wm_stream){.file = "stream_0", .cpu = -1, .clock = &w->clock};
	w->type = (struct wm_event_type){.name = "app:query", .provider = "app", .level = -1};
	w->event = (struct wm_event){.ns = 80000000000001, .cpu = -1, .pid = -1, .tid = -1};
	assert_int_equal(wm_trace_add_type(w->trace, &w->type), 0);
	assert_int_equal(wm_trace_add_stream(w->trace, &w->stream), 0);
}

static inline struct wm_type *part(struct world *w, int part)
{
	struct wm_type *t = &w->parts[part];

	if (!t->kind) {
		*t = (struct wm_type){.kind = WM_TYPE_STRUCT, .members = w->members[part]};
		w->type.parts[part] = t;
		for (int later = part; later < WM_NR_PARTS; later++)
			w->event.parts[later] = (struct wm_part_range){w->nr_items, w->nr_items};
	}
	return t;
}

static inline struct wm_item *item(struct world *w, const struct wm_member *m)
{
	struct wm_item *i = &w->items[w->nr_items++];

	*i = (struct wm_item){.member = m, .next = w->nr_items};
	return i;
}

/* Parts are filled in order. */
static inline struct wm_item *field(struct world *w, int p, const char *name,
				    const struct wm_type *type)
{
	struct wm_type *t = part(w, p);
	struct wm_member *m = &w->members[p][t->nr_members++];
	struct wm_item *i;

	*m = (struct wm_member){name, type};
	i = item(w, m);
	w->event.parts[p].end = w->nr_items;
	return i;
}

static inline void inside(struct world *w, struct wm_item *outer, const struct wm_member *m,
			  uint64_t n)
{
	item(w, m)->u = n;
	outer->count++;
	outer->next = w->nr_items;
	w->event.parts[WM_PART_FIELDS].end = w->nr_items;
}

static inline void set_text(struct wm_item *i, const char *s)
{
	i->text = s;
	i->count = (uint32_t)strlen(s);
}

/* Returns the whole page of one or two events; the caller frees it. */
static inline char *written(struct world *w, enum wm_view_format format, uint32_t times,
			    const char *const *fields, uint32_t nr_fields)
{
	struct wm_view_options o = {format, fields, nr_fields};
	struct wm_view *v = wm_view_create(&w->trace, 1, &o);
	struct wm_view_page page;

	assert_non_null(v);
	w->event.items = w->items;
	w->event.type = &w->type;
	w->event.stream = &w->stream;
	wm_view_page_init(&page, false);
	wm_view_begin(v, &page.text);
	for (uint32_t i = 0; i < times; i++, w->event.ns += 1500000123)
		wm_view_event_line(v, &page, 0, &w->event);
	wm_view_end(v, &page.text);
	assert_false(page.text.failed);
	wm_view_destroy(v);
	return page.text.data;
}

static inline void expect(struct world *w, enum wm_view_format format, uint32_t times,
			  const char *wanted)
{
	char *got = written(w, format, times, NULL, 0);

	assert_string_equal(got, wanted);
	free(got);
}

static inline void done(struct world *w)
{
	wm_trace_close(w->trace);
}

#endif
