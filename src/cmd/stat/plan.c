/* SPDX-License-Identifier: MIT */
/*
 * plan.c - from the options of `waymark stat` to a plan: resolves the names of events,
 * of the kernel or of programs; selects CPUs; decides whether the kernel counts or the
 * counts come from a stream of the events. run.c and stream.c carry it out.
 */
#include "cmd/stat/plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/exit.h"
#include "cmd/say.h"
#include "kernel/event_name.h"

int wm_stat_usage(const char *sentence)
{
	wm_say("stat: %s", sentence);
	wm_say("'waymark stat --help' lists the options");
	return WM_EXIT_USAGE;
}

static bool has_filter(const struct wm_stat_asked *v)
{
	bool has = false;

	for (uint32_t i = 0; i < v->events.nr; i++)
		has |= v->events.events[i].filter != NULL;
	return has;
}

static bool stat_plan_names_some(const struct wm_stat_asked *v)
{
	return v->events.nr > 1;
}

/* ---- events ------------------------------------------------------------------------ */

/* perf's default events; the last four are hardware counters. */
static const char *const defaults[] = {
    "task-clock", "context-switches", "cpu-migrations", "page-faults",
    "cycles",     "instructions",     "branches",       "branch-misses",
};

/* Receives the named events: those of the kernel, and those of programs. */
struct naming {
	const struct wm_event_space *space;
	struct wm_stat_events *events;
	struct wm_stat_user *user;
	bool stream; /* filters are evaluated on the stream, not by the kernel */
};

static int say_unknown(const char *name, int err, const struct wm_diag *diag)
{
	wm_say("stat: %s", wm_words_of(err, diag));
	if (err == -ENOENT && !strchr(name, ':'))
		wm_say("to name an event of a program, give its provider, PROVIDER:%s, or write "
		       "user:%s",
		       name, name);
	return err == -ENOENT   ? WM_EXIT_NO_MATCH
	       : err == -EINVAL ? WM_EXIT_USAGE
				: (int)wm_exit_of(err);
}

static int say_proc(const char *typed, const char *name)
{
	wm_say("stat: %s is a file of counters and cannot be counted; 'waymark record -e %s' reads "
	       "it at intervals",
	       name, typed);
	return WM_EXIT_USAGE;
}

/* Adds the events of one name, with their filters. 0, or an exit status after a message. */
static int stat_plan_add_name(const struct naming *n, const char *name, size_t bytes,
			      const struct wm_stat_filters *filters)
{
	const struct wm_stat_filters none = {.text = {NULL}};
	char *copy = strndup(name, bytes);
	struct wm_diag diag = {.offset = -1};
	size_t before = n->events->defs.nr;
	int nr = 0, status = 0;

	if (!copy)
		return WM_EXIT_FAILED;
	if (!wm_stat_user_means(n->user, n->space, copy, 0))
		nr = wm_event_name_resolve(n->space, copy, &n->events->defs, &diag);
	if (nr > 0 && n->events->defs.defs[before].family == WM_FAMILY_PROC)
		status = say_proc(copy, n->events->defs.defs[before].name);
	else if (nr > 0)
		status =
		    wm_stat_filter(n->space, copy, n->stream ? &none : filters, before, n->events);
	else if (nr == 0 || wm_stat_user_means(n->user, n->space, copy, nr))
		status = wm_stat_user_add(n->user, copy, filters, before);
	else
		status = say_unknown(copy, nr, &diag);
	free(copy);
	return status;
}

/* Adds the events of all -e. Returns 0, or an exit status after a message. */
static int add_events(const struct wm_stat_asked *v, const struct naming *n)
{
	struct wm_stat_filters filters = {.text = {v->events.events[0].filter}};
	size_t nr = n->space->hardware ? 8 : 4;
	int status = 0;

	for (size_t i = 0; !stat_plan_names_some(v) && i < nr && !status; i++)
		status = stat_plan_add_name(n, defaults[i], strlen(defaults[i]), &filters);
	for (uint32_t i = 1; i < v->events.nr && !status; i++) {
		const char *list = v->events.events[i].names, *name;
		size_t bytes;

		filters.text[1] = v->events.events[i].filter;
		while (!status && (bytes = wm_event_name_next(&list, &name)))
			status = stat_plan_add_name(n, name, bytes, &filters);
	}
	if (!status && !n->events->defs.nr && !wm_stat_user_nr_rules(n->user))
		status = wm_stat_usage("-e needs the name of an event");
	return status;
}

/* ---- places ------------------------------------------------------------------------- */

static int stat_plan_find_cpus(const struct wm_stat_asked *v, struct wm_stat_plan *plan,
			       int **ret_cpus)
{
	int err;

	if (!v->cpus && !v->all && !v->per_cpu)
		return 0;
	err = v->cpus ? wm_cpus_parse(v->cpus, ret_cpus, &plan->counting.nr_cpus)
		      : wm_cpus_online(ret_cpus, &plan->counting.nr_cpus);
	plan->counting.cpus = *ret_cpus;
	if (err == -EINVAL && v->cpus)
		return wm_stat_usage("-C needs a list of CPUs such as 0-3,8");
	if (err < 0)
		wm_say_cannot("find", "the CPUs of this machine", err);
	return err < 0 ? WM_EXIT_FAILED : 0;
}

static int open_output(const struct wm_stat_asked *v, struct wm_stat_plan *plan)
{
	plan->out = v->output ? fopen(v->output, v->append ? "ae" : "we") : stdout;
	if (plan->out)
		return 0;
	wm_say_cannot("write", v->output, -errno);
	return wm_exit_of(-errno);
}

static int close_output(const struct wm_stat_asked *v, struct wm_stat_plan *plan, int status)
{
	if (!v->output)
		return status;
	if (fclose(plan->out) == 0)
		return status;
	wm_say_cannot("write", v->output, -errno);
	return status ? status : WM_EXIT_FAILED;
}

static void make_plan(const struct wm_stat_asked *v, const struct wm_event_space *space,
		      char **command, struct wm_stat_plan *ret)
{
	*ret = (struct wm_stat_plan){
	    .counting = {.tracefs = space->tracefs,
			 .pids = v->pids.ids,
			 .nr_pids = v->pids.nr,
			 .tids = v->tids.ids,
			 .nr_tids = v->tids.nr,
			 .all = v->all || (v->cpus && !v->pids.nr && !v->tids.nr),
			 .by = v->by,
			 .no_inherit = v->no_inherit || v->per_thread,
			 .threads_apart = v->per_thread,
			 .interval_ns = (uint64_t)v->interval_ms * 1000000u,
			 .timeout_ns = (uint64_t)v->timeout_ms * 1000000u,
			 .delay_ns =
			     v->delay_ms < 0 ? WM_COUNTING_NEVER : (uint64_t)v->delay_ms * 1000000u,
			 .command = command},
	    .events = &v->events,
	    .only_cpus = v->cpus != NULL,
	    .defaults = !stat_plan_names_some(v),
	    .per_cpu = v->per_cpu,
	    .per_thread = v->per_thread,
	    .runs = v->runs,
	    .json = v->json,
	    .separator = v->separator,
	};
	if (!stat_plan_names_some(v) && !space->hardware)
		ret->without =
		    "(no hardware counters on this machine; 'waymark doctor' prints the reason)";
}

/*
 * Finds the events to count, of the kernel and of programs. 0, or an exit status after
 * a message.
 */
static int stat_plan_find_events(const struct wm_stat_asked *v, const struct wm_event_space *space,
				 struct wm_stat_events *events, struct wm_stat_plan *plan)
{
	int err = wm_stat_user_create(&plan->counting, v->preload, v->cpus != NULL, &plan->user);
	const struct naming naming = {space, events, plan->user, v->by && has_filter(v)};
	struct wm_diag diag = {.offset = -1};
	int status;

	if (err < 0) {
		wm_say("stat: %s", wm_diag_errno(err));
		return WM_EXIT_FAILED;
	}
	status = add_events(v, &naming);
	plan->counting.filters = (const char *const *)events->filters.list;
	plan->counting.programs = wm_stat_user_plan(plan->user, events->defs.nr != 0);
	err = status ? 0 : wm_counting_check(&plan->counting, &diag);
	if (!err)
		return status;
	wm_say("stat: %s", wm_words_of(err, &diag));
	return err == -EINVAL ? WM_EXIT_USAGE : (int)wm_exit_of(err);
}

/* from the stream */

/*
 * Returns the first event that cannot be counted from a stream, such as a hardware counter; NULL:
 * all can.
 */
static const struct wm_event_def *not_in_stream(const struct wm_stat_plan *plan)
{
	const struct wm_event_defs *defs = plan->counting.defs;

	for (size_t i = 0; i < defs->nr; i++) {
		if (!defs->defs[i].system && !defs->defs[i].label)
			return &defs->defs[i];
	}
	return NULL;
}

static bool bpf_refused(const struct wm_stat_plan *plan)
{
	const struct wm_counting_plan *c = &plan->counting;
	struct wm_diag diag = {.offset = -1};

	if (!c->tracefs || wm_count_by_works(c->tracefs, c->defs, c->by, &diag))
		return false; /* without tracefs, streams do not work either */
	wm_say("counting from the stream of events: %s", diag.sentence);
	return true;
}

/* Returns whether --by needs a stream, because a BPF program cannot count it. */
static bool needs_stream_by(const struct wm_stat_asked *v, const struct wm_stat_plan *plan)
{
	for (size_t i = 0; i < plan->counting.defs->nr; i++) {
		if (plan->counting.defs->defs[i].family >= WM_FAMILY_USDT)
			return true; /* probes provide their fetched arguments only when recorded */
	}
	return plan->counting.programs || v->cpus || v->interval_ms || v->runs > 1 ||
	       has_filter(v) || bpf_refused(plan);
}

/*
 * Returns whether counting needs a stream: for filters that the kernel cannot evaluate, or for
 * events of programs per CPU, because the runtime counts per thread only.
 */
static bool needs_stream(const struct wm_stat_asked *v, const struct wm_stat_plan *plan,
			 const struct wm_stat_events *events)
{
	if (v->by)
		return needs_stream_by(v, plan);
	return events->filters.beyond ||
	       (v->per_cpu && plan->counting.programs && !not_in_stream(plan));
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

/*
 * Rejects events and options that a stream does not support. 0, or an exit status after a message.
 */
static int check_stream(const struct wm_stat_asked *v, const struct wm_stat_plan *plan)
{
	const struct wm_event_def *counter = v->by ? NULL : not_in_stream(plan);
	const char *twice = has_filter(v) ? named_twice(plan->counting.defs) : NULL;

	if (counter) {
		wm_say(
		    "stat: the kernel cannot evaluate one of the filters, so events are counted "
		    "from a stream, which does not contain %s; count that event in a separate run",
		    counter->name);
		return WM_EXIT_USAGE;
	}
	if (twice) {
		wm_say("stat: '%s' is named twice, but a stream contains each event once; give one "
		       "filter, joined with ||",
		       twice);
		return WM_EXIT_USAGE;
	}
	if (v->no_inherit && plan->counting.programs)
		return wm_stat_usage("-i is not possible here: events of programs are counted from "
				     "a stream, which includes child processes");
	return WM_EXIT_DONE;
}

int wm_stat_count(const struct wm_stat_asked *v, const struct wm_event_space *space, char **command)
{
	struct wm_stat_plan plan;
	struct wm_stat_events events = {0};
	int *cpus = NULL, status;

	make_plan(v, space, command, &plan);
	wm_event_defs_init(&events.defs);
	plan.counting.defs = &events.defs;
	status = stat_plan_find_cpus(v, &plan, &cpus);
	if (!status)
		status = stat_plan_find_events(v, space, &events, &plan);
	plan.stream = !status && needs_stream(v, &plan, &events);
	if (plan.stream)
		status = check_stream(v, &plan);
	if (!status)
		status = open_output(v, &plan);
	if (!status)
		status = close_output(v, &plan,
				      plan.stream ? wm_stat_stream_run(&plan) : wm_stat_run(&plan));
	else if (command && status != WM_EXIT_USAGE)
		status = WM_EXIT_BEFORE_COMMAND;
	wm_stat_user_destroy(plan.user);
	wm_stat_events_done(&events);
	free(cpus);
	return status;
}
