/* SPDX-License-Identifier: MIT */
/*
 * stat.c - `waymark stat`: its options, which plan.c makes a plan of.
 * --filter belongs to the -e before it; before any -e to all.
 */
#include "cmd/stat/plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/exit.h"
#include "cmd/say.h"
#include "cmd/verb.h"

#define IDS_MAX    4096u
#define WANTED_MAX 4096u

static int on_event(const struct wm_option *o, const char *argument, void *values,
		    struct wm_diag *diag)
{
	struct wm_stat_asked *v = values;
	struct wm_stat_wanted *grown;

	(void)o;
	if (v->nr_wanted >= WANTED_MAX)
		return wm_diag_set(diag, -E2BIG, NULL, -1, "at most %u times", WANTED_MAX);
	grown = reallocarray(v->wanted, v->nr_wanted + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	v->wanted = grown;
	v->wanted[v->nr_wanted++] = (struct wm_stat_wanted){.names = argument};
	return 0;
}

static int on_filter(const struct wm_option *o, const char *argument, void *values,
		     struct wm_diag *diag)
{
	struct wm_stat_asked *v = values;
	struct wm_stat_wanted *w = v->nr_wanted ? &v->wanted[v->nr_wanted - 1] : NULL;
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
	struct wm_stat_asked *v = values;

	(void)o;
	return wm_ids_add(&v->pids, argument, "process", IDS_MAX, diag);
}

static int on_tid(const struct wm_option *o, const char *argument, void *values,
		  struct wm_diag *diag)
{
	struct wm_stat_asked *v = values;

	(void)o;
	return wm_ids_add(&v->tids, argument, "thread", IDS_MAX, diag);
}

static void release(void *values)
{
	struct wm_stat_asked *v = values;

	free(v->wanted);
	free(v->pids.ids);
	free(v->tids.ids);
}

static int check(const struct wm_stat_asked *v, int nr_args)
{
	bool named = v->pids.nr || v->tids.nr;

	if (!nr_args && !named && !v->all && !v->cpus)
		return wm_stat_usage(
		    "what to count is missing: a command after --, or -p PID, -t TID, or -a");
	if (named && v->all)
		return wm_stat_usage("-a is everything: -p and -t have no place beside it");
	if (v->per_thread && !named)
		return wm_stat_usage("--per-thread is for the threads named with -p or -t");
	if (v->per_thread && v->per_cpu)
		return wm_stat_usage("--per-thread and --per-cpu do not go together");
	if (v->append && !v->output)
		return wm_stat_usage("--append is for the file of -o");
	if (v->json && v->separator)
		return wm_stat_usage("--json and -x do not go together");
	if (v->runs > 1 && (!nr_args || v->interval_ms))
		return wm_stat_usage("-r runs a command again and again: it needs one, and no -I");
	if (v->by && (v->per_cpu || v->per_thread))
		return wm_stat_usage(
		    "--by cpu or --by tid is what --per-cpu and --per-thread would be "
		    "beside it");
	return WM_EXIT_DONE;
}

static int run(void *values, int nr_args, char **args)
{
	const struct wm_stat_asked *v = values;
	char root[WM_EVENT_ROOT_BYTES];
	struct wm_event_space space;
	int status = check(v, nr_args), err;

	if (status)
		return status;
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
     .help = "count events apart by the values of these fields, or by pid, tid, comm, cpu",
     WM_OPTION_TO_TEXT(struct wm_stat_asked, by)},
    {.name = "preload",
     .argument = "LIST",
     .help = "helpers to load into CMD whose events are counted: malloc, pthread, func; none: not "
	     "even the runtime",
     WM_OPTION_TO_TEXT(struct wm_stat_asked, preload)},
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
     WM_OPTION_TO_FLAG(struct wm_stat_asked, all)},
    {.name = "cpu",
     .letter = 'C',
     .argument = "LIST",
     .help = "only what runs on these CPUs, as 0-3,8",
     WM_OPTION_TO_TEXT(struct wm_stat_asked, cpus)},
    {.name = "no-inherit",
     .letter = 'i',
     .help = "not the children and threads made later",
     WM_OPTION_TO_FLAG(struct wm_stat_asked, no_inherit)},
    {.name = "delay",
     .letter = 'D',
     .argument = "MS",
     .min = -1,
     .max = 86400000,
     .help = "begin to count so many milliseconds after CMD was started, and then with --timeout "
	     "and -I; -1: never",
     WM_OPTION_TO_INTEGER(struct wm_stat_asked, delay_ms)},
    {.name = "timeout",
     .argument = "MS",
     .min = 1,
     .max = 86400000,
     .help = "end after so many milliseconds; CMD gets SIGTERM, and SIGKILL two seconds later",
     WM_OPTION_TO_INTEGER(struct wm_stat_asked, timeout_ms)},
    WM_OPTION_HEADING("How to show it"),
    {.name = "interval",
     .letter = 'I',
     .argument = "MS",
     .min = 1,
     .max = 86400000,
     .help = "print what was counted every so many milliseconds",
     WM_OPTION_TO_INTEGER(struct wm_stat_asked, interval_ms)},
    {.name = "repeat",
     .letter = 'r',
     .argument = "N",
     .initial = "1",
     .min = 1,
     .max = 1000000,
     .help = "run CMD so often; print means and how far off they may be",
     WM_OPTION_TO_INTEGER(struct wm_stat_asked, runs)},
    {.name = "per-thread",
     .help = "a line for each thread",
     WM_OPTION_TO_FLAG(struct wm_stat_asked, per_thread)},
    {.name = "per-cpu",
     .letter = 'A',
     .help = "a line for each CPU",
     WM_OPTION_TO_FLAG(struct wm_stat_asked, per_cpu)},
    {.name = "no-aggr", .hidden = true, WM_OPTION_TO_FLAG(struct wm_stat_asked, per_cpu)},
    {.name = "separator",
     .letter = 'x',
     .argument = "SEP",
     .help = "print fields with this between them, as perf stat does",
     WM_OPTION_TO_TEXT(struct wm_stat_asked, separator)},
    {.name = "json", .help = "print JSON", WM_OPTION_TO_FLAG(struct wm_stat_asked, json)},
    {.name = "output",
     .letter = 'o',
     .argument = "FILE",
     .help = "print there instead of standard output",
     WM_OPTION_TO_TEXT(struct wm_stat_asked, output)},
    {.name = "append",
     .help = "behind what FILE of -o has already",
     WM_OPTION_TO_FLAG(struct wm_stat_asked, append)},
    WM_OPTION_END,
};

const struct wm_verb wm_cmd_stat = {
    .name = "stat",
    .summary = "count events of programs, the kernel and the CPU, without recording them",
    .synopsis = "[-e NAME]... [-a | -p PID | -t TID] [OPTION]... [-- CMD [ARG]...]",
    .details =
	"With -a, -p or -t, CMD only says how long. Without CMD, counting ends with the\n"
	"processes or with Ctrl-C. The exit status is CMD's; 125 when waymark failed before\n"
	"CMD ran; else 5 when something asked for could not be counted.",
    .options = options,
    .values_bytes = sizeof(struct wm_stat_asked),
    .max_args = WM_VERB_ANY,
    .command = true,
    .run = run,
    .release = release,
};
