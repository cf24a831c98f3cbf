/* SPDX-License-Identifier: MIT */
/* chrome_values.c - see chrome_values.h. */
#include "export/timeline/chrome_values.h"

#include <errno.h>
#include <string.h>

#include "view/value_text.h"

#define SAFE      ((uint64_t)1 << 53) /* doubles represent all integers up to this one */
#define ARENA_MAX ((size_t)1 << 30)
#define ROOM      64u

/* --- leaves ------------------------------------------------------------------------------ */

static bool chrome_values_is_hex(const struct wm_type *t)
{
	return t->kind == WM_TYPE_UNSIGNED &&
	       (t->look == WM_LOOK_HEX || t->look == WM_LOOK_POINTER);
}

static const struct wm_item *large(struct wm_pen *p, const struct wm_shape *s,
				   const struct wm_item *i)
{
	bool is_signed = s->type->kind == WM_TYPE_SIGNED;
	bool safe = is_signed ? i->s <= (int64_t)SAFE && i->s >= -(int64_t)SAFE : i->u <= SAFE;

	if (!safe)
		wm_pen_char(p, '"');
	if (!safe && chrome_values_is_hex(s->type)) {
		WM_PEN_PUT(p, "0x");
		p->at = wm_digits_bits(p->at, i->u, 4, "0123456789abcdef");
	} else {
		p->at = is_signed ? wm_digits_i64(p->at, i->s) : wm_digits_u64(p->at, i->u);
	}
	if (!safe)
		wm_pen_char(p, '"');
	return i + 1;
}

static const struct wm_item *chrome_values_enumeration(struct wm_pen *p, const struct wm_shape *s,
						       const struct wm_item *i)
{
	const char *label = s->type->is_flags ? NULL : wm_type_label(s->type, i);

	if (!label)
		return large(p, s, i);
	wm_pen_close(p);
	wm_text_char(p->text, '"');
	wm_view_json_bytes(p->text, label, strlen(label));
	wm_pen_resume(p);
	wm_pen_need(p, ROOM);
	WM_PEN_PUT(p, " (");
	p->at = s->type->kind == WM_TYPE_SIGNED ? wm_digits_i64(p->at, i->s)
						: wm_digits_u64(p->at, i->u);
	WM_PEN_PUT(p, ")\"");
	return i + 1;
}

static wm_shape_write *chrome_values_leaf(const struct wm_type *t)
{
	if (t->is_enum)
		return chrome_values_enumeration;
	if (t->kind <= WM_TYPE_SIGNED && t->bits > 53)
		return large;
	return wm_style_json.leaf(t);
}

void wm_chrome_values_init(struct wm_chrome_values *v)
{
	v->style = wm_style_json;
	v->style.leaf = chrome_values_leaf;
	wm_arena_init(&v->arena, ARENA_MAX);
	wm_shapes_init(&v->shapes, &v->arena, &v->style);
}

void wm_chrome_values_done(struct wm_chrome_values *v)
{
	wm_shapes_done(&v->shapes);
	wm_arena_done(&v->arena);
}

/* --- events -------------------------------------------------------------------------------- */

/* Writes the members of a part after `nr` other members. -1: out of memory. */
static int64_t chrome_values_put_part(struct wm_chrome_values *v, struct wm_pen *p,
				      const struct wm_event *e, int part, uint32_t nr)
{
	const struct wm_type *t = e->type->parts[part];
	const struct wm_shape *s = t ? wm_shape_of(&v->shapes, t) : NULL;

	if (!t || !t->nr_members)
		return nr;
	if (!s)
		return -1;
	return wm_shape_members(p, s, e->items, e->parts[part].at, e->parts[part].end, nr);
}

static bool chrome_values_put_context(struct wm_chrome_values *v, struct wm_pen *p,
				      const struct wm_event *e, int part, const char *key,
				      bool *any)
{
	if (e->parts[part].at == e->parts[part].end)
		return true;
	wm_pen_need(p, ROOM);
	if (*any)
		wm_pen_char(p, ',');
	*any = true;
	wm_pen_put(p, key, strlen(key));
	if (chrome_values_put_part(v, p, e, part, 0) < 0)
		return false;
	wm_pen_need(p, ROOM);
	wm_pen_char(p, '}');
	return true;
}

static void chrome_values_put_message(struct wm_pen *p, const struct wm_view *view, uint32_t trace,
				      const struct wm_event *e, bool *any)
{
	struct wm_text message;

	if (!e->type->print)
		return;
	wm_text_init(&message);
	if (wm_view_message(view, trace, e, &message)) {
		wm_pen_need(p, ROOM);
		if (*any)
			wm_pen_char(p, ',');
		*any = true;
		WM_PEN_PUT(p, "\"$message\":");
		wm_pen_close(p);
		wm_view_json_string(p->text, message.data ? message.data : "", message.bytes);
		wm_pen_resume(p);
	}
	p->text->failed |= message.failed;
	wm_text_done(&message);
}

/* Writes the event's attributes other than its values. */
static void chrome_values_put_own(struct wm_pen *p, const struct wm_event *e, bool *any)
{
	wm_pen_need(p, ROOM);
	if (e->cpu >= 0) {
		if (*any)
			wm_pen_char(p, ',');
		*any = true;
		WM_PEN_PUT(p, "\"$cpu\":");
		p->at = wm_digits_u64(p->at, (uint32_t)e->cpu);
	}
	if (e->ns == WM_TIME_NONE) {
		if (*any)
			wm_pen_char(p, ',');
		*any = true;
		WM_PEN_PUT(p, "\"$time\":\"none\"");
	}
}

int wm_chrome_values_put(struct wm_chrome_values *v, const struct wm_view *view, uint32_t trace,
			 const struct wm_event *e, struct wm_text *t)
{
	struct wm_pen p;
	int64_t nr;
	bool any;

	if (!wm_pen_open(&p, t))
		return -ENOMEM;
	nr = chrome_values_put_part(v, &p, e, WM_PART_FIELDS, 0);
	any = nr > 0;
	chrome_values_put_own(&p, e, &any);
	if (nr < 0 ||
	    !chrome_values_put_context(v, &p, e, WM_PART_STREAM_CONTEXT, "\"$common\":{", &any) ||
	    !chrome_values_put_context(v, &p, e, WM_PART_CONTEXT, "\"$context\":{", &any))
		t->failed = true;
	chrome_values_put_message(&p, view, trace, e, &any);
	wm_pen_close(&p);
	return t->failed ? -ENOMEM : 0;
}
