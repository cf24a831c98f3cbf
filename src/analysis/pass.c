/* SPDX-License-Identifier: MIT */
/* pass.c - see pass.h. */
#include "analysis/pass.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/pass_int.h"
#include "base/mix.h"
#include "trace/merge.h"

#define PROGRESS_EVENTS 65536u /* events between two calls of progress() */

/* --- events read, and those passed to analyses ------------------------------------------- */

/* Returns "provider:name", even if the two are stored separately. */
static uint32_t pass_name_of(struct wm_pass *p, const struct wm_event_type *t)
{
	char full[512];
	int bytes;

	if (strchr(t->name, ':') || !t->provider[0])
		return wm_names_id(&p->state.names, t->name, strlen(t->name));
	bytes = snprintf(full, sizeof(full), "%s:%s", t->provider, t->name);
	return wm_names_id(&p->state.names, full,
			   (size_t)bytes < sizeof(full) ? (size_t)bytes : sizeof(full) - 1);
}

static int pass_bind_trace(struct wm_pass *p, uint32_t i)
{
	const struct wm_trace *t = p->in->traces[i];
	const struct wm_want *want = p->in->wants ? p->in->wants[i] : NULL;

	p->kinds[i] = calloc(t->nr_types + 1, sizeof(uint8_t));
	p->event_ids[i] = calloc(t->nr_types + 1, sizeof(uint32_t));
	if (!p->kinds[i] || !p->event_ids[i])
		return -ENOMEM;
	for (uint32_t k = 0; k < t->nr_types; k++) {
		const struct wm_event_type *type = t->types[k];

		if (want && want->types ? want->types[k] : !type->meta)
			p->kinds[i][k] |= WM_PASS_SELECTED;
		if (wm_state_role(&p->state, i, type) != WM_ROLE_NONE || wm_spaces_wants(type))
			p->kinds[i][k] |= WM_PASS_TOLD;
		p->event_ids[i][k] = pass_name_of(p, t->types[k]);
		if (p->event_ids[i][k] == WM_NAMES_NONE)
			return -ENOMEM;
	}
	return 0;
}

static int make_spaces(struct wm_pass *p)
{
	const struct wm_symbols_options options = {
	    .places = {.symfs = p->in->symfs, .cache = p->in->builds}};

	p->modules = wm_modules_create();
	p->spaces = p->modules ? wm_spaces_create(p->modules) : NULL;
	p->symbols = wm_symbols_create(&options);
	p->lines = p->symbols ? wm_lines_create(p->symbols) : NULL;
	if (!p->spaces || !p->lines)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->in->nr_traces; i++)
		if (wm_modules_of_trace(p->modules, p->in->traces[i]))
			return -ENOMEM;
	return 0;
}

int wm_pass_init(struct wm_pass *p, const struct wm_pass_input *in)
{
	int err;

	*p = (struct wm_pass){
	    .in = in, .first_ns = INT64_MAX, .last_ns = INT64_MIN, .seed = wm_mix_seed()};
	p->kinds = calloc(in->nr_traces + 1, sizeof(uint8_t *));
	p->event_ids = calloc(in->nr_traces + 1, sizeof(uint32_t *));
	err = p->kinds && p->event_ids ? wm_state_init(&p->state, in->traces, in->nr_traces)
				       : -ENOMEM;
	for (uint32_t i = 0; i < in->nr_traces && !err; i++)
		err = pass_bind_trace(p, i);
	if (!err)
		err = make_spaces(p);
	if (err)
		wm_pass_done(p);
	return err;
}

static void forget_want(struct wm_pass *p);

static void unbind(struct wm_pass *p)
{
	forget_want(p);
	for (uint32_t i = 0; p->kinds && i < p->in->nr_traces; i++) {
		free(p->kinds[i]);
		p->kinds[i] = NULL;
	}
	for (uint32_t i = 0; p->event_ids && i < p->in->nr_traces; i++) {
		free(p->event_ids[i]);
		p->event_ids[i] = NULL;
	}
}

int wm_pass_rebind(struct wm_pass *p)
{
	int err;

	unbind(p);
	wm_symbols_settle(p->symbols);
	err = wm_state_rebind(&p->state, p->in->traces);
	for (uint32_t i = 0; i < p->in->nr_traces && !err; i++) {
		err = pass_bind_trace(p, i);
		if (!err)
			err = wm_modules_rebind(p->modules, p->in->traces[i]);
	}
	return err;
}

void wm_pass_done(struct wm_pass *p)
{
	unbind(p);
	free(p->kinds);
	free(p->event_ids);
	wm_lines_destroy(p->lines);
	wm_symbols_destroy(p->symbols);
	wm_spaces_destroy(p->spaces);
	wm_modules_destroy(p->modules);
	wm_state_done(&p->state);
	*p = (struct wm_pass){0};
}

/* The event types that a merge reads, for the given reasons. */
struct wm_reading {
	struct wm_want *wants;
	const struct wm_want **list;
	bool **types;
};

static void reading_done(struct wm_reading *r, uint32_t nr)
{
	for (uint32_t i = 0; r->types && i < nr; i++)
		free(r->types[i]);
	free(r->types);
	free(r->wants);
	free(r->list);
}

static int reading_init(struct wm_reading *r, const struct wm_pass *p, uint8_t reasons)
{
	uint32_t nr = p->in->nr_traces;

	*r = (struct wm_reading){calloc(nr + 1, sizeof(*r->wants)),
				 calloc(nr + 1, sizeof(struct wm_want *)),
				 calloc(nr + 1, sizeof(bool *))};
	if (!r->wants || !r->list || !r->types)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++) {
		const struct wm_trace *t = p->in->traces[i];

		r->types[i] = calloc(t->nr_types + 1, sizeof(bool));
		if (!r->types[i])
			return -ENOMEM;
		for (uint32_t k = 0; k < t->nr_types; k++)
			r->types[i][k] = p->kinds[i][k] & reasons;
		r->wants[i] = (struct wm_want){
		    .types = r->types[i],
		    .no_parts = 1u << WM_PART_PACKET_HEADER | 1u << WM_PART_HEADER,
		};
		r->list[i] = &r->wants[i];
	}
	return 0;
}

static void forget_want(struct wm_pass *p)
{
	if (p->reading)
		reading_done(p->reading, p->in->nr_traces);
	free(p->reading);
	p->reading = NULL;
}

const struct wm_want *wm_pass_want(struct wm_pass *p)
{
	if (!p->reading) {
		p->reading = calloc(1, sizeof(*p->reading));
		if (p->reading && reading_init(p->reading, p, WM_PASS_SELECTED | WM_PASS_TOLD))
			forget_want(p);
	}
	return p->reading ? p->reading->list[0] : NULL;
}

/* --- the walk ------------------------------------------------------------------------------ */

static bool in_window(const struct wm_pass_input *in, const struct wm_event *e)
{
	/* An event without a time is in the window only if the window has no start. */
	if (e->ns == WM_TIME_NONE)
		return in->begin_ns == INT64_MIN;
	return e->ns >= in->begin_ns && e->ns < in->end_ns;
}

static int pass_feed(struct wm_pass *p, const struct wm_pass_run *runs, uint32_t nr_runs,
		     const struct wm_sight *s)
{
	int err = 0;

	p->nr_events++;
	if (s->event->ns != WM_TIME_NONE) {
		p->first_ns = s->event->ns < p->first_ns ? s->event->ns : p->first_ns;
		p->last_ns = s->event->ns > p->last_ns ? s->event->ns : p->last_ns;
	}
	for (uint32_t i = 0; i < nr_runs && !err; i++)
		err = runs[i].analysis->feed(runs[i].own, s);
	return err;
}

static int learn(struct wm_pass *p, uint32_t trace, const struct wm_event *e)
{
	int err = wm_state_apply(&p->state, trace, e);

	p->nr_told++;
	return err ? err : wm_spaces_feed(p->spaces, e);
}

static int pass_feed_told(const struct wm_pass_run *runs, uint32_t nr_runs,
			  const struct wm_sight *s)
{
	int err = 0;

	for (uint32_t i = 0; i < nr_runs && !err; i++)
		if (runs[i].analysis->told)
			err = runs[i].analysis->told(runs[i].own, s);
	return err;
}

int wm_pass_feed(struct wm_pass *p, const struct wm_pass_run *runs, uint32_t nr_runs,
		 uint32_t trace, const struct wm_event *e)
{
	const struct wm_pass_input *in = p->in;
	uint8_t kind = p->kinds[trace][e->type->index];
	int err = 0;

	if (in_window(in, e)) {
		struct wm_sight s = {e, trace, NULL};

		if (kind & WM_PASS_SELECTED)
			s.task = wm_state_who(&p->state, trace, e);
		if (kind & WM_PASS_SELECTED && (!in->passes || in->passes(in->data, trace, e)))
			err = pass_feed(p, runs, nr_runs, &s);
		else if (kind & WM_PASS_TOLD)
			err = pass_feed_told(runs, nr_runs, &s);
	}
	if (err || !(kind & WM_PASS_TOLD))
		return err;
	return learn(p, trace, e);
}

static void pass_tell(const struct wm_pass *p, const struct wm_event *e, int64_t first,
		      int64_t last)
{
	if (p->in->progress && e->ns != WM_TIME_NONE && last > first)
		p->in->progress(p->in->progress_data,
				((double)e->ns - (double)first) / ((double)last - (double)first));
}

static int pass_walk(struct wm_pass *p, struct wm_merge *m, const struct wm_pass_run *runs,
		     uint32_t nr_runs, int64_t end_ns)
{
	int64_t first = INT64_MAX, last = INT64_MIN;
	const struct wm_event *e;
	uint32_t nr = 0;
	int err = 1;

	for (uint32_t i = 0; i < p->in->nr_traces; i++) {
		const struct wm_trace *t = p->in->traces[i];

		first = t->begin_ns < first ? t->begin_ns : first;
		last = t->end_ns > last ? t->end_ns : last;
	}
	last = end_ns < last ? end_ns : last;
	while (err > 0 && (err = wm_merge_next(m, &e)) > 0) {
		int failed;

		if (e->ns != WM_TIME_NONE && e->ns >= p->in->end_ns)
			return 0; /* all further events are later */
		failed = wm_pass_feed(p, runs, nr_runs, wm_merge_trace(m), e);
		if (++nr % PROGRESS_EVENTS == 0)
			pass_tell(p, e, first, last);
		if (failed)
			err = failed;
	}
	return err;
}

/* Creates a merge of the event types that are read for at least one of `reasons`. */
static int pass_begin_merge(struct wm_pass *p, const struct wm_timeline *timeline, uint8_t reasons,
			    int64_t begin_ns, int64_t end_ns, uint32_t nr_merges,
			    struct wm_reading *r, struct wm_merge **ret)
{
	int err = reading_init(r, p, reasons);
	struct wm_merge_options o = {begin_ns, end_ns, r->list, nr_merges};

	*ret = err ? NULL : wm_merge_create_on(timeline, &o);
	return *ret ? 0 : -ENOMEM;
}

int wm_pass_walk_told(struct wm_pass *p, const struct wm_pass_part *part)
{
	const struct wm_event *e;
	struct wm_reading r;
	struct wm_merge *m;
	int got = pass_begin_merge(p, part->timeline, WM_PASS_TOLD, INT64_MIN, part->begin_ns,
				   part->nr_merges, &r, &m);
	int err = got;

	while (!err && (got = wm_merge_next(m, &e)) > 0)
		err = learn(p, wm_merge_trace(m), e);
	wm_merge_destroy(m);
	reading_done(&r, p->in->nr_traces);
	return err ? err : got;
}

int wm_pass_walk_part(struct wm_pass *p, const struct wm_pass_run *runs, uint32_t nr_runs,
		      const struct wm_pass_part *part)
{
	struct wm_reading r;
	struct wm_merge *m;
	int err = pass_begin_merge(p, part->timeline, WM_PASS_SELECTED | WM_PASS_TOLD,
				   part->begin_ns, part->end_ns, part->nr_merges, &r, &m);

	if (!err)
		err = pass_walk(p, m, runs, nr_runs, part->end_ns);
	wm_merge_destroy(m);
	reading_done(&r, p->in->nr_traces);
	return err;
}

/*
 * Walks over all events on one thread. Sorts the faults of a single trace, so that they are in the
 * same order as after a walk in parts.
 */
static int walk_whole(struct wm_pass *p, const struct wm_pass_run *runs, uint32_t nr_runs,
		      const struct wm_timeline *timeline)
{
	const struct wm_pass_part all = {timeline, INT64_MIN, INT64_MAX, 1};
	struct wm_trace *only = p->in->nr_traces == 1 ? p->in->traces[0] : NULL;
	uint32_t nr_faults = only ? only->nr_faults : 0;
	int err = wm_pass_walk_part(p, runs, nr_runs, &all);

	if (only)
		wm_trace_sort_faults(only, nr_faults);
	return err;
}

int wm_pass_walk(struct wm_pass *p, const struct wm_pass_run *runs, uint32_t nr_runs)
{
	struct wm_timeline *timeline;
	int64_t *cuts = NULL, nr = 1;
	int err = wm_timeline_create(p->in->traces, p->in->nr_traces, &timeline);

	if (err)
		return err;
	if (nr_runs == 1)
		nr = wm_pass_cut(p, runs, timeline, &cuts);
	if (nr > 1)
		err = wm_pass_walk_parts(p, runs, timeline, cuts, (uint32_t)nr);
	else
		err = nr < 0 ? (int)nr : walk_whole(p, runs, nr_runs, timeline);
	free(cuts);
	wm_timeline_destroy(timeline);
	return err;
}
