/* SPDX-License-Identifier: MIT */
/*
 * run.c - opens traces, binds the selected events, and writes them with an exporter
 * (export/export.h) or the view's writer. Termination signals are blocked and polled between
 * events, so that partial output is removed first.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/plural.h"
#include "base/signals.h"
#include "cmd/convert/convert.h"
#include "cmd/event_options.h"
#include "cmd/exit.h"
#include "cmd/progress.h"
#include "cmd/say.h"
#include "cmd/symbol_options.h"
#include "cmd/trace_open.h"
#include "export/file.h"
#include "view/render.h"

struct converting {
	struct wm_convert_values *v;
	const struct wm_convert_format *format;
	struct wm_input_set in;
	struct wm_timeline *timeline;
	struct wm_progress progress;
	int64_t begin_ns, end_ns;
	struct wm_export_file file; /* output file of a text format */
	uint64_t nr_events;
	sigset_t waiting;
};

/* --- between events ------------------------------------------------------------------ */

static bool interrupted(const struct converting *c)
{
	sigset_t pending;

	if (sigpending(&pending))
		return false;
	for (int i = 1; i < SIGRTMIN; i++)
		if (sigismember(&c->waiting, i) == 1 && sigismember(&pending, i) == 1)
			return true;
	return false;
}

static int convert_tick(void *data, uint64_t done_bytes)
{
	struct converting *c = data;

	wm_progress_tick(&c->progress, done_bytes);
	return interrupted(c) ? -EINTR : 0;
}

/* Returns the total size of the packets that will be read. */
static uint64_t count_bytes(const struct converting *c)
{
	uint64_t bytes = 0;

	for (uint32_t t = 0; t < c->in.nr; t++)
		for (uint64_t i = 0; i < c->in.traces[t]->nr_packets; i++) {
			const struct wm_packet *p = &c->in.traces[t]->packets[i];

			if (p->end_ns >= c->begin_ns && p->begin_ns < c->end_ns)
				bytes += p->bytes;
		}
	return bytes;
}

/* --- exporters and text -------------------------------------------------------------- */

static int convert_failed(const struct converting *c, int err, const struct wm_diag *diag)
{
	if (err == -EINTR && interrupted(c))
		/* not reached: the signal ends the process when it is unblocked */
		return WM_EXIT_FAILED;
	wm_say_diag("write", diag->where ? diag->where : c->v->out, err, diag);
	return wm_exit_of(err);
}

static void convert_say_left_out(const struct wm_export *x, const char *format)
{
	for (uint32_t i = 0; i < x->nr_reasons; i++) {
		const struct wm_export_reason *r = &x->reasons[i];

		wm_say(r->written ? "%llu %s written to %s without %s"
				  : "%llu %s left out of %s: %s",
		       (unsigned long long)r->nr, wm_plural(r->nr, "event", "events"), format,
		       r->text);
	}
	if (x->nr_files > 1)
		wm_say("'%s' would be too large for the programs that read it: wrote %u files, in "
		       "time order",
		       x->options.path, x->nr_files);
}

static int export(struct converting *c)
{
	struct wm_diag diag = {.offset = -1};
	char *builds = wm_asked_builds();
	const struct wm_places_asked asked = {c->in.traces, c->in.nr, {.cache = builds}, NULL};
	const struct wm_view_places places = wm_asked_places(&asked);
	struct wm_export_options options = {.path = c->v->out,
					    .places = &places,
					    .split_bytes = c->v->split_bytes,
					    .force = c->v->force,
					    .tracer = "waymark " WM_VERSION};
	struct wm_export_input input = {
	    .timeline = c->timeline,
	    .begin_ns = c->begin_ns,
	    .end_ns = c->end_ns,
	    .wants = c->v->asked.select.want_list,
	    .passes = wm_select_asks(&c->v->asked.select) ? wm_select_passes : NULL,
	    .passes_data = &c->v->asked.select,
	    .tick = convert_tick,
	    .tick_data = c};
	struct wm_export x;
	int err = wm_export_run(&x, c->format->ops, &options, &input, &diag);

	wm_progress_end(&c->progress);
	free(builds);
	if (err)
		return convert_failed(c, err, &diag);
	c->nr_events = x.nr_events;
	convert_say_left_out(&x, c->format->name);
	return x.nr_reasons ? WM_EXIT_INCOMPLETE : WM_EXIT_DONE;
}

static int convert_write_text(void *sink, const char *bytes, size_t count)
{
	struct converting *c = sink;

	wm_export_file_write(&c->file, bytes, count);
	return c->file.err;
}

static int convert_write_frame(struct converting *c, const struct wm_view *view,
			       void (*frame)(const struct wm_view *v, struct wm_text *t))
{
	size_t before = c->file.buffer.bytes;

	frame(view, &c->file.buffer);
	wm_export_file_added(&c->file, before);
	return c->file.err;
}

static int convert_render(struct converting *c, const struct wm_view *view)
{
	struct wm_render r = {.timeline = c->timeline,
			      .view = view,
			      .begin_ns = c->begin_ns,
			      .end_ns = c->end_ns,
			      .wants = c->v->asked.select.want_list,
			      .passes =
				  wm_select_asks(&c->v->asked.select) ? wm_select_passes : NULL,
			      .data = &c->v->asked.select,
			      .limit = UINT64_MAX,
			      .nr_threads = (uint32_t)c->v->threads,
			      .tick = convert_tick,
			      .write = convert_write_text,
			      .sink = c};
	struct wm_view_past past = {0};
	int err = convert_write_frame(c, view, wm_view_begin);

	if (!err)
		err = wm_render(&r, &past, &c->nr_events);
	return err ? err : convert_write_frame(c, view, wm_view_end);
}

static int convert_text(struct converting *c)
{
	struct wm_view_options options = {.format = c->format->text};
	struct wm_view *view = wm_view_create(c->in.traces, c->in.nr, &options);
	struct wm_diag diag = {.offset = -1};
	int err = view ? 0 : -ENOMEM;

	if (!err)
		err = wm_export_file_create(&c->file, c->v->out, c->v->force, &diag);
	if (!err)
		err = convert_render(c, view);
	if (!err)
		err = wm_export_file_publish(&c->file, &diag);
	wm_export_file_done(&c->file);
	wm_view_destroy(view);
	wm_progress_end(&c->progress);
	return err ? convert_failed(c, err, &diag) : WM_EXIT_DONE;
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Returns whether the path is in the folder, at any depth, or is the folder. */
static bool is_inside(const char *path, const char *folder)
{
	char *p = realpath(path, NULL), *f = realpath(folder, NULL);
	size_t bytes = f ? strlen(f) : 0;
	bool in = p && f && !strncmp(p, f, bytes) && (!p[bytes] || p[bytes] == '/');

	free(p);
	free(f);
	return in;
}

/* Refuses an OUT that is or contains one of the input traces, because it would be replaced. */
static int refuse_inputs(const struct wm_convert_values *v)
{
	for (uint32_t i = 0; i < v->asked.nr_inputs; i++) {
		const char *path = v->asked.inputs[i];

		if (!is_same_file(path, v->out) && !is_inside(path, v->out))
			continue;
		wm_say("convert: '%s' %s; choose another name for the output", v->out,
		       is_same_file(path, v->out) ? "is one of the input traces"
						  : "contains one of the input traces");
		return WM_EXIT_USAGE;
	}
	return WM_EXIT_DONE;
}

/* --- conversion ------------------------------------------------------------------------- */

static int convert_opened(struct converting *c)
{
	struct wm_convert_values *v = c->v;
	int err, status = wm_input_set_window(&c->in, "convert", v->asked.begin, v->asked.end,
					      &c->begin_ns, &c->end_ns);

	v->asked.select.hidden = v->all;
	v->asked.select.all_meta = c->format->ops && c->format->ops->needs_meta;
	if (!status && !(c->format->ops && c->format->ops->keeps_clocks))
		status = wm_input_set_check_clocks(&c->in, "convert", v->asked.correlate);
	if (!status)
		status = refuse_inputs(v);
	if (!status)
		status = wm_asked_bind(&v->asked.select, c->in.traces, c->in.nr);
	if (status)
		return status;
	err = wm_timeline_create(c->in.traces, c->in.nr, &c->timeline);
	if (err) {
		wm_say_cannot("convert to", v->out, err);
		return WM_EXIT_FAILED;
	}
	wm_progress_begin(&c->progress, "convert", count_bytes(c));
	status = c->format->ops ? export(c) : convert_text(c);
	if (!status && !c->nr_events)
		wm_say("no event was converted: '%s' contains only its header", v->out);
	return status;
}

int wm_convert_run(struct wm_convert_values *v, const struct wm_convert_format *format)
{
	struct converting c = {.v = v, .format = format};
	sigset_t before;
	int status;

	wm_signals_that_end(&c.waiting);
	pthread_sigmask(SIG_BLOCK, &c.waiting, &before);
	status = wm_input_set_open(&c.in, v->asked.inputs, v->asked.nr_inputs);
	if (!status) {
		status = convert_opened(&c);
		status = wm_input_set_report_missing(&c.in, status, false);
	}
	wm_timeline_destroy(c.timeline);
	wm_select_unbind(&v->asked.select);
	wm_input_set_close(&c.in);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return status;
}
