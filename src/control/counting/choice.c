/* SPDX-License-Identifier: MIT */
/*
 * choice.c - resolves the names of kernel and program events; selects CPUs; decides whether the
 * kernel counts the events or they are counted from a stream. See counting_choice.h.
 */
#include "control/counting_choice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "control/counting/choice_int.h"
#include "kernel/event_name.h"
#include "kernel/event_names.h"

static bool has_filter(const struct wm_counting_request *q)
{
	bool has = false;

	for (size_t i = 0; i < q->nr_named; i++)
		has |= q->named[i].filter != NULL;
	return has;
}

/* ---- events ------------------------------------------------------------------------ */

/* perf's default events; the last four are hardware counters. */
static const char *const defaults[] = {
    "task-clock", "context-switches", "cpu-migrations", "page-faults",
    "cycles",     "instructions",     "branches",       "branch-misses",
};

/* Receives the named events, both kernel and program events. */
struct naming {
	const struct wm_event_space *space;
	struct wm_counting_choice *choice;
	bool stream;    /* filters are evaluated on the stream, not by the kernel */
	uint32_t group; /* number of the group that the names belong to; 0: none */
	const char **text;
	struct wm_diag *diag;
};

static int refuse_proc(const char *typed, const char *name, struct wm_diag *diag)
{
	return wm_diag_set(diag, -EINVAL, NULL, -1,
			   "%s is a file of counters and cannot be counted; 'waymark record -e %s' "
			   "reads it at intervals",
			   name, typed);
}

static int refuse_unknown(const char *name, int err, struct wm_diag *diag)
{
	if (err != -ENOENT)
		return err;
	diag->where = name;
	wm_diag_keep(diag);
	return err;
}

/*
 * Assigns filters to the events from index `before` on. Events that a wildcard matched but that
 * lack a field in the filter are removed from the list and reported; for an event named without
 * wildcards, the lack of a field is an error.
 */
static int add_filters(const struct naming *n, const char *name,
		       const struct wm_counting_filters *filters, size_t before)
{
	struct wm_counting_choice *c = n->choice;
	bool wild = wm_glob_is_pattern(name, strlen(name));
	size_t nr_left_out;
	int err = wm_count_filters_add(&c->filters, n->space, filters->text, 2, wild, before,
				       &c->defs, &nr_left_out, n->diag);

	if (err < 0) {
		*n->text = filters->text[1] ? filters->text[1] : filters->text[0];
		return err == -ENOENT ? -EINVAL : err;
	}
	if (nr_left_out)
		wm_words_say(c->request->words,
			     "events that match '%s' but lack a field of the filter, so they are "
			     "not counted: %zu",
			     name, nr_left_out);
	return 0;
}

static int refuse_member(const char *name, struct wm_diag *diag)
{
	return wm_diag_set(diag, -EINVAL, NULL, -1,
			   "'%s' cannot be in a group: the kernel counts groups, but the program "
			   "counts its events; name it outside of the braces",
			   name);
}

/* Adds the events that one name selects, with their filters. */
static int add_name(const struct naming *n, const char *name,
		    const struct wm_counting_filters *filters)
{
	static const struct wm_counting_filters none = {.text = {NULL}};
	struct wm_counting_choice *c = n->choice;
	size_t before = c->defs.nr;
	int nr = 0;

	*n->diag = (struct wm_diag){.offset = -1};
	if (!wm_counting_rules_means(c->rules, n->space, name, 0))
		nr = wm_event_name_resolve(n->space, name, &c->defs, n->diag);
	if (nr > 0 && c->defs.defs[before].family == WM_FAMILY_PROC)
		return refuse_proc(name, c->defs.defs[before].name, n->diag);
	for (size_t i = before; nr > 0 && i < c->defs.nr; i++)
		c->defs.defs[i].group = n->group;
	if (nr > 0)
		return add_filters(n, name, n->stream ? &none : filters, before);
	if (n->group && (nr == 0 || wm_counting_rules_means(c->rules, n->space, name, nr)))
		return refuse_member(name, n->diag);
	if (nr == 0 || wm_counting_rules_means(c->rules, n->space, name, nr))
		return wm_counting_rules_add(c->rules, name, filters, before, n->text, n->diag);
	return refuse_unknown(name, nr, n->diag);
}

static int add_names(struct naming *n, const char *list, const struct wm_counting_filters *filters)
{
	struct wm_event_names names;
	char *name;
	int err = 0;

	wm_event_names_begin(&names, list, n->choice->nr_groups);
	while (!err && (err = wm_event_names_next(&names, &name, n->diag)) > 0) {
		n->group = names.group;
		err = add_name(n, name, filters);
		free(name);
	}
	wm_event_names_done(&names);
	n->choice->nr_groups = names.nr_groups;
	return err;
}

static int add_events(const struct wm_counting_request *q, struct naming *n)
{
	struct wm_counting_filters filters = {.text = {q->named[0].filter}};
	size_t nr = n->space->hardware ? 8 : 4;
	int err = 0;

	for (size_t i = 0; wm_counting_by_default(q) && i < nr && !err; i++)
		err = add_name(n, defaults[i], &filters);
	for (size_t i = 1; i < q->nr_named && !err; i++) {
		filters.text[1] = q->named[i].filter;
		err = add_names(n, q->named[i].names, &filters);
	}
	if (!err && !n->choice->defs.nr && !wm_counting_rules_nr(n->choice->rules))
		err = wm_diag_set(n->diag, -EINVAL, NULL, -1, "-e needs the name of an event");
	return err;
}

/* ---- places ------------------------------------------------------------------------- */

static int find_cpus(const struct wm_counting_request *q, struct wm_counting_choice *c,
		     struct wm_diag *diag)
{
	int err;

	if (!q->cpus && !q->all && !q->per_cpu)
		return 0;
	err = q->cpus ? wm_cpus_parse(q->cpus, &c->cpus, &c->counting.nr_cpus)
		      : wm_cpus_online(&c->cpus, &c->counting.nr_cpus);
	c->counting.cpus = c->cpus;
	if (err == -EINVAL && q->cpus)
		return wm_diag_set(diag, err, NULL, -1, "-C needs a list of CPUs such as 0-3,8");
	if (err < 0)
		return wm_diag_set(diag, err, NULL, -1, "cannot find the CPUs of this machine: %s",
				   wm_diag_errno(err));
	return 0;
}

static void choice_make_plan(const struct wm_counting_request *q, const struct wm_tracefs *tracefs,
			     struct wm_counting_plan *ret)
{
	*ret = (struct wm_counting_plan){
	    .tracefs = tracefs,
	    .pids = q->pids,
	    .nr_pids = q->nr_pids,
	    .tids = q->tids,
	    .nr_tids = q->nr_tids,
	    .all = q->all || (q->cpus && !q->nr_pids && !q->nr_tids),
	    .by = q->by,
	    .no_inherit = q->no_inherit || q->per_thread,
	    .threads_apart = q->per_thread,
	    .interval_ns = q->interval_ns,
	    .timeout_ns = q->timeout_ns,
	    .delay_ns = q->delay_ns,
	    .command = q->command,
	};
}

/* Finds the kernel and program events to count. */
static int find_events(struct wm_counting_choice *c, const struct wm_event_space *space,
		       const char **ret_text, struct wm_diag *diag)
{
	const struct wm_counting_request *q = c->request;
	struct naming naming = {space, c, q->by && has_filter(q), 0, ret_text, diag};
	int err = wm_counting_rules_create(q, &c->counting, &c->rules, diag);

	if (!err)
		err = add_events(q, &naming);
	if (err)
		return err;
	*diag = (struct wm_diag){.offset = -1};
	if (q->by && c->nr_groups)
		return wm_diag_set(diag, -EINVAL, NULL, -1,
				   "--by counts each event by itself: omit the braces of groups");
	c->counting.filters = (const char *const *)c->filters.list;
	c->counting.programs = wm_counting_rules_plan(c->rules, c->defs.nr != 0);
	return wm_counting_check(&c->counting, diag);
}

/* ---- counters or a stream ----------------------------------------------------------- */

/*
 * Returns the first event that cannot be counted from a stream, such as a hardware counter; NULL:
 * all can.
 */
static const struct wm_event_def *not_in_stream(const struct wm_event_defs *defs)
{
	for (size_t i = 0; i < defs->nr; i++) {
		if (!defs->defs[i].system && !defs->defs[i].label)
			return &defs->defs[i];
	}
	return NULL;
}

static bool bpf_refused(const struct wm_counting_choice *c)
{
	struct wm_diag diag = {.offset = -1};

	if (!c->counting.tracefs ||
	    wm_count_by_works(c->counting.tracefs, &c->defs, c->counting.by, &diag))
		return false; /* without tracefs, streams do not work either */
	wm_words_say(c->request->words,
		     "the kernel cannot count by field, so the events are recorded and counted: %s",
		     diag.sentence);
	return true;
}

/* Whether --by needs a stream, because a BPF program cannot count it. */
static bool needs_stream_by(const struct wm_counting_choice *c)
{
	const struct wm_counting_request *q = c->request;

	for (size_t i = 0; i < c->defs.nr; i++) {
		if (c->defs.defs[i].family >= WM_FAMILY_USDT)
			return true; /* probes deliver their fetched arguments only when recorded */
	}
	return c->counting.programs || q->cpus || q->interval_ns || q->repeats || has_filter(q) ||
	       bpf_refused(c);
}

/*
 * Whether counting needs a stream: for filters that the kernel cannot evaluate, or for program
 * events per CPU, because the runtime counts only per thread.
 */
static bool needs_stream(const struct wm_counting_choice *c)
{
	if (c->request->by)
		return needs_stream_by(c);
	return c->filters.beyond ||
	       (c->request->per_cpu && c->counting.programs && !not_in_stream(&c->defs));
}

/*
 * Returns the first event that is named twice, which a stream does not support: it has each event
 * once, with one filter.
 */
static const char *named_twice(const struct wm_event_defs *defs)
{
	for (size_t i = 0; i < defs->nr; i++) {
		for (size_t k = 0; k < i; k++) {
			if (!defs->defs[i].more && !defs->defs[k].implied &&
			    !defs->defs[i].implied &&
			    !strcmp(defs->defs[i].name, defs->defs[k].name))
				return defs->defs[i].name;
		}
	}
	return NULL;
}

/* Rejects events and options that a stream does not support. */
static int check_stream(const struct wm_counting_choice *c, struct wm_diag *diag)
{
	const struct wm_counting_request *q = c->request;
	const struct wm_event_def *counter = q->by ? NULL : not_in_stream(&c->defs);
	const char *twice = has_filter(q) ? named_twice(&c->defs) : NULL;

	if (counter)
		return wm_diag_set(
		    diag, -EINVAL, NULL, -1,
		    "the kernel cannot evaluate one of the filters, so events are recorded into "
		    "memory "
		    "and counted there, and %s cannot be recorded; count it in a separate run",
		    counter->name);
	if (twice)
		return wm_diag_set(
		    diag, -EINVAL, NULL, -1,
		    "'%s' is named twice, but an event can have only one filter here; join the "
		    "filters with ||",
		    twice);
	if (q->no_inherit && c->counting.programs)
		return wm_diag_set(
		    diag, -EINVAL, NULL, -1,
		    "-i is not possible with program events: those of child processes are always "
		    "counted, too");
	return 0;
}

int wm_counting_choose(const struct wm_counting_request *q, const struct wm_event_space *space,
		       struct wm_counting_choice *ret, const char **ret_text, struct wm_diag *diag)
{
	int err;

	*ret = (struct wm_counting_choice){.request = q};
	*ret_text = NULL;
	choice_make_plan(q, space->tracefs, &ret->counting);
	wm_event_defs_init(&ret->defs);
	ret->counting.defs = &ret->defs;
	err = find_cpus(q, ret, diag);
	if (!err)
		err = find_events(ret, space, ret_text, diag);
	ret->stream = !err && needs_stream(ret);
	return ret->stream ? check_stream(ret, diag) : err;
}

void wm_counting_choice_done(struct wm_counting_choice *c)
{
	wm_counting_rules_destroy(c->rules);
	wm_count_filters_done(&c->filters);
	wm_event_defs_done(&c->defs);
	free(c->cpus);
}
