/* SPDX-License-Identifier: MIT */
/* event_select.c - see event_select.h. */
#include "trace/event_select.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "event/filter_item.h"
#include "trace/event_comm.h"

/* The filters of one type: an event passes when it passes one of them. */
struct type_rules {
	struct wm_item_filter **filters; /* NULL entry: every event passes */
	uint32_t nr;
};

struct wm_select_trace {
	struct wm_trace *trace;
	struct type_rules *types;       /* by index */
	struct wm_item_filter **common; /* by index: rules[0]'s filter; NULL: none */
	struct wm_field_ref *comms;     /* by index: the context that names the thread */
	bool *wanted;
};

/* --- rules ------------------------------------------------------------------------------ */

static struct wm_select_rule *event_select_add_rule(struct wm_select *s)
{
	struct wm_select_rule *more = realloc(s->rules, (s->nr_rules + 1) * sizeof(*more));

	if (!more)
		return NULL;
	s->rules = more;
	more[s->nr_rules] = (struct wm_select_rule){0};
	return &more[s->nr_rules++];
}

int wm_select_event(struct wm_select *s, const char *glob)
{
	struct wm_select_rule *r;

	if (!s->nr_rules && !event_select_add_rule(s))
		return -ENOMEM;
	r = event_select_add_rule(s);
	if (!r)
		return -ENOMEM;
	r->glob = glob;
	return 0;
}

int wm_select_filter(struct wm_select *s, const char *text, struct wm_diag *diag)
{
	struct wm_select_rule *r;

	if (!s->nr_rules && !event_select_add_rule(s))
		return -ENOMEM;
	r = &s->rules[s->nr_rules - 1];
	if (r->filter)
		return wm_diag_set(diag, -EINVAL, NULL, -1,
				   "these events have a filter already; join the two with &&");
	r->filter = text;
	return wm_filter_parse(text, &r->code, &r->code_bytes, diag);
}

int wm_select_again(const struct wm_select *from, struct wm_select *to)
{
	struct wm_diag diag;
	int err = 0;

	for (uint32_t k = 0; k < from->nr_rules && !err; k++) {
		if (from->rules[k].glob)
			err = wm_select_event(to, from->rules[k].glob);
		if (!err && from->rules[k].filter)
			err = wm_select_filter(to, from->rules[k].filter, &diag);
	}
	return err;
}

/* --- binding ---------------------------------------------------------------------------- */

/* Where error messages go while rules are bound. */
struct binding {
	struct wm_diag *diag;
	const struct wm_select_rule *rule; /* the rule whose filter could not be bound */
};

static bool name_matches(const char *glob, const struct wm_event_type *t)
{
	char full[1024];

	if (wm_glob_match(glob, strlen(glob), t->name, strlen(t->name)))
		return true;
	if (!t->provider[0] || strchr(t->name, ':'))
		return false;
	(void)snprintf(full, sizeof(full), "%s:%s", t->provider, t->name);
	return wm_glob_match(glob, strlen(glob), full, strlen(full));
}

/*
 * Compiles the rule's filter for an event type. When it cannot be bound to a type that was matched
 * by a pattern, *ret is NULL and the result is 0.
 */
static int bind_filter(struct wm_select_rule *r, const struct wm_event_type *type,
		       struct wm_item_filter **ret, struct binding *b)
{
	int err =
	    wm_item_filter_bind(r->code, r->code_bytes, type->name, type->parts, ret, b->diag);

	if (!err)
		return 0;
	*ret = NULL;
	if (err == -ENOENT && (!r->glob || wm_glob_is_pattern(r->glob, strlen(r->glob)))) {
		const char *question =
		    b->diag ? strstr(b->diag->sentence, WM_NEAREST_QUESTION) : NULL;

		if (question && !r->question[0])
			(void)snprintf(r->question, sizeof(r->question), "%s", question);
		r->nr_unfit++;
		return 0;
	}
	b->rule = r;
	return err;
}

/* Compiles the filter of rules[0], which applies to the events of all types. */
static int bind_common(struct wm_select *s, struct wm_select_trace *t, uint32_t i,
		       struct binding *b)
{
	struct wm_select_rule *r = &s->rules[0];
	int err = bind_filter(r, t->trace->types[i], &t->common[i], b);

	if (err || t->common[i])
		r->nr_matched++;
	else
		t->wanted[i] = false;
	return err;
}

static int event_select_add_filter(struct type_rules *t, struct wm_item_filter *f)
{
	struct wm_item_filter **more = realloc(t->filters, (t->nr + 1) * sizeof(*more));

	if (!more) {
		wm_item_filter_destroy(f);
		return -ENOMEM;
	}
	t->filters = more;
	more[t->nr++] = f;
	return 0;
}

static int bind_rule(struct wm_select_rule *r, struct wm_select_trace *t, uint32_t i,
		     struct binding *b)
{
	struct wm_item_filter *f = NULL;
	int err = 0;

	if (!name_matches(r->glob, t->trace->types[i]))
		return 0;
	r->nr_matched++;
	if (r->filter)
		err = bind_filter(r, t->trace->types[i], &f, b);
	if (err || (r->filter && !f))
		return err;
	t->wanted[i] = true;
	return event_select_add_filter(&t->types[i], f);
}

/* Events about the recording itself are hidden unless -A or a glob selects them. */
static bool event_select_is_hidden(const struct wm_select *s, const struct wm_select_trace *t,
				   uint32_t i)
{
	if (!t->trace->types[i]->meta || s->hidden)
		return false;
	return s->no_meta || t->trace->is_own || s->nr_rules < 2;
}

static int event_select_bind_type(struct wm_select *s, struct wm_select_trace *t, uint32_t i,
				  struct binding *b)
{
	int err = 0;

	if (s->all_meta && t->trace->types[i]->meta) {
		t->wanted[i] = true;
		for (uint32_t k = 1; k < s->nr_rules; k++)
			s->rules[k].nr_matched +=
			    name_matches(s->rules[k].glob, t->trace->types[i]);
		return 0;
	}
	t->wanted[i] = s->nr_rules < 2;
	for (uint32_t k = 1; k < s->nr_rules && !err; k++)
		err = bind_rule(&s->rules[k], t, i, b);
	if (!err && t->wanted[i] && s->nr_rules && s->rules[0].filter)
		err = bind_common(s, t, i, b);
	if (!err && event_select_is_hidden(s, t, i))
		t->wanted[i] = false;
	return err;
}

static int event_select_bind_trace(struct wm_select *s, struct wm_trace *trace, uint32_t index,
				   struct binding *b)
{
	struct wm_select_trace *t = &s->traces[index];
	struct wm_want *want = &s->wants[index];
	bool all = true;
	int err = 0;

	t->trace = trace;
	t->types = calloc(trace->nr_types + 1, sizeof(*t->types));
	t->common = calloc(trace->nr_types + 1, sizeof(struct wm_item_filter *));
	t->comms = calloc(trace->nr_types + 1, sizeof(*t->comms));
	t->wanted = calloc(trace->nr_types + 1, sizeof(*t->wanted));
	if (!t->types || !t->common || !t->comms || !t->wanted)
		return -ENOMEM;
	for (uint32_t i = 0; i < trace->nr_types && !err; i++) {
		wm_comm_bind(trace->types[i], &t->comms[i]);
		err = event_select_bind_type(s, t, i, b);
		all &= t->wanted[i];
	}
	want->types = all ? NULL : t->wanted;
	want->no_parts = s->headers ? 0 : 1u << WM_PART_PACKET_HEADER | 1u << WM_PART_HEADER;
	s->want_list[index] = want;
	return err;
}

int wm_select_bind(struct wm_select *s, struct wm_trace *const *traces, uint32_t nr_traces,
		   struct wm_diag *diag, const struct wm_select_rule **ret_rule)
{
	struct binding b = {.diag = diag};
	int err = 0;

	s->nr_traces = nr_traces;
	s->traces = calloc(nr_traces + 1, sizeof(*s->traces));
	s->wants = calloc(nr_traces + 1, sizeof(*s->wants));
	s->want_list = calloc(nr_traces + 1, sizeof(struct wm_want *));
	if (!s->traces || !s->wants || !s->want_list)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr_traces && !err; i++)
		err = event_select_bind_trace(s, traces[i], i, &b);
	*ret_rule = b.rule;
	return err;
}

void wm_select_nearest(const struct wm_select *s, const char *glob, struct wm_nearest *ret)
{
	wm_nearest_init(ret, glob);
	for (uint32_t t = 0; t < s->nr_traces; t++)
		for (uint32_t i = 0; i < s->traces[t].trace->nr_types; i++)
			wm_nearest_offer(ret, s->traces[t].trace->types[i]->name);
}

bool wm_select_is_wanted(const struct wm_select *s, uint32_t trace, uint32_t type)
{
	return s->traces[trace].wanted[type];
}

/* --- choosing ------------------------------------------------------------------------------ */

static void fill_comm(const struct wm_select_trace *t, const struct wm_event *e,
		      struct wm_item_contexts *c)
{
	size_t bytes;

	c->comm = wm_comm_of_event(t->trace, &t->comms[e->type->index], e, &bytes);
	c->comm_bytes = (uint32_t)bytes;
	if (bytes)
		c->known |= WM_FILTER_COMM;
}

static bool event_select_run(const struct wm_select_trace *t, const struct wm_item_filter *f,
			     const struct wm_event *e)
{
	struct wm_item_contexts c = {e->pid, e->tid, e->cpu, e->ns, "", 0, 0};
	uint32_t at[WM_NR_PARTS], needs = wm_item_filter_needs(f);

	for (int i = 0; i < WM_NR_PARTS; i++)
		at[i] = e->parts[i].at;
	c.known |= e->pid >= 0 ? WM_FILTER_PID : 0;
	c.known |= e->tid >= 0 ? WM_FILTER_TID : 0;
	c.known |= e->cpu >= 0 ? WM_FILTER_CPU : 0;
	c.known |= e->ns != WM_TIME_NONE ? WM_FILTER_TIME : 0;
	if (needs & WM_FILTER_COMM)
		fill_comm(t, e, &c);
	return wm_item_filter_run(f, e->items, at, &c);
}

bool wm_select_passes(const void *select, uint32_t trace, const struct wm_event *e)
{
	const struct wm_select *s = select;
	const struct wm_select_trace *t = &s->traces[trace];
	const struct type_rules *r = &t->types[e->type->index];
	const struct wm_item_filter *common = t->common[e->type->index];
	bool any = !r->nr;

	for (uint32_t i = 0; i < r->nr && !any; i++)
		any = !r->filters[i] || event_select_run(t, r->filters[i], e);
	return any && (!common || event_select_run(t, common, e));
}

bool wm_select_asks(const struct wm_select *s)
{
	for (uint32_t i = 0; i < s->nr_rules; i++)
		if (s->rules[i].filter)
			return true;
	return false;
}

void wm_select_spare(struct wm_select *s, uint32_t trace, uint32_t parts)
{
	if (!wm_select_asks(s))
		s->wants[trace].no_parts |= parts;
}

/* --- release ---------------------------------------------------------------------------------- */

static void unbind_trace(struct wm_select_trace *t)
{
	for (uint32_t i = 0; t->trace && i < t->trace->nr_types; i++) {
		for (uint32_t k = 0; t->types && k < t->types[i].nr; k++)
			wm_item_filter_destroy(t->types[i].filters[k]);
		if (t->types)
			free(t->types[i].filters);
		if (t->common)
			wm_item_filter_destroy(t->common[i]);
	}
	free(t->types);
	free(t->common);
	free(t->comms);
	free(t->wanted);
}

void wm_select_unbind(struct wm_select *s)
{
	for (uint32_t i = 0; s->traces && i < s->nr_traces; i++)
		unbind_trace(&s->traces[i]);
	free(s->traces);
	free(s->wants);
	free(s->want_list);
	s->traces = NULL;
	s->wants = NULL;
	s->want_list = NULL;
	for (uint32_t k = 0; k < s->nr_rules; k++)
		s->rules[k].nr_matched = s->rules[k].nr_unfit = 0;
}

void wm_select_done(struct wm_select *s)
{
	wm_select_unbind(s);
	for (uint32_t k = 0; k < s->nr_rules; k++)
		free(s->rules[k].code);
	free(s->rules);
	*s = (struct wm_select){0};
}
