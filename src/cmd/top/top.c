/* SPDX-License-Identifier: MIT */
/*
 * top.c - `waymark top`: shows a live profile of events. It records into memory
 * (control/live.h) and counts the events as they arrive; see top.h.
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

#define LOOK_NS 200000000u /* interval between requests for events */
/* samples per second; a prime, to avoid sampling in step with periodic work */
#define RATE_DEFAULT    997
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
	bool leaving;    /* no more refreshes; CMD is being stopped */
	int err;         /* the first error; it ends the run */
	int interrupted; /* the signal that ended the run */
	struct wm_diag diag;
};

/* --- callbacks -------------------------------------------------------------------------------- */

static void quit(void *data)
{
	struct running *r = data;

	r->leaving = true;
	wm_recorder_end(r->recorder);
	if (!wm_recorder_command(r->recorder))
		return;
	wm_top_show_say(r->show, "waiting for the command to exit");
	wm_recorder_stop_command(r->recorder, r->interrupted ? 0 : SIGTERM);
}

static void cmd_top_fail(struct running *r, int err)
{
	if (!r->err)
		r->err = err;
	quit(r);
}

static void cmd_top_on_report(void *data, const struct wm_report *report)
{
	struct running *r = data;
	int err = r->err ? 0 : wm_top_count_take(r->count, report, &r->diag);

	if (err < 0)
		cmd_top_fail(r, err);
}

static void cmd_top_on_look(void *data)
{
	struct running *r = data;

	(void)wm_recorder_look(r->recorder); /* on failure, retried at the next tick */
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
		cmd_top_fail(r, err);
	else if (r->v->refreshes && r->nr_refreshes >= r->v->refreshes)
		quit(r);
}

static uint64_t cmd_top_ns_of(double seconds)
{
	return (uint64_t)(seconds * 1e9);
}

static void on_delay(void *data, double seconds)
{
	struct running *r = data;

	wm_watch_timer(r->refresh, cmd_top_ns_of(seconds), cmd_top_ns_of(seconds));
}

static void cmd_top_on_signal(int signo, pid_t from, void *data)
{
	struct running *r = data;

	/* the pump finishes the trace without this process */
	if (!wm_recorder_signal(r->recorder, signo, from)) {
		wm_top_show_destroy(r->show);
		wm_recorder_abandon(r->recorder);
		_exit(WM_EXIT_SIGNAL_BASE + signo);
	}
	r->interrupted = signo;
	quit(r);
}

static void cmd_top_on_words(const char *sentence, void *data)
{
	wm_top_show_say(((struct running *)data)->show, sentence);
}

/* --- start and end --------------------------------------------------------------------- */

static int start_timers(struct running *r)
{
	struct wm_loop *loop = wm_recorder_loop(r->recorder);
	uint64_t delay = cmd_top_ns_of(r->v->delay_s),
		 look = delay / 2 < LOOK_NS ? delay / 2 : LOOK_NS;
	int err = wm_loop_signals_that_end(loop, cmd_top_on_signal, r);

	if (!err)
		err = wm_loop_timer(loop, look, look, cmd_top_on_look, r, NULL);
	if (!err)
		err = wm_loop_timer(loop, delay, delay, on_refresh, r, &r->refresh);
	if (!err && r->v->duration_s > 0)
		err = wm_loop_timer(loop, cmd_top_ns_of(r->v->duration_s), 0, quit, r, NULL);
	return err;
}

static int cmd_top_say_failure(int err, const struct wm_diag *diag, const char *const *command)
{
	bool in_command = diag->where && !strcmp(diag->where, WM_RECORDER_IN_COMMAND);

	wm_say("%s", wm_words_of(err, diag));
	if (in_command)
		return err == -ENOENT ? WM_EXIT_NOT_FOUND : WM_EXIT_CANNOT_RUN;
	return command ? WM_EXIT_BEFORE_COMMAND : (int)wm_exit_of(err);
}

/*
 * Shows the last result, except on a terminal, and restores the terminal. Returns 0 or an exit
 * status.
 */
static int cmd_top_finish(struct running *r)
{
	struct wm_recorder_result result;

	if (!r->err && (r->v->stdio || r->v->json || !isatty(STDOUT_FILENO)) &&
	    (!r->v->refreshes || !r->nr_refreshes))
		r->err = wm_top_show_refresh(r->show);
	wm_top_show_destroy(r->show);
	r->show = NULL;
	/* -EPIPE is not an error: the reader closed the pipe */
	if (r->err && r->err != -EPIPE) {
		wm_say("top: %s", wm_words_of(r->err, &r->diag));
		return wm_exit_of(r->err);
	}
	wm_recorder_result(r->recorder, &result);
	if (result.is_lost) {
		bool killed = WIFSIGNALED(result.pump_status);

		wm_say("top: the pump process ended early, %s %d: later events are missing",
		       killed ? "by signal" : "with status",
		       killed ? WTERMSIG(result.pump_status) : WEXITSTATUS(result.pump_status));
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

static int cmd_top_watch(struct running *r)
{
	const struct wm_top_does does = {quit, on_delay, on_refresh, r};
	int err = wm_recorder_begin(r->recorder, &r->diag), status;

	if (err) {
		status = cmd_top_say_failure(err, &r->diag, (const char *const *)r->plan.command);
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
	return status ? status : cmd_top_finish(r);
}

/* Completes the plan for live reading, and runs it. */
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
		r->plan.report = cmd_top_on_report;
		r->plan.report_data = r;
		r->plan.words = &r->words;
		r->plan.quiet = true;
		err = wm_recorder_create(&r->plan, &r->recorder, &r->diag);
	}
	status = err ? cmd_top_say_failure(err, &r->diag, (const char *const *)r->plan.command)
		     : cmd_top_watch(r);
	wm_top_show_destroy(r->show);
	wm_recorder_destroy(r->recorder);
	wm_top_count_destroy(r->count);
	wm_live_destroy(r->live);
	return status;
}

/* --- options --------------------------------------------------------------------------- */

static int on_seconds(const struct wm_option *o, const char *argument, void *values,
		      struct wm_diag *diag)
{
	double *to = (double *)(void *)((char *)values + o->offset), s;
	char *end;

	s = strtod(argument, &end);
	if (end == argument || *end || !(s >= 0.05) || s > SECONDS_MAX)
		return wm_diag_set(diag, -EINVAL, NULL, -1,
				   "'%s' is not a number of seconds (0.05 or more)", argument);
	*to = s;
	return 0;
}

static int cmd_top_usage(const char *sentence)
{
	wm_say("top: %s", sentence);
	wm_say("'waymark top --help' lists the options");
	return WM_EXIT_USAGE;
}

/* Without -e: samples the CPUs; without -p, -t and CMD: all processes. */
static int cmd_top_complete(struct wm_top_values *v, int nr_args)
{
	static const struct wm_option rate = {.letter = 'F',
					      .offset = offsetof(struct wm_record_asked, list)};
	struct wm_record_asked *a = &v->asked;
	bool running = a->pids.nr || a->tids.nr, events = false, sampled = false;
	struct wm_diag diag = {.offset = -1};
	char text[16];

	if (running && a->all)
		return cmd_top_usage(
		    "-a already covers every process: do not combine it with -p or -t");
	if (a->pids.nr && a->tids.nr)
		return cmd_top_usage(
		    "-t selects individual threads and -p whole processes: give only one of them");
	a->all |= !running && !nr_args;
	for (uint32_t i = 0; i < a->list.nr; i++) {
		events |= a->list.events[i].names && !a->list.events[i].exclude;
		sampled |= a->list.events[i].how.frequency || a->list.events[i].how.period;
	}
	(void)snprintf(text, sizeof(text), "%d", RATE_DEFAULT);
	if (!events && !sampled && wm_record_on_rate(&rate, text, a, &diag))
		return cmd_top_usage(diag.sentence);
	v->profile.graph = WM_GRAPH_NONE;
	for (uint32_t i = 0; i < a->list.nr; i++)
		if (a->list.events[i].how.chain)
			v->profile.graph = WM_GRAPH_CALLER;
	v->profile.graph_percent_limit = 0.5;
	v->delay_s = v->delay_s > 0 ? v->delay_s : DELAY_DEFAULT_S;
	v->half_life_s = v->half_life_s > 0 ? v->half_life_s : HALF_LIFE_S;
	return WM_EXIT_DONE;
}

static int cmd_top_run(void *values, int nr_args, char **args)
{
	struct wm_top_values *v = values;
	struct running r = {.v = v, .diag = {.offset = -1}};
	int status = cmd_top_complete(v, nr_args);

	v->asked.quiet = true;
	r.words = (struct wm_words){cmd_top_on_words, &r};
	if (status)
		return status;
	status = wm_record_asked_plan(&v->asked, nr_args ? args : NULL, &r.plan);
	if (status == WM_EXIT_NOT_PERMITTED && v->asked.all)
		wm_say("top: without privileges, only your own processes can be watched: use -p "
		       "PID, or a command after --");
	return status ? status : run_live(&r);
}

static void cmd_top_release(void *values)
{
	wm_record_asked_done(&((struct wm_top_values *)values)->asked);
}

#define TO(kind, member) WM_OPTION_TO_##kind(struct wm_top_values, member)
#define SECONDS(member)                                                                            \
	.kind = WM_OPTION_CALL, .offset = offsetof(struct wm_top_values, member), .call = on_seconds

static const struct wm_option options[] = {
    WM_OPTION_HEADING("What to watch"),
    WM_RECORD_EVENT("program and kernel events by provider:name, as in record; repeatable; "
		    "default: samples of where the processors spend their time"),
    WM_RECORD_EXCLUDE("do not count these events, even if an -e matches them; repeatable"),
    WM_RECORD_FILTER(
	"only events of the preceding -e for which EXPR is true; before the first -e: of all "
	"events"),
    WM_RECORD_RATES(
	"take HZ samples per second of the kernel events of the preceding -e; before the "
	"first -e: of all of them, or of the processors (997)"),
    WM_RECORD_CALL_GRAPH(
	"record call chains: functions include their callees, and Enter shows the calls of a "
	"row; fp uses frame pointers, dwarf[,BYTES] copies of the stack"),
    WM_OPTION_HEADING("Which processes"),
    WM_RECORD_PROCESSES("watch running processes"),
    WM_RECORD_THREADS("watch these threads only"),
    WM_RECORD_CPUS("count only events on these CPUs, '0-3,8'"),
    WM_RECORD_ALL("watch all processes; the default without -p, -t and CMD"),
    WM_OPTION_HEADING("Counting"),
    WM_PROFILE_KEYS(struct wm_top_values, profile,
		    "split rows by these keys: " WM_PROFILE_KEY_NAMES
		    "; default: comm,dso,sym for samples, event,comm for other events"),
    WM_PROFILE_WEIGHT(struct wm_top_values, profile),
    WM_PROFILE_NO_CHILDREN(struct wm_top_values, profile),
    WM_PROFILE_INLINES(struct wm_top_values, profile),
    WM_PROFILE_LIMIT(struct wm_top_values, profile, "leave out rows below PERCENT"),
    {.name = "half-life",
     .argument = "SECONDS",
     .help = "half-life of an event's weight, in seconds (10)",
     SECONDS(half_life_s)},
    {.name = "no-decay", .help = "count all events since the start equally", TO(FLAG, no_decay)},
    WM_OPTION_HEADING("Output"),
    {.name = "delay",
     .letter = 'd',
     .argument = "SECONDS",
     .help = "time between refreshes (2)",
     SECONDS(delay_s)},
    {.name = "rows",
     .letter = 'n',
     .argument = "N",
     .min = 1,
     .max = 100000,
     .help = "show the first N rows of each table; default: 20 as text, a screenful on a terminal",
     TO(INTEGER, rows)},
    {.name = "duration",
     .argument = "SECONDS",
     .help = "exit after SECONDS and stop CMD",
     SECONDS(duration_s)},
    {.name = "refreshes",
     .argument = "N",
     .min = 1,
     .max = INT64_MAX,
     .help = "exit after N refreshes and stop CMD",
     TO(INTEGER, refreshes)},
    {.name = "stdio", .help = "print blocks of text, even on a terminal", TO(FLAG, stdio)},
    {.name = "json", .help = "print one JSON object per refresh, on one line", TO(FLAG, json)},
    WM_OPTION_END,
};

const struct wm_verb wm_cmd_top = {
    .name = "top",
    .summary = "show a live profile of events, the most frequent first",
    .synopsis = "[-e GLOB [--filter EXPR]]... [-s KEY,...] [-g] [-d SECONDS] "
		"[-- CMD...|-p PID|-t TID|-a]",
    .details =
	"On a terminal the display is updated every two seconds and reacts to keys (h lists\n"
	"them); elsewhere top prints one block of text after another. Rates and shares describe\n"
	"the recent past: an event's weight halves every --half-life seconds. Nothing is\n"
	"written to disk. Lost events are reported.\n\n"
	"A CMD is watched, and its exit status is returned; with -p, -t or -a, CMD is not\n"
	"watched; top runs until it exits. Quitting earlier sends CMD SIGTERM, and SIGKILL two\n"
	"seconds later.",
    .options = options,
    .values_bytes = sizeof(struct wm_top_values),
    .max_args = WM_VERB_ANY,
    .command = true,
    .run = cmd_top_run,
    .release = cmd_top_release,
};
