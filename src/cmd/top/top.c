/* SPDX-License-Identifier: MIT */
/*
 * top.c - `waymark top`: what happens now, the most of it first. A recording
 * into memory (control/live.h) whose events are counted as they come; see top.h.
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/text.h"
#include "cmd/analyse.h"
#include "cmd/exit.h"
#include "cmd/say.h"
#include "cmd/top/top.h"
#include "cmd/verb.h"

#define LOOK_NS         200000000u /* events are fetched this often, however rarely they are shown */
#define BUFFER_DEFAULT  ((uint64_t)16 << 20)
#define RATE_DEFAULT    997 /* a second: nothing else beats in time with it */
#define DELAY_DEFAULT_S 2
#define HALF_LIFE_S     10
#define SECONDS_MAX     (365 * 86400.0)

struct running {
	struct wm_top_values *v;
	struct wm_recorder_plan plan;
	struct wm_words words;
	struct wm_live *live;
	struct wm_recorder *recorder;
	struct wm_top_count *count;
	struct wm_top_show *show;
	struct wm_watch *refresh;
	int64_t nr_refreshes;
	bool leaving;    /* no more pictures; CMD ends */
	int err;         /* the first; it ends all */
	int interrupted; /* the signal that ended us */
	struct wm_diag diag;
};

/* --- while it runs ---------------------------------------------------------------------------- */

static void quit(void *data)
{
	struct running *r = data;

	r->leaving = true;
	wm_recorder_end(r->recorder);
	if (!wm_recorder_command(r->recorder))
		return;
	wm_top_show_say(r->show, "waiting for the command to end");
	wm_recorder_stop_command(r->recorder, r->interrupted ? 0 : SIGTERM);
}

static void fail(struct running *r, int err)
{
	if (!r->err)
		r->err = err;
	quit(r);
}

static void on_report(void *data, const struct wm_report *report)
{
	struct running *r = data;
	int err = r->err ? 0 : wm_top_count_take(r->count, report, &r->diag);

	if (err < 0)
		fail(r, err);
}

static void on_look(void *data)
{
	struct running *r = data;

	(void)wm_recorder_look(
	    r->recorder); /* the last is not answered, or it ends: the next time */
}

static void on_refresh(void *data)
{
	struct running *r = data;
	int err;

	if (r->leaving)
		return;
	err = wm_top_show_refresh(r->show);
	r->nr_refreshes++;
	if (err)
		fail(r, err);
	else if (r->v->refreshes && r->nr_refreshes >= r->v->refreshes)
		quit(r);
}

static uint64_t ns_of(double seconds)
{
	return (uint64_t)(seconds * 1e9);
}

static void on_delay(void *data, double seconds)
{
	struct running *r = data;

	wm_watch_timer(r->refresh, ns_of(seconds), ns_of(seconds));
}

static void on_signal(int signo, pid_t from, void *data)
{
	struct running *r = data;

	if (!wm_recorder_signal(r->recorder, signo, from)) { /* the pump sees us gone */
		wm_top_show_destroy(r->show);
		wm_recorder_abandon(r->recorder);
		_exit(WM_EXIT_SIGNAL_BASE + signo);
	}
	r->interrupted = signo;
	quit(r);
}

static void on_words(const char *sentence, void *data)
{
	wm_top_show_say(((struct running *)data)->show, sentence);
}

/* --- beginning and end
 * ----------------------------------------------------------------------------- */

static int start_timers(struct running *r)
{
	struct wm_loop *loop = wm_recorder_loop(r->recorder);
	uint64_t delay = ns_of(r->v->delay_s), look = delay / 2 < LOOK_NS ? delay / 2 : LOOK_NS;
	int err = wm_loop_signals_that_end(loop, on_signal, r);

	if (!err)
		err = wm_loop_timer(loop, look, look, on_look, r, NULL);
	if (!err)
		err = wm_loop_timer(loop, delay, delay, on_refresh, r, &r->refresh);
	if (!err && r->v->duration_s > 0)
		err = wm_loop_timer(loop, ns_of(r->v->duration_s), 0, quit, r, NULL);
	return err;
}

static int say_failure(int err, const struct wm_diag *diag, const char *const *command)
{
	bool in_command = diag->where && !strcmp(diag->where, WM_RECORDER_IN_COMMAND);

	wm_say("%s", wm_words_of(err, diag));
	if (in_command)
		return err == -ENOENT ? WM_EXIT_NOT_FOUND : WM_EXIT_CANNOT_RUN;
	return command ? WM_EXIT_BEFORE_COMMAND : (int)wm_exit_of(err);
}

/* What was not shown yet is, but on a terminal, which is given back. 0 or an exit status. */
static int finish(struct running *r)
{
	struct wm_recorder_result result;

	if (!r->err && (r->v->stdio || r->v->json || !isatty(STDOUT_FILENO)) &&
	    (!r->v->refreshes || !r->nr_refreshes))
		r->err = wm_top_show_refresh(r->show);
	wm_top_show_destroy(r->show);
	r->show = NULL;
	if (r->err && r->err != -EPIPE) { /* who read had enough */
		wm_say("top: %s", wm_words_of(r->err, &r->diag));
		return wm_exit_of(r->err);
	}
	wm_recorder_result(r->recorder, &result);
	if (result.is_lost) {
		wm_say("the pump process ended early");
		return WM_EXIT_INCOMPLETE;
	}
	if (r->plan.nr_asked && !wm_record_say_unmatched(&r->plan, &result.totals) &&
	    !r->plan.events->kernel && !r->plan.events->sampling &&
	    (result.status <= 0 || r->leaving))
		return WM_EXIT_NO_MATCH;
	if (result.status < 0 || r->leaving)
		return WM_EXIT_DONE;
	return WIFSIGNALED(result.status) ? WM_EXIT_SIGNAL_BASE + WTERMSIG(result.status)
					  : WEXITSTATUS(result.status);
}

static int watch(struct running *r)
{
	const struct wm_top_does does = {quit, on_delay, on_refresh, r};
	int err = wm_recorder_begin(r->recorder, &r->diag), status;

	if (err) {
		status = say_failure(err, &r->diag, (const char *const *)r->plan.command);
		(void)wm_recorder_finish(r->recorder);
		return status;
	}
	status = wm_top_show_create(r->v, r->count, wm_recorder_loop(r->recorder), &does, &r->show);
	if (!status && start_timers(r))
		status = WM_EXIT_FAILED;
	if (status)
		quit(r);
	err = wm_recorder_wait(r->recorder, -1);
	if (err < 0 && !r->err)
		r->err = err;
	return status ? status : finish(r);
}

/* The plan is made; what of it is live is added. */
static int run_live(struct running *r)
{
	struct wm_recording_options o = {0};
	int err = wm_live_create(r->plan.runtime_dir, 0, &r->live, &r->diag), status;

	if (!err)
		r->count = wm_top_count_create(r->v, r->live);
	if (!err && !r->count)
		err = -ENOMEM;
	if (!err) {
		wm_live_options(r->live, &o);
		r->plan.dir = o.dir;
		r->plan.live = r->live;
		r->plan.report = on_report;
		r->plan.report_data = r;
		r->plan.words = &r->words;
		r->plan.quiet = true;
		err = wm_recorder_create(&r->plan, &r->recorder, &r->diag);
	}
	status = err ? say_failure(err, &r->diag, (const char *const *)r->plan.command) : watch(r);
	wm_top_show_destroy(r->show);
	wm_recorder_destroy(r->recorder);
	wm_top_count_destroy(r->count);
	wm_live_destroy(r->live);
	return status;
}

/* --- options
 * -------------------------------------------------------------------------------------------- */

static int on_seconds(const struct wm_option *o, const char *argument, void *values,
		      struct wm_diag *diag)
{
	double *to = (double *)(void *)((char *)values + o->offset), s;
	char *end;

	s = strtod(argument, &end);
	if (end == argument || *end || !(s >= 0.05) || s > SECONDS_MAX)
		return wm_diag_set(diag, -EINVAL, NULL, -1,
				   "'%s' is no number of seconds, 0.05 or more", argument);
	*to = s;
	return 0;
}

static int usage(const char *sentence)
{
	wm_say("top: %s", sentence);
	wm_say("'waymark top --help' shows its options");
	return WM_EXIT_USAGE;
}

/* Without -e: where the processors' time goes; without whose: everybody's. */
static int complete(struct wm_top_values *v, int nr_args)
{
	static const struct wm_option rate = {.letter = 'F'};
	struct wm_record_asked *a = &v->asked;
	bool running = a->pids.nr || a->tids.nr, events = false, sampled = false;
	struct wm_diag diag = {.offset = -1};
	char text[16];

	if (running && a->all)
		return usage("-a is every process: -p and -t have no place beside it");
	if (a->pids.nr && a->tids.nr)
		return usage("-t is single threads, -p all of a process: one of both");
	a->all |= !running && !nr_args;
	for (uint32_t i = 0; i < a->nr_wanted; i++) {
		events |= a->wanted[i].glob && !a->wanted[i].exclude;
		sampled |= a->wanted[i].how.frequency || a->wanted[i].how.period;
	}
	(void)snprintf(text, sizeof(text), "%d", RATE_DEFAULT);
	if (!events && !sampled && wm_record_on_rate(&rate, text, a, &diag))
		return usage(diag.sentence);
	v->profile.graph = WM_GRAPH_NONE;
	for (uint32_t i = 0; i < a->nr_wanted; i++)
		if (a->wanted[i].how.chain)
			v->profile.graph = WM_GRAPH_CALLER;
	v->profile.graph_percent_limit = 0.5;
	v->delay_s = v->delay_s > 0 ? v->delay_s : DELAY_DEFAULT_S;
	v->half_life_s = v->half_life_s > 0 ? v->half_life_s : HALF_LIFE_S;
	return WM_EXIT_DONE;
}

static int run(void *values, int nr_args, char **args)
{
	struct wm_top_values *v = values;
	struct running r = {.v = v, .diag = {.offset = -1}};
	int status = complete(v, nr_args);

	v->asked.quiet = true;
	v->asked.buffer_bytes = BUFFER_DEFAULT;
	r.words = (struct wm_words){on_words, &r};
	if (status)
		return status;
	status = wm_record_asked_plan(&v->asked, nr_args ? args : NULL, &r.plan);
	if (status == WM_EXIT_NOT_PERMITTED && v->asked.all)
		wm_say("top: what is yours can be watched: -p PID, or a command after --");
	return status ? status : run_live(&r);
}

static void release(void *values)
{
	wm_record_asked_done(&((struct wm_top_values *)values)->asked);
}

#define TO(kind, member) WM_OPTION_TO_##kind(struct wm_top_values, member)
#define SECONDS(member)                                                                            \
	.kind = WM_OPTION_CALL, .offset = offsetof(struct wm_top_values, member), .call = on_seconds

static const struct wm_option options[] = {
    WM_OPTION_HEADING("What to watch"),
    {.name = "event",
     .letter = 'e',
     .argument = "GLOB",
     .help = "events by provider:name, of programs and of the kernel, as with record; may be "
	     "repeated; without it, where the processors spend their time",
     .kind = WM_OPTION_CALL,
     .call = wm_record_on_event},
    {.name = "exclude",
     .letter = 'x',
     .argument = "GLOB",
     .help = "not these, whatever -e says; may be repeated",
     .kind = WM_OPTION_CALL,
     .call = wm_record_on_exclude},
    {.name = "filter",
     .argument = "EXPR",
     .help = "those that pass, of the -e before it; before any -e: of all",
     .kind = WM_OPTION_CALL,
     .call = wm_record_on_filter},
    {.name = "freq",
     .letter = 'F',
     .argument = "HZ",
     .help = "sample the kernel's events of the -e before it so often a second; before any -e all "
	     "of them, or the processors (997)",
     .kind = WM_OPTION_CALL,
     .call = wm_record_on_rate},
    {.name = "count",
     .letter = 'c',
     .argument = "N",
     .help = "the same, at every Nth event",
     .kind = WM_OPTION_CALL,
     .call = wm_record_on_rate},
    {.name = "call-graph",
     .letter = 'g',
     .argument = "MODE",
     .optional = true,
     .choices = "fp|dwarf",
     .help = "with call chains: children count for their callers, and Enter shows a row's calls; "
	     "fp by frame pointers, dwarf[,BYTES] from copies of the stack",
     .kind = WM_OPTION_CALL,
     .call = wm_record_on_chain},
    WM_OPTION_HEADING("Whose"),
    {.name = "pid",
     .letter = 'p',
     .argument = "PID,...",
     .help = "processes that run already",
     .kind = WM_OPTION_CALL,
     .call = wm_record_on_pid},
    {.name = "tid",
     .letter = 't',
     .argument = "TID,...",
     .help = "single threads",
     .kind = WM_OPTION_CALL,
     .call = wm_record_on_tid},
    {.name = "cpu",
     .letter = 'C',
     .argument = "LIST",
     .help = "what happens on these CPUs only, '0-3,8'",
     .kind = WM_OPTION_CALL,
     .call = wm_record_on_cpus},
    {.name = "all",
     .letter = 'a',
     .help = "everybody's: so it is without -p, -t and CMD",
     TO(FLAG, asked.all)},
    WM_OPTION_HEADING("How it is counted"),
    {.name = "sort",
     .letter = 's',
     .argument = "KEY,...",
     .help = "split by these: comm, pid, tid, cpu, event, dso, sym, srcline, FIELD or EVENT.FIELD; "
	     "without: comm,dso,sym of samples, event,comm of other events",
     TO(TEXT, profile.keys)},
    WM_PROFILE_WEIGHT(struct wm_top_values, profile),
    WM_PROFILE_NO_CHILDREN(struct wm_top_values, profile),
    WM_PROFILE_INLINES(struct wm_top_values, profile),
    {.name = "percent-limit",
     .argument = "PERCENT",
     .help = "leave out rows below",
     .kind = WM_OPTION_CALL,
     .offset = offsetof(struct wm_top_values, profile.percent_limit),
     .call = wm_analyse_on_percent},
    {.name = "half-life",
     .argument = "SECONDS",
     .help = "what happened weighs half after so long (10)",
     SECONDS(half_life_s)},
    {.name = "no-decay", .help = "all weighs the same since the beginning", TO(FLAG, no_decay)},
    WM_OPTION_HEADING("How it is shown"),
    {.name = "delay",
     .letter = 'd',
     .argument = "SECONDS",
     .help = "the time between two pictures (2)",
     SECONDS(delay_s)},
    {.name = "rows",
     .letter = 'n',
     .argument = "N",
     .min = 1,
     .max = 100000,
     .help = "the first N rows of each table; without: 20 of text, what fits on a terminal",
     TO(INTEGER, rows)},
    {.name = "duration",
     .argument = "SECONDS",
     .help = "end after so long, and CMD with it",
     SECONDS(duration_s)},
    {.name = "refreshes",
     .argument = "N",
     .min = 1,
     .max = INT64_MAX,
     .help = "end after so many pictures, and CMD with it",
     TO(INTEGER, refreshes)},
    {.name = "stdio", .help = "blocks of text, also on a terminal", TO(FLAG, stdio)},
    {.name = "json", .help = "a JSON object for each picture, on a line", TO(FLAG, json)},
    WM_OPTION_END,
};

const struct wm_verb wm_cmd_top = {
    .name = "top",
    .summary = "watch what happens now, the most of it first",
    .synopsis = "[-e GLOB [--filter EXPR]]... [-s KEY,...] [-g] [-d SECONDS] "
		"[-- CMD...|-p PID|-t TID|-a]",
    .details = "On a terminal the picture is drawn anew every two seconds, and keys are answered\n"
	       "(h shows them); elsewhere blocks of text follow one another. Events a second, and\n"
	       "shares, are of the last moments: what happened weighs half after --half-life.\n"
	       "Nothing is written to disk. What was lost is said.\n"
	       "\n"
	       "With a CMD it is watched, and the exit status is its own; with -p, -t or -a a CMD\n"
	       "says how long. Who leaves before it ends it: SIGTERM, SIGKILL two seconds later.",
    .options = options,
    .values_bytes = sizeof(struct wm_top_values),
    .max_args = WM_VERB_ANY,
    .command = true,
    .run = run,
    .release = release,
};
