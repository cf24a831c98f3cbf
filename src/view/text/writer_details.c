/* SPDX-License-Identifier: MIT */
/*
 * writer_details.c - an event with everything that the trace says about it: a line for each
 * property, and one for each field of all its parts, with the field's type.
 */
#include <inttypes.h>

#include "base/clock.h"
#include "view/text/writer_int.h"

#define VALUE_ROOM 256u

static const char *const part_titles[WM_NR_PARTS] = {
    [WM_PART_PACKET_HEADER] = "packet header",
    [WM_PART_PACKET_CONTEXT] = "packet context",
    [WM_PART_HEADER] = "event header",
    [WM_PART_STREAM_CONTEXT] = "common context",
    [WM_PART_CONTEXT] = "context",
    [WM_PART_FIELDS] = "fields",
};

/* --- types ------------------------------------------------------------------------------ */

static void details_number(struct wm_text *t, const struct wm_type *type)
{
	static const char *const looks[] = {[WM_LOOK_HEX] = ", base 16",
					    [WM_LOOK_OCTAL] = ", base 8",
					    [WM_LOOK_BINARY] = ", base 2",
					    [WM_LOOK_POINTER] = ", pointer"};
	const char *kind = type->kind == WM_TYPE_SIGNED  ? "signed"
			   : type->kind == WM_TYPE_BOOL  ? "boolean"
			   : type->kind == WM_TYPE_FLOAT ? "float"
							 : "unsigned";

	wm_text_f(t, "%s, %u bit%s%s", kind, type->bits, type->bits == 1 ? "" : "s",
		  type->look ? looks[type->look] : "");
	if (type->is_enum)
		wm_text_f(t, ", %u label%s", type->nr_labels, type->nr_labels == 1 ? "" : "s");
	if (type->is_flags)
		wm_text_str(t, ", flags");
}

static void details_type(struct wm_text *t, const struct wm_type *type)
{
	switch (type->kind) {
	case WM_TYPE_STRING:
		wm_text_str(t, "string");
		break;
	case WM_TYPE_BYTES:
		wm_text_str(t, "bytes");
		break;
	case WM_TYPE_STRUCT:
		wm_text_f(t, "structure, %u member%s", type->nr_members,
			  type->nr_members == 1 ? "" : "s");
		break;
	case WM_TYPE_LIST:
		if (type->fixed)
			wm_text_f(t, "array of %u: ", type->length);
		else
			wm_text_str(t, "list: ");
		details_type(t, type->element.type);
		break;
	case WM_TYPE_CHOICE:
		wm_text_f(t, "variant, %u option%s", type->nr_members,
			  type->nr_members == 1 ? "" : "s");
		break;
	case WM_TYPE_OPTIONAL:
		wm_text_str(t, "optional: ");
		details_type(t, type->element.type);
		break;
	default:
		details_number(t, type);
	}
}

/* --- lines ------------------------------------------------------------------------------- */

static void details_safe(struct wm_text *t, const char *text)
{
	wm_view_safe(t, text, strlen(text), false);
}

static void details_line(struct wm_text *t, const char *key, const char *text)
{
	wm_text_f(t, "  %-15s ", key);
	details_safe(t, text);
	wm_text_char(t, '\n');
}

static void details_time(const struct wm_view *v, struct wm_view_page *page,
			 const struct wm_event *e)
{
	const struct wm_trace_clock *c = e->stream->clock;
	struct wm_view_options date = v->options;
	struct wm_text *t = &page->text;
	struct wm_pen p;

	if (e->ns == WM_TIME_NONE)
		return;
	date.time = WM_VIEW_TIME_DATE;
	wm_text_f(t, "  %-15s ", "time");
	if (!wm_pen_open(&p, t))
		return;
	if (c && c->is_epoch && e->ns >= 0)
		wm_view_put_time(&p, page, e->ns, &date);
	else
		wm_view_put_seconds(&p, e->ns);
	wm_pen_close(&p);
	wm_text_f(t, " (%" PRId64 " ns)\n", e->ns);
	if (!c)
		return;
	wm_text_f(t, "  %-15s %" PRIu64 " at %" PRIu64 " Hz, ", "clock", e->clock, c->hz);
	details_safe(t, c->name);
	wm_text_char(t, '\n');
}

static void details_packet(struct wm_text *t, const struct wm_packet *p)
{
	wm_text_f(t, "  %-15s at %" PRIu64 ", %" PRIu64 " bytes", "packet", p->offset, p->bytes);
	if (p->begin_ns > INT64_MIN)
		wm_text_f(t, ", begins at %" PRId64 " ns", p->begin_ns);
	if (p->end_ns < INT64_MAX)
		wm_text_f(t, ", ends at %" PRId64 " ns", p->end_ns);
	wm_text_char(t, '\n');
}

static void details_place(struct wm_text *t, const struct view_trace *trace,
			  const struct wm_event *e)
{
	const struct wm_stream *s = e->stream;

	details_line(t, "trace", trace->trace->path);
	if (s->origin && s->origin->shown_uuid)
		details_line(t, "uuid", s->origin->shown_uuid);
	wm_text_f(t, "  %-15s ", "stream");
	details_safe(t, s->file[0] ? s->file : "-");
	wm_text_f(t, ", class %" PRIu64 ", instance %" PRIu64 "\n", s->class_id, s->instance);
	if (e->packet)
		details_packet(t, e->packet);
	wm_text_f(t, "  %-15s id %" PRIu64, "event class", e->type->id);
	if (e->type->level >= 0)
		wm_text_f(t, ", log level %d", e->type->level);
	wm_text_char(t, '\n');
}

static void details_thread(struct wm_text *t, const struct view_trace *trace,
			   const struct wm_event *e)
{
	uint32_t bytes;
	const char *comm = wm_view_comm(trace, e, &bytes);

	if (e->cpu >= 0)
		wm_text_f(t, "  %-15s %d\n", "cpu", e->cpu);
	if (e->pid >= 0)
		wm_text_f(t, "  %-15s %d\n", "process", e->pid);
	if (e->tid >= 0)
		wm_text_f(t, "  %-15s %d\n", "thread", e->tid);
	if (!bytes)
		return;
	wm_text_f(t, "  %-15s ", "command");
	wm_view_safe(t, comm, bytes, false);
	wm_text_char(t, '\n');
}

static void details_part(struct wm_text *t, const struct wm_shape *shape, const struct wm_event *e,
			 int part)
{
	uint32_t at = e->parts[part].at;

	if (at < e->parts[part].end)
		wm_text_f(t, "  %s\n", part_titles[part]);
	for (uint32_t i = 0; i < shape->nr_pieces && at < e->parts[part].end; i++) {
		const struct wm_member *m = e->items[at].member;
		const struct wm_item *item = &e->items[at];
		struct wm_pen p;

		at = item->next;
		if (shape->pieces[i].hidden)
			continue;
		wm_text_str(t, "    ");
		details_safe(t, m->name);
		wm_text_str(t, " = ");
		if (!wm_pen_open(&p, t))
			return;
		wm_pen_need(&p, VALUE_ROOM);
		(void)shape->pieces[i].shape->write(&p, shape->pieces[i].shape, item);
		wm_pen_close(&p);
		wm_text_str(t, "  (");
		details_type(t, m->type);
		wm_text_str(t, ")\n");
	}
}

void wm_view_write_details(const struct wm_view *v, struct wm_view_page *page,
			   const struct view_trace *t, const struct wm_event *e)
{
	const struct view_type *type = &t->types[e->type->index];

	wm_text_add(&page->text, type->name.text, type->name.bytes);
	wm_text_char(&page->text, '\n');
	details_time(v, page, e);
	details_thread(&page->text, t, e);
	details_place(&page->text, t, e);
	for (int part = 0; part < WM_NR_PARTS; part++)
		if (type->parts[part])
			details_part(&page->text, type->parts[part], e, part);
	wm_text_char(&page->text, '\n');
}
