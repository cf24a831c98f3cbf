/* SPDX-License-Identifier: MIT */
/* writer_json.c - events as JSON objects and as CSV rows (RFC 4180). */
#include <string.h>

#include "view/text/writer_int.h"
#include "view/value_text.h"

#define HEAD_ROOM 256u

/* Keys of the parts shown. */
static const char *const part_keys[WM_NR_PARTS] = {
    [WM_PART_PACKET_CONTEXT] = ",\"packet\":{",
    [WM_PART_STREAM_CONTEXT] = ",\"common\":{",
    [WM_PART_CONTEXT] = ",\"context\":{",
    [WM_PART_FIELDS] = ",\"fields\":{",
};

static void writer_json_put_text(struct wm_pen *p, const char *text)
{
	wm_pen_put(p, text, strlen(text));
}

static void put_key_number(struct wm_pen *p, const char *key, int32_t n)
{
	if (n < 0)
		return;
	writer_json_put_text(p, key);
	p->at = wm_digits_u64(p->at, (uint32_t)n);
}

static void writer_json_put_string(struct wm_pen *p, const char *key, const char *text,
				   uint32_t bytes)
{
	writer_json_put_text(p, key);
	wm_pen_close(p);
	wm_view_json_string(p->text, text, bytes);
	wm_pen_resume(p);
}

/* Writes the contexts of waymark's own traces as keys of the event itself. */
static void writer_json_put_contexts(struct wm_pen *p, const struct view_type *type,
				     const struct wm_event *e)
{
	const struct wm_part_range *parts = e->parts;

	if (wm_view_level(type, e)) {
		writer_json_put_text(p, ",\"level\":");
		p->at = wm_digits_u64(p->at, wm_view_level(type, e));
	}
	if (type->parts[WM_PART_CONTEXT])
		wm_shape_members(p, type->parts[WM_PART_CONTEXT], e->items,
				 parts[WM_PART_CONTEXT].at, parts[WM_PART_CONTEXT].end, 1);
	if (type->contexts)
		wm_shape_members(p, type->contexts, e->items, parts[WM_PART_FIELDS].at,
				 parts[WM_PART_FIELDS].end, 1);
	wm_pen_need(p, HEAD_ROOM);
}

static void writer_json_put_parts(struct wm_pen *p, const struct view_trace *t,
				  const struct view_type *type, const struct wm_event *e)
{
	bool is_own = t->trace->is_own;

	if (is_own)
		writer_json_put_contexts(p, type, e);
	for (int part = 0; part < WM_NR_PARTS; part++) {
		if (!type->parts[part] || (is_own && part == WM_PART_CONTEXT))
			continue;
		wm_pen_need(p, HEAD_ROOM);
		writer_json_put_text(p, part_keys[part]);
		wm_shape_members(p, type->parts[part], e->items, e->parts[part].at,
				 e->parts[part].end, 0);
		wm_pen_need(p, HEAD_ROOM);
		wm_pen_char(p, '}');
	}
}

static void writer_json_put_message(struct wm_pen *p, struct wm_view_page *page,
				    const struct view_trace *t, const struct wm_event *e)
{
	struct wm_text message;

	if (!e->type->print)
		return;
	wm_text_init(&message);
	if (wm_view_print(page, t, e, &message))
		writer_json_put_string(p, ",\"message\":", message.data ? message.data : "",
				       (uint32_t)message.bytes);
	p->text->failed |= message.failed;
	wm_text_done(&message);
}

static void put_object(struct wm_pen *p, struct wm_view_page *page, const struct view_trace *t,
		       const struct wm_event *e)
{
	const struct view_type *type = &t->types[e->type->index];
	uint32_t bytes;
	const char *comm = wm_view_comm(t, e, &bytes);

	wm_pen_need(p, HEAD_ROOM);
	WM_PEN_PUT(p, "{\"time_ns\":");
	if (e->ns == WM_TIME_NONE)
		WM_PEN_PUT(p, "null");
	else
		p->at = wm_digits_i64(p->at, e->ns);
	put_key_number(p, ",\"pid\":", e->pid);
	put_key_number(p, ",\"tid\":", e->tid);
	if (bytes)
		writer_json_put_string(p, ",\"comm\":", comm, bytes);
	WM_PEN_PUT(p, ",\"name\":");
	wm_view_put_piece(p, &type->name);
	wm_view_put_piece(p, &t->place);
	if (t->has_heads)
		wm_view_put_piece(p, &t->streams[e->stream->index]);
	wm_pen_need(p, HEAD_ROOM);
	put_key_number(p, ",\"cpu\":", e->cpu);
	writer_json_put_parts(p, t, type, e);
	writer_json_put_message(p, page, t, e);
	wm_pen_need(p, 4);
	wm_pen_char(p, '}');
}

void wm_view_write_jsonl(const struct wm_view *v, struct wm_view_page *page,
			 const struct view_trace *t, const struct wm_event *e)
{
	struct wm_pen p;

	if (!wm_pen_open(&p, &page->text))
		return;
	put_object(&p, page, t, e);
	wm_pen_char(&p, '\n');
	wm_pen_close(&p);
}

void wm_view_write_json(const struct wm_view *v, struct wm_view_page *page,
			const struct view_trace *t, const struct wm_event *e)
{
	struct wm_pen p;

	if (!wm_pen_open(&p, &page->text))
		return;
	if (page->later || page->past.any)
		wm_pen_char(&p, ',');
	wm_pen_char(&p, '\n');
	put_object(&p, page, t, e);
	wm_pen_close(&p);
}

/* --- CSV ------------------------------------------------------------------------------------ */

/*
 * Quotes a cell if it contains a comma, a quote or a line break, or begins or ends with a space.
 */
static void writer_json_put_cell(struct wm_pen *p, const char *text, size_t bytes)
{
	bool quotes = bytes && (text[0] == ' ' || text[bytes - 1] == ' ');

	for (size_t i = 0; i < bytes && !quotes; i++)
		quotes = text[i] == ',' || text[i] == '"' || text[i] == '\n' || text[i] == '\r';
	if (!quotes) {
		wm_pen_add(p, text, bytes);
		return;
	}
	wm_pen_need(p, 4);
	wm_pen_char(p, '"');
	for (size_t i = 0; i < bytes; i++) {
		wm_pen_need(p, 4);
		if (text[i] == '"')
			wm_pen_char(p, '"');
		wm_pen_char(p, text[i]);
	}
	wm_pen_need(p, 4);
	wm_pen_char(p, '"');
}

void wm_view_csv_head(const struct wm_view *v, struct wm_text *t)
{
	struct wm_pen p;

	wm_text_str(t, "time_ns,name,cpu,pid,tid,comm");
	if (!v->options.nr_fields)
		wm_text_str(t, ",fields");
	if (!wm_pen_open(&p, t))
		return;
	for (uint32_t i = 0; i < v->options.nr_fields; i++) {
		wm_pen_need(&p, 4);
		wm_pen_char(&p, ',');
		writer_json_put_cell(&p, v->options.fields[i], strlen(v->options.fields[i]));
	}
	wm_pen_need(&p, 4);
	WM_PEN_PUT(&p, "\r\n");
	wm_pen_close(&p);
}

/* Writes all parts as one cell: {"common":{...},"fields":{...}}. */
static void writer_json_put_all(struct wm_pen *p, const struct view_trace *trace,
				const struct view_type *type, const struct wm_event *e)
{
	struct wm_text t;
	struct wm_pen q;

	wm_text_init(&t);
	if (wm_pen_open(&q, &t)) {
		writer_json_put_parts(&q, trace, type, e);
		WM_PEN_PUT(&q, "}");
		wm_pen_close(&q);
		t.data[0] = '{'; /* replaces the first comma */
		if (t.bytes > 1)
			writer_json_put_cell(p, t.data, t.bytes);
	}
	p->text->failed |= t.failed;
	wm_text_done(&t);
}

/* Finds a member by name, looking in the fields first; returns its item and its value's shape. */
static const struct wm_item *writer_json_find(const struct view_type *type,
					      const struct wm_event *e, const char *name,
					      const struct wm_shape **ret)
{
	for (int part = WM_NR_PARTS - 1; part >= 0; part--) {
		const struct wm_shape *s = type->parts[part];
		uint32_t at = e->parts[part].at;

		for (uint32_t k = 0; s && k < s->nr_pieces && at < e->parts[part].end; k++) {
			if (!strcmp(s->type->members[k].name, name)) {
				*ret = s->pieces[k].shape;
				return &e->items[at];
			}
			at = e->items[at].next;
		}
	}
	return NULL;
}

/* Writes one value as a cell: text without quotes, other values as JSON. */
static void writer_json_put_value(struct wm_pen *p, const struct wm_shape *s,
				  const struct wm_item *i)
{
	struct wm_text t;
	struct wm_pen q;

	if (s->type->kind == WM_TYPE_STRING) {
		writer_json_put_cell(p, i->text, i->count);
		return;
	}
	wm_text_init(&t);
	if (wm_pen_open(&q, &t)) {
		(void)s->write(&q, s, i);
		wm_pen_close(&q);
		writer_json_put_cell(p, t.data, t.bytes);
	}
	p->text->failed |= t.failed;
	wm_text_done(&t);
}

static void put_column(struct wm_pen *p, int32_t n)
{
	wm_pen_need(p, 16);
	wm_pen_char(p, ',');
	if (n >= 0)
		p->at = wm_digits_u64(p->at, (uint32_t)n);
}

void wm_view_write_csv(const struct wm_view *v, struct wm_view_page *page,
		       const struct view_trace *t, const struct wm_event *e)
{
	const struct view_type *type = &t->types[e->type->index];
	const struct wm_shape *shape;
	const struct wm_item *item;
	const char *comm;
	uint32_t bytes;
	struct wm_pen p;

	if (!wm_pen_open(&p, &page->text))
		return;
	if (e->ns != WM_TIME_NONE)
		p.at = wm_digits_i64(p.at, e->ns);
	wm_pen_char(&p, ',');
	writer_json_put_cell(&p, type->name.text, type->name.bytes);
	put_column(&p, e->cpu);
	put_column(&p, e->pid);
	put_column(&p, e->tid);
	wm_pen_need(&p, 4);
	wm_pen_char(&p, ',');
	comm = wm_view_comm(t, e, &bytes);
	writer_json_put_cell(&p, comm, bytes);
	for (uint32_t i = 0; i < v->options.nr_fields; i++) {
		wm_pen_need(&p, 4);
		wm_pen_char(&p, ',');
		item = writer_json_find(type, e, v->options.fields[i], &shape);
		if (item)
			writer_json_put_value(&p, shape, item);
	}
	wm_pen_need(&p, 4);
	if (!v->options.nr_fields) {
		wm_pen_char(&p, ',');
		writer_json_put_all(&p, t, type, e);
	}
	wm_pen_need(&p, 4);
	WM_PEN_PUT(&p, "\r\n");
	wm_pen_close(&p);
}
