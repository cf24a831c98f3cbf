/* SPDX-License-Identifier: MIT */
/*
 * plan.c - turns the options of `waymark stat` into a plan: what to count (counting_choice.h
 * decides how), and where to print. run.c and stream.c carry it out.
 */
#include "cmd/stat/plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/exit.h"
#include "cmd/say.h"

int wm_stat_usage(const char *sentence)
{
	wm_say("stat: %s", sentence);
	wm_say("'waymark stat --help' lists the options");
	return WM_EXIT_USAGE;
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

static void make_request(const struct wm_stat_asked *v, const struct wm_counting_named *named,
			 char **command, struct wm_counting_request *ret)
{
	*ret = (struct wm_counting_request){
	    .named = named,
	    .nr_named = v->events.nr,
	    .pids = v->pids.ids,
	    .nr_pids = v->pids.nr,
	    .tids = v->tids.ids,
	    .nr_tids = v->tids.nr,
	    .all = v->all,
	    .no_inherit = v->no_inherit,
	    .cpus = v->cpus,
	    .per_cpu = v->per_cpu,
	    .per_thread = v->per_thread,
	    .repeats = v->runs > 1,
	    .interval_ns = (uint64_t)v->interval_ms * 1000000u,
	    .timeout_ns = (uint64_t)v->timeout_ms * 1000000u,
	    .delay_ns = v->delay_ms < 0 ? WM_COUNTING_NEVER : (uint64_t)v->delay_ms * 1000000u,
	    .command = command,
	    .by = v->by,
	    .preload = v->preload,
	    .words = &wm_say_words,
	    .search = getenv("PATH"),
	    .runtime_dir = getenv("XDG_RUNTIME_DIR"),
	    .environment = environ,
	};
}

static void stat_plan_make(const struct wm_stat_asked *v, const struct wm_counting_named *named,
			   const struct wm_event_space *space, char **command,
			   struct wm_stat_plan *ret)
{
	*ret = (struct wm_stat_plan){
	    .runs = v->runs,
	    .json = v->json,
	    .separator = v->separator,
	};
	make_request(v, named, command, &ret->request);
	ret->defaults = wm_counting_by_default(&ret->request);
	if (ret->defaults && !space->hardware)
		ret->without =
		    "(no hardware counters on this machine; 'waymark doctor' prints the reason)";
}

static int stat_plan_say_refused(int err, const char *text, const struct wm_diag *diag)
{
	bool unknown = err == -ENOENT && diag->where;

	if (text && diag->column)
		wm_say_caret(text, diag);
	else
		wm_say("stat: %s", wm_words_of(err, diag));
	if (unknown && !strchr(diag->where, ':'))
		wm_say("to name a program event, give its provider, PROVIDER:%s, or write user:%s",
		       diag->where, diag->where);
	if (unknown)
		return WM_EXIT_NO_MATCH;
	return err == -EINVAL || err == -E2BIG ? WM_EXIT_USAGE : (int)wm_exit_of(err);
}

static struct wm_counting_named *copy_names(const struct wm_event_list *list)
{
	struct wm_counting_named *named = calloc(list->nr, sizeof(*named));

	for (uint32_t i = 0; named && i < list->nr; i++)
		named[i] =
		    (struct wm_counting_named){list->events[i].names, list->events[i].filter};
	return named;
}

int wm_stat_count(const struct wm_stat_asked *v, const struct wm_event_space *space, char **command)
{
	struct wm_counting_named *named = copy_names(&v->events);
	struct wm_diag diag = {.offset = -1};
	struct wm_stat_plan plan;
	const char *text;
	int err, status;

	if (!named) {
		wm_say("stat: %s", wm_diag_errno(-ENOMEM));
		return WM_EXIT_FAILED;
	}
	stat_plan_make(v, named, space, command, &plan);
	err = wm_counting_choose(&plan.request, space, &plan.choice, &text, &diag);
	status = err ? stat_plan_say_refused(err, text, &diag) : 0;
	if (!status)
		status = open_output(v, &plan);
	if (!status)
		status = close_output(
		    v, &plan, plan.choice.stream ? wm_stat_stream_run(&plan) : wm_stat_run(&plan));
	else if (command && status != WM_EXIT_USAGE)
		status = WM_EXIT_BEFORE_COMMAND;
	wm_counting_choice_done(&plan.choice);
	free(named);
	return status;
}
