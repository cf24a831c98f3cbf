/* SPDX-License-Identifier: MIT */
/* select.c - globs, filters and fields of a reader, bound to the types of events. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/glob.h"

static bool is_meant(const struct waymark_options *o, const struct waymark_type *type)
{
	const char *name = type->type->name;

	for (uint32_t i = 0; i < o->nr_events; i++) {
		const char *glob = o->events[i];

		if (glob && (wm_glob_match(glob, strlen(glob), type->name, strlen(type->name)) ||
			     wm_glob_match(glob, strlen(glob), name, strlen(name))))
			return true;
	}
	return !o->nr_events;
}

static int fail_filter(struct waymark_error *error, int err, const char *filter,
		       const struct wm_diag *diag)
{
	(void)wm_api_fail(error, err, "the filter '%.200s', column %u: %s", filter, diag->column,
			  diag->sentence);
	if (error)
		error->column = diag->column;
	return err;
}

/* A type without the fields that a filter asks for does not pass, as in the command. */
static int bind_filters(struct waymark_trace *t, const struct waymark_options *o,
			struct wm_api_select *s, struct waymark_error *error)
{
	struct wm_diag diag = {.offset = -1};
	unsigned char *code = NULL;
	size_t bytes = 0;
	uint32_t nr_bound = 0;
	int err = wm_filter_parse(o->filter, &code, &bytes, &diag);

	if (err)
		return fail_filter(error, err, o->filter, &diag);
	s->filters = calloc(t->nr_types + (size_t)1, sizeof(struct wm_item_filter *));
	err = s->filters ? 0 : wm_api_fail(error, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < t->nr_types && !err; i++) {
		const struct wm_event_type *type = t->types[i].type;

		if (!s->types[i])
			continue;
		err = wm_item_filter_bind(code, bytes, type->name, type->parts, &s->filters[i],
					  &diag);
		s->types[i] = !err;
		nr_bound += !err;
		if (err == -ENOENT)
			err = 0;
		else if (err)
			(void)fail_filter(error, err, o->filter, &diag);
	}
	free(code);
	if (!err && !nr_bound && diag.sentence[0])
		err = wm_api_fail(error, -ENOENT, "no event has what the filter '%.200s' asks for",
				  o->filter);
	return err;
}

static bool has_field(const struct wm_type *t, const struct waymark_options *o)
{
	for (uint32_t k = 0; t && k < t->nr_members; k++)
		for (uint32_t i = 0; i < o->nr_fields; i++)
			if (o->fields[i] && !strcmp(o->fields[i], t->members[k].name))
				return true;
	return false;
}

/* Parts that nobody looks at are not decoded. */
static uint32_t unwanted_parts(const struct waymark_trace *t, uint32_t trace,
			       const struct waymark_options *o)
{
	uint32_t needed = 0;

	if (!o->nr_fields || o->filter)
		return 0;
	for (uint32_t i = 0; i < t->nr_types; i++) {
		const struct waymark_type *type = &t->types[i];

		if (type->trace != trace)
			continue;
		if (type->comm.type)
			needed |= 1u << type->comm.part;
		for (int part = 0; part < WM_NR_PARTS; part++)
			if (has_field(type->type->parts[part], o))
				needed |= 1u << part;
	}
	return ~needed & ((1u << WM_NR_PARTS) - 1);
}

static int make_wants(struct waymark_trace *t, const struct waymark_options *o,
		      struct wm_api_select *s, struct waymark_error *error)
{
	s->wants = calloc(t->nr_traces, sizeof(*s->wants));
	s->list = calloc(t->nr_traces, sizeof(const struct wm_want *));
	if (!s->wants || !s->list)
		return wm_api_fail(error, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < t->nr_traces; i++) {
		s->wants[i].types = s->types + t->first_type[i];
		s->wants[i].no_parts = unwanted_parts(t, i, o);
		s->list[i] = &s->wants[i];
	}
	return 0;
}

int wm_api_select(struct waymark_trace *t, const struct waymark_options *o, struct wm_api_select *s,
		  struct waymark_error *error)
{
	uint32_t nr_meant = 0;
	int err = 0;

	*s = (struct wm_api_select){.stream = WAYMARK_NO_NUMBER};
	if (o->stream_plus_1 > t->nr_streams)
		return wm_api_fail(error, -ERANGE, "there is no stream %u: there are %u",
				   o->stream_plus_1 - 1, t->nr_streams);
	if (o->stream_plus_1)
		s->stream = o->stream_plus_1 - 1;
	s->types = calloc(t->nr_types + (size_t)1, sizeof(*s->types));
	if (!s->types)
		return wm_api_fail(error, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < t->nr_types; i++) {
		bool hidden = t->types[i].type->meta && !(o->flags & WAYMARK_READ_META);
		bool meant = is_meant(o, &t->types[i]);

		nr_meant += meant;
		s->types[i] = meant && !hidden;
	}
	if (o->nr_events && !nr_meant)
		return wm_api_fail(error, -ENOENT, "no event matches '%.200s'%s", o->events[0],
				   o->nr_events > 1 ? " nor what else was asked for" : "");
	if (o->filter)
		err = bind_filters(t, o, s, error);
	return err ? err : make_wants(t, o, s, error);
}

void wm_api_select_done(struct wm_api_select *s, const struct waymark_trace *t)
{
	for (uint32_t i = 0; s->filters && i < t->nr_types; i++)
		wm_item_filter_destroy(s->filters[i]);
	free(s->filters);
	free(s->types);
	free(s->wants);
	free(s->list);
	*s = (struct wm_api_select){0};
}

/* --- asking -------------------------------------------------------------------------------- */

const char *wm_api_comm(const struct waymark_trace *t, const struct waymark_type *type,
			const struct wm_event *e, uint32_t *ret_bytes)
{
	size_t bytes;
	const char *comm = wm_event_comm(t->traces[type->trace], &type->comm, e, &bytes);

	*ret_bytes = (uint32_t)bytes;
	return comm;
}

static bool run(const struct waymark_reader *r, const struct waymark_type *type,
		const struct wm_item_filter *f, const struct wm_event *e)
{
	struct wm_item_contexts c = {e->pid, e->tid, e->cpu, e->ns, "", 0, 0};
	uint32_t at[WM_NR_PARTS];

	for (int i = 0; i < WM_NR_PARTS; i++)
		at[i] = e->parts[i].at;
	c.known |= e->pid >= 0 ? WM_FILTER_PID : 0;
	c.known |= e->tid >= 0 ? WM_FILTER_TID : 0;
	c.known |= e->cpu >= 0 ? WM_FILTER_CPU : 0;
	c.known |= e->ns != WM_TIME_NONE ? WM_FILTER_TIME : 0;
	if (wm_item_filter_needs(f) & WM_FILTER_COMM) {
		c.comm = wm_api_comm(r->trace, type, e, &c.comm_bytes);
		c.known |= c.comm_bytes ? WM_FILTER_COMM : 0;
	}
	return wm_item_filter_run(f, e->items, at, &c);
}

bool wm_api_passes(const struct waymark_reader *r, uint32_t trace, const struct wm_event *e)
{
	const struct waymark_trace *t = r->trace;
	uint32_t number = t->first_type[trace] + e->type->index;
	const struct wm_item_filter *f = r->select.filters ? r->select.filters[number] : NULL;

	if (r->select.stream != WAYMARK_NO_NUMBER &&
	    r->select.stream != t->first_stream[trace] + e->stream->index)
		return false;
	return !f || run(r, &t->types[number], f, e);
}
