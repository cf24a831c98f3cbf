/* SPDX-License-Identifier: MIT */
/*
 * run.c - prints traces from any tracer: opens them, finds the time window, binds names and
 * filters, and prints with view/render.h. With --follow the traces are reopened repeatedly, and new
 * packets are printed.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/file.h"
#include "base/nearest.h"
#include "cmd/event_options.h"
#include "cmd/exit.h"
#include "cmd/input_set.h"
#include "cmd/print/print.h"
#include "cmd/print/printed_packets.h"
#include "cmd/say.h"
#include "cmd/symbol_options.h"
#include "trace/field_ref.h"
#include "trace/intersection.h"
#include "view/render.h"

#define FOLLOW_NS 200000000

struct printing {
	struct wm_print_values *v;
	struct wm_input_set in;
	/* arguments of --fields, split at commas; the first one points to the allocated string */
	const char **fields;
	uint32_t nr_fields;
	struct wm_view_past past;
	uint64_t nr_events;
	bool begun;                 /* the output's head has been written */
	bool unread;                /* the reader closed the pipe */
	char *builds;               /* folder of files indexed by build-id */
	struct wm_print_seen *seen; /* --follow: packets already printed */
	struct wm_view_options options;
	struct wm_time_span **spans; /* --stream-intersection: by trace and stream; or NULL */
	struct wm_places *places;    /* --follow: mappings from those packets; NULL: not used */
};

static int printing_write_all(void *sink, const char *bytes, size_t count)
{
	return wm_file_write(STDOUT_FILENO, bytes, count);
}

/* --- traces and selection -------------------------------------------------------------- */

static int printing_open_all(struct printing *p)
{
	int status = wm_input_set_open(&p->in, p->v->asked.inputs, p->v->asked.nr_inputs);

	return status ? status : wm_input_set_check_clocks(&p->in, "print", p->v->asked.correlate);
}

static void spans_done(struct printing *p)
{
	for (uint32_t i = 0; p->spans && i < p->in.nr; i++)
		free(p->spans[i]);
	free(p->spans);
	p->spans = NULL;
}

static void close_all(struct printing *p)
{
	spans_done(p);
	wm_select_unbind(&p->v->asked.select);
	wm_input_set_close(&p->in);
}

static int split_fields(struct printing *p)
{
	char *copy = p->v->fields ? strdup(p->v->fields) : NULL, *at, *save = NULL;

	if (!p->v->fields)
		return WM_EXIT_DONE;
	p->fields = calloc(strlen(p->v->fields) + 1, sizeof(char *));
	if (!copy || !p->fields) {
		free(copy);
		wm_say("out of memory");
		return WM_EXIT_FAILED;
	}
	for (at = strtok_r(copy, ",", &save); at; at = strtok_r(NULL, ",", &save))
		p->fields[p->nr_fields++] = at;
	if (p->nr_fields)
		return WM_EXIT_DONE;
	free(copy);
	wm_say("print: --fields needs the name of a field");
	return WM_EXIT_USAGE;
}

/* Offers the members of an event type as corrections. Returns whether one has the name. */
static bool printing_has_field(const struct wm_event_type *t, const char *name,
			       struct wm_nearest *near)
{
	for (int part = 0; part < WM_NR_PARTS; part++)
		for (uint32_t i = 0; t->parts[part] && i < t->parts[part]->nr_members; i++) {
			const char *member = t->parts[part]->members[i].name;

			if (member && !strcmp(member, name))
				return true;
			if (member && part >= WM_PART_CONTEXT)
				wm_nearest_offer(near, member);
		}
	return false;
}

/* Whether lines show it for every event, even when no member has that name. */
static bool is_of_line(const char *name)
{
	static const char *const known[] = {"time", "time_ns", "name", "pid", "tid", "cpu", "comm"};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(name, known[i]))
			return true;
	return false;
}

/* Reports a name that is not a field of any selected event. Returns an exit status. */
static int printing_check_field(struct printing *p, const char *name)
{
	struct wm_nearest near;
	char hint[256];
	bool selected = false, found = is_of_line(name);

	wm_nearest_init(&near, name);
	for (uint32_t i = 0; i < p->in.nr && !found; i++) {
		const struct wm_trace *t = p->in.traces[i];
		const bool *types = p->v->asked.select.want_list[i]->types;

		for (uint32_t k = 0; k < t->nr_types && !found; k++) {
			/* A table may have a column that only other events would fill. */
			if (p->v->format != WM_VIEW_CSV &&
			    (types ? !types[k] : t->types[k]->meta && !p->v->all))
				continue;
			selected = true;
			found = printing_has_field(t->types[k], name, &near);
		}
	}
	if (found || !selected)
		return WM_EXIT_DONE;
	wm_nearest_sentence(&near, "", hint, sizeof(hint));
	wm_say("print: no selected event has a field '%.100s'%s%s", name, hint[0] ? "; " : "",
	       hint);
	return WM_EXIT_NO_MATCH;
}

/* In a growing trace, an event with the field may follow. */
static int printing_check_fields(struct printing *p)
{
	int status = WM_EXIT_DONE;

	for (uint32_t i = 0; i < p->nr_fields && !status && !p->v->follow; i++)
		status = printing_check_field(p, p->fields[i]);
	return status;
}

/* Refuses the columns of branches when no selected event has any. */
static int printing_check_branches(struct printing *p)
{
	bool selected = false;

	if (!(p->options.columns & (WM_VIEW_BRSTACK | WM_VIEW_BRSTACKSYM)) || p->v->follow)
		return WM_EXIT_DONE;
	for (uint32_t i = 0; i < p->in.nr; i++) {
		const struct wm_trace *t = p->in.traces[i];
		const bool *types = p->v->asked.select.want_list[i]->types;
		struct wm_field_ref branches;

		for (uint32_t k = 0; k < t->nr_types; k++) {
			if (types ? !types[k] : t->types[k]->meta)
				continue;
			selected = true;
			if (wm_field_ref_find(t->types[k], "branches", &branches))
				return WM_EXIT_DONE;
		}
	}
	if (!selected)
		return WM_EXIT_DONE;
	wm_say("print: no selected event has branches; record them with 'perf record -b'");
	return WM_EXIT_NO_MATCH;
}

/* --- printing --------------------------------------------------------------------------- */

static int printing_failed(struct printing *p, int err)
{
	p->unread = err == -EPIPE;
	if (p->unread)
		return WM_EXIT_DONE;
	wm_say("cannot print: %s", wm_diag_errno(err));
	return wm_exit_of(err);
}

static int printing_write_frame(const struct wm_view *view,
				void (*frame)(const struct wm_view *v, struct wm_text *t))
{
	struct wm_text t;
	int err;

	wm_text_init(&t);
	frame(view, &t);
	err = t.failed ? -ENOMEM : wm_file_write(STDOUT_FILENO, t.data ? t.data : "", t.bytes);
	wm_text_done(&t);
	return err;
}

static int printing_render(struct printing *p, struct wm_render *r)
{
	uint64_t nr = 0;
	int err = 0;

	if (p->v->tail)
		err = wm_render_tail(r, (uint64_t)p->v->tail, &r->begin_ns, &r->skip);
	if (!err && !p->begun)
		err = printing_write_frame(r->view, wm_view_begin);
	p->begun = true;
	if (!err)
		err = wm_render(r, &p->past, &nr);
	p->nr_events += nr;
	if (!err && !p->v->follow)
		err = printing_write_frame(r->view, wm_view_end);
	return err;
}

static bool printing_passes(const void *data, uint32_t trace, const struct wm_event *e)
{
	const struct printing *p = data;
	const struct wm_time_span *span = &p->spans[trace][e->stream->index];

	return e->ns >= span->begin_ns && e->ns <= span->end_ns &&
	       (!wm_select_asks(&p->v->asked.select) ||
		wm_select_passes(&p->v->asked.select, trace, e));
}

/* Finds the times in one trace; having none is an error. */
static int intersect_trace(struct wm_trace *t, struct wm_time_span *spans)
{
	int err = wm_intersection_find(t, spans);

	if (err) {
		wm_say_cannot("read the trace", t->path, err);
		return wm_exit_of(err);
	}
	for (uint32_t i = 0; i < t->nr_streams; i++) {
		bool unknown = spans[i].begin_ns == INT64_MIN || spans[i].end_ns == INT64_MAX;

		if (!unknown && spans[i].begin_ns <= spans[i].end_ns)
			continue;
		wm_say(unknown ? "print: the packets of '%s' have no times: omit "
				 "--stream-intersection"
			       : "print: there is no time at which all streams of '%s' have "
				 "packets: omit --stream-intersection",
		       t->path);
		return WM_EXIT_FAILED;
	}
	return WM_EXIT_DONE;
}

static int printing_intersect(struct printing *p)
{
	int status = WM_EXIT_DONE;

	spans_done(p);
	p->spans = calloc(p->in.nr + 1u, sizeof(struct wm_time_span *));
	for (uint32_t i = 0; p->spans && i < p->in.nr && !status; i++) {
		p->spans[i] = calloc(p->in.traces[i]->nr_streams + (size_t)1, sizeof(**p->spans));
		if (p->spans[i])
			status = intersect_trace(p->in.traces[i], p->spans[i]);
		else
			spans_done(p);
	}
	if (p->spans)
		return status;
	wm_say("out of memory");
	return WM_EXIT_FAILED;
}

/* Prints all events that the traces contain now. */
static int print_opened(struct printing *p)
{
	struct wm_render r = {.write = printing_write_all, .nr_threads = (uint32_t)p->v->threads};
	const struct wm_places_asked asked = {
	    p->in.traces, p->in.nr, {.symfs = p->v->symfs, .cache = p->builds}, p->places};
	const struct wm_view_places places = wm_asked_places(&asked);
	struct wm_view_options options = p->options;
	struct wm_timeline *timeline = NULL;
	struct wm_view *view = NULL;
	int status = wm_input_set_window(&p->in, "print", p->v->asked.begin, p->v->asked.end,
					 &r.begin_ns, &r.end_ns);
	int err;

	options.fields = p->fields;
	options.nr_fields = p->nr_fields;
	options.places = p->v->no_symbols ? NULL : &places;
	if (r.begin_ns > INT64_MIN)
		r.begin_ns -= options.offset_ns;
	if (r.end_ns < INT64_MAX)
		r.end_ns -= options.offset_ns;
	if (!status)
		status = wm_asked_bind(&p->v->asked.select, p->in.traces, p->in.nr);
	if (!status)
		status = printing_check_fields(p);
	if (!status)
		status = printing_check_branches(p);
	if (!status && p->v->intersection)
		status = printing_intersect(p);
	if (status)
		return status;
	err = wm_timeline_create(p->in.traces, p->in.nr, &timeline);
	if (!err)
		view = wm_view_create(p->in.traces, p->in.nr, &options);
	for (uint32_t i = 0; view && i < p->in.nr; i++)
		wm_select_spare(&p->v->asked.select, i,
				wm_view_unused(view, i, p->v->asked.select.want_list[i]->types));
	r.timeline = timeline;
	r.view = view;
	r.wants = p->v->asked.select.want_list;
	r.passes = p->spans                              ? printing_passes
		   : wm_select_asks(&p->v->asked.select) ? wm_select_passes
							 : NULL;
	r.data = p->spans ? (const void *)p : &p->v->asked.select;
	if (p->places)
		r.nr_threads = 1; /* places is not thread-safe */
	r.limit = p->v->limit ? (uint64_t)p->v->limit - p->nr_events : UINT64_MAX;
	if (!err)
		err = view ? printing_render(p, &r) : -ENOMEM;
	wm_view_destroy(view);
	wm_timeline_destroy(timeline);
	return err ? printing_failed(p, err) : WM_EXIT_DONE;
}

static int printing_finish(struct printing *p, int status)
{
	bool asks = p->v->asked.select.nr_rules || p->v->asked.begin || p->v->asked.end ||
		    p->v->intersection;

	if (!status && !p->nr_events && !p->v->follow) {
		wm_say(asks ? "no event matches" : "the trace has no events");
		status = asks ? WM_EXIT_NO_MATCH : WM_EXIT_DONE;
	}
	return wm_input_set_report_missing(&p->in, status, p->v->format == WM_VIEW_BABELTRACE);
}

/*
 * Stores the mappings from the printed packets, because addresses in later packets refer to them.
 */
static int keep_places(struct printing *p)
{
	const struct wm_module_places files = {.symfs = p->v->symfs, .cache = p->builds};

	if (p->v->no_symbols || p->v->format != WM_VIEW_PERF)
		return 0;
	if (p->places)
		return wm_places_rebind(p->places, p->in.traces);
	p->places = wm_places_create(p->in.traces, p->in.nr, &files);
	return p->places ? 0 : -ENOMEM;
}

/* Prints the new packets. */
static int print_more(struct printing *p)
{
	int status = WM_EXIT_DONE, err = 0;

	for (uint32_t i = 0; i < p->in.nr && !err; i++)
		err = wm_print_seen_skip(p->seen, p->in.traces[i]);
	if (!err)
		err = keep_places(p);
	if (!err)
		status = print_opened(p);
	if (!err && !status && p->places)
		err = wm_places_leave(p->places);
	return err ? printing_failed(p, err) : status;
}

/*
 * Prints whatever is added to the traces, until the reader closes the pipe or --limit is reached.
 */
static int printing_follow(struct printing *p)
{
	const struct timespec pause = {.tv_nsec = FOLLOW_NS};
	int status;

	for (;;) {
		status = printing_open_all(p);
		if (!status)
			status = print_more(p);
		if (status || p->unread || (p->v->limit && p->nr_events >= (uint64_t)p->v->limit))
			return printing_finish(p, status);
		close_all(p);
		(void)nanosleep(&pause, NULL);
	}
}

int wm_print_run(struct wm_print_values *v)
{
	struct printing p = {.v = v, .builds = wm_asked_builds()};
	int status = split_fields(&p);

	p.options.format =
	    v->babeltrace_21 ? WM_VIEW_BABELTRACE_21 : (enum wm_view_format)v->format;
	if (!status)
		status = wm_print_line_options(v, &p.options);
	v->asked.select.hidden = v->all;
	v->asked.select.headers = v->format == WM_VIEW_DETAILS;
	if (!status && v->follow) {
		p.seen = wm_print_seen_create();
		status = p.seen ? printing_follow(&p) : WM_EXIT_FAILED;
	} else if (!status) {
		status = printing_open_all(&p);
		if (!status)
			status = print_opened(&p);
		status = printing_finish(&p, status);
	}
	wm_places_destroy(p.places);
	close_all(&p);
	free(p.builds);
	wm_print_seen_destroy(p.seen);
	if (p.nr_fields)
		free((char *)p.fields[0]);
	free(p.fields);
	return status;
}
