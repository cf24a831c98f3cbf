/* SPDX-License-Identifier: MIT */
/*
 * stream.c - counts from a stream, for what the kernel cannot count or filter: program events,
 * filters that the kernel cannot evaluate, and, with --by, also single CPUs, intervals,
 * repetitions, or any event when no BPF program may be loaded. The events are recorded and read at
 * the same time (control/live.h).
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/plural.h"
#include "cmd/exit.h"
#include "cmd/record/record.h"
#include "cmd/say.h"
#include "cmd/stat/stream.h"
#include "kernel/counters.h"

#define LOOK_MS 100

/* selected tasks */

static bool stat_stream_follows(const struct wm_stat_stream *s)
{
	return !s->recorder.all && s->told;
}

/*
 * Adds the threads of the selected processes. It is called before the recording begins and again
 * afterwards, so that threads that start or exit in between are included.
 */
static int name_running(struct wm_stat_stream *s)
{
	const struct wm_counting_plan *c = &s->plan->choice.counting;
	int err = wm_followed_name(&s->followed, c->tids, c->nr_tids);

	for (size_t i = 0; i < c->nr_pids && !err; i++) {
		pid_t *tids;
		size_t nr;

		err = wm_threads_of(c->pids[i], &tids, &nr);
		if (err)
			return err == -ENOMEM ? err : 0; /* the process has exited */
		err = wm_followed_name(&s->followed, tids, nr);
		free(tids);
	}
	return err;
}

/*
 * Rejects events of other tasks. A recording contains those that refer to a selected task: a switch
 * to it, or its wakeup.
 */
static bool stat_stream_passes(const void *data, uint32_t trace, const struct wm_event *e)
{
	const struct wm_stat_stream *s = data;

	(void)trace;
	return !stat_stream_follows(s) ||
	       !wm_counting_stream_def(&s->plan->choice, e->type->name) ||
	       wm_followed_has(&s->followed, e);
}

static void say_untold(const struct wm_stat_stream *s)
{
	if (!s->told && !s->recorder.all && s->events.kernel && s->last)
		wm_say(
		    "the counts include events of other tasks that refer to a selected task (such "
		    "as a sched:sched_switch to it), because child tasks cannot be followed: %s",
		    s->told_err ? wm_diag_errno(s->told_err) : "perf_event_open(2) was not tried");
}

/* ---- the stream ----------------------------------------------------------------------- */

static int begin_pass(struct wm_stat_stream *s, struct wm_diag *diag)
{
	int err;

	s->input = (struct wm_pass_input){.traces = &s->trace,
					  .nr_traces = 1,
					  .begin_ns = s->begin_ns,
					  .end_ns = INT64_MAX,
					  .passes = stat_stream_passes,
					  .data = s};
	err = wm_pass_init(&s->pass, &s->input);
	s->begun = err == 0;
	if (!err && !s->apart.own)
		err = wm_analysis_apart.create(&s->pass, &s->values, &s->apart.own, diag);
	return err;
}

/* Binds the pass to a trace: the first one, or one with more event types. */
static int stat_stream_bind(struct wm_stat_stream *s, struct wm_diag *diag)
{
	int err;

	s->trace = wm_live_trace(s->live);
	err = s->begun ? wm_pass_rebind(&s->pass) : begin_pass(s, diag);
	if (err)
		return err;
	wm_apart_rebind(s->apart.own);
	err = wm_followed_bind(&s->followed, s->trace, &s->pass.state.tasks);
	if (err)
		return err;
	wm_live_want(s->live, wm_pass_want(&s->pass));
	return 0;
}

static int stat_stream_take(struct wm_stat_stream *s, const struct wm_report *report,
			    struct wm_diag *diag)
{
	const struct wm_event *e;
	int got = wm_live_take(s->live, report, diag);

	if (got < 0)
		return got == -ENOENT ? 0 : got;
	if (got == 1)
		got = stat_stream_bind(s, diag);
	while (!got && (got = wm_live_next(s->live, &e)) > 0) {
		got = stat_stream_follows(s) ? wm_followed_feed(&s->followed, e) : 0;
		if (!got)
			got = wm_pass_feed(&s->pass, &s->apart, 1, 0, e);
	}
	return got;
}

static void stat_stream_on_report(void *data, const struct wm_report *report)
{
	struct wm_stat_stream *s = data;
	struct wm_diag diag = {.offset = -1};

	if (report->kind == WM_REPORT_SAMPLING) {
		s->told = report->err >= 0;
		s->told_err = report->err;
	}
	if (s->err || (report->kind != WM_REPORT_LOOKED && report->kind != WM_REPORT_DONE))
		return;
	s->err = stat_stream_take(s, report, &diag);
	if (!s->err)
		return;
	wm_say("stat: %s", wm_words_of(s->err, &diag));
	s->unwanted = s->err == -EINVAL ? WM_EXIT_USAGE : (int)wm_exit_of(s->err);
	wm_recorder_end(s->run);
}

static void stat_stream_on_signal(int signo, pid_t from, void *data)
{
	struct wm_stat_stream *s = data;

	if (!wm_recorder_signal(s->run, signo, from)) {
		wm_recorder_abandon(s->run);
		_exit(WM_EXIT_SIGNAL_BASE + signo);
	}
	s->signo = signo;
	if (!wm_recorder_command(s->run) || s->recorder.nr_pids || s->recorder.all)
		wm_recorder_end(s->run);
}

/* ---- runs ------------------------------------------------------------------------------- */

static void stat_stream_on_timeout(void *data)
{
	struct wm_stat_stream *s = data;

	wm_recorder_stop_command(s->run, SIGTERM);
	wm_recorder_end(s->run);
}

static int wait_for_all(struct wm_stat_stream *s)
{
	int got;

	while ((got = wm_recorder_wait(s->run, LOOK_MS)) == 0) {
		(void)wm_recorder_look(
		    s->run); /* an error means that an earlier request has not been answered yet */
		if (s->plan->choice.counting.interval_ns &&
		    wm_clock_monotonic_ns() >= s->shown_ns + s->plan->choice.counting.interval_ns)
			s->err = wm_stat_stream_show(s, false);
	}
	return got < 0 ? got : 0;
}

/* Reports names that matched no event, once for all runs. */
static void stat_stream_say_unmatched(struct wm_stat_stream *s, const struct wm_recording_totals *t)
{
	uint32_t nr_asked = s->recorder.nr_asked, nr;

	if (!nr_asked || !s->last)
		return;
	nr = wm_record_say_unmatched(&s->recorder, t);
	s->missing |= nr < nr_asked;
	s->none = !nr && !wm_recorder_events_more(&s->events);
}

static void take_result(struct wm_stat_stream *s)
{
	struct wm_recorder_result r;

	wm_recorder_result(s->run, &r);
	if (r.done && !s->err)
		stat_stream_say_unmatched(s, &r.totals);
	s->out.lost += wm_recording_lost(&r.totals);
	s->missing |= r.is_lost || r.totals.nr_quarantined;
	if (r.status >= 0 && WIFSIGNALED(r.status))
		s->status = WM_EXIT_SIGNAL_BASE + WTERMSIG(r.status);
	else if (r.status >= 0 && WEXITSTATUS(r.status))
		s->status = WEXITSTATUS(r.status);
}

/*
 * Begins the -D delay: events during the delay are recorded, because they can describe tasks, but
 * not counted. Called right after CMD starts.
 */
static void begin_delay(struct wm_stat_stream *s)
{
	uint64_t delay_ns = s->plan->choice.counting.delay_ns;

	s->begin_ns = delay_ns == WM_COUNTING_NEVER ? INT64_MAX : INT64_MIN;
	s->counts_ns = 0;
	if (!delay_ns || delay_ns == WM_COUNTING_NEVER)
		return;
	s->begin_ns = (int64_t)(wm_clock_realtime_ns() + delay_ns);
	s->counts_ns = wm_clock_monotonic_ns() + delay_ns;
	if (s->shown_ns == s->start_ns) /* with --by, only in the first of several runs */
		s->start_ns = s->counts_ns;
	s->shown_ns = s->counts_ns;
}

static void end_delay(struct wm_stat_stream *s)
{
	if (wm_clock_monotonic_ns() >= s->counts_ns)
		return;
	s->missing = true;
	if (s->last || s->signo)
		wm_stat_say_cut_short(s->plan);
}

static int set_timeout(struct wm_stat_stream *s)
{
	const struct wm_counting_plan *c = &s->plan->choice.counting;
	uint64_t delay_ns = c->delay_ns == WM_COUNTING_NEVER ? 0 : c->delay_ns;

	return c->timeout_ns ? wm_loop_timer(wm_recorder_loop(s->run), delay_ns + c->timeout_ns, 0,
					     stat_stream_on_timeout, s, NULL)
			     : 0;
}

static int run_events(struct wm_stat_stream *s, struct wm_diag *diag)
{
	int err = wm_live_create(s->recorder.runtime_dir, 0, &s->live, diag);

	s->recorder.live = s->live;
	if (!err)
		err = wm_recorder_create(&s->recorder, &s->run, diag);
	if (!err)
		err = wm_loop_signals_that_end(wm_recorder_loop(s->run), stat_stream_on_signal, s);
	if (!err)
		err = set_timeout(s);
	if (!err)
		err = name_running(s);
	if (!err) {
		int failed = wm_recorder_begin(s->run, diag);

		begin_delay(s);
		s->followed.command = wm_recorder_command(s->run);
		failed = failed ? failed : name_running(s);
		err = wait_for_all(s);
		err = failed ? failed : err;
		end_delay(s);
		take_result(s);
		say_untold(s);
		if (!err && !s->err && !s->plan->choice.counting.by)
			err = wm_stat_stream_show(s, true);
	}
	wm_recorder_destroy(s->run);
	s->run = NULL;
	if (s->begun)
		wm_pass_done(&s->pass);
	s->begun = false;
	wm_live_destroy(s->live);
	s->live = NULL;
	return err ? err : s->err;
}

/* Creates the events to record. Returns 0, or an exit status after a message. */
static int want_events(struct wm_stat_stream *s)
{
	struct wm_diag diag = {.offset = -1};
	int err = wm_counting_stream_want(&s->plan->choice, &s->events, &diag);

	if (err) {
		wm_say("stat: %s", wm_words_of(err, &diag));
		return err == -EINVAL ? WM_EXIT_USAGE : (int)wm_exit_of(err);
	}
	s->recorder.nr_asked = wm_rules_count(s->events.rules);
	return 0;
}

/* Each run has its own recorder_events: kernel resources are freed with the recording. */
static int stat_stream_run_once(struct wm_stat_stream *s, struct wm_diag *diag)
{
	int err = 0;

	wm_followed_init(&s->followed,
			 !s->plan->choice.counting.nr_tids && !s->plan->choice.counting.no_inherit);
	s->told = false;
	s->told_err = 0;
	s->unwanted = want_events(s);
	if (!s->unwanted)
		err = run_events(s, diag);
	free((char *)s->events.single);
	s->events.single = NULL;
	wm_recorder_events_done(&s->events);
	wm_followed_done(&s->followed);
	return s->unwanted ? -ECANCELED : err;
}

static int exit_of(const struct wm_stat_stream *s, int err, const struct wm_diag *diag)
{
	if (s->unwanted)
		return s->unwanted;
	wm_say("stat: %s", wm_words_of(err, diag));
	if (diag->where && !strcmp(diag->where, WM_RECORDER_IN_COMMAND))
		return err == -ENOENT ? WM_EXIT_NOT_FOUND : WM_EXIT_CANNOT_RUN;
	return s->recorder.command ? WM_EXIT_BEFORE_COMMAND : (int)wm_exit_of(err);
}

/* Ends the output, in JSON by closing its objects. */
static void end_output(struct wm_stat_stream *s)
{
	if (!s->plan->choice.counting.by) {
		wm_stat_out_finish(&s->out);
		return;
	}
	if (s->plan->choice.counting.interval_ns && s->plan->json)
		wm_json_end(&s->out.json);
	if (s->plan->json) {
		wm_json_string(&s->out.json, "counted", "from the stream");
		wm_json_i64(&s->out.json, "runs", s->plan->runs);
		wm_json_u64(&s->out.json, "lost", s->out.lost);
		wm_json_end(&s->out.json);
	} else if (!s->plan->separator) {
		(void)fprintf(s->plan->out, "\ncounted from recorded events%s, %" PRIu64 " lost\n",
			      s->plan->runs > 1 ? ", all runs combined" : "", s->out.lost);
	}
}

static void init(struct wm_stat_stream *s, const struct wm_stat_plan *plan)
{
	*s = (struct wm_stat_stream){.plan = plan, .apart = {.analysis = &wm_analysis_apart}};
	s->values = (struct wm_apart_values){.fields = wm_counting_stream_by(&plan->choice),
					     .totals = !plan->choice.counting.by,
					     .counts = wm_counting_stream_counts,
					     .data = &plan->choice};
	wm_counting_stream_plan(&plan->choice, &s->recorder);
	s->recorder.events = &s->events;
	s->recorder.report = stat_stream_on_report;
	s->recorder.report_data = s;
}

int wm_stat_stream_run(const struct wm_stat_plan *plan)
{
	struct wm_stat_stream s;
	struct wm_diag diag = {.offset = -1};
	int err = 0;

	init(&s, plan);
	wm_stat_out_begin(&s.out, plan);
	for (int64_t i = 0; i < plan->runs && !err && !s.signo; i++) {
		s.last = i + 1 == plan->runs;
		if (!i || !plan->choice.counting.by)
			s.start_ns = s.shown_ns = wm_clock_monotonic_ns();
		err = stat_stream_run_once(&s, &diag);
	}
	if (!err && plan->choice.counting.by)
		err = wm_stat_stream_show(&s, true);
	end_output(&s);
	if (s.apart.own)
		wm_analysis_apart.destroy(s.apart.own);
	if (err)
		return exit_of(&s, err, &diag);
	if (s.out.lost)
		wm_say("%" PRIu64 " %s lost, not in any row", s.out.lost,
		       wm_plural(s.out.lost, "event", "events"));
	if (s.status)
		return s.status;
	if (s.none)
		return WM_EXIT_NO_MATCH;
	return s.missing || s.out.lost ? WM_EXIT_INCOMPLETE : WM_EXIT_DONE;
}
