/* SPDX-License-Identifier: MIT */
/*
 * scene_readings.c - converts an event that is a reading of counters, as made by record -e
 * proc:vmstat: each numeric field becomes a number of the scene, with event, device or processor,
 * and field in its title.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "export/timeline/scene.h"

static bool ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), k = strlen(end);

	return n > k && !memcmp(name + n - k, end, k);
}

/* Returns the unit of a field, which is the suffix of its name. */
static const char *unit_of(const char *field)
{
	static const struct {
		const char *end, *unit;
	} units[] = {{"_bytes", "bytes"},
		     {"_ns", "ns"},
		     {"_avg10", "percent"},
		     {"_avg60", "percent"},
		     {"_avg300", "percent"}};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (ends_with(field, units[i].end))
			return units[i].unit;
	return "";
}

/*
 * Builds "proc:cpu 0 ", "proc:net_dev lo ", "proc:vmstat ", to which names of fields are appended.
 */
static void begin_title(struct wm_scene *s, const struct wm_act_type *a, const struct wm_event *e)
{
	struct wm_text *t = &s->title;
	const char *word;
	size_t bytes;

	wm_text_cut(t, 0);
	wm_text_str(t, e->type->name);
	wm_text_char(t, ' ');
	if (!a->part.type)
		return;
	if (a->part.type->kind == WM_TYPE_STRING) {
		word = wm_field_ref_string(&a->part, e, &bytes);
		wm_text_add(t, word, bytes);
	} else {
		wm_text_f(t, "%" PRId64, wm_field_ref_integer(&a->part, e, 0));
	}
	wm_text_char(t, ' ');
}

static int readings_give(struct wm_scene *s, struct wm_scene_number *n, const struct wm_item *i,
			 size_t title_bytes)
{
	wm_text_cut(&s->title, title_bytes);
	wm_text_str(&s->title, i->member->name);
	wm_text_char(&s->title, '\0');
	if (s->title.failed)
		return -ENOMEM;
	n->title = s->title.data;
	n->unit = unit_of(i->member->name);
	n->kind = (enum wm_type_kind)i->member->type->kind;
	n->u = i->u;
	return s->ops->number(s->own, n);
}

int wm_scene_readings(struct wm_scene *s, const struct wm_act_type *a,
		      const struct wm_scene_row *row, uint32_t trace, const struct wm_event *e)
{
	const struct wm_item *part = a->part.type ? wm_field_ref_item(&a->part, e) : NULL;
	struct wm_scene_number n = {
	    .row = {.kind = WM_ROW_READINGS}, .ns = e->ns, .event = e, .trace = trace};
	uint32_t end = e->parts[WM_PART_FIELDS].end;
	size_t title_bytes;
	int err = 0;

	if (row->kind == WM_ROW_THREAD)
		n.row = *row;
	err = wm_scene_tell(s, &n.row, 0);
	begin_title(s, a, e);
	title_bytes = s->title.bytes;
	for (uint32_t at = e->parts[WM_PART_FIELDS].at; !err && at < end; at = e->items[at].next) {
		const struct wm_item *i = &e->items[at];

		if (i != part && i->member->type->kind <= WM_TYPE_FLOAT)
			err = readings_give(s, &n, i, title_bytes);
	}
	return err;
}
