/* SPDX-License-Identifier: MIT */
/*
 * export_chrome.c - writes the trace event format of Chrome: a JSON object with
 * an array of events, ts in microseconds with the nanoseconds as decimals.
 */
#include "view/export_chrome.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/export_file.h"
#include "view/style.h"
#include "view/value_text.h"

#define ROOM 256u /* a line but for its names and values */

struct chrome {
	struct wm_export_file file;
	struct wm_arena arena;
	struct wm_shapes shapes;
	int64_t base_ns; /* where ts begins: doubles cannot hold nanoseconds since 1970 */
	bool any;
};

static int chrome_open(struct wm_export *x, struct wm_diag *diag)
{
	struct chrome *c = calloc(1, sizeof(*c));

	x->own = c;
	if (!c)
		return -ENOMEM;
	wm_arena_init(&c->arena, 1u << 30);
	wm_shapes_init(&c->shapes, &c->arena, &wm_style_json);
	x->nr_files = 1;
	return wm_export_file_create(&c->file, x->options.path, x->options.force, diag);
}

/* Microseconds, with three decimals. */
static void put_us(struct wm_pen *p, int64_t ns)
{
	uint64_t n = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
	uint32_t rest = (uint32_t)(n % 1000);

	if (ns < 0)
		wm_pen_char(p, '-');
	p->at = wm_digits_u64(p->at, n / 1000);
	wm_pen_char(p, '.');
	wm_pen_char(p, (char)('0' + rest / 100));
	p->at = wm_digits_pair(p->at, rest % 100);
}

static int put_instant(struct chrome *c, const struct wm_event *e)
{
	const struct wm_type *t = e->type->parts[WM_PART_FIELDS];
	const struct wm_shape *s = t ? wm_shape_of(&c->shapes, t) : NULL;
	struct wm_pen p;

	if ((t && !s) || !wm_pen_open(&p, &c->file.buffer))
		return -ENOMEM;
	wm_pen_put(&p, c->any ? ",\n" : "\n", c->any ? 2 : 1);
	WM_PEN_PUT(&p, "{\"ph\":\"i\",\"s\":\"t\",\"ts\":");
	put_us(&p, e->ns - c->base_ns);
	WM_PEN_PUT(&p, ",\"pid\":");
	p.at = wm_digits_i64(p.at, e->pid);
	WM_PEN_PUT(&p, ",\"tid\":");
	p.at = wm_digits_i64(p.at, e->tid);
	WM_PEN_PUT(&p, ",\"name\":");
	wm_pen_close(&p);
	wm_view_json_string(&c->file.buffer, e->type->name, strlen(e->type->name));
	wm_pen_resume(&p);
	wm_pen_need(&p, ROOM);
	WM_PEN_PUT(&p, ",\"args\":{");
	if (s)
		wm_shape_members(&p, s, e->items, e->parts[WM_PART_FIELDS].at,
				 e->parts[WM_PART_FIELDS].end, 0);
	wm_pen_need(&p, ROOM);
	WM_PEN_PUT(&p, "}}");
	wm_pen_close(&p);
	c->any = true;
	return 0;
}

static int chrome_event(struct wm_export *x, uint32_t trace, const struct wm_event *e)
{
	struct chrome *c = x->own;
	size_t before;
	int err;

	if (!c->file.bytes) {
		c->base_ns = e->ns;
		wm_export_file_write(&c->file, "{\"traceEvents\":[", 16);
	}
	before = c->file.buffer.bytes;
	err = put_instant(c, e);
	wm_export_file_added(&c->file, before);
	return err ? err : c->file.err;
}

static int chrome_close(struct wm_export *x, bool whole, struct wm_diag *diag)
{
	struct chrome *c = x->own;
	int err = 0;

	if (!c)
		return 0;
	if (whole) {
		if (!c->file.bytes)
			wm_export_file_write(&c->file, "{\"traceEvents\":[", 16);
		wm_export_file_write(&c->file, "\n]}\n", 4);
		err = wm_export_file_publish(&c->file, diag);
	}
	wm_export_file_done(&c->file);
	wm_shapes_done(&c->shapes);
	wm_arena_done(&c->arena);
	free(c);
	return err;
}

const struct wm_exporter_ops wm_export_chrome = {
    .name = "chrome",
    .suffixes = ".json",
    .summary = "Chrome's trace event format, JSON",
    .no_parts = 0,
    .open = chrome_open,
    .event = chrome_event,
    .close = chrome_close,
};
