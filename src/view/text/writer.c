/* SPDX-License-Identifier: MIT */
/*
 * writer.c - prepares a view, and contains the functions shared by all formats of writer.h.
 */
#include "view/writer.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "view/document.h"
#include "view/style.h"
#include "view/text/print_form.h"
#include "view/text/writer_int.h"
#include "view/value_text.h"

#define ARENA_MAX ((size_t)1 << 30)

static const struct {
	const struct wm_style *style;
	wm_view_write *write;
} formats[WM_VIEW_NR_FORMATS] = {
    [WM_VIEW_WAYMARK] = {&wm_style_people, wm_view_write_waymark},
    [WM_VIEW_BABELTRACE] = {&wm_style_babeltrace, wm_view_write_babeltrace},
    [WM_VIEW_PERF] = {&wm_style_perf, wm_view_write_perf},
    [WM_VIEW_JSON] = {&wm_style_json, wm_view_write_json},
    [WM_VIEW_JSONL] = {&wm_style_json, wm_view_write_jsonl},
    [WM_VIEW_CSV] = {&wm_style_json, wm_view_write_csv},
    [WM_VIEW_DETAILS] = {&wm_style_people, wm_view_write_details},
    [WM_VIEW_BABELTRACE_21] = {&wm_style_babeltrace_21, wm_view_write_babeltrace},
};

/* --- preparation ---------------------------------------------------------------------- */

/* State while selecting the members of a part. */
struct asking {
	const struct wm_view_options *options;
	const struct wm_event_type *type;
	int part;
	bool has_cpu; /* the line begins with the CPU */
	bool is_own;  /* waymark recorded the trace, so members have known names */
	uint32_t nr;  /* number of members shown so far */
};

static bool writer_is_wanted(const struct wm_view_options *o, const char *name)
{
	for (uint32_t i = 0; i < o->nr_fields; i++)
		if (!strcmp(name, o->fields[i]))
			return true;
	return !o->nr_fields;
}

/*
 * Returns whether a member is hidden in a trace that waymark recorded: the line shows it elsewhere,
 * or it describes packets.
 */
static bool writer_is_hidden(const struct asking *a, const struct wm_member *m)
{
	static const char *const known[] = {"pid",         "vpid",   "tid",   "level",
					    "event_count", "cpu_id", "flags", "preempt_count"};
	const struct wm_type *t = a->type->parts[a->part];

	if (wm_member_is_length(t, m) ||
	    (a->part == WM_PART_FIELDS && m < t->members + a->type->nr_contexts))
		return true;
	if (a->part == WM_PART_CONTEXT)
		return !strcmp(m->name, "cpu");
	for (size_t i = 0; a->part != WM_PART_FIELDS && i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(m->name, known[i]))
			return !a->options->nr_fields;
	return false;
}

/* Whether the member is selected, and not shown elsewhere on the line. */
static bool writer_is_shown(const struct wm_member *m, void *data)
{
	struct asking *a = data;
	bool shown = writer_is_wanted(a->options, m->name);

	if (a->part == WM_PART_PACKET_CONTEXT && a->has_cpu)
		shown &= strcmp(m->name, "cpu_id") != 0;
	if (a->is_own)
		shown &= !writer_is_hidden(a, m);
	a->nr += shown;
	return shown;
}

/* Returns whether the member is one of the leading fields that are contexts. */
static bool is_context(const struct wm_member *m, void *data)
{
	const struct asking *a = data;
	const struct wm_type *t = a->type->parts[WM_PART_FIELDS];

	return m < t->members + a->type->nr_contexts && !wm_member_is_length(t, m) &&
	       writer_is_wanted(a->options, m->name);
}

/* Selects the operands of print forms: all fields, including those not selected for output. */
static bool is_operand(const struct wm_member *m, void *data)
{
	return !writer_is_hidden(data, m);
}

/* Builds the shape of a part; a part without selected members is omitted. False: out of memory. */
static bool writer_make_part(struct wm_view *v, struct asking *a, struct view_type *ret)
{
	const struct wm_type *t = a->type->parts[a->part];
	uint32_t names = a->part == WM_PART_FIELDS ? WM_VIEW_NAMES_PAYLOAD : WM_VIEW_NAMES_CONTEXT;
	struct wm_shapes *shapes = v->options.names & names ? &v->shapes : &v->bare;
	const struct wm_shape *shape;

	if (a->is_own || v->options.nr_fields || (a->part == WM_PART_PACKET_CONTEXT && a->has_cpu))
		shape = wm_shape_some(shapes, t, writer_is_shown, a);
	else
		shape = wm_shape_of(shapes, t);
	if (shape && (!a->is_own || a->nr || a->part == WM_PART_FIELDS))
		ret->parts[a->part] = shape;
	return shape;
}

/* Headers are part of the format, not of the traced data. */
static bool part_is_shown(const struct wm_view *v, const struct wm_type *t, int part)
{
	if (v->options.format == WM_VIEW_DETAILS)
		return t && t->nr_members;
	if (!t || part == WM_PART_PACKET_HEADER || part == WM_PART_HEADER)
		return false;
	return part != WM_PART_PACKET_CONTEXT || t->nr_members;
}

static bool writer_keep(struct wm_view *v, struct wm_text *t, struct wm_piece *piece)
{
	char *copy = wm_arena_get(&v->arena, t->bytes + WM_VIEW_PIECE_PADDING);

	if (copy && t->bytes)
		memcpy(copy, t->data, t->bytes);
	piece->text = copy;
	piece->bytes = (uint32_t)t->bytes;
	return copy && !t->failed;
}

/* Writes PROVIDER:NAME, even if the tracer stored them separately. */
static void full_name(struct wm_text *t, const struct wm_event_type *type)
{
	if (type->provider[0] && !strchr(type->name, ':')) {
		wm_text_str(t, type->provider);
		wm_text_char(t, ':');
	}
	wm_text_str(t, type->name);
}

static bool make_name(struct wm_view *v, const struct wm_event_type *type, struct wm_piece *ret)
{
	struct wm_text full, t;
	bool ok;

	wm_text_init(&t);
	wm_text_init(&full);
	full_name(&full, type);
	switch (v->options.format) {
	case WM_VIEW_BABELTRACE:
		wm_view_babeltrace_name(v, &t, type);
		break;
	case WM_VIEW_JSON:
	case WM_VIEW_JSONL:
		wm_view_json_string(&t, full.data, full.bytes);
		if (v->options.has_head && v->options.head & WM_VIEW_HEAD_LEVEL && type->level >= 0)
			wm_text_f(&t, ",\"loglevel\":%d", type->level);
		break;
	case WM_VIEW_CSV:
		wm_text_add(&t, full.data, full.bytes);
		break;
	case WM_VIEW_DETAILS:
		wm_view_safe(&t, full.data, full.bytes, false);
		break;
	default:
		wm_view_safe(&t, full.data, full.bytes, false);
		wm_text_str(&t, ": ");
	}
	t.failed |= full.failed;
	ok = writer_keep(v, &t, ret);
	wm_text_done(&t);
	wm_text_done(&full);
	return ok;
}

/* Returns a member's number + 1; 0: no member has that name and kind. */
static uint32_t writer_find_member(const struct wm_type *t, const char *name,
				   enum wm_type_kind kind)
{
	for (uint32_t k = 0; t && k < t->nr_members; k++)
		if (t->members[k].type->kind == kind && !strcmp(t->members[k].name, name))
			return k + 1;
	return 0;
}

static bool is_branches(const struct wm_type *t)
{
	const struct wm_type *element = t->element.type;

	for (uint32_t i = 0; element->kind == WM_TYPE_STRUCT && i < element->nr_members; i++)
		if (element->members[i].type->kind > WM_TYPE_BOOL)
			return false;
	return element->kind == WM_TYPE_STRUCT;
}

static void find_branches(const struct wm_event_type *type, struct view_type *ret)
{
	static const enum wm_part parts[] = {WM_PART_STREAM_CONTEXT, WM_PART_FIELDS};

	for (size_t i = 0; i < 2 && !ret->sample.branches; i++) {
		const struct wm_type *part = type->parts[parts[i]];
		uint32_t nr = writer_find_member(part, "branches", WM_TYPE_LIST);

		if (!nr || !is_branches(part->members[nr - 1].type))
			continue;
		ret->sample.branches = nr;
		ret->sample.branches_part = parts[i];
	}
}

/*
 * Finds the members of a sample that perf script shows; events without an
 * address are not samples.
 */
static void find_sample(const struct wm_event_type *type, struct view_type *ret)
{
	const struct wm_type *context = type->parts[WM_PART_STREAM_CONTEXT];

	ret->sample.ip = type->meta ? 0 : writer_find_member(context, "ip", WM_TYPE_UNSIGNED);
	if (!ret->sample.ip)
		return;
	find_branches(type, ret);
	ret->sample.period = writer_find_member(context, "period", WM_TYPE_UNSIGNED);
	ret->sample.chain_part = WM_PART_STREAM_CONTEXT;
	ret->sample.chain = writer_find_member(context, "callchain", WM_TYPE_LIST);
	if (ret->sample.chain)
		return;
	ret->sample.chain_part = WM_PART_FIELDS;
	ret->sample.chain =
	    writer_find_member(type->parts[WM_PART_FIELDS], "callchain", WM_TYPE_LIST);
}

/* For perf's format: pads the names of samples to the widest one. */
static bool align_names(struct wm_view *v, const struct wm_trace *trace, struct view_trace *t)
{
	uint32_t width = 0;
	bool ok = true;

	for (uint32_t i = 0; i < trace->nr_types; i++)
		if (t->types[i].sample.ip && t->types[i].name.bytes > width)
			width = t->types[i].name.bytes;
	for (uint32_t i = 0; i < trace->nr_types && ok; i++) {
		struct wm_piece *name = &t->types[i].name;
		struct wm_text text;

		if (!t->types[i].sample.ip || name->bytes == width)
			continue;
		wm_text_init(&text);
		for (uint32_t k = name->bytes; k < width; k++)
			wm_text_char(&text, ' ');
		wm_text_add(&text, name->text, name->bytes);
		ok = writer_keep(v, &text, name);
		wm_text_done(&text);
	}
	return ok;
}

/* Returns the parts of an event whose items the output format needs. */
static uint32_t needs_of(const struct wm_view *v, const struct wm_event_type *type,
			 const struct view_type *t)
{
	bool is_people = v->options.format == WM_VIEW_WAYMARK && !v->options.nr_fields;
	bool is_perf = v->options.format == WM_VIEW_PERF && !v->options.nr_fields;
	uint32_t needs = t->level_part < 0 ? 0 : 1u << t->level_part;

	for (int part = 0; part < WM_NR_PARTS; part++)
		if (t->parts[part])
			needs |= 1u << part;
	if (t->form || t->contexts)
		needs |= 1u << WM_PART_FIELDS;
	if (is_people && type->prints)
		needs = (needs & ~(1u << WM_PART_FIELDS)) | type->print_parts |
			(t->contexts ? 1u << WM_PART_FIELDS : 0);
	if (is_perf && (t->sample.ip || type->prints))
		needs = type->print_parts;
	if (is_perf && t->sample.ip && !type->print)
		needs |= 1u << WM_PART_STREAM_CONTEXT;
	if (is_perf && t->sample.chain)
		needs |= 1u << t->sample.chain_part;
	if (v->options.columns & (WM_VIEW_BRSTACK | WM_VIEW_BRSTACKSYM) && t->sample.branches)
		needs |= 1u << t->sample.branches_part;
	return t->comm.type ? needs | 1u << t->comm.part : needs;
}

uint32_t wm_view_unused(const struct wm_view *v, uint32_t trace, const bool *types)
{
	const struct view_trace *t = &v->traces[trace];
	uint32_t needs = 0, has = 0;

	for (uint32_t i = 0; i < t->trace->nr_types; i++) {
		for (int part = 0; part < WM_NR_PARTS; part++)
			has |= t->trace->types[i]->parts[part] ? 1u << part : 0;
		if (!types || types[i])
			needs |= t->types[i].needs;
	}
	return has & ~needs;
}

/* Finds the level of signal nesting in a trace that waymark recorded. */
static void find_level(const struct wm_view *v, const struct wm_event_type *type,
		       struct view_type *ret)
{
	for (int part = WM_PART_PACKET_CONTEXT; part <= WM_PART_STREAM_CONTEXT; part++) {
		const struct wm_type *t = type->parts[part];

		for (uint32_t k = 0; t && k < t->nr_members && !v->options.nr_fields; k++)
			if (!strcmp(t->members[k].name, "level") &&
			    t->members[k].type->kind == WM_TYPE_UNSIGNED) {
				ret->level_part = part;
				ret->level_member = k;
			}
	}
}

/* Builds the shapes of the fields that are contexts, and of the print form's operands. */
static bool make_own(struct wm_view *v, struct asking *a, struct view_type *ret)
{
	const struct wm_type *fields = a->type->parts[WM_PART_FIELDS];

	find_level(v, a->type, ret);
	a->part = WM_PART_FIELDS;
	if (fields && a->type->nr_contexts) {
		ret->contexts = wm_shape_some(&v->shapes, fields, is_context, a);
		if (!ret->contexts)
			return false;
	}
	if (fields && a->type->print && !a->type->prints) {
		ret->form = wm_shape_some(&v->forms, fields, is_operand, a);
		if (!ret->form)
			return false;
	}
	return true;
}

static bool writer_make_type(struct wm_view *v, const struct wm_trace *trace,
			     const struct wm_event_type *type, struct view_type *ret)
{
	enum wm_view_format format = v->options.format;
	struct asking a = {.options = &v->options, .type = type};

	a.has_cpu = format == WM_VIEW_WAYMARK || format == WM_VIEW_PERF;
	a.is_own = trace->is_own && format != WM_VIEW_BABELTRACE && format != WM_VIEW_DETAILS;
	ret->level_part = -1;
	for (a.part = 0; a.part < WM_NR_PARTS; a.part++) {
		a.nr = 0;
		if (part_is_shown(v, type->parts[a.part], a.part) && !writer_make_part(v, &a, ret))
			return false;
	}
	if (a.is_own && !make_own(v, &a, ret))
		return false;
	wm_comm_bind(type, &ret->comm);
	find_sample(type, ret);
	ret->needs = needs_of(v, type, ret);
	return make_name(v, type, &ret->name);
}

static bool writer_make_stream(struct wm_view *v, const struct wm_trace *trace,
			       const struct wm_stream *s, struct wm_piece *ret)
{
	struct wm_text t;
	bool ok;

	wm_text_init(&t);
	wm_view_head_of(v, trace, s, &t);
	ok = writer_keep(v, &t, ret);
	wm_text_done(&t);
	return ok;
}

static bool make_place(struct wm_view *v, const struct wm_trace *trace, struct wm_piece *ret)
{
	struct wm_text t;
	bool ok;

	wm_text_init(&t);
	if (v->nr_traces > 1) {
		wm_text_str(&t, ",\"trace\":");
		wm_view_json_string(&t, trace->path, strlen(trace->path));
	}
	ok = writer_keep(v, &t, ret);
	wm_text_done(&t);
	return ok;
}

static bool make_trace(struct wm_view *v, struct wm_trace *trace, struct view_trace *ret)
{
	ret->trace = trace;
	ret->options = &v->options;
	ret->index = (uint32_t)(ret - v->traces);
	ret->types = wm_arena_array(&v->arena, trace->nr_types + 1, sizeof(*ret->types));
	ret->streams = wm_arena_array(&v->arena, trace->nr_streams + 1, sizeof(*ret->streams));
	if (!ret->types || !ret->streams || !make_place(v, trace, &ret->place))
		return false;
	for (uint32_t i = 0; i < trace->nr_types; i++)
		if (!writer_make_type(v, trace, trace->types[i], &ret->types[i]))
			return false;
	if (v->options.format == WM_VIEW_PERF && !align_names(v, trace, ret))
		return false;
	for (uint32_t i = 0; i < trace->nr_streams; i++) {
		if (!writer_make_stream(v, trace, trace->streams[i], &ret->streams[i]))
			return false;
		ret->has_heads |= ret->streams[i].bytes != 0;
	}
	return true;
}

struct wm_view *wm_view_create(struct wm_trace *const *traces, uint32_t nr_traces,
			       const struct wm_view_options *options)
{
	bool is_21 = options->format == WM_VIEW_BABELTRACE_21;
	struct wm_view *v = calloc(1, sizeof(*v));

	if (!v)
		return NULL;
	v->options = *options;
	if (is_21) /* differs only in its styles */
		v->options.format = WM_VIEW_BABELTRACE;
	if (!v->options.has_names || v->options.format != WM_VIEW_BABELTRACE)
		v->options.names = WM_VIEW_NAMES_DEFAULT;
	v->has_other_moment =
	    v->options.time || v->options.no_delta || v->options.names & WM_VIEW_NAMES_HEADER;
	if (!v->options.has_head)
		v->options.head = WM_VIEW_HEAD_DEFAULT;
	wm_arena_init(&v->arena, ARENA_MAX);
	wm_shapes_init(&v->shapes, &v->arena, formats[options->format].style);
	wm_shapes_init(&v->bare, &v->arena,
		       is_21 ? &wm_style_babeltrace_21_bare : &wm_style_babeltrace_bare);
	wm_shapes_init(&v->forms, &v->arena, &wm_style_people);
	v->nr_traces = nr_traces;
	v->traces = wm_arena_array(&v->arena, nr_traces + 1, sizeof(*v->traces));
	for (uint32_t i = 0; i < nr_traces; i++)
		if (!v->traces || !make_trace(v, traces[i], &v->traces[i])) {
			wm_view_destroy(v);
			return NULL;
		}
	return v;
}

void wm_view_destroy(struct wm_view *v)
{
	if (!v)
		return;
	wm_shapes_done(&v->shapes);
	wm_shapes_done(&v->bare);
	wm_shapes_done(&v->forms);
	wm_arena_done(&v->arena);
	free(v);
}

/* babeltrace2 treats a difference of -1 as unknown. */
static char *delta(char *at, bool known, int64_t ns, int64_t before,
		   const struct wm_view_options *o)
{
	uint64_t n = (uint64_t)ns - (uint64_t)before;

	if (o->time == WM_VIEW_TIME_CYCLES) {
		*at = '+';
		if (known)
			return wm_view_padded(at + 1, n, 12);
		memcpy(at + 1, "????????????", 12);
		return at + 13;
	}
	if (!known || n == UINT64_MAX) {
		memcpy(at, "+?.?????????", 12);
		return at + 12;
	}
	*at++ = '+';
	if (n < WM_NS_PER_SECOND) { /* nearly always */
		memcpy(at, "0.", 2);
		return wm_digits_9(at + 2, (uint32_t)n);
	}
	at = wm_digits_u64(at, n / WM_NS_PER_SECOND);
	*at++ = '.';
	return wm_digits_9(at, (uint32_t)(n % WM_NS_PER_SECOND));
}

/* --- pages --------------------------------------------------------------------------------- */

bool wm_view_message(const struct wm_view *v, uint32_t trace, const struct wm_event *e,
		     struct wm_text *out)
{
	return e->type->print && wm_view_print(NULL, &v->traces[trace], e, out);
}

void wm_view_page_init(struct wm_view_page *p, bool later)
{
	*p = (struct wm_view_page){.later = later, .joint = SIZE_MAX, .second = INT64_MIN};
}

void wm_view_page_again(struct wm_view_page *p, bool later)
{
	struct wm_view_page kept = *p;

	wm_view_page_init(p, later);
	p->text = kept.text;
	p->names = kept.names;
	wm_view_page_clear(p);
}

void wm_view_page_done(struct wm_view_page *p)
{
	wm_text_done(&p->text);
	wm_view_names_destroy(p->names);
}

void wm_view_begin(const struct wm_view *v, struct wm_text *t)
{
	if (v->options.format == WM_VIEW_JSON) {
		wm_view_document_text(t, "print");
		wm_text_str(t, ",\"events\":[");
	} else if (v->options.format == WM_VIEW_CSV) {
		wm_view_csv_head(v, t);
	}
}

void wm_view_end(const struct wm_view *v, struct wm_text *t)
{
	if (v->options.format == WM_VIEW_JSON)
		wm_text_str(t, "\n]}\n");
}

/* Leaves a gap for the delta of the first line, which is inserted later. */
static void leave_room(struct wm_view_page *p)
{
	if (!wm_text_reserve(&p->text, WM_DIGITS_MAX))
		return;
	p->text.bytes = p->start = WM_DIGITS_MAX;
}

void wm_view_page_clear(struct wm_view_page *p)
{
	if (p->text.data)
		wm_text_cut(&p->text, 0);
	p->start = 0;
}

void wm_view_event_line(const struct wm_view *v, struct wm_view_page *p, uint32_t trace,
			const struct wm_event *e)
{
	struct wm_event shifted;

	if (v->options.offset_ns && e->ns != WM_TIME_NONE) {
		shifted = *e;
		shifted.ns += v->options.offset_ns;
		e = &shifted;
	}
	if (p->later && !p->past.any && !p->text.bytes)
		leave_room(p);
	formats[v->options.format].write(v, p, &v->traces[trace], e);
	p->nr_events++;
	p->past.any = true;
}

/* Inserts the first line's delta and moves the text before it to the left. */
static void fill_joint(struct wm_view_page *p, const struct wm_view_past *past,
		       const struct wm_view_options *o)
{
	char text[WM_DIGITS_MAX];
	size_t bytes = (size_t)(delta(text, past->has_time, p->first_ns, past->last_ns, o) - text);
	char *from = p->text.data + p->start;

	memmove(from - bytes, from, p->joint - p->start);
	memcpy(p->text.data + p->joint - bytes, text, bytes);
	p->start -= bytes;
	p->joint = SIZE_MAX;
}

void wm_view_page_join(const struct wm_view *v, struct wm_view_page *p,
		       const struct wm_view_past *past)
{
	if (!p->later || p->text.failed)
		return;
	p->later = false;
	if (v->options.format == WM_VIEW_JSON && p->past.any && !past->any)
		p->start++; /* no comma before the first event */
	if (p->joint != SIZE_MAX)
		fill_joint(p, past, &v->options);
	if (!p->past.has_time) {
		p->past.has_time = past->has_time;
		p->past.last_ns = past->last_ns;
	}
	p->past.any |= past->any;
}

/* --- times ----------------------------------------------------------------------------------- */

void wm_view_put_delta(struct wm_pen *p, struct wm_view_page *page, int64_t ns,
		       const struct wm_view_options *o)
{
	if (!page->past.has_time && page->later) {
		page->joint = (size_t)(p->at - p->text->data);
		page->first_ns = ns;
	} else {
		p->at = delta(p->at, page->past.has_time, ns, page->past.last_ns, o);
	}
	page->past.has_time = true;
	page->past.last_ns = ns;
}

/* --- names and forms ---------------------------------------------------------------------- */

const char *wm_view_comm(const struct view_trace *t, const struct wm_event *e, uint32_t *ret_bytes)
{
	size_t bytes;
	const char *comm = wm_comm_of_event(t->trace, &t->types[e->type->index].comm, e, &bytes);

	*ret_bytes = (uint32_t)bytes;
	return comm;
}

bool wm_view_print(struct wm_view_page *page, const struct view_trace *t, const struct wm_event *e,
		   struct wm_text *out)
{
	const struct wm_shape *fields = t->types[e->type->index].form;
	struct view_asking asking = {page, t, e};
	const struct wm_kernel_names names = {wm_view_kernel_name, &asking};

	if (e->type->prints)
		return t->trace->ops->print(t->trace, e, page ? &names : NULL, out);
	if (fields)
		wm_view_print_form(out, e->type->print, fields, e);
	return fields;
}

bool wm_view_put_print(struct wm_pen *p, struct wm_view_page *page, const struct view_trace *t,
		       const struct wm_event *e)
{
	size_t before;
	bool has;

	if (!e->type->print)
		return false;
	wm_pen_close(p);
	before = p->text->bytes;
	has = wm_view_print(page, t, e, p->text);
	if (!has)
		wm_text_cut(p->text, before);
	wm_pen_resume(p);
	return has;
}
