/* SPDX-License-Identifier: MIT */
/*
 * chrome.c - writes Chrome's trace event format: one JSON object with an array of events, one per
 * line. doc/format/chrome.md specifies the contents. Times are relative to the first event, because
 * readers store them as doubles, which cannot represent nanoseconds since 1970.
 */
#include "export/timeline/chrome.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/pieces_int.h"
#include "export/timeline/chrome_samples.h"
#include "export/timeline/chrome_values.h"
#include "export/timeline/scene.h"
#include "view/value_text.h"

/* Ids of rows that are not threads: larger than every possible pid and tid. */
#define CPUS_PID     10000000u
#define NOBODY_PID   10000001u
#define LOSSES_PID   10000002u
#define READINGS_PID 10000003u
#define CPUS_TID     11000000u    /* + 4 * processor + kind of row */
#define ROOM         256u         /* size of a line without its names and values */
#define SPLIT_BYTES  (256u << 20) /* browser-based viewers can open a few hundred MB */

struct chrome {
	struct wm_export *x;
	struct wm_export_pieces pieces;
	struct wm_scene scene;
	struct wm_chrome_values values;
	struct wm_chrome_samples samples;
	struct wm_diag *diag;
	int64_t base_ns; /* the time written as ts 0; WM_TIME_NONE: nothing written yet */
	int64_t last_ns; /* time of the last event, used for events without a time */
	bool any;        /* the current file has lines */
};

/* --- lines ----------------------------------------------------------------------------- */

static struct wm_text *out(const struct chrome *c)
{
	return &wm_export_pieces_now(&c->pieces)->buffer;
}

/* Begins a line; false: no memory. */
static bool chrome_open_line(struct chrome *c, struct wm_pen *p, const char *phase)
{
	if (!wm_pen_open(p, out(c)))
		return false;
	if (c->any)
		wm_pen_char(p, ',');
	c->any = true;
	WM_PEN_PUT(p, "\n{\"ph\":\"");
	wm_pen_put(p, phase, strlen(phase));
	wm_pen_char(p, '"');
	return true;
}

static void put_key(struct wm_pen *p, const char *key)
{
	wm_pen_need(p, ROOM);
	wm_pen_put(p, key, strlen(key));
}

static void chrome_put_number(struct wm_pen *p, const char *key, int64_t n)
{
	put_key(p, key);
	p->at = wm_digits_i64(p->at, n);
}

static void chrome_put_string(struct wm_pen *p, const char *key, const char *text)
{
	put_key(p, key);
	wm_pen_close(p);
	wm_view_json_string(p->text, text, strlen(text));
	wm_pen_resume(p);
}

/*
 * Writes the difference between two times, which may need 65 bits, in microseconds with three
 * decimals.
 */
static void put_difference(struct wm_pen *p, int64_t from_ns, int64_t ns)
{
	uint64_t n =
	    ns < from_ns ? (uint64_t)from_ns - (uint64_t)ns : (uint64_t)ns - (uint64_t)from_ns;
	uint32_t rest = (uint32_t)(n % 1000);

	if (ns < from_ns)
		wm_pen_char(p, '-');
	p->at = wm_digits_u64(p->at, n / 1000);
	wm_pen_char(p, '.');
	wm_pen_char(p, (char)('0' + rest / 100));
	p->at = wm_digits_pair(p->at, rest % 100);
}

static void put_us(struct wm_pen *p, const char *key, int64_t from_ns, int64_t ns)
{
	put_key(p, key);
	put_difference(p, from_ns, ns);
}

static void put_ts(struct chrome *c, struct wm_pen *p, int64_t ns)
{
	put_us(p, ",\"ts\":", c->base_ns, ns == WM_TIME_NONE ? c->last_ns : ns);
}

static uint32_t chrome_pid_of(const struct wm_scene_row *row)
{
	switch (row->kind) {
	case WM_ROW_THREAD:
		return (uint32_t)(row->task->pid >= 0 ? row->task->pid : row->task->tid);
	case WM_ROW_NOBODY:
		return NOBODY_PID;
	case WM_ROW_LOSSES:
		return LOSSES_PID;
	case WM_ROW_READINGS:
		return READINGS_PID;
	default:
		return CPUS_PID;
	}
}

static uint32_t chrome_tid_of(const struct wm_scene_row *row)
{
	if (row->kind == WM_ROW_THREAD)
		return (uint32_t)row->task->tid;
	if (row->kind == WM_ROW_NOBODY || row->kind >= WM_ROW_LOSSES)
		return chrome_pid_of(row);
	return CPUS_TID + 4 * row->index + row->kind - WM_ROW_CPU;
}

static void chrome_put_row(struct wm_pen *p, const struct wm_scene_row *row)
{
	chrome_put_number(p, ",\"pid\":", chrome_pid_of(row));
	chrome_put_number(p, ",\"tid\":", chrome_tid_of(row));
}

static void chrome_put_names(struct wm_pen *p, const char *category, const char *title)
{
	if (category[0])
		chrome_put_string(p, ",\"cat\":", category);
	chrome_put_string(p, ",\"name\":", title);
}

static int chrome_close_line(struct chrome *c, struct wm_pen *p)
{
	wm_pen_need(p, ROOM);
	wm_pen_char(p, '}');
	wm_pen_close(p);
	return out(c)->failed ? -ENOMEM : 0;
}

/* Writes the event's members; the caller writes the braces. */
static int chrome_put_values(struct chrome *c, struct wm_pen *p, uint32_t trace,
			     const struct wm_event *e)
{
	int err;

	wm_pen_close(p);
	err = wm_chrome_values_put(&c->values, c->scene.view, trace, e, p->text);
	wm_pen_resume(p);
	return err;
}

/* --- what the scene gives ---------------------------------------------------------------- */

static int chrome_on_values(void *own, uint32_t trace, const struct wm_event *e, struct wm_text *t)
{
	struct chrome *c = own;

	return wm_chrome_values_put(&c->values, c->scene.view, trace, e, t);
}

static int chrome_put_name(struct chrome *c, const struct wm_scene_row *row, const char *what,
			   const char *name)
{
	struct wm_pen p;

	if (!chrome_open_line(c, &p, "M"))
		return -ENOMEM;
	chrome_put_row(&p, row);
	chrome_put_string(&p, ",\"name\":", what);
	chrome_put_string(&p, ",\"args\":{\"name\":", name);
	wm_pen_need(&p, ROOM);
	wm_pen_char(&p, '}');
	return chrome_close_line(c, &p);
}

/* Makes viewers show the process above all others. */
static int put_first(struct chrome *c, const struct wm_scene_row *row)
{
	struct wm_pen p;

	if (!chrome_open_line(c, &p, "M"))
		return -ENOMEM;
	chrome_put_row(&p, row);
	put_key(&p, ",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":-1}");
	return chrome_close_line(c, &p);
}

static int name_thread(struct chrome *c, const struct wm_scene_row *row, const char *name)
{
	const struct wm_task *t = row->task;
	int err = 0;

	if (!name[0])
		return 0;
	/*
	 * A process is named after its main thread or, until that is known, after another thread.
	 */
	if (t->pid < 0 || t->pid == t->tid || !wm_tasks_find(&c->scene.state.tasks, t->pid))
		err = chrome_put_name(c, row, "process_name", name);
	return err ? err : chrome_put_name(c, row, "thread_name", name);
}

static int on_row(void *own, const struct wm_scene_row *row, uint32_t lane, const char *name)
{
	static const char *const formats[WM_NR_ROWS] = {[WM_ROW_CPU] = "CPU %u events",
							[WM_ROW_CPU_RUNS] = "CPU %u",
							[WM_ROW_CPU_STOPS] = "CPU %u interrupts"};
	struct chrome *c = own;
	char text[48];
	int err;

	if (lane) /* bars in lanes have ids, and viewers make one row per id */
		return 0;
	if (row->kind == WM_ROW_THREAD)
		return name_thread(c, row, name);
	if (row->kind == WM_ROW_NOBODY)
		return chrome_put_name(c, row, "process_name", "Events of unknown threads");
	if (row->kind == WM_ROW_LOSSES)
		return chrome_put_name(c, row, "process_name", "Lost events");
	if (row->kind == WM_ROW_READINGS)
		return chrome_put_name(c, row, "process_name", "Counters");
	(void)snprintf(text, sizeof(text), formats[row->kind], row->index);
	err = chrome_put_name(c, row, "process_name", "CPUs");
	if (!err)
		err = put_first(c, row);
	return err ? err : chrome_put_name(c, row, "thread_name", text);
}

static int chrome_on_point(void *own, const struct wm_scene_point *point)
{
	struct chrome *c = own;
	struct wm_pen p;
	int err = 0;

	if (!chrome_open_line(c, &p, "i"))
		return -ENOMEM;
	put_key(&p, ",\"s\":\"t\"");
	put_ts(c, &p, point->ns);
	chrome_put_row(&p, &point->row);
	chrome_put_names(&p, point->category, point->title);
	put_key(&p, ",\"args\":{");
	if (point->event)
		err = chrome_put_values(c, &p, point->trace, point->event);
	else
		wm_pen_add(&p, point->values, point->bytes);
	put_key(&p, "}");
	return err ? err : chrome_close_line(c, &p);
}

/*
 * Writes {VALUES of the begin event, "$end":{VALUES of the end event}}, or the values of the only
 * event.
 */
static int put_args(struct chrome *c, struct wm_pen *p, const struct wm_scene_bar *b)
{
	int err = 0;

	put_key(p, ",\"args\":{");
	if (b->values)
		wm_pen_add(p, b->values, b->bytes);
	if (b->values && b->event)
		put_key(p, b->bytes ? ",\"$end\":{" : "\"$end\":{");
	if (b->event)
		err = chrome_put_values(c, p, b->trace, b->event);
	if (b->values && b->event)
		put_key(p, "}");
	put_key(p, "}");
	return err;
}

/* Writes one end of a bar that overlaps others of its thread. */
static int put_async(struct chrome *c, const struct wm_scene_bar *b, const char *phase)
{
	struct wm_scene_bar half = *b;
	bool begins = phase[0] == 'b';
	struct wm_pen p;
	int err;

	if (!chrome_open_line(c, &p, phase))
		return -ENOMEM;
	put_ts(c, &p, begins ? b->begin_ns : b->end_ns);
	chrome_put_row(&p, &b->row);
	put_key(&p, ",\"id\":\"0x");
	p.at = wm_digits_bits(p.at, b->id, 4, "0123456789abcdef");
	put_key(&p, "\"");
	chrome_put_names(&p, b->category[0] ? b->category : "span", b->title);
	if (begins && b->values)
		half.event = NULL;
	else if (!begins)
		half.values = NULL;
	if (!begins && !b->values)
		half.event = NULL; /* the begin event has all values */
	err = put_args(c, &p, &half);
	return err ? err : chrome_close_line(c, &p);
}

static int put_bar(struct chrome *c, const struct wm_scene_bar *b)
{
	struct wm_pen p;
	int err;

	if (!chrome_open_line(c, &p, b->is_open ? "B" : "X"))
		return -ENOMEM;
	put_ts(c, &p, b->begin_ns);
	if (!b->is_open)
		put_us(&p, ",\"dur\":", b->begin_ns, b->end_ns);
	chrome_put_row(&p, &b->row);
	chrome_put_names(&p, b->category, b->title);
	if (b->is_idle)
		put_key(&p, ",\"cname\":\"grey\"");
	err = put_args(c, &p, b);
	return err ? err : chrome_close_line(c, &p);
}

static int chrome_on_bar(void *own, const struct wm_scene_bar *b)
{
	struct chrome *c = own;
	struct wm_scene_bar numbered = *b;
	int err;

	if (!b->lane)
		return put_bar(c, b);
	if (!b->id) /* without an id, use row and lane as id */
		numbered.id = (uint64_t)chrome_tid_of(&b->row) << 32 | b->lane;
	err = put_async(c, &numbered, "b");
	return err || b->is_open ? err : put_async(c, &numbered, "e");
}

/* Writes a number as such, even beyond 2^53, because viewers plot it. */
static void put_number_value(struct wm_pen *p, const struct wm_scene_number *n)
{
	put_key(p, ":");
	if (n->kind == WM_TYPE_FLOAT) {
		wm_pen_close(p);
		wm_view_json_real(p->text, n->f, false);
		wm_pen_resume(p);
	} else if (n->kind == WM_TYPE_SIGNED) {
		p->at = wm_digits_i64(p->at, n->s);
	} else {
		p->at = wm_digits_u64(p->at, n->u);
	}
}

static int chrome_on_number(void *own, const struct wm_scene_number *n)
{
	struct chrome *c = own;
	char title[128];
	struct wm_pen p;

	if (!chrome_open_line(c, &p, "C"))
		return -ENOMEM;
	put_ts(c, &p, n->ns);
	chrome_put_row(&p, &n->row);
	if (n->has_part)
		(void)snprintf(title, sizeof(title), "%s %lld", n->title, (long long)n->part);
	chrome_put_string(&p, ",\"name\":", n->has_part ? title : n->title);
	chrome_put_string(&p, ",\"args\":{", n->unit[0] ? n->unit : "value");
	put_number_value(&p, n);
	put_key(&p, "}");
	return chrome_close_line(c, &p);
}

static const struct wm_scene_ops scene_ops = {chrome_on_values, on_row, chrome_on_point,
					      chrome_on_bar, chrome_on_number};

/* --- samples ------------------------------------------------------------------------------ */

/* Adds a sample, after the names of its thread and process. */
static int chrome_add_sample(struct chrome *c, uint32_t trace, const struct wm_event *e)
{
	struct wm_chrome_sample where;
	struct wm_scene_row row;
	char us[48];
	struct wm_pen p = {.at = us};
	int err = wm_scene_learn(&c->scene, trace, e, &row);

	if (err)
		return err;
	put_difference(&p, c->base_ns, e->ns == WM_TIME_NONE ? c->last_ns : e->ns);
	where = (struct wm_chrome_sample){chrome_pid_of(&row), chrome_tid_of(&row), us,
					  (size_t)(p.at - us)};
	return wm_chrome_samples_add(&c->samples, trace, e, &where);
}

/* --- pieces ---------------------------------------------------------------------------------- */

static void put_traces(struct wm_text *t, const struct wm_export *x)
{
	wm_text_str(t, ",\"traces\":[");
	for (uint32_t i = 0; i < x->nr_traces; i++) {
		const struct wm_trace *trace = x->traces[i];

		wm_text_str(t, i ? ",{\"path\":" : "{\"path\":");
		wm_view_json_string(t, trace->path, strlen(trace->path));
		wm_text_str(t, ",\"words\":{");
		for (uint32_t k = 0; k < trace->nr_words; k++) {
			wm_text_str(t, k ? "," : "");
			wm_view_json_string(t, trace->words[k].key, strlen(trace->words[k].key));
			wm_text_char(t, ':');
			wm_view_json_string(t, trace->words[k].text, strlen(trace->words[k].text));
		}
		wm_text_str(t, "}}");
	}
	wm_text_char(t, ']');
}

/* Writes what precedes the events of a piece. */
static void chrome_begin_piece(struct chrome *c)
{
	struct wm_export_file *f = wm_export_pieces_now(&c->pieces);
	size_t before = f->buffer.bytes;
	struct wm_text *t = &f->buffer;

	wm_text_str(t, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"writer\":");
	wm_view_json_string(t, c->x->options.tracer, strlen(c->x->options.tracer));
	if (c->base_ns != WM_TIME_NONE)
		wm_text_f(t, ",\"ts_0_ns\":\"%lld\"", (long long)c->base_ns);
	wm_text_f(t, ",\"piece\":%u", c->pieces.nr);
	put_traces(t, c->x);
	wm_text_str(t, "},\"traceEvents\":[");
	wm_export_file_added(f, before);
	c->any = false;
}

static int end_piece(struct chrome *c)
{
	struct wm_export_file *f = wm_export_pieces_now(&c->pieces);
	size_t before = f->buffer.bytes;
	int err;

	wm_text_str(&f->buffer, "\n]");
	err = wm_chrome_samples_end(&c->samples, &f->buffer);
	wm_text_str(&f->buffer, "}\n");
	wm_export_file_added(f, before);
	return err;
}

/* Returns whether the file, including the samples that follow its events, has reached the limit. */
static bool chrome_is_full(const struct chrome *c)
{
	const struct wm_export_pieces *p = &c->pieces;

	return p->limit &&
	       wm_export_pieces_now(p)->bytes + wm_chrome_samples_bytes(&c->samples) >= p->limit;
}

static int chrome_next_piece(struct chrome *c)
{
	int err = end_piece(c);

	if (!err)
		err = wm_export_pieces_next(&c->pieces, c->diag);
	if (err)
		return err;
	wm_scene_forget_rows(&c->scene);
	chrome_begin_piece(c);
	return 0;
}

/* --- the exporter --------------------------------------------------------------------- */

static int chrome_open(struct wm_export *x, struct wm_diag *diag)
{
	struct chrome *c = calloc(1, sizeof(*c));
	uint64_t limit = x->options.split_bytes ? x->options.split_bytes : SPLIT_BYTES;
	int err;

	x->own = c;
	if (!c)
		return -ENOMEM;
	c->x = x;
	c->diag = diag;
	c->base_ns = WM_TIME_NONE;
	wm_chrome_values_init(&c->values);
	err = wm_scene_init(&c->scene, x, &scene_ops, c);
	if (!err)
		err = wm_chrome_samples_init(&c->samples, x);
	if (!err)
		err = wm_export_pieces_create(&c->pieces, x->options.path, x->options.force, limit,
					      diag);
	return err;
}

static int chrome_event(struct wm_export *x, uint32_t trace, const struct wm_event *e)
{
	struct chrome *c = x->own;
	struct wm_export_file *f;
	enum wm_sampled_how how;
	size_t before;
	int err = 0;

	if (c->base_ns == WM_TIME_NONE) {
		c->base_ns = c->last_ns = e->ns == WM_TIME_NONE ? 0 : e->ns;
		chrome_begin_piece(c);
	}
	if (chrome_is_full(c))
		err = chrome_next_piece(c);
	if (err)
		return err;
	if (e->ns != WM_TIME_NONE)
		c->last_ns = e->ns;
	f = wm_export_pieces_now(&c->pieces);
	before = f->buffer.bytes;
	how = wm_sampled_type(&c->samples.sampled, trace, e->type)->how;
	if (how != WM_SAMPLED_NOT)
		err = chrome_add_sample(c, trace, e);
	if (!err && how != WM_SAMPLED_ONLY)
		err = wm_scene_event(&c->scene, trace, e);
	wm_export_file_added(f, before);
	return err ? err : f->err;
}

static int chrome_finish(struct chrome *c)
{
	struct wm_export_file *f = wm_export_pieces_now(&c->pieces);
	size_t before;
	int err;

	if (c->base_ns == WM_TIME_NONE)
		chrome_begin_piece(c);
	before = f->buffer.bytes;
	err = wm_scene_finish(&c->scene);
	wm_export_file_added(f, before);
	if (!err)
		err = end_piece(c);
	if (!err)
		err = wm_export_pieces_publish(&c->pieces, c->diag);
	return err;
}

static int chrome_close(struct wm_export *x, bool whole, struct wm_diag *diag)
{
	struct chrome *c = x->own;
	int err = 0;

	if (!c)
		return 0;
	c->diag = diag;
	if (whole)
		err = chrome_finish(c);
	x->nr_files = c->pieces.nr;
	wm_export_pieces_done(&c->pieces);
	wm_scene_done(&c->scene);
	wm_chrome_values_done(&c->values);
	wm_chrome_samples_done(&c->samples);
	free(c);
	return err;
}

const struct wm_exporter_ops wm_export_chrome = {
    .suffixes = ".json",
    .summary = "Chrome's trace event format, JSON",
    .splits = true,
    .no_parts = 1u << WM_PART_PACKET_HEADER | 1u << WM_PART_PACKET_CONTEXT | 1u << WM_PART_HEADER,
    .open = chrome_open,
    .event = chrome_event,
    .close = chrome_close,
};
