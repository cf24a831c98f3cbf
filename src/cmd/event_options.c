/* SPDX-License-Identifier: MIT */
/* event_options.c - see event_options.h. */
#include "cmd/event_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "base/nearest.h"
#include "cmd/exit.h"
#include "cmd/say.h"
#include "event/filter_item.h"
#include "trace/event_comm.h"

/* What is asked of an event of one type: any of these passes. */
struct type_rules {
	struct wm_item_filter **filters; /* NULL entry: passes as it is */
	uint32_t nr;
};

struct wm_select_trace {
	struct wm_trace *trace;
	struct type_rules *types;       /* by index */
	struct wm_item_filter **common; /* by index: of all events of that type; NULL: none */
	struct wm_field_ref *comms;     /* by index: the context that names the thread */
	bool *wanted;
};

/* --- what is typed ------------------------------------------------------------------ */

static struct wm_select_rule *add_rule(struct wm_select *s)
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

	if (!s->nr_rules && !add_rule(s))
		return -ENOMEM;
	r = add_rule(s);
	if (!r)
		return -ENOMEM;
	r->glob = glob;
	return 0;
}

int wm_select_filter(struct wm_select *s, const char *text, struct wm_diag *diag)
{
	struct wm_select_rule *r;

	if (!s->nr_rules && !add_rule(s))
		return -ENOMEM;
	r = &s->rules[s->nr_rules - 1];
	if (r->filter)
		return wm_diag_set(diag, -EINVAL, NULL, -1,
				   "there is one already for these events; join them with &&");
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

/* An exit status; `ret` is NULL when a filter of a glob does not fit. */
static int bind_filter(struct wm_select_rule *r, const struct wm_event_type *type,
		       struct wm_item_filter **ret)
{
	struct wm_diag diag = {.offset = -1};
	int err = wm_item_filter_bind(r->code, r->code_bytes, type->name, type->parts, ret, &diag);

	if (!err)
		return WM_EXIT_DONE;
	*ret = NULL;
	if (err == -ENOENT && (!r->glob || wm_glob_is_pattern(r->glob, strlen(r->glob)))) {
		r->nr_unfit++;
		return WM_EXIT_DONE;
	}
	wm_say_caret(r->filter, &diag);
	return err == -ENOMEM ? WM_EXIT_FAILED : WM_EXIT_USAGE;
}

/* Every event of the type has to pass rules[0]'s filter, if there is one. */
static int bind_common(struct wm_select *s, struct wm_select_trace *t, uint32_t i)
{
	struct wm_select_rule *r = &s->rules[0];
	int status = bind_filter(r, t->trace->types[i], &t->common[i]);

	if (status || t->common[i])
		r->nr_matched++;
	else
		t->wanted[i] = false;
	return status;
}

static int add_filter(struct type_rules *t, struct wm_item_filter *f)
{
	struct wm_item_filter **more = realloc(t->filters, (t->nr + 1) * sizeof(*more));

	if (!more) {
		wm_item_filter_destroy(f);
		wm_say("out of memory");
		return WM_EXIT_FAILED;
	}
	t->filters = more;
	more[t->nr++] = f;
	return WM_EXIT_DONE;
}

static int bind_rule(struct wm_select_rule *r, struct wm_select_trace *t, uint32_t i)
{
	struct wm_item_filter *f = NULL;
	int status = WM_EXIT_DONE;

	if (!name_matches(r->glob, t->trace->types[i]))
		return WM_EXIT_DONE;
	r->nr_matched++;
	if (r->filter)
		status = bind_filter(r, t->trace->types[i], &f);
	if (status || (r->filter && !f))
		return status;
	t->wanted[i] = true;
	return add_filter(&t->types[i], f);
}

static int bind_type(struct wm_select *s, struct wm_select_trace *t, uint32_t i)
{
	int status = WM_EXIT_DONE;

	if (s->all_meta && t->trace->types[i]->meta) {
		t->wanted[i] = true;
		for (uint32_t k = 1; k < s->nr_rules; k++)
			s->rules[k].nr_matched +=
			    name_matches(s->rules[k].glob, t->trace->types[i]);
		return WM_EXIT_DONE;
	}
	t->wanted[i] = s->nr_rules < 2;
	for (uint32_t k = 1; k < s->nr_rules && !status; k++)
		status = bind_rule(&s->rules[k], t, i);
	if (!status && t->wanted[i] && s->nr_rules && s->rules[0].filter)
		status = bind_common(s, t, i);
	/* What a tracer says about itself is shown when it is asked for, by -A or by name. */
	if (!s->hidden && t->trace->types[i]->meta && (t->trace->is_own || s->nr_rules < 2))
		t->wanted[i] = false;
	return status;
}

static int bind_trace(struct wm_select *s, struct wm_trace *trace, uint32_t index)
{
	struct wm_select_trace *t = &s->traces[index];
	struct wm_want *want = &s->wants[index];
	bool all = true;
	int status = WM_EXIT_DONE;

	t->trace = trace;
	t->types = calloc(trace->nr_types + 1, sizeof(*t->types));
	t->common = calloc(trace->nr_types + 1, sizeof(struct wm_item_filter *));
	t->comms = calloc(trace->nr_types + 1, sizeof(*t->comms));
	t->wanted = calloc(trace->nr_types + 1, sizeof(*t->wanted));
	if (!t->types || !t->common || !t->comms || !t->wanted) {
		wm_say("out of memory");
		return WM_EXIT_FAILED;
	}
	for (uint32_t i = 0; i < trace->nr_types && !status; i++) {
		wm_event_comm_bind(trace->types[i], &t->comms[i]);
		status = bind_type(s, t, i);
		all &= t->wanted[i];
	}
	want->types = all ? NULL : t->wanted;
	want->no_parts = 1u << WM_PART_PACKET_HEADER | 1u << WM_PART_HEADER;
	s->want_list[index] = want;
	return status;
}

/* A glob that matched no event of any trace. */
static int say_unmatched(const struct wm_select *s, const struct wm_select_rule *r)
{
	char sentence[WM_DIAG_SENTENCE];
	struct wm_nearest near;

	wm_nearest_init(&near, r->glob);
	for (uint32_t t = 0; t < s->nr_traces; t++)
		for (uint32_t i = 0; i < s->traces[t].trace->nr_types; i++)
			wm_nearest_offer(&near, s->traces[t].trace->types[i]->name);
	(void)wm_nearest_sentence(&near, "", sentence, sizeof(sentence));
	wm_say("no event matches '%s'%s%s", r->glob, sentence[0] ? "; " : "", sentence);
	return WM_EXIT_NO_MATCH;
}

static int say_unfit(const struct wm_select_rule *r)
{
	if (!r->nr_unfit)
		return WM_EXIT_DONE;
	wm_say("%llu kinds of events lack a field that '%s' asks for; they are left out",
	       (unsigned long long)r->nr_unfit, r->filter);
	return WM_EXIT_DONE;
}

int wm_select_bind(struct wm_select *s, struct wm_trace *const *traces, uint32_t nr_traces)
{
	int status = WM_EXIT_DONE;

	s->nr_traces = nr_traces;
	s->traces = calloc(nr_traces + 1, sizeof(*s->traces));
	s->wants = calloc(nr_traces + 1, sizeof(*s->wants));
	s->want_list = calloc(nr_traces + 1, sizeof(struct wm_want *));
	if (!s->traces || !s->wants || !s->want_list) {
		wm_say("out of memory");
		return WM_EXIT_FAILED;
	}
	for (uint32_t i = 0; i < nr_traces && !status; i++)
		status = bind_trace(s, traces[i], i);
	for (uint32_t k = 1; k < s->nr_rules && !status; k++)
		if (!s->rules[k].nr_matched)
			status = say_unmatched(s, &s->rules[k]);
	for (uint32_t k = 0; k < s->nr_rules && !status; k++)
		status = say_unfit(&s->rules[k]);
	return status;
}

/* --- asking -------------------------------------------------------------------------------- */

static void fill_comm(const struct wm_select_trace *t, const struct wm_event *e,
		      struct wm_item_contexts *c)
{
	size_t bytes;

	c->comm = wm_event_comm(t->trace, &t->comms[e->type->index], e, &bytes);
	c->comm_bytes = (uint32_t)bytes;
	if (bytes)
		c->known |= WM_FILTER_COMM;
}

static bool run(const struct wm_select_trace *t, const struct wm_item_filter *f,
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
		any = !r->filters[i] || run(t, r->filters[i], e);
	return any && (!common || run(t, common, e));
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

/* --- the end ---------------------------------------------------------------------------------- */

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
