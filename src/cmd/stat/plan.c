/* SPDX-License-Identifier: MIT */
/*
 * plan.c - from the options of `waymark stat` to a plan: events by name,
 * each the kernel's or the programs'; places; counted by itself or from the
 * stream of the events. run.c and stream.c carry it out.
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
	wm_say("'waymark stat --help' shows its options");
	return WM_EXIT_USAGE;
}

static bool has_filter(const struct wm_stat_asked *v)
{
	bool has = v->filter != NULL;

	for (size_t i = 0; i < v->nr_wanted; i++)
		has |= v->wanted[i].filter != NULL;
	return has;
}

/* ---- events ------------------------------------------------------------------------ */

/* What perf counts when nothing is named; hardware only where there is some. */
static const char *const defaults[] = {
    "task-clock", "context-switches", "cpu-migrations", "page-faults",
    "cycles",     "instructions",     "branches",       "branch-misses",
};

/* Where names go: to the kernel's events, or to those of programs. */
struct naming {
	const struct wm_event_space *space;
	struct wm_stat_events *events;
	struct wm_stat_user *user;
	bool stream; /* filters are not the kernel's business */
};

static int say_unknown(const char *name, int err, const struct wm_diag *diag)
{
	wm_say("stat: %s", wm_words_of(err, diag));
	if (err == -ENOENT && !strchr(name, ':'))
		wm_say("an event of a program is named with its provider, PROVIDER:%s, or "
		       "user:%s",
		       name, name);
	return err == -ENOENT   ? WM_EXIT_NO_MATCH
	       : err == -EINVAL ? WM_EXIT_USAGE
				: (int)wm_exit_of(err);
}

static int say_proc(const char *typed, const char *name)
{
	wm_say("stat: %s is no event that could be counted, but a file of counters: 'waymark "
	       "record -e %s' reads it again and again",
	       name, typed);
	return WM_EXIT_USAGE;
}

/* Events by one name, with the filters that belong to it. 0 or an exit status, which was said. */
static int add_name(const struct naming *n, const char *name, size_t bytes,
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

/* 0 or an exit status, which was said. */
static int add_events(const struct wm_stat_asked *v, const struct naming *n)
{
	struct wm_stat_filters filters = {.text = {v->filter}};
	size_t nr = n->space->hardware ? 8 : 4;
	int status = 0;

	for (size_t i = 0; !v->nr_wanted && i < nr && !status; i++)
		status = add_name(n, defaults[i], strlen(defaults[i]), &filters);
	for (size_t i = 0; i < v->nr_wanted && !status; i++) {
		const char *list = v->wanted[i].names, *name;
		size_t bytes;

		filters.text[1] = v->wanted[i].filter;
		while (!status && (bytes = wm_event_name_next(&list, &name)))
			status = add_name(n, name, bytes, &filters);
	}
	if (!status && !n->events->defs.nr && !wm_stat_user_nr_rules(n->user))
		status = wm_stat_usage("-e names no event");
	return status;
}

/* ---- places ------------------------------------------------------------------------- */

static int find_cpus(const struct wm_stat_asked *v, struct wm_stat_plan *plan, int **ret_cpus)
{
	int err;

	if (!v->cpus && !v->all && !v->per_cpu)
		return 0;
	err = v->cpus ? wm_cpus_parse(v->cpus, ret_cpus, &plan->counting.nr_cpus)
		      : wm_cpus_online(ret_cpus, &plan->counting.nr_cpus);
	plan->counting.cpus = *ret_cpus;
	if (err == -EINVAL && v->cpus)
		return wm_stat_usage("-C wants a list of CPUs as 0-3,8");
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
	    .wanted = v->wanted,
	    .nr_wanted = v->nr_wanted,
	    .filter = v->filter,
	    .only_cpus = v->cpus != NULL,
	    .defaults = !v->nr_wanted,
	    .per_cpu = v->per_cpu,
	    .per_thread = v->per_thread,
	    .runs = v->runs,
	    .json = v->json,
	    .separator = v->separator,
	};
	if (!v->nr_wanted && !space->hardware)
		ret->without = "(no hardware counters on this machine: 'waymark doctor' says why)";
}

/* What is to be counted, of the kernel and of programs. 0 or an exit status, which was said. */
static int find_events(const struct wm_stat_asked *v, const struct wm_event_space *space,
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

/* ---- from the stream --------------------------------------------------------------------- */

/* Counters of the machine are in no stream; NULL: there is none such among the events. */
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
		return false; /* without tracefs there is no stream either */
	wm_say("counted from the stream: %s", diag.sentence);
	return true;
}

/* What a BPF program cannot count apart. */
static bool needs_stream_by(const struct wm_stat_asked *v, const struct wm_stat_plan *plan)
{
	for (size_t i = 0; i < plan->counting.defs->nr; i++) {
		if (plan->counting.defs->defs[i].family >= WM_FAMILY_USDT)
			return true; /* probes have what is fetched by them only when recorded */
	}
	return plan->counting.programs || v->cpus || v->interval_ms || v->runs > 1 ||
	       has_filter(v) || bpf_refused(plan);
}

/* Filters the kernel has no words for; counts that threads of programs do not keep by CPU. */
static bool needs_stream(const struct wm_stat_asked *v, const struct wm_stat_plan *plan,
			 const struct wm_stat_events *events)
{
	if (v->by)
		return needs_stream_by(v, plan);
	return events->filters.beyond ||
	       (v->per_cpu && plan->counting.programs && !not_in_stream(plan));
}

/* An event is recorded once, for one reason. */
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

/* What cannot be counted from the stream. 0 or an exit status, which was said. */
static int check_stream(const struct wm_stat_asked *v, const struct wm_stat_plan *plan)
{
	const struct wm_event_def *counter = v->by ? NULL : not_in_stream(plan);
	const char *twice = has_filter(v) ? named_twice(plan->counting.defs) : NULL;

	if (counter) {
		wm_say("stat: the kernel cannot evaluate one of the filters as it is meant: its "
		       "events are counted from a stream of them, where %s is not: count that in "
		       "a run of its own",
		       counter->name);
		return WM_EXIT_USAGE;
	}
	if (twice) {
		wm_say("stat: '%s' is there twice: from a stream an event is counted once; give "
		       "both filters in one, joined with ||",
		       twice);
		return WM_EXIT_USAGE;
	}
	if (v->no_inherit && plan->counting.programs)
		return wm_stat_usage(
		    "from a stream, events of programs are counted with their children: "
		    "no -i beside them");
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
	status = find_cpus(v, &plan, &cpus);
	if (!status)
		status = find_events(v, space, &events, &plan);
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
