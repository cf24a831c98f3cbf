/* SPDX-License-Identifier: MIT */
/* pass.c - see pass.h. */
#include "analysis/pass.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/merge.h"

#define PROGRESS_EVENTS 65536u /* between two calls of progress() */

/* --- what is read, and what of it is shown to analyses ----------------------------------- */

/* "provider:name", also where the two stand apart. */
static uint32_t name_of(struct wm_pass *p, const struct wm_event_type *t)
{
	char full[512];
	int bytes;

	if (strchr(t->name, ':') || !t->provider[0])
		return wm_names_id(&p->state.names, t->name, strlen(t->name));
	bytes = snprintf(full, sizeof(full), "%s:%s", t->provider, t->name);
	return wm_names_id(&p->state.names, full,
			   (size_t)bytes < sizeof(full) ? (size_t)bytes : sizeof(full) - 1);
}

static int bind_trace(struct wm_pass *p, uint32_t i)
{
	const struct wm_trace *t = p->in->traces[i];
	const struct wm_want *want = p->in->wants ? p->in->wants[i] : NULL;

	p->selected[i] = calloc(t->nr_types + 1, sizeof(bool));
	p->event_ids[i] = calloc(t->nr_types + 1, sizeof(uint32_t));
	if (!p->selected[i] || !p->event_ids[i])
		return -ENOMEM;
	for (uint32_t k = 0; k < t->nr_types; k++) {
		p->selected[i][k] = want && want->types ? want->types[k] : !t->types[k]->meta;
		p->event_ids[i][k] = name_of(p, t->types[k]);
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

	*p = (struct wm_pass){.in = in, .first_ns = INT64_MAX, .last_ns = INT64_MIN};
	p->selected = calloc(in->nr_traces + 1, sizeof(bool *));
	p->event_ids = calloc(in->nr_traces + 1, sizeof(uint32_t *));
	err = p->selected && p->event_ids ? wm_state_init(&p->state, in->traces, in->nr_traces)
					  : -ENOMEM;
	for (uint32_t i = 0; i < in->nr_traces && !err; i++)
		err = bind_trace(p, i);
	if (!err)
		err = make_spaces(p);
	if (err)
		wm_pass_done(p);
	return err;
}

void wm_pass_done(struct wm_pass *p)
{
	for (uint32_t i = 0; p->selected && i < p->in->nr_traces; i++)
		free(p->selected[i]);
	for (uint32_t i = 0; p->event_ids && i < p->in->nr_traces; i++)
		free(p->event_ids[i]);
	free(p->selected);
	free(p->event_ids);
	wm_lines_destroy(p->lines);
	wm_symbols_destroy(p->symbols);
	wm_spaces_destroy(p->spaces);
	wm_modules_destroy(p->modules);
	wm_state_done(&p->state);
	*p = (struct wm_pass){0};
}

/* What the merge has to bring: the selected, and those that tell of threads. */
struct reading {
	struct wm_want *wants;
	const struct wm_want **list;
	bool **types;
};

static void reading_done(struct reading *r, uint32_t nr)
{
	for (uint32_t i = 0; r->types && i < nr; i++)
		free(r->types[i]);
	free(r->types);
	free(r->wants);
	free(r->list);
}

static int reading_init(struct reading *r, const struct wm_pass *p)
{
	uint32_t nr = p->in->nr_traces;

	*r = (struct reading){calloc(nr + 1, sizeof(*r->wants)),
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
			r->types[i][k] = p->selected[i][k] ||
					 wm_state_role(&p->state, i, t->types[k]) != WM_ROLE_NONE ||
					 wm_spaces_wants(t->types[k]);
		r->wants[i] = (struct wm_want){
		    .types = r->types[i],
		    .no_parts = 1u << WM_PART_PACKET_HEADER | 1u << WM_PART_HEADER,
		};
		r->list[i] = &r->wants[i];
	}
	return 0;
}

/* --- the walk ------------------------------------------------------------------------------ */

static bool in_window(const struct wm_pass_input *in, const struct wm_event *e)
{
	/* An event without a time is in every window that was not asked for. */
	if (e->ns == WM_TIME_NONE)
		return in->begin_ns == INT64_MIN;
	return e->ns >= in->begin_ns && e->ns < in->end_ns;
}

static int feed(struct wm_pass *p, const struct wm_pass_run *runs, uint32_t nr_runs,
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

static int step(struct wm_pass *p, const struct wm_pass_run *runs, uint32_t nr_runs, uint32_t trace,
		const struct wm_event *e)
{
	const struct wm_pass_input *in = p->in;
	int err = 0;

	if (wm_pass_selects(p, trace, e->type) && in_window(in, e)) {
		struct wm_sight s = {e, trace, wm_state_who(&p->state, trace, e)};

		if (!in->passes || in->passes(in->data, trace, e))
			err = feed(p, runs, nr_runs, &s);
	}
	if (!err)
		err = wm_state_apply(&p->state, trace, e);
	return err ? err : wm_spaces_feed(p->spaces, e);
}

static void tell(const struct wm_pass *p, const struct wm_event *e, int64_t first, int64_t last)
{
	if (p->in->progress && e->ns != WM_TIME_NONE && last > first)
		p->in->progress(p->in->progress_data,
				((double)e->ns - (double)first) / ((double)last - (double)first));
}

static int walk(struct wm_pass *p, struct wm_merge *m, const struct wm_pass_run *runs,
		uint32_t nr_runs)
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
	while (err > 0 && (err = wm_merge_next(m, &e)) > 0) {
		int failed = step(p, runs, nr_runs, wm_merge_trace(m), e);

		if (++nr % PROGRESS_EVENTS == 0)
			tell(p, e, first, last);
		if (failed)
			err = failed;
		else if (e->ns != WM_TIME_NONE && e->ns >= p->in->end_ns)
			return 0; /* what comes is later still */
	}
	return err;
}

int wm_pass_walk(struct wm_pass *p, const struct wm_pass_run *runs, uint32_t nr_runs)
{
	struct reading r;
	struct wm_merge *m;
	int err = reading_init(&r, p);

	if (!err) {
		struct wm_merge_options o = {INT64_MIN, INT64_MAX, r.list, 1};

		m = wm_merge_create(p->in->traces, p->in->nr_traces, &o);
		err = m ? walk(p, m, runs, nr_runs) : -ENOMEM;
		wm_merge_destroy(m);
	}
	reading_done(&r, p->in->nr_traces);
	return err;
}
