/* SPDX-License-Identifier: MIT */
/*
 * stat.c - `waymark stat`: its options, turned into a plan that stat_run.c
 * carries out. --filter belongs to the -e before it; before any -e to all.
 */
#include "cmd/stat.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cmd/exit.h"
#include "cmd/ids.h"
#include "cmd/say.h"
#include "cmd/verb.h"
#include "kernel/event_name.h"

#define IDS_MAX    4096u
#define WANTED_MAX 4096u

/* One -e, as typed, and its --filter. */
struct wanted {
	const char *names, *filter;
};

struct values {
	struct wanted *wanted;
	size_t nr_wanted;
	const char *filter; /* before any -e: for those that have none of their own, too */
	struct wm_ids pids, tids;
	const char *cpus, *separator, *output, *by;
	int64_t interval_ms, runs;
	bool all, json, per_thread, per_cpu, no_inherit;
};

/* ---- options ---------------------------------------------------------------------- */

static int on_event(const struct wm_option *o, const char *argument, void *values,
		    struct wm_diag *diag)
{
	struct values *v = values;
	struct wanted *grown;

	(void)o;
	if (v->nr_wanted >= WANTED_MAX)
		return wm_diag_set(diag, -E2BIG, NULL, -1, "at most %u times", WANTED_MAX);
	grown = reallocarray(v->wanted, v->nr_wanted + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	v->wanted = grown;
	v->wanted[v->nr_wanted++] = (struct wanted){.names = argument};
	return 0;
}

static int on_filter(const struct wm_option *o, const char *argument, void *values,
		     struct wm_diag *diag)
{
	struct values *v = values;
	struct wanted *w = v->nr_wanted ? &v->wanted[v->nr_wanted - 1] : NULL;
	const char **to = w ? &w->filter : &v->filter;

	(void)o;
	if (*to)
		return wm_diag_set(diag, -EINVAL, NULL, -1,
				   "there is a filter already for %s: join them with &&",
				   w ? w->names : "all events");
	*to = argument;
	return 0;
}

static int on_pid(const struct wm_option *o, const char *argument, void *values,
		  struct wm_diag *diag)
{
	struct values *v = values;

	(void)o;
	return wm_ids_add(&v->pids, argument, "process", IDS_MAX, diag);
}

static int on_tid(const struct wm_option *o, const char *argument, void *values,
		  struct wm_diag *diag)
{
	struct values *v = values;

	(void)o;
	return wm_ids_add(&v->tids, argument, "thread", IDS_MAX, diag);
}

static void release(void *values)
{
	struct values *v = values;

	free(v->wanted);
	free(v->pids.ids);
	free(v->tids.ids);
}

static int usage(const char *sentence)
{
	wm_say("stat: %s", sentence);
	wm_say("'waymark stat --help' shows its options");
	return WM_EXIT_USAGE;
}

static bool has_filter(const struct values *v)
{
	bool has = v->filter != NULL;

	for (size_t i = 0; i < v->nr_wanted; i++)
		has |= v->wanted[i].filter != NULL;
	return has;
}

static int check(const struct values *v, int nr_args)
{
	bool named = v->pids.nr || v->tids.nr;

	if (!nr_args && !named && !v->all && !v->cpus)
		return usage(
		    "what to count is missing: a command after --, or -p PID, -t TID, or -a");
	if (named && v->all)
		return usage("-a is everything: -p and -t have no place beside it");
	if (v->per_thread && !named)
		return usage("--per-thread is for the threads named with -p or -t");
	if (v->per_thread && v->per_cpu)
		return usage("--per-thread and --per-cpu do not go together");
	if (v->json && v->separator)
		return usage("--json and -x do not go together");
	if (v->runs > 1 && (!nr_args || v->interval_ms))
		return usage("-r runs a command again and again: it needs one, and no -I");
	if (v->by && (v->cpus || v->per_cpu || v->per_thread || v->interval_ms || v->runs > 1))
		return usage("--by counts one run as a whole: no -C, -I, -r, --per-cpu or "
			     "--per-thread beside it");
	if (v->by && has_filter(v))
		return usage("--by and --filter do not go together yet");
	return WM_EXIT_DONE;
}

/* ---- events ------------------------------------------------------------------------ */

/* What perf counts when nothing is named; hardware only where there is some. */
static const char *const defaults[] = {
    "task-clock", "context-switches", "cpu-migrations", "page-faults",
    "cycles",     "instructions",     "branches",       "branch-misses",
};

/* Events by one name, with the filters that belong to it. 0 or an exit status, which was said. */
static int add_name(const struct wm_event_space *space, const char *name, size_t bytes,
		    const struct wm_stat_filters *filters, struct wm_stat_events *events)
{
	char *copy = strndup(name, bytes);
	struct wm_diag diag = {.offset = -1};
	size_t before = events->defs.nr;
	int nr = copy ? wm_event_name_resolve(space, copy, &events->defs, &diag) : -ENOMEM;
	int status = 0;

	if (nr < 0) {
		wm_say("stat: %s", diag.sentence[0] ? diag.sentence : strerror(-nr));
		if (nr == -ENOENT && strchr(copy, ':'))
			wm_say("events of marked programs are not counted by stat yet: 'waymark "
			       "record' has them, 'waymark info' their numbers");
		status = nr == -ENOENT   ? WM_EXIT_NO_MATCH
			 : nr == -EINVAL ? WM_EXIT_USAGE
					 : (int)wm_exit_of(nr);
	} else {
		status = wm_stat_filter(space, copy, filters, before, events);
	}
	free(copy);
	return status;
}

/* 0 or an exit status, which was said. */
static int add_events(const struct values *v, const struct wm_event_space *space,
		      struct wm_stat_events *events)
{
	struct wm_stat_filters filters = {.text = {v->filter}};
	size_t nr = space->hardware ? 8 : 4;
	int status = 0;

	for (size_t i = 0; !v->nr_wanted && i < nr && !status; i++)
		status = add_name(space, defaults[i], strlen(defaults[i]), &filters, events);
	for (size_t i = 0; i < v->nr_wanted && !status; i++) {
		const char *list = v->wanted[i].names, *name;
		size_t bytes;

		filters.text[1] = v->wanted[i].filter;
		while (!status && (bytes = wm_event_name_next(&list, &name)))
			status = add_name(space, name, bytes, &filters, events);
	}
	if (!status && !events->defs.nr)
		status = usage("-e names no event");
	return status;
}

/* ---- places ------------------------------------------------------------------------- */

static int find_cpus(const struct values *v, struct wm_stat_plan *plan, int **ret_cpus)
{
	int err;

	if (!v->cpus && !v->all && !v->per_cpu)
		return 0;
	err = v->cpus ? wm_cpus_parse(v->cpus, ret_cpus, &plan->counting.nr_cpus)
		      : wm_cpus_online(ret_cpus, &plan->counting.nr_cpus);
	plan->counting.cpus = *ret_cpus;
	if (err == -EINVAL && v->cpus)
		return usage("-C wants a list of CPUs as 0-3,8");
	if (err < 0)
		wm_say_cannot("find", "the CPUs of this machine", err);
	return err < 0 ? WM_EXIT_FAILED : 0;
}

static int open_output(const struct values *v, struct wm_stat_plan *plan)
{
	plan->out = v->output ? fopen(v->output, "we") : stdout;
	if (plan->out)
		return 0;
	wm_say_cannot("write", v->output, -errno);
	return wm_exit_of(-errno);
}

static int close_output(const struct values *v, struct wm_stat_plan *plan, int status)
{
	if (!v->output)
		return status;
	if (fclose(plan->out) == 0)
		return status;
	wm_say_cannot("write", v->output, -errno);
	return status ? status : WM_EXIT_FAILED;
}

static int count(const struct values *v, const struct wm_event_space *space, char **command)
{
	struct wm_stat_plan plan = {
	    .counting = {.tracefs = space->tracefs,
			 .pids = v->pids.ids,
			 .nr_pids = v->pids.nr,
			 .tids = v->tids.ids,
			 .nr_tids = v->tids.nr,
			 .all = v->all || (v->cpus && !v->pids.nr && !v->tids.nr),
			 .by = v->by,
			 .no_inherit = v->no_inherit || v->per_thread,
			 .interval_ns = (uint64_t)v->interval_ms * 1000000u,
			 .command = command},
	    .defaults = !v->nr_wanted,
	    .per_cpu = v->per_cpu,
	    .per_thread = v->per_thread,
	    .runs = v->runs,
	    .json = v->json,
	    .separator = v->separator,
	};
	struct wm_stat_events events = {0};
	int *cpus = NULL, status;

	wm_event_defs_init(&events.defs);
	plan.counting.defs = &events.defs;
	if (!v->nr_wanted && !space->hardware)
		plan.without = "(no hardware counters on this machine: 'waymark doctor' says why)";
	status = add_events(v, space, &events);
	plan.counting.filters = (const char *const *)events.filters;
	if (!status)
		status = find_cpus(v, &plan, &cpus);
	if (!status)
		status = open_output(v, &plan);
	if (!status)
		status = close_output(v, &plan, wm_stat_run(&plan));
	else if (command && status != WM_EXIT_USAGE)
		status = WM_EXIT_BEFORE_COMMAND;
	wm_stat_events_done(&events);
	free(cpus);
	return status;
}

static int run(void *values, int nr_args, char **args)
{
	const struct values *v = values;
	char root[WM_EVENT_ROOT_BYTES];
	struct wm_event_space space;
	int status = check(v, nr_args), err;

	if (status)
		return status;
	err = wm_event_space_open(&space, getenv("PATH"));
	if (err < 0) {
		wm_say("stat: %s", strerror(-err));
		return WM_EXIT_FAILED;
	}
	space.root = v->pids.nr ? wm_event_space_root(v->pids.ids[0], root) : NULL;
	status = count(v, &space, nr_args ? args : NULL);
	wm_event_space_close(&space);
	return status;
}

static const struct wm_option options[] = {
    WM_OPTION_HEADING("What to count"),
    {.name = "event",
     .letter = 'e',
     .argument = "NAME,...",
     .help = "events, see waymark-events(7); wildcards allowed; may be repeated; without it, "
	     "clocks, switches, faults and what the CPU counts",
     .kind = WM_OPTION_CALL,
     .call = on_event},
    {.name = "filter",
     .argument = "EXPR",
     .help = "count the events of the -e before it only when this is true, 'count > 100 && $comm "
	     "== \"dd\"'; before any -e it is for all",
     .kind = WM_OPTION_CALL,
     .call = on_filter},
    {.name = "by",
     .argument = "FIELD,...",
     .help = "count tracepoints and system calls apart by the values of these fields, or by pid, "
	     "tid, comm, cpu",
     WM_OPTION_TO_TEXT(struct values, by)},
    WM_OPTION_HEADING("Where to count"),
    {.name = "pid",
     .letter = 'p',
     .argument = "PID,...",
     .help = "these processes, with all threads they have and will have",
     .kind = WM_OPTION_CALL,
     .call = on_pid},
    {.name = "tid",
     .letter = 't',
     .argument = "TID,...",
     .help = "these threads",
     .kind = WM_OPTION_CALL,
     .call = on_tid},
    {.name = "all",
     .letter = 'a',
     .help = "the whole machine",
     WM_OPTION_TO_FLAG(struct values, all)},
    {.name = "cpu",
     .letter = 'C',
     .argument = "LIST",
     .help = "only what runs on these CPUs, as 0-3,8",
     WM_OPTION_TO_TEXT(struct values, cpus)},
    {.name = "no-inherit",
     .letter = 'i',
     .help = "not the children and threads made later",
     WM_OPTION_TO_FLAG(struct values, no_inherit)},
    WM_OPTION_HEADING("How to show it"),
    {.name = "interval",
     .letter = 'I',
     .argument = "MS",
     .min = 1,
     .max = 86400000,
     .help = "print what was counted every so many milliseconds",
     WM_OPTION_TO_INTEGER(struct values, interval_ms)},
    {.name = "repeat",
     .letter = 'r',
     .argument = "N",
     .initial = "1",
     .min = 1,
     .max = 1000000,
     .help = "run CMD so often; print means and how far off they may be",
     WM_OPTION_TO_INTEGER(struct values, runs)},
    {.name = "per-thread",
     .help = "a line for each thread",
     WM_OPTION_TO_FLAG(struct values, per_thread)},
    {.name = "per-cpu",
     .letter = 'A',
     .help = "a line for each CPU",
     WM_OPTION_TO_FLAG(struct values, per_cpu)},
    {.name = "separator",
     .letter = 'x',
     .argument = "SEP",
     .help = "print fields with this between them, as perf stat does",
     WM_OPTION_TO_TEXT(struct values, separator)},
    {.name = "json", .help = "print JSON", WM_OPTION_TO_FLAG(struct values, json)},
    {.name = "output",
     .letter = 'o',
     .argument = "FILE",
     .help = "print there instead of standard output",
     WM_OPTION_TO_TEXT(struct values, output)},
    WM_OPTION_END,
};

const struct wm_verb wm_cmd_stat = {
    .name = "stat",
    .summary = "count events of the kernel and the CPU, without recording them",
    .synopsis = "[-e NAME]... [-a | -p PID | -t TID] [OPTION]... [-- CMD [ARG]...]",
    .details =
	"With -a, -p or -t, CMD only says how long. Without CMD, counting ends with the\n"
	"processes or with Ctrl-C. The exit status is CMD's; 125 when waymark failed before\n"
	"CMD ran; else 5 when something asked for could not be counted.",
    .options = options,
    .values_bytes = sizeof(struct values),
    .max_args = WM_VERB_ANY,
    .command = true,
    .run = run,
    .release = release,
};
