/* SPDX-License-Identifier: MIT */
/*
 * run.c - carries out a plan: signals, the summary of the recording, the exit status.
 * The recording itself is control/recorder.h; control/recorder/command.h decides what
 * happens to CMD.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/number.h"
#include "base/plural.h"
#include "base/text.h"
#include "cmd/exit.h"
#include "cmd/record/record.h"
#include "cmd/say.h"

#define GRACE_NS WM_NS_PER_SECOND /* time for CMD to exit after Ctrl-C */

struct run {
	const struct wm_record_plan *plan;
	struct wm_recorder *recorder;
	int interrupted; /* the signal that ended the recording */
	struct wm_recorder_result result;
};

/* ------------------------------------------------------------------ *
 * Signals
 * ------------------------------------------------------------------ */

static void recording_on_grace_over(void *data)
{
	struct run *r = data;

	if (wm_recorder_command(r->recorder))
		wm_say("ending the recording; waiting for '%s', which is still running; a second "
		       "signal "
		       "kills it",
		       r->plan->recorder.command[0]);
	wm_recorder_end(r->recorder);
}

static void recording_on_signal(int signo, pid_t from, void *data)
{
	struct run *r = data;
	const struct wm_recorder_plan *p = &r->plan->recorder;

	if (!wm_recorder_signal(r->recorder, signo, from)) {
		/*
		 * Once this process has abandoned the recording and exited, the pump process
		 * notices and finishes the trace.
		 */
		wm_recorder_abandon(r->recorder);
		_exit(WM_EXIT_SIGNAL_BASE + signo);
	}
	if (r->interrupted)
		return;
	r->interrupted = signo;
	if (p->nr_pids || p->all || !wm_recorder_command(r->recorder))
		wm_recorder_end(r->recorder);
	else
		(void)wm_loop_timer(wm_recorder_loop(r->recorder), GRACE_NS, 0,
				    recording_on_grace_over, r, NULL);
}

static void on_usr2(int signo, pid_t from, void *data)
{
	struct run *r = data;

	(void)signo;
	(void)from;
	(void)wm_recorder_snapshot(r->recorder);
}

static int watch_signals(struct run *r)
{
	struct wm_loop *loop = wm_recorder_loop(r->recorder);
	int err = wm_loop_signals_that_end(loop, recording_on_signal, r);

	if (err == 0)
		err = wm_loop_signal(loop, SIGUSR2, on_usr2, r, NULL);
	return err;
}

/* ------------------------------------------------------------------ *
 * Results
 * ------------------------------------------------------------------ */

static void add_lost(struct wm_text *t, const struct wm_recording_totals *totals)
{
	uint64_t sum = wm_recording_lost(totals);
	const char *between = " (";

	wm_text_f(t, "%" PRIu64 " lost", sum);
	for (int i = 0; i < WM_LOST_NR; i++) {
		if (!totals->lost[i])
			continue;
		wm_text_f(t, "%s%s %" PRIu64, between, wm_lost_name((enum wm_lost)i),
			  totals->lost[i]);
		between = ", ";
	}
	if (sum)
		wm_text_char(t, ')');
}

/* Adds the number of events from each source, and of records rejected by filters. */
static void add_sources(struct wm_text *line, const struct run *r)
{
	uint64_t filtered = 0;

	for (unsigned i = 0; i < WM_SOURCES_NR; i++) {
		const struct wm_source_totals *t = &r->result.totals.sources[i];

		filtered += t->filtered;
		if (t->events || wm_recorder_events_asked(r->plan->recorder.events, i))
			wm_text_f(line, " (%" PRIu64 " %s)", t->events, wm_sources[i]->label);
	}
	if (filtered)
		wm_text_f(line, ", %" PRIu64 " rejected by --filter", filtered);
}

static void say_total(const struct run *r)
{
	const struct wm_recording_totals *t = &r->result.totals;
	struct wm_text line;
	char size[WM_NUMBER_TEXT];

	wm_text_init(&line);
	wm_text_f(&line, "%" PRIu64 " %s", t->events, wm_plural(t->events, "event", "events"));
	add_sources(&line, r);
	wm_text_f(&line, ", %s in %.3f s", wm_number_print_about(t->bytes, size),
		  (double)t->duration_ns / 1e9);
	if (t->nr_processes || !wm_recorder_events_more(r->plan->recorder.events))
		wm_text_f(&line, " from %u %s", t->nr_processes,
			  wm_plural(t->nr_processes, "process", "processes"));
	wm_text_str(&line, ", ");
	add_lost(&line, t);
	wm_text_f(&line, ": %s", r->plan->recorder.dir);
	if (!line.failed)
		wm_say("%s", line.data);
	wm_text_done(&line);
}

/* Reports sites that stayed off because their code could not be patched. */
static void say_unpatched(const struct wm_recording_totals *t)
{
	if (!t->nr_unpatched || (!t->sites_unpatched && t->events))
		return;
	wm_say(
	    "tracepoints that stayed off because their code cannot be patched: %u in %u %s; %s",
	    t->sites_unpatched, t->nr_unpatched, wm_plural(t->nr_unpatched, "process", "processes"),
	    t->nr_unwanted ? "unset WAYMARK_NOPATCH, or build the program with -DWAYMARK_LOADTEST"
			   : "the system forbids it (SELinux, seccomp): build the program with "
			     "-DWAYMARK_LOADTEST");
}

static void explain_sources(const struct run *r)
{
	const struct wm_recorder_plan *p = &r->plan->recorder;

	for (unsigned i = 0; i < WM_SOURCES_NR; i++) {
		const struct wm_source_result result = {
		    .options = wm_recorder_events_options(p->events, i),
		    .totals = &r->result.totals.sources[i],
		    .folder = p->dir,
		    .quiet = p->quiet,
		};

		if (wm_sources[i]->explain)
			wm_sources[i]->explain(&result, &wm_say_words);
	}
}

/* Reports connections of processes that the pump process refused or closed. */
static void say_refused(const struct wm_recording_totals *t)
{
	const uint32_t *nr = t->nr_refused;

	if (nr[WM_REFUSED_FULL])
		wm_say("connections refused because %u processes were connected: %u; record fewer "
		       "processes at once",
		       WM_RECORDING_PROCESSES_MAX, nr[WM_REFUSED_FULL]);
	if (nr[WM_REFUSED_SILENT])
		wm_say("connections closed because they sent nothing: %u", nr[WM_REFUSED_SILENT]);
	if (nr[WM_REFUSED_ERROR])
		wm_say("connections that could not be accepted: %u; the first error: %s",
		       nr[WM_REFUSED_ERROR], wm_diag_errno(t->refused_err));
}

static void say_oddities(const struct run *r)
{
	const struct wm_recording_totals *t = &r->result.totals;

	explain_sources(r);
	if (t->filtered_missing)
		wm_say("%" PRIu64 " %s matched an -e but cannot be checked by its filter "
		       "(field missing or of another type, or more than 8 filters for "
		       "one event) and were not recorded for that -e",
		       t->filtered_missing, wm_plural(t->filtered_missing, "event", "events"));
	if (t->sites_refused)
		wm_say("tracepoints that stayed off because their code was modified, by a "
		       "debugger or a uprobe: %u",
		       t->sites_refused);
	say_unpatched(t);
	if (t->nr_quarantined)
		wm_say("processes not recorded to their end: %u; see the messages above",
		       t->nr_quarantined);
	say_refused(t);
	if (r->result.err < 0)
		wm_say("cannot finish '%s': %s", r->plan->recorder.dir,
		       wm_diag_errno(r->result.err));
}

static int command_status(const struct run *r)
{
	int status = r->result.status;

	if (status < 0)
		return WM_EXIT_DONE;
	return WIFSIGNALED(status) ? WM_EXIT_SIGNAL_BASE + WTERMSIG(status) : WEXITSTATUS(status);
}

/*
 * CMD's status takes precedence. When it is 0 (or without CMD), the status reports data that could
 * not be written, or that nothing matched.
 */
static int final_status(const struct run *r, bool nothing_matched)
{
	const struct wm_recorder_plan *p = &r->plan->recorder;
	const struct wm_recording_totals *t = &r->result.totals;
	bool recorded_command = p->command && !p->nr_pids && !p->all;
	int status = command_status(r);

	if (r->plan->fail_on_loss &&
	    (r->result.is_lost || wm_recording_lost(t) || t->nr_quarantined))
		return WM_EXIT_INCOMPLETE;
	if (status != WM_EXIT_DONE)
		return status;
	if (r->result.is_lost)
		return recorded_command ? status : WM_EXIT_INCOMPLETE;
	if (r->result.err < 0 || t->lost[WM_LOST_DISK])
		return WM_EXIT_INCOMPLETE;
	return nothing_matched ? WM_EXIT_NO_MATCH : WM_EXIT_DONE;
}

/* Prints the summary of a complete trace. Returns whether none of the requested events matched. */
static bool say_result(const struct run *r)
{
	const struct wm_recorder_plan *p = &r->plan->recorder;
	const struct wm_recording_totals *t = &r->result.totals;
	bool programs_only =
	    !wm_recorder_events_more(p->events) && !t->sources[WM_SOURCE_KERNEL].buffer_bytes;
	bool nothing_matched = p->nr_asked && !wm_record_say_unmatched(p, t) &&
			       !(t->nr_changes && t->events) && programs_only;

	if (programs_only)
		wm_record_say_empty(p, t, r->recorder);
	say_oddities(r);
	if (!p->quiet || wm_recording_lost(t))
		say_total(r);
	return nothing_matched;
}

/* ------------------------------------------------------------------ *
 * Start
 * ------------------------------------------------------------------ */

static bool is_about(const struct wm_diag *diag, const char *what)
{
	return diag->where && !strcmp(diag->where, what);
}

/* Reports why nothing is recorded. Returns the exit status for a failure before the first event. */
static int recording_say_failure(const struct wm_record_plan *plan, int err,
				 const struct wm_diag *diag)
{
	wm_say("%s%s", is_about(diag, WM_RECORDER_IN_FILTER) ? "record: " : "",
	       wm_words_of(err, diag));
	if (is_about(diag, WM_RECORDER_IN_FILTER))
		return WM_EXIT_USAGE;
	if (is_about(diag, WM_RECORDER_IN_COMMAND))
		return err == -ENOENT ? WM_EXIT_NOT_FOUND : WM_EXIT_CANNOT_RUN;
	if (is_about(diag, WM_RECORDER_IN_TARGETS) || !plan->recorder.command)
		return wm_exit_of(err);
	return WM_EXIT_BEFORE_COMMAND;
}

/* Tells a user at a terminal that a recording without a command has begun. */
static void say_begun(const struct wm_recorder_plan *p)
{
	if (!p->command && !p->quiet && isatty(STDERR_FILENO))
		wm_say("recording %s to '%s' until Ctrl-C%s",
		       p->all ? "every process" : "running processes", p->dir,
		       p->all ? "" : " or until they end");
}

static int recording_run(struct run *r)
{
	struct wm_diag diag = {.offset = -1};
	int status = 0, err = watch_signals(r);

	if (!err)
		err = wm_recorder_begin(r->recorder, &diag);
	if (err)
		status = recording_say_failure(r->plan, err,
					       &diag); /* the trace is empty, but complete */
	else
		say_begun(&r->plan->recorder);
	err = wm_recorder_wait(r->recorder, -1);
	if (err < 0)
		wm_say("cannot wait for the recording to end: %s", wm_diag_errno(err));
	wm_recorder_result(r->recorder, &r->result);
	if (status)
		return status;
	return final_status(r, r->result.done && say_result(r));
}

int wm_record_run(const struct wm_record_plan *plan)
{
	struct run r = {.plan = plan};
	struct wm_diag diag = {.offset = -1};
	int err = wm_recorder_create(&plan->recorder, &r.recorder, &diag), status;

	status = err < 0 ? recording_say_failure(plan, err, &diag) : recording_run(&r);
	wm_recorder_destroy(r.recorder);
	return status;
}
