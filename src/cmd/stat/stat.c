/* SPDX-License-Identifier: MIT */
/*
 * stat.c - `waymark stat`: its options, which plan.c turns into a plan. --filter applies to the
 * preceding -e; before the first -e, to all.
 */
#include "cmd/stat/plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/exit.h"
#include "cmd/say.h"
#include "cmd/verb.h"

#define EVENTS_MAX 4096

static void cmd_stat_release(void *values)
{
	struct wm_stat_asked *v = values;

	wm_listed_done(&v->events);
	free(v->pids.ids);
	free(v->tids.ids);
}

static int cmd_stat_check(const struct wm_stat_asked *v, int nr_args)
{
	bool named = v->pids.nr || v->tids.nr;

	if (!nr_args && !named && !v->all && !v->cpus)
		return wm_stat_usage(
		    "nothing to count: give a command after --, or -p PID, -t TID, or -a");
	if (named && v->all)
		return wm_stat_usage(
		    "-a already covers every process: do not combine it with -p or -t");
	if (v->per_thread && !named)
		return wm_stat_usage("--per-thread needs threads selected with -p or -t");
	if (v->per_thread && v->per_cpu)
		return wm_stat_usage("--per-thread and --per-cpu cannot be combined");
	if (v->append && !v->output)
		return wm_stat_usage("--append needs -o FILE");
	if (v->json && v->separator)
		return wm_stat_usage("--json and -x cannot be combined");
	if (v->runs > 1 && (!nr_args || v->interval_ms))
		return wm_stat_usage(
		    "-r repeats a command: it needs a CMD and cannot be combined with -I");
	if (v->by && (v->per_cpu || v->per_thread))
		return wm_stat_usage("--by cannot be combined with --per-cpu or --per-thread: use "
				     "--by cpu or --by tid");
	return WM_EXIT_DONE;
}

static int cmd_stat_run(void *values, int nr_args, char **args)
{
	struct wm_stat_asked *v = values;
	char root[WM_EVENT_ROOT_BYTES];
	struct wm_event_space space;
	int status = cmd_stat_check(v, nr_args), err;

	if (status)
		return status;
	err = wm_listed_init(&v->events);
	if (!err)
		err = wm_event_space_open(&space, getenv("PATH"));
	if (err < 0) {
		wm_say("stat: %s", wm_diag_errno(err));
		return WM_EXIT_FAILED;
	}
	space.root = v->pids.nr ? wm_event_space_root(v->pids.ids[0], root) : NULL;
	status = wm_stat_count(v, &space, nr_args ? args : NULL);
	wm_event_space_close(&space);
	return status;
}

static const struct wm_option options[] = {
    WM_OPTION_HEADING("What to count"),
    WM_EVENT_LIST_EVENT(
	struct wm_stat_asked, events, "NAME,...", EVENTS_MAX,
	"events to count, see waymark-events(7); wildcards allowed; {NAME,...} is a group; "
	"repeatable; default: clocks, context switches, page faults and CPU counters"),
    WM_EVENT_LIST_FILTER(
	struct wm_stat_asked, events,
	"count the events of the preceding -e only when EXPR is true, 'count > 100 && $comm "
	"== \"dd\"'; before the first -e: for all events"),
    {.name = "by",
     .argument = "FIELD,...",
     .help = "count separately for each value of these fields, or of pid, tid, comm, cpu",
     WM_OPTION_TO_TEXT(struct wm_stat_asked, by)},
    {.name = "preload",
     .argument = "LIST",
     .help = "load helper libraries into CMD whose events are counted: malloc, pthread, func; "
	     "'none' does not even load the runtime",
     WM_OPTION_TO_TEXT(struct wm_stat_asked, preload)},
    WM_OPTION_HEADING("Where to count"),
    WM_IDS_PROCESSES(struct wm_stat_asked, pids, WM_RECORDER_TARGETS_MAX,
		     "count these processes, with all their present and future threads"),
    WM_IDS_THREADS(struct wm_stat_asked, tids, WM_RECORDER_TARGETS_MAX, "count these threads"),
    {.name = "all",
     .letter = 'a',
     .help = "count the whole machine",
     WM_OPTION_TO_FLAG(struct wm_stat_asked, all)},
    {.name = "cpu",
     .letter = 'C',
     .argument = "LIST",
     .help = "count only on these CPUs, '0-3,8'",
     WM_OPTION_TO_TEXT(struct wm_stat_asked, cpus)},
    {.name = "no-inherit",
     .letter = 'i',
     .help = "do not count threads and children that start later",
     WM_OPTION_TO_FLAG(struct wm_stat_asked, no_inherit)},
    {.name = "delay",
     .letter = 'D',
     .argument = "MS",
     .min = -1,
     .max = 86400000,
     .help = "start counting MS milliseconds after the start of CMD; --timeout and -I begin then, "
	     "too; -1: never count",
     WM_OPTION_TO_INTEGER(struct wm_stat_asked, delay_ms)},
    {.name = "timeout",
     .argument = "MS",
     .min = 1,
     .max = 86400000,
     .help = "end after MS milliseconds; CMD gets SIGTERM, and SIGKILL two seconds later",
     WM_OPTION_TO_INTEGER(struct wm_stat_asked, timeout_ms)},
    WM_OPTION_HEADING("Output"),
    {.name = "interval",
     .letter = 'I',
     .argument = "MS",
     .min = 1,
     .max = 86400000,
     .help = "print the counts for every interval of MS milliseconds",
     WM_OPTION_TO_INTEGER(struct wm_stat_asked, interval_ms)},
    {.name = "repeat",
     .letter = 'r',
     .argument = "N",
     .initial = "1",
     .min = 1,
     .max = 1000000,
     .help = "run CMD N times; print mean and standard error",
     WM_OPTION_TO_INTEGER(struct wm_stat_asked, runs)},
    {.name = "per-thread",
     .help = "print a line for each thread",
     WM_OPTION_TO_FLAG(struct wm_stat_asked, per_thread)},
    {.name = "per-cpu",
     .letter = 'A',
     .help = "print a line for each CPU",
     WM_OPTION_TO_FLAG(struct wm_stat_asked, per_cpu)},
    {.name = "no-aggr", .hidden = true, WM_OPTION_TO_FLAG(struct wm_stat_asked, per_cpu)},
    {.name = "separator",
     .letter = 'x',
     .argument = "SEP",
     .help = "print fields separated by SEP, in the format of perf stat -x",
     WM_OPTION_TO_TEXT(struct wm_stat_asked, separator)},
    {.name = "json",
     .help = "print one JSON object",
     WM_OPTION_TO_FLAG(struct wm_stat_asked, json)},
    {.name = "output",
     .letter = 'o',
     .argument = "FILE",
     .help = "write to FILE instead of standard output",
     WM_OPTION_TO_TEXT(struct wm_stat_asked, output)},
    {.name = "append",
     .help = "append to FILE of -o instead of replacing it",
     WM_OPTION_TO_FLAG(struct wm_stat_asked, append)},
    WM_OPTION_END,
};

const struct wm_verb wm_cmd_stat = {
    .name = "stat",
    .summary = "count program, kernel and CPU events, without recording them",
    .synopsis = "[-e NAME]... [-a | -p PID | -t TID] [OPTION]... [-- CMD [ARG]...]",
    .details =
	"With -a, -p or -t, CMD is not counted: counting ends when it exits.\n"
	"Without CMD, counting ends when the processes exit, or with Ctrl-C. The exit status\n"
	"is CMD's; 125 when waymark failed before CMD ran; otherwise 5 when a requested event\n"
	"could not be counted.",
    .options = options,
    .values_bytes = sizeof(struct wm_stat_asked),
    .max_args = WM_VERB_ANY,
    .command = true,
    .run = cmd_stat_run,
    .release = cmd_stat_release,
};
