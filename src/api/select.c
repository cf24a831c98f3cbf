/* SPDX-License-Identifier: MIT */
/* select.c - selects the events and parts of events that a reader of the API returns. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"

static int fail_filter(struct waymark_error *error, int err, const char *filter,
		       const struct wm_diag *diag)
{
	(void)wm_api_fail(error, err, "the filter '%.200s', column %u: %s", filter, diag->column,
			  diag->sentence);
	if (error)
		error->column = diag->column;
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

/*
 * Returns the parts that need not be decoded: those without a selected field, filter operand or
 * thread name.
 */
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

/* Returns an error when no event of the trace matches the globs or the filter, else 0. */
static int check_matches(const struct waymark_options *o, const struct wm_select *s,
			 struct waymark_error *error)
{
	uint64_t nr_matched = 0;

	for (uint32_t k = 1; k < s->nr_rules; k++)
		nr_matched += s->rules[k].nr_matched;
	if (s->nr_rules > 1 && !nr_matched)
		return wm_api_fail(error, -ENOENT, "no event matches '%.200s'%s", s->rules[1].glob,
				   s->nr_rules > 2 ? " or the other globs" : "");
	if (o->filter && !s->rules[0].nr_matched && s->rules[0].nr_unfit)
		return wm_api_fail(error, -ENOENT, "no event has the fields of the filter '%.200s'",
				   o->filter);
	return 0;
}

static int api_select_bind(struct waymark_trace *t, const struct waymark_options *o,
			   struct wm_select *s, struct waymark_error *error)
{
	struct wm_diag diag = {.offset = -1};
	const struct wm_select_rule *rule;
	int err = 0;

	s->hidden = o->flags & WAYMARK_READ_META;
	s->no_meta = !s->hidden;
	if (o->filter)
		err = wm_select_filter(s, o->filter, &diag);
	for (uint32_t i = 0; i < o->nr_events && !err; i++)
		err = o->events[i] ? wm_select_event(s, o->events[i]) : 0;
	if (!err)
		err = wm_select_bind(s, t->traces, t->nr_traces, &diag, &rule);
	if (err == -ENOMEM)
		return wm_api_fail(error, err, "out of memory");
	if (err)
		return fail_filter(error, err, o->filter, &diag);
	return check_matches(o, s, error);
}

int wm_api_select(struct waymark_trace *t, const struct waymark_options *o, struct wm_api_select *s,
		  struct waymark_error *error)
{
	int err;

	*s = (struct wm_api_select){.stream = WAYMARK_NO_NUMBER};
	if (o->stream_plus_1 > t->nr_streams)
		return wm_api_fail(error, -ERANGE, "there is no stream %u: the trace has %u",
				   o->stream_plus_1 - 1, t->nr_streams);
	if (o->stream_plus_1)
		s->stream = o->stream_plus_1 - 1;
	err = api_select_bind(t, o, &s->events, error);
	for (uint32_t i = 0; i < t->nr_traces && !err; i++)
		s->events.wants[i].no_parts |= unwanted_parts(t, i, o);
	return err;
}

void wm_api_select_done(struct wm_api_select *s)
{
	wm_select_done(&s->events);
}

bool wm_api_passes(const struct waymark_reader *r, uint32_t trace, const struct wm_event *e)
{
	if (r->select.stream != WAYMARK_NO_NUMBER &&
	    r->select.stream != r->trace->first_stream[trace] + e->stream->index)
		return false;
	return wm_select_passes(&r->select.events, trace, e);
}

const char *wm_api_comm(const struct waymark_trace *t, const struct waymark_type *type,
			const struct wm_event *e, uint32_t *ret_bytes)
{
	size_t bytes;
	const char *comm = wm_comm_of_event(t->traces[type->trace], &type->comm, e, &bytes);

	*ret_bytes = (uint32_t)bytes;
	return comm;
}
