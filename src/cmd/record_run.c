/* SPDX-License-Identifier: MIT */
/*
 * record_run.c - carries a plan out: session, pump, CMD, and the loop that
 * waits for all of them.
 *
 *   RUNNING --CMD ended, targets gone, Ctrl-C--> ENDING --DONE--> OVER
 *
 * CMD is our child in our process group: the terminal's signals reach it by
 * themselves, those sent to us alone are passed on. The pump has a session of
 * its own and ends when told, or when we are gone. When the pump is gone, CMD
 * runs on and its status is still ours.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/program.h"
#include "base/text.h"
#include "cmd/exit.h"
#include "cmd/record.h"
#include "cmd/say.h"

#define GRACE_NS 1000000000u /* after Ctrl-C, for CMD to end by itself */

enum phase { RUNNING, ENDING, OVER };

struct run {
	const struct wm_record_plan *plan;
	struct wm_loop *loop;
	struct wm_session session;
	struct wm_recording recorder;
	struct wm_record_targets *targets;
	enum phase phase;
	bool sampling;   /* it has begun, or was refused */
	bool done;       /* the last report came */
	bool pump_lost;  /* it ended without */
	int interrupted; /* the signal that ended us */
	pid_t command;   /* 0: none, or it has ended */
	int status;      /* of CMD, as from waitpid; -1: unknown */
	int exec_errno;
	struct wm_report last;
};

/* ------------------------------------------------------------------ *
 * Phases
 * ------------------------------------------------------------------ */

/* The loop ends when the recording is over and CMD has ended. */
static void look_for_end(struct run *r)
{
	if (r->phase == OVER && !r->command)
		wm_loop_stop(r->loop, 0);
}

static void end_recording(struct run *r)
{
	if (r->phase != RUNNING)
		return;
	r->phase = ENDING;
	(void)wm_recording_order(&r->recorder, WM_ORDER_STOP); /* a pump that is gone is seen so */
}

static void say_unsampled(const struct run *r, const char *why)
{
	if (wm_sampling_count(r->plan->sampling))
		wm_say("nothing is sampled: %s", why);
	else if (!r->plan->quiet)
		wm_say("what the tasks mapped and were called is not in the trace: %s", why);
}

static void on_report(struct run *r, const struct wm_report *report)
{
	char size[32];

	switch (report->kind) {
	case WM_REPORT_TROUBLE:
		wm_say("%s", report->sentence);
		break;
	case WM_REPORT_JOINED:
		if (r->targets)
			wm_record_targets_joined(r->targets, (pid_t)report->pid);
		break;
	case WM_REPORT_SNAPSHOT:
		if (report->err < 0)
			wm_say("snapshot: %s", strerror(-report->err));
		else if (!r->plan->quiet)
			wm_say("snapshot: %" PRIu64 " events, %s: %s", report->totals.events,
			       wm_record_size_text(report->totals.bytes, size), r->plan->dir);
		break;
	case WM_REPORT_CHANGED:
		if (r->targets && r->phase == RUNNING)
			wm_record_targets_changed(r->targets);
		break;
	case WM_REPORT_SAMPLING:
		r->sampling = true;
		if (report->err < 0)
			say_unsampled(r, report->sentence);
		break;
	case WM_REPORT_DONE:
		r->done = true;
		r->last = *report;
		break;
	default:
		break;
	}
}

static void on_channel(int fd, uint32_t events, void *data)
{
	struct run *r = data;
	struct wm_report report;
	int got;

	(void)fd;
	(void)events;
	while ((got = wm_recording_read(&r->recorder, false, &report)) > 0)
		on_report(r, &report);
	if (got == 0 && !r->done)
		return;
	if (!r->done) {
		r->pump_lost = true;
		wm_say("the pump process (%d) ended early: nothing is recorded any more; what was "
		       "written is in '%s'",
		       (int)r->recorder.pid, r->plan->dir);
	}
	wm_loop_stop(r->loop, 1); /* the watch goes before its descriptor: see wait_for_all() */
}

static void on_command_end(pid_t pid, int status, void *data)
{
	struct run *r = data;

	(void)pid;
	r->command = 0;
	r->status = status;
	end_recording(r);
	look_for_end(r);
}

static void on_targets_gone(void *data)
{
	end_recording(data);
}

static void on_grace_over(void *data)
{
	struct run *r = data;

	if (r->command)
		wm_say("the recording ends; '%s' still runs and is waited for",
		       r->plan->command[0]);
	end_recording(r);
}

static void on_signal(int signo, pid_t from, void *data)
{
	struct run *r = data;

	if (r->interrupted) {
		/* The pump sees us gone and finishes by itself. */
		wm_session_remove(&r->session);
		_exit(WM_EXIT_SIGNAL_BASE + signo);
	}
	r->interrupted = signo;
	if (r->command && from != 0)
		(void)kill(r->command, signo); /* the terminal told it already */
	if (r->plan->nr_pids || r->plan->all || !r->command)
		end_recording(r);
	else
		(void)wm_loop_timer(r->loop, GRACE_NS, 0, on_grace_over, r, NULL);
}

static void on_usr2(int signo, pid_t from, void *data)
{
	struct run *r = data;

	(void)signo;
	(void)from;
	(void)wm_recording_order(&r->recorder, WM_ORDER_SNAPSHOT);
}

/* ------------------------------------------------------------------ *
 * CMD
 * ------------------------------------------------------------------ */

/* The pump opens what is sampled; until it has, nothing that should be seen may run. */
static void begin_sampling(struct run *r, const struct wm_sampling_whom *whom)
{
	struct wm_report report;
	int err = wm_recording_sample(&r->recorder, whom);

	if (err == -E2BIG)
		say_unsampled(r, "more than 32768 threads; -a takes all of the machine");
	else if (err < 0)
		say_unsampled(r, strerror(-err));
	while (err == 0 && !r->sampling && wm_recording_read(&r->recorder, true, &report) > 0)
		on_report(r, &report);
}

/* Of everything, or of processes that run already. */
static int sample_running(struct run *r)
{
	struct wm_sampling_whom whom = {0};
	pid_t *tids = NULL;
	int err = r->plan->all ? 0 : wm_record_threads(r->plan, &tids, &whom.nr_tids);

	whom.tids = tids;
	if (!err && (r->plan->all || whom.nr_tids))
		begin_sampling(r, &whom);
	free(tids);
	return err;
}

static void sample_command(struct run *r, pid_t pid)
{
	const struct wm_sampling_whom whom = {.tids = &pid, .nr_tids = 1, .on_exec = true};

	if (!r->plan->all && !r->plan->nr_pids)
		begin_sampling(r, &whom);
}

/* Waits at `gate` until the kernel follows it; a parent that is gone lets it go, too. */
static void __attribute__((noreturn)) be_the_command(struct run *r, int gate, int error_pipe)
{
	char word;
	int err;

	(void)sigprocmask(SIG_SETMASK, wm_loop_original_mask(r->loop), NULL);
	while (read(gate, &word, 1) < 0 && errno == EINTR)
		;
	execvp(r->plan->command[0], r->plan->command);
	err = errno;
	while (write(error_pipe, &err, sizeof(err)) < 0 && errno == EINTR)
		;
	_exit(WM_EXIT_NOT_FOUND);
}

/* 0, or the errno execvp failed with, negative; the child is watched either way. */
static int start_command(struct run *r)
{
	int pipe_fds[2], gate[2], err = 0;
	ssize_t n;
	pid_t pid;

	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		return -errno;
	if (pipe2(gate, O_CLOEXEC) < 0) {
		err = -errno;
		close(pipe_fds[0]);
		close(pipe_fds[1]);
		return err;
	}
	pid = fork();
	if (pid == 0) {
		close(gate[1]);
		be_the_command(r, gate[0], pipe_fds[1]);
	}
	close(pipe_fds[1]);
	close(gate[0]);
	if (pid < 0) {
		err = -errno;
		close(pipe_fds[0]);
		close(gate[1]);
		return err;
	}
	if (r->plan->kernel)
		(void)wm_record_kernel_command(r->plan, pid); /* said; CMD runs all the same */
	if (r->plan->sampling)
		sample_command(r, pid);
	close(gate[1]);
	do {
		n = read(pipe_fds[0], &err, sizeof(err));
	} while (n < 0 && errno == EINTR);
	close(pipe_fds[0]);
	if (n == (ssize_t)sizeof(err)) {
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
		return -err;
	}
	r->command = pid;
	return wm_loop_child(r->loop, pid, on_command_end, r, NULL);
}

/* ------------------------------------------------------------------ *
 * The end
 * ------------------------------------------------------------------ */

const char *wm_record_size_text(uint64_t bytes, char buf[32])
{
	static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
	unsigned unit = 0;

	while (bytes >= 10240 && unit < sizeof(units) / sizeof(units[0]) - 1) {
		bytes /= 1024;
		unit++;
	}
	(void)snprintf(buf, 32, "%" PRIu64 " %s", bytes, units[unit]);
	return buf;
}

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

static void say_total(const struct run *r)
{
	const struct wm_recording_totals *t = &r->last.totals;
	struct wm_text line;
	char size[32];

	wm_text_init(&line);
	wm_text_f(&line, "%" PRIu64 " events", t->events);
	if (r->plan->kernel)
		wm_text_f(&line, " (%" PRIu64 " of the kernel)", t->kernel_events);
	if (r->plan->sampling && wm_sampling_count(r->plan->sampling))
		wm_text_f(&line, " (%" PRIu64 " samples)", t->samples);
	wm_text_f(&line, ", %s in %.3f s", wm_record_size_text(t->bytes, size),
		  (double)t->duration_ns / 1e9);
	if (t->nr_processes || (!r->plan->kernel && !r->plan->sampling))
		wm_text_f(&line, " from %u process%s", t->nr_processes,
			  t->nr_processes == 1 ? "" : "es");
	wm_text_str(&line, ", ");
	add_lost(&line, t);
	wm_text_f(&line, ": %s", r->plan->dir);
	if (!line.failed)
		wm_say("%s", line.data);
	wm_text_done(&line);
}

/* Marks that are asked for and never speak have a reason that is not in the program. */
static void say_unpatched(const struct wm_recording_totals *t)
{
	if (!t->nr_unpatched || (!t->sites_unpatched && t->events))
		return;
	wm_say("%u marked places of %u process%s stayed off, because code is not patched there: %s",
	       t->sites_unpatched, t->nr_unpatched, t->nr_unpatched == 1 ? "" : "es",
	       t->nr_unwanted ? "unset WAYMARK_NOPATCH, or build it with -DWAYMARK_LOADTEST"
			      : "its system forbids it (SELinux, seccomp); build it with "
				"-DWAYMARK_LOADTEST");
}

static void say_oddities(const struct run *r)
{
	const struct wm_recording_totals *t = &r->last.totals;
	char size[32];

	if (t->kernel_grown)
		wm_say("the kernel's rings were too small and grew to %s in all",
		       wm_record_size_text(t->kernel_buffer_bytes, size));
	if (r->plan->kernel && wm_kernel_events_has_files(r->plan->kernel) && !r->plan->quiet)
		wm_say("histograms and snapshots are in %s/kernel", r->plan->dir);
	if (t->kernel_torn)
		wm_say("%" PRIu64 " records of the kernel are not as it describes them; they are "
		       "not in the trace",
		       t->kernel_torn);
	if (t->sample_torn)
		wm_say("%" PRIu64 " records of perf events could not be understood; they are not "
		       "in the trace",
		       t->sample_torn);
	if (t->sample_throttled)
		wm_say("the kernel held samples back %" PRIu64 " times, for they came too fast "
		       "(perf:throttle in the trace says when): a lower -F, or a higher -c",
		       t->sample_throttled);
	if (t->filtered_missing)
		wm_say("%" PRIu64
		       " event%s matched an -e whose filter does not fit (no such field, "
		       "one of another type, or more than 8 filters for one event): not recorded "
		       "by it",
		       t->filtered_missing, t->filtered_missing == 1 ? "" : "s");
	if (t->sites_refused)
		wm_say("%u marked places hold other bytes (a debugger's or a uprobe's) and stayed "
		       "off",
		       t->sites_refused);
	say_unpatched(t);
	if (t->nr_quarantined)
		wm_say("%u processes broke the protocol; their recording ended there",
		       t->nr_quarantined);
	if (t->nr_refused)
		wm_say("%u connections were refused for want of room", t->nr_refused);
	if (r->last.err < 0)
		wm_say("cannot finish '%s': %s", r->plan->dir, strerror(-r->last.err));
}

static int command_status(const struct run *r)
{
	if (r->status < 0)
		return WM_EXIT_DONE;
	if (WIFSIGNALED(r->status))
		return WM_EXIT_SIGNAL_BASE + WTERMSIG(r->status);
	return WEXITSTATUS(r->status);
}

/*
 * CMD's own status comes first. When that is 0 (or there is no CMD), ours may
 * speak: data missing because it could not be written, or nothing matched.
 */
static int final_status(const struct run *r, bool nothing_matched)
{
	const struct wm_recording_totals *t = &r->last.totals;
	bool recorded_command = r->plan->command && !r->plan->nr_pids && !r->plan->all;
	int status = command_status(r);

	if (r->plan->fail_on_loss && (r->pump_lost || wm_recording_lost(t) || t->nr_quarantined))
		return WM_EXIT_INCOMPLETE;
	if (status != WM_EXIT_DONE)
		return status;
	if (r->pump_lost)
		return recorded_command ? status : WM_EXIT_INCOMPLETE;
	if (r->last.err < 0 || t->lost[WM_LOST_DISK])
		return WM_EXIT_INCOMPLETE;
	return nothing_matched ? WM_EXIT_NO_MATCH : WM_EXIT_DONE;
}

/* Runs the loop until the recording is over and CMD has ended. */
static int wait_for_all(struct run *r)
{
	struct wm_watch *channel;
	int result = wm_loop_fd(r->loop, r->recorder.channel, EPOLLIN, on_channel, r, &channel);

	if (result < 0)
		return result;
	for (;;) {
		result = wm_loop_run(r->loop);
		if (result != 1)
			return result;
		/* 1: the pump has said its last word. */
		wm_watch_remove(channel);
		wm_recording_done(&r->recorder);
		while (waitpid(r->recorder.pid, NULL, 0) < 0 && errno == EINTR)
			;
		r->phase = OVER;
		wm_session_remove(&r->session); /* a pump that was killed did not */
		if (!r->command)
			return 0;
	}
}

/* ------------------------------------------------------------------ *
 * The beginning
 * ------------------------------------------------------------------ */

/* A CMD that is not there is said before a trace directory is made. 0 or an exit status. */
static int find_command(const struct wm_record_plan *plan)
{
	char *path = plan->command ? wm_program_find(plan->command[0], getenv("PATH")) : NULL;
	int err = 0;

	if (!plan->command)
		return 0;
	if (!path)
		err = -ENOENT;
	else if (access(path, X_OK) < 0)
		err = -errno;
	free(path);
	if (err == 0)
		return 0;
	wm_say_cannot("run", plan->command[0], err);
	return err == -ENOENT ? WM_EXIT_NOT_FOUND : WM_EXIT_CANNOT_RUN;
}

/* The status for a failure before anything was recorded. */
static int early_status(const struct run *r, int err)
{
	return r->plan->command ? WM_EXIT_BEFORE_COMMAND : wm_exit_of(err);
}

static int begin(struct run *r)
{
	const struct wm_recording_options o = {
	    .session = &r->session,
	    .rules = r->plan->rules,
	    .dir = r->plan->dir,
	    .format = r->plan->format,
	    .command = r->plan->command ? r->plan->command[0] : NULL,
	    .kernel = r->plan->kernel,
	    .sampling = r->plan->sampling,
	};
	struct wm_diag diag = {.offset = -1};
	int err = 0;

	if (r->plan->command && !r->plan->nr_pids && !r->plan->all)
		err = wm_record_env_check(r->plan->command[0], r->plan->preload, &diag);
	if (err == 0)
		err = wm_session_create(getenv("XDG_RUNTIME_DIR"), NULL, &r->session, &diag);
	if (err == 0)
		err = wm_rules_write(r->plan->rules, r->session.dirfd, r->session.file_mode);
	if (err == 0)
		err = wm_recording_start(&o, &r->recorder, &diag);
	if (err < 0)
		wm_say("cannot record to '%s': %s", r->plan->dir,
		       diag.sentence[0] ? diag.sentence : strerror(-err));
	return err;
}

static int watch_signals(struct run *r)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction old;
	int err = wm_loop_create(&r->loop);

	for (size_t i = 0; err == 0 && i < sizeof(signals) / sizeof(signals[0]); i++) {
		/* What we were told to ignore (nohup) stays ignored, for CMD too. */
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler == SIG_IGN)
			continue;
		err = wm_loop_signal(r->loop, signals[i], on_signal, r, NULL);
	}
	if (err == 0)
		err = wm_loop_signal(r->loop, SIGUSR2, on_usr2, r, NULL);
	return err;
}

/* What is recorded begins: CMD, or processes that run already. 0 or an exit status. */
static int start_recorded(struct run *r)
{
	bool targets = r->plan->nr_pids || r->plan->all;
	struct wm_diag diag = {.offset = -1};
	int err, status;

	if (r->plan->kernel && wm_record_kernel_begin(r->plan, r->recorder.pid) < 0)
		return WM_EXIT_FAILED;
	if (r->plan->sampling && (r->plan->all || r->plan->nr_pids) && sample_running(r) < 0)
		return WM_EXIT_FAILED;
	status =
	    wm_record_targets_start(r->loop, r->plan, &r->session, on_targets_gone, r, &r->targets);
	if (status)
		return status;
	if (!r->plan->command)
		return 0;
	if (!targets) {
		err = wm_record_env_set(r->session.path, r->plan->command[0], r->plan->preload,
					&diag);
		if (err < 0) {
			wm_say("%s", diag.sentence[0] ? diag.sentence : strerror(-err));
			return WM_EXIT_BEFORE_COMMAND;
		}
	}
	err = start_command(r);
	if (err == 0)
		return 0;
	wm_say_cannot("run", r->plan->command[0], err);
	return err == -ENOENT ? WM_EXIT_NOT_FOUND : WM_EXIT_CANNOT_RUN;
}

static int record(struct run *r)
{
	int status, err;
	bool nothing_matched;

	err = watch_signals(r);
	if (err < 0) {
		wm_say("cannot wait for signals: %s", strerror(-err));
		return early_status(r, err);
	}
	status = start_recorded(r);
	if (status)
		end_recording(r); /* an empty trace, but a whole one */
	err = wait_for_all(r);
	if (err < 0)
		wm_say("cannot wait: %s", strerror(-err));
	if (status)
		return status;
	if (!r->done)
		return final_status(r, false);
	nothing_matched = r->plan->nr_asked && !wm_record_say_unmatched(r->plan, &r->last.totals) &&
			  !(r->last.totals.nr_changes && r->last.totals.events) &&
			  !r->plan->kernel && !r->plan->sampling;
	if (!r->plan->kernel && !r->plan->sampling)
		wm_record_say_empty(r->plan, &r->last.totals, r->targets);
	say_oddities(r);
	if (!r->plan->quiet || wm_recording_lost(&r->last.totals))
		say_total(r);
	return final_status(r, nothing_matched);
}

int wm_record_run(const struct wm_record_plan *plan)
{
	struct run r = {
	    .plan = plan,
	    .session = {.dirfd = -1, .listen_fd = -1, .lock_fd = -1},
	    .recorder = {.channel = -1},
	    .status = -1,
	};
	int status = find_command(plan), err;

	if (!status)
		status = wm_record_targets_check(plan);
	if (status)
		return status;
	if (plan->nr_asked && wm_record_check_filters(plan) < 0)
		return WM_EXIT_USAGE;
	err = begin(&r);
	status = err < 0 ? early_status(&r, err) : record(&r);
	wm_record_targets_done(r.targets);
	wm_loop_destroy(r.loop);
	wm_recording_done(&r.recorder);
	wm_session_remove(&r.session);
	wm_session_done(&r.session);
	return status;
}
