/* SPDX-License-Identifier: MIT */
/* recorder.c - the phases of a recording; see recorder.h. */
#include "control/recorder.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/number.h"
#include "base/plural.h"
#include "base/program.h"
#include "control/pump/pumproc.h"
#include "control/recorder/command.h"
#include "control/recorder/recorder_int.h"

#define NS_PER_MS 1000000u

enum phase { RUNNING, ENDING, OVER };

struct wm_recorder {
	struct wm_recorder_plan plan;
	struct wm_loop *loop;
	struct wm_session session;
	struct wm_channel channel;
	struct wm_watch *channel_watch;
	struct wm_recorder_targets *targets;
	enum phase phase;
	bool sampling;      /* sampling has started, or was refused */
	bool pumproc_ended; /* the pump process has sent its last report, or ended without one */
	bool done;          /* the last report was received */
	bool is_lost;       /* the pump process ended without a last report */
	int pump_status;    /* the pump process's status, after its end */
	struct wm_command command;
	struct wm_child_exec *exec; /* owned by the kernel source; NULL: it does not follow CMD */
	struct wm_report last;
};

static bool records_command(const struct wm_recorder_plan *p)
{
	return p->command && !p->nr_pids && !p->all;
}

/* --- reports of the pump process -------------------------------------------------------------- */

static void say_unsampled(const struct wm_recorder *r, const char *why)
{
	if (wm_recorder_events_sampled(r->plan.events))
		wm_words_say(r->plan.words, "nothing is sampled: %s", why);
	else if (!r->plan.quiet)
		wm_words_say(r->plan.words, "mappings and names of tasks are not in the trace: %s",
			     why);
}

static void say_snapshot(const struct wm_recorder *r, const struct wm_report *report)
{
	char size[WM_NUMBER_TEXT];

	if (report->err < 0)
		wm_words_say(r->plan.words, "snapshot: %s", wm_diag_errno(report->err));
	else if (!r->plan.quiet)
		wm_words_say(r->plan.words, "snapshot: %" PRIu64 " %s, %s: %s",
			     report->totals.events,
			     wm_plural(report->totals.events, "event", "events"),
			     wm_number_print_about(report->totals.bytes, size), r->plan.dir);
}

static void recorder_on_report(struct wm_recorder *r, const struct wm_report *report)
{
	if (r->plan.report)
		r->plan.report(r->plan.report_data, report);
	switch (report->kind) {
	case WM_REPORT_TROUBLE:
		wm_words_say(r->plan.words, "%s", report->sentence);
		break;
	case WM_REPORT_JOINED:
		if (r->targets)
			wm_recorder_targets_joined(r->targets, (pid_t)report->pid);
		break;
	case WM_REPORT_SNAPSHOT:
		say_snapshot(r, report);
		break;
	case WM_REPORT_CHANGED:
		if (r->targets && r->phase == RUNNING)
			wm_recorder_targets_changed(r->targets);
		break;
	case WM_REPORT_SAMPLING:
		r->sampling = true;
		if (report->err < 0)
			say_unsampled(r, report->sentence);
		break;
	case WM_REPORT_LOOKED:
		r->last.totals = report->totals;
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
	struct wm_recorder *r = data;
	struct wm_report report;
	int got;

	(void)fd;
	(void)events;
	if (r->pumproc_ended)
		return;
	while ((got = wm_channel_read(&r->channel, false, &report)) > 0)
		recorder_on_report(r, &report);
	if (got == 0 && !r->done)
		return;
	r->is_lost = !r->done;
	r->pumproc_ended = true;
}

/* --- CMD -------------------------------------------------------------------------------------- */

static void recorder_on_command_end(void *data)
{
	wm_recorder_end(data);
}

/*
 * Requests sampling. The pump process opens the sampled events; until then, nothing to be recorded
 * may run.
 */
static void begin_sampling(struct wm_recorder *r, const struct wm_sampling_whom *whom)
{
	struct wm_report report;
	int err = wm_channel_sample(&r->channel, whom);

	if (err == -E2BIG)
		say_unsampled(r, "more than 32768 threads; use -a to sample the whole machine");
	else if (err < 0)
		say_unsampled(r, wm_diag_errno(err));
	while (err == 0 && !r->sampling && wm_channel_read(&r->channel, true, &report) > 0)
		recorder_on_report(r, &report);
}

/* Samples the whole machine, or processes that are already running. */
static int sample_running(struct wm_recorder *r)
{
	struct wm_sampling_whom whom = {.alone = r->plan.nr_tids != 0};
	pid_t *tids = NULL;
	int err = r->plan.all ? 0 : wm_recorder_threads(&r->plan, &tids, &whom.nr_tids);

	whom.tids = tids;
	if (!err && (r->plan.all || whom.nr_tids))
		begin_sampling(r, &whom);
	free(tids);
	return err;
}

static void follow_command(struct wm_recorder *r, pid_t pid)
{
	const struct wm_sampling_whom whom = {.tids = &pid, .nr_tids = 1, .on_exec = true};
	struct wm_diag diag = {.offset = -1};
	int err = 0;

	if (r->plan.events->kernel)
		err = wm_recorder_follow_command(&r->plan, pid, &diag);
	if (err) /* CMD is released even after an error */
		wm_words_say(r->plan.words, "%s", wm_words_of(err, &diag));
	/* Failure ignored: the channel reports when the pump process has exited. */
	(void)wm_channel_follow(&r->channel, pid);
	if (r->plan.events->sampling)
		begin_sampling(r, &whom);
}

static int fail_command(const struct wm_recorder_plan *p, int err, struct wm_diag *diag)
{
	return wm_diag_set(diag, err, WM_RECORDER_IN_COMMAND, -1, "cannot run '%.160s': %s",
			   p->command[0], strerror(-err));
}

static int start_command(struct wm_recorder *r, struct wm_diag *diag)
{
	bool recorded = records_command(&r->plan);
	struct wm_child child;
	char **environment = NULL;
	int err = 0;

	if (recorded)
		err = wm_recorder_env_make(&r->plan, r->session.path, &environment, diag);
	if (err)
		return err;
	err = wm_child_hold_with(r->plan.command, environment ? environment : r->plan.environment,
				 wm_loop_original_mask(r->loop), r->exec, &child);
	if (!err && recorded)
		follow_command(r, child.pid);
	if (!err)
		err = wm_command_go(&r->command, r->loop, &child, recorder_on_command_end, r);
	wm_recorder_env_free(environment);
	return err ? fail_command(&r->plan, err, diag) : 0;
}

/* Reports a CMD that does not exist, before a trace directory is created. */
static int find_command(const struct wm_recorder_plan *p, struct wm_diag *diag)
{
	char *path = p->command ? wm_program_find(p->command[0], p->search) : NULL;
	int err = 0;

	if (!p->command)
		return 0;
	if (!path)
		err = -ENOENT;
	else if (access(path, X_OK) < 0)
		err = -errno;
	free(path);
	return err ? fail_command(p, err, diag) : 0;
}

/* --- the beginning -------------------------------------------------------------------------- */

/* Only program buffers can be kept in memory until a snapshot. */
static int check_mode(const struct wm_recorder_plan *p, struct wm_diag *diag)
{
	if (wm_rules_options(p->events->rules)->pool_mode != WM_POOL_OVERWRITE ||
	    !wm_recorder_events_more(p->events))
		return 0;
	return wm_diag_set(diag, -EOPNOTSUPP, NULL, -1, WM_RECORDER_NO_FLIGHT);
}

static int recorder_check(const struct wm_recorder_plan *p, struct wm_diag *diag)
{
	int err = check_mode(p, diag);
	char **environment = NULL;

	if (!err)
		err = find_command(p, diag);
	if (!err)
		err = wm_recorder_targets_check(p, diag);
	if (!err && p->nr_asked)
		err = wm_recorder_check_filters(p, diag);
	if (!err && records_command(p))
		err = wm_recorder_env_make(p, "", &environment, diag);
	wm_recorder_env_free(environment);
	if (!err)
		wm_recorder_say_narrow(p);
	return err;
}

static int start_pumproc(struct wm_recorder *r, struct wm_diag *diag)
{
	const struct wm_recorder_plan *p = &r->plan;
	struct wm_recording_options o = {
	    .session = &r->session,
	    .rules = p->events->rules,
	    .dir = p->dir,
	    .format = p->format,
	    .command = p->command ? p->command[0] : NULL,
	    .whose = {.all = p->all,
		      .pids = p->pids,
		      .nr_pids = p->nr_pids,
		      .tids = p->tids,
		      .nr_tids = p->nr_tids,
		      .cpus = p->cpus,
		      .nr_cpus = p->nr_cpus},
	};
	int err = wm_session_create(p->runtime_dir, NULL, &r->session, diag);

	if (!err && records_command(p) && p->events->kernel)
		err = wm_recorder_kernel_from_exec(p->events->kernel, &r->exec);
	for (unsigned i = 0; i < WM_SOURCES_NR; i++)
		o.sources[i] = wm_recorder_events_options(p->events, i);
	if (p->live)
		wm_live_options(p->live, &o);
	if (!err)
		err = wm_rules_write(p->events->rules, r->session.dirfd, r->session.file_mode);
	if (!err)
		err = wm_pumproc_start(&o, &r->channel, diag);
	return err;
}

static int fail_start(const struct wm_recorder_plan *p, int err, struct wm_diag *diag)
{
	char why[WM_DIAG_SENTENCE];

	(void)snprintf(why, sizeof(why), "%s", wm_words_of(err, diag));
	return wm_diag_set(diag, err, NULL, -1, "cannot record to '%.100s': %s%s",
			   p->dir ? p->dir : "memory", why,
			   err == -EACCES && p->dir ? ", or choose another directory" : "");
}

int wm_recorder_create(const struct wm_recorder_plan *plan, struct wm_recorder **ret,
		       struct wm_diag *diag)
{
	struct wm_recorder *r;
	int err = recorder_check(plan, diag);

	if (err)
		return err;
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	*r = (struct wm_recorder){
	    .plan = *plan,
	    .session = {.dirfd = -1, .listen_fd = -1, .lock_fd = -1},
	    .channel = {.fd = -1},
	    .command = {.status = -1},
	};
	err = start_pumproc(r, diag);
	if (!err)
		err = wm_loop_create(&r->loop);
	if (!err)
		err = wm_loop_fd(r->loop, r->channel.fd, EPOLLIN, on_channel, r, &r->channel_watch);
	if (err) {
		wm_recorder_destroy(r);
		return fail_start(plan, err, diag);
	}
	*ret = r;
	return 0;
}

static void on_targets_gone(void *data)
{
	wm_recorder_end(data);
}

static int recorder_begin(struct wm_recorder *r, struct wm_diag *diag)
{
	const struct wm_recorder_plan *p = &r->plan;
	int err = 0;

	if (p->events->kernel)
		err = wm_recorder_follow_running(p, r->channel.pid, diag);
	if (!err && p->events->sampling && (p->all || p->nr_pids))
		err = sample_running(r);
	if (!err)
		err = wm_recorder_targets_start(r->loop, p, &r->session, on_targets_gone, r,
						&r->targets, diag);
	if (!err && p->command)
		err = start_command(r, diag);
	return err;
}

int wm_recorder_begin(struct wm_recorder *r, struct wm_diag *diag)
{
	int err = recorder_begin(r, diag);

	if (err)
		wm_recorder_end(r);
	return err;
}

/* --- the end
 * --------------------------------------------------------------------------------------- */

void wm_recorder_end(struct wm_recorder *r)
{
	if (r->phase != RUNNING)
		return;
	r->phase = ENDING;
	/* Failure ignored: the channel reports when the pump process has exited. */
	(void)wm_channel_order(&r->channel, WM_ORDER_STOP);
}

static void say_lost(const struct wm_recorder *r)
{
	int status = r->pump_status;
	const char *dir = r->plan.live ? NULL : r->plan.dir; /* a live trace is removed */
	bool killed = WIFSIGNALED(status);

	wm_words_say(
	    r->plan.words, "the pump process (%d) ended early, %s %d: recording has stopped%s%s%s",
	    (int)r->channel.pid, killed ? "by signal" : "with status",
	    killed ? WTERMSIG(status) : WEXITSTATUS(status),
	    dir ? "; the data written until then is in '" : "", dir ? dir : "", dir ? "'" : "");
}

static void finish_pumproc(struct wm_recorder *r)
{
	wm_watch_remove(r->channel_watch);
	r->channel_watch = NULL;
	wm_channel_done(&r->channel);
	while (waitpid(r->channel.pid, &r->pump_status, 0) < 0 && errno == EINTR)
		;
	r->phase = OVER;
	if (r->is_lost)
		say_lost(r);
	if (r->is_lost)
		/* Removes instances that the pump process created during the recording. */
		wm_recorder_kernel_sweep();
	wm_session_remove(&r->session); /* a killed pump process did not do this */
}

static bool is_over(const struct wm_recorder *r, bool command)
{
	return r->phase == OVER && !(command && r->command.pid);
}

static int recorder_step(struct wm_recorder *r, int timeout_ms)
{
	int got = wm_loop_step(r->loop, timeout_ms);

	if (r->pumproc_ended && r->phase != OVER)
		finish_pumproc(r);
	return got < 0 ? got : 0;
}

int wm_recorder_step(struct wm_recorder *r, int timeout_ms)
{
	int err = is_over(r, true) ? 0 : recorder_step(r, timeout_ms);

	return err ? err : is_over(r, true);
}

/* Steps the loop until the trace is complete and, with `command`, CMD has ended. */
static int wait_for(struct wm_recorder *r, bool command, int timeout_ms)
{
	uint64_t until =
	    wm_clock_monotonic_ns() + (uint64_t)(timeout_ms > 0 ? timeout_ms : 0) * NS_PER_MS;
	int left = timeout_ms, got;

	while (!is_over(r, command)) {
		uint64_t now;

		got = recorder_step(r, left);
		if (got < 0)
			return got;
		now = wm_clock_monotonic_ns();
		if (timeout_ms >= 0 && now >= until)
			break;
		if (timeout_ms >= 0)
			left = (int)((until - now + NS_PER_MS - 1) / NS_PER_MS);
	}
	return is_over(r, command);
}

int wm_recorder_wait(struct wm_recorder *r, int timeout_ms)
{
	return wait_for(r, true, timeout_ms);
}

int wm_recorder_finish(struct wm_recorder *r)
{
	int got;

	wm_recorder_end(r);
	got = wait_for(r, false, -1);
	return got < 0 ? got : 0;
}

void wm_recorder_abandon(struct wm_recorder *r)
{
	wm_session_remove(&r->session);
}

void wm_recorder_destroy(struct wm_recorder *r)
{
	if (!r)
		return;
	wm_recorder_targets_done(r->targets);
	wm_loop_destroy(r->loop);
	wm_channel_done(&r->channel);
	while (r->channel.pid && r->phase != OVER && waitpid(r->channel.pid, NULL, 0) < 0 &&
	       errno == EINTR)
		;
	wm_session_remove(&r->session);
	wm_session_done(&r->session);
	free(r);
}

/* --- requests while it runs ------------------------------------------------------------------ */

int wm_recorder_snapshot(struct wm_recorder *r)
{
	return wm_channel_order(&r->channel, WM_ORDER_SNAPSHOT);
}

int wm_recorder_look(struct wm_recorder *r)
{
	return wm_live_look(r->plan.live, &r->channel);
}

struct wm_loop *wm_recorder_loop(struct wm_recorder *r)
{
	return r->loop;
}

pid_t wm_recorder_command(const struct wm_recorder *r)
{
	return r->command.pid;
}

bool wm_recorder_signal(struct wm_recorder *r, int signo, pid_t from)
{
	return wm_command_signal(&r->command, signo, from);
}

void wm_recorder_stop_command(struct wm_recorder *r, int signo)
{
	wm_command_stop(&r->command, signo);
}

uint32_t wm_recorder_say_missing(const struct wm_recorder *r)
{
	return wm_recorder_targets_say_missing(r->targets);
}

void wm_recorder_result(const struct wm_recorder *r, struct wm_recorder_result *ret)
{
	*ret = (struct wm_recorder_result){
	    .done = r->done,
	    .is_lost = r->is_lost,
	    .pump_status = r->pump_status,
	    .err = r->last.err,
	    .status = r->command.status,
	    .totals = r->last.totals,
	};
}
