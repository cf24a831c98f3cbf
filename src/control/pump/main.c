/* SPDX-License-Identifier: MIT */
/*
 * main.c - the pump process: accepts the session's processes, runs the pump's rounds,
 * and closes the trace. Its states:
 *
 *   SERVING  --STOP, command gone, SIGTERM-->  LEAVING  (processes are told to detach)
 *   LEAVING  --all detached, or 500 ms-->      CLOSED   (last packets, trace closed, DONE)
 *
 * One thread and one loop. Callbacks only set flags; wm_serving_settle() changes the pump's set of
 * sources between rounds.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/loop.h"
#include "base/receive.h"
#include "base/words.h"
#include "collect/calibrate.h"
#include "collect/pump.h"
#include "control/pump/pumproc.h"
#include "control/pump/pumproc_int.h"
#include "control/tool.h"
#include "runtime/agent.h"

#define SEAL_NS      100000000u /* interval at which the committed parts of open chunks are taken */
#define FIRST_FIT_NS 2000000
#define REFIT_NS     WM_NS_PER_SECOND /* interval at which the clock's frequency is fitted */
#define WAIT_MIN_MS  1
#define WAIT_MAX_MS  100
#define QUIET_ROUNDS 8 /* rounds without a packet before the wait is doubled */
#define LEAVE_NS     500000000u

/* ------------------------------------------------------------------ *
 * Reports to the command
 * ------------------------------------------------------------------ */

void wm_serving_report(struct serving *s, const struct wm_report *r, bool must_arrive)
{
	/* Waits for a command that does not read only if the report must arrive. */
	if (send(s->channel, r, sizeof(*r), MSG_NOSIGNAL | (must_arrive ? 0 : MSG_DONTWAIT)) < 0 &&
	    errno == EPIPE)
		s->command_gone = s->stop = true;
}

void wm_serving_trouble(struct serving *s, const char *fmt, ...)
{
	struct wm_report r = {.kind = WM_REPORT_TROUBLE};
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(r.sentence, sizeof(r.sentence), fmt, args);
	va_end(args);
	wm_serving_report(s, &r, false);
}

/* ------------------------------------------------------------------ *
 * Rounds
 * ------------------------------------------------------------------ */

/* Reads every EVENT message that was sent before this round collected its parts. */
static void pump_main_before_write(void *data)
{
	struct serving *s = data;

	for (struct member *m = s->members; m; m = m->next)
		wm_app_catch_up(m->app);
}

/* Reports a write error at once, and again when the error changes. */
static void watch_disk(struct serving *s)
{
	struct wm_recording_totals sources = {0};
	struct wm_pump_totals t;
	int error;

	wm_pump_totals(s->pump, &t);
	error = wm_serving_account_sources(s, &sources);
	if (t.error)
		error = t.error;
	if (error == s->last_error)
		return;
	s->last_error = error;
	if (error)
		wm_serving_trouble(
		    s, "cannot write to '%s': %s; events are lost until writing works again",
		    s->o->dir, wm_diag_errno(error));
}

/*
 * Chooses the wait before the next round. After packets it is short, because a burst fills buffers
 * faster than a wake-up. Without packets it grows up to a tenth of a second.
 */
static void adapt(struct serving *s, bool moved)
{
	if (moved) {
		s->wait_ms = WAIT_MIN_MS;
		s->quiet = 0;
	} else if (++s->quiet >= QUIET_ROUNDS) {
		s->quiet = 0;
		s->wait_ms = s->wait_ms * 2 > WAIT_MAX_MS ? WAIT_MAX_MS : s->wait_ms * 2;
	}
}

static void writer_now(struct serving *s, struct wm_trace_totals *ret)
{
	wm_writer_totals(s->writer, ret);
}

static void answer_snapshot(struct serving *s, int err, const struct wm_trace_totals *before)
{
	struct wm_report r = {.kind = WM_REPORT_SNAPSHOT, .err = err < 0 ? err : 0};
	struct wm_msg_snapshot answer = {
	    .h = {.type = WM_MSG_SNAPSHOT_DONE, .bytes = sizeof(answer)},
	    .err = err < 0 ? err : 0,
	};
	struct wm_trace_totals after;
	struct wm_pump_totals pump;
	bool asked_by_tool = false;

	writer_now(s, &after);
	wm_pump_totals(s->pump, &pump);
	memcpy(r.totals.lost, pump.lost, sizeof(pump.lost));
	r.totals.events = answer.events = after.events - before->events;
	r.totals.bytes = answer.bytes = after.bytes - before->bytes;
	answer.lost = wm_recording_lost(&r.totals);
	for (struct member *m = s->members; m; m = m->next) {
		if (!m->asks)
			continue;
		asked_by_tool = true;
		(void)wm_app_reply(m->app, &answer, sizeof(answer)); /* the tool may have exited */
		wm_app_end(m->app);
	}
	if (!asked_by_tool)
		wm_serving_report(s, &r, false);
}

static void take_snapshot(struct serving *s)
{
	struct wm_trace_totals before;
	int err;

	s->snapshot = false;
	writer_now(s, &before);
	/* Also adds and removes members, including processes that exited. */
	wm_serving_settle(s, false);
	err = s->overwrite ? wm_pump_snapshot(s->pump, NULL, NULL) : wm_pump_round(s->pump, true);
	answer_snapshot(s, err, &before);
}

static void refit(struct serving *s)
{
	struct wm_calibration fit;

	wm_calibrate_tick(&s->clock);
	if (wm_calibrate_fit(&s->clock, &fit) == 0)
		wm_writer_clock_hz(s->writer, fit.hz);
}

static void one_round(struct serving *s)
{
	uint64_t now = wm_clock_monotonic_ns();
	bool seal = now - s->sealed_ns >= SEAL_NS, full = wm_serving_is_full(s);
	bool moved = false;

	if (s->snapshot)
		take_snapshot(s);
	else if (!s->overwrite && !full)
		moved = wm_pump_round(s->pump, seal) > 0;
	if (!full)
		moved |= wm_serving_round_sources(s, seal ? WM_ROUND_SEAL : WM_ROUND_SOON);
	adapt(s, moved);
	if (seal)
		s->sealed_ns = now;
	if (now - s->fitted_ns >= REFIT_NS) {
		s->fitted_ns = now;
		refit(s);
	}
	wm_serving_settle(s, true);
	wm_serving_answer_look(s);
	wm_serving_change_round(s);
	watch_disk(s);
	wm_serving_resume_accepting(s);
}

/* ------------------------------------------------------------------ *
 * Beginning and end
 * ------------------------------------------------------------------ */

static void on_order(int fd, uint32_t events, void *data)
{
	struct serving *s = data;
	ssize_t n = wm_receive(fd, s->order, WM_ORDER_BYTES_MAX, MSG_DONTWAIT);
	uint32_t order = s->order->order;

	(void)events;
	if (n == -EAGAIN)
		return;
	if (n < (ssize_t)sizeof(order)) {
		s->command_gone = s->stop = true;
		wm_watch_remove(s->order_watch);
		s->order_watch = NULL;
	} else if (order == WM_ORDER_STOP)
		s->stop = true;
	else if (order == WM_ORDER_SNAPSHOT)
		s->snapshot = true;
	else if (order == WM_ORDER_LOOK)
		wm_serving_look(s, (const struct wm_order_look *)(const void *)s->order, (size_t)n);
	else if (order == WM_ORDER_SAMPLE)
		wm_serving_sample(s, s->order, (size_t)n);
	else if (order == WM_ORDER_FOLLOW)
		wm_serving_follow(s, (const void *)s->order, (size_t)n);
}

static void pump_main_on_signal(int signo, pid_t from, void *data)
{
	struct serving *s = data;

	(void)from;
	if (signo == SIGUSR2)
		s->snapshot = true;
	else
		s->stop = true;
}

static int begin_waiting(struct serving *s)
{
	static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR2};
	struct rlimit files;
	int err;

	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max; /* each process needs two descriptors */
		(void)setrlimit(RLIMIT_NOFILE, &files);
	}
	(void)signal(SIGPIPE, SIG_IGN);
	/* Then write(2) fails with EFBIG when a file reaches its size limit. */
	(void)signal(SIGXFSZ, SIG_IGN);
	err = wm_loop_create(&s->loop);
	for (size_t i = 0; err == 0 && i < sizeof(signals) / sizeof(signals[0]); i++)
		err = wm_loop_signal(s->loop, signals[i], pump_main_on_signal, s, NULL);
	if (err == 0)
		err = wm_loop_fd(s->loop, s->channel, EPOLLIN, on_order, s, &s->order_watch);
	if (err == 0)
		err = wm_loop_fd(s->loop, s->o->session->listen_fd, EPOLLIN,
				 wm_serving_on_connection, s, &s->accept_watch);
	return err;
}

/* Writes the path of the session into the trace's folder, where other commands find it. */
static int leave_address(struct serving *s)
{
	char text[WM_SESSION_PATH_MAX + 1];
	int n = snprintf(text, sizeof(text), "%s\n", s->o->session->path);
	int fd = open(s->o->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int err;

	if (fd < 0)
		return -errno;
	err = wm_file_replace(fd, WM_TOOL_FILE, 0600, text, (size_t)n);
	close(fd);
	return err;
}

static int create_trace(struct serving *s, struct wm_diag *diag)
{
	enum wm_clock_kind kind = wm_rules_options(s->o->rules)->clock_kind;
	struct wm_clock_pair moment;
	struct wm_calibration fit;
	struct wm_pump_options pump = {
	    .clock_kind = kind,
	    .before_write = pump_main_before_write,
	    .data = s,
	};
	struct wm_trace_options trace;
	int err;

	wm_calibrate_init(&s->clock, kind);
	do {
		/* Makes a first estimate; the fit improves during the recording. */
		nanosleep(&(struct timespec){.tv_nsec = FIRST_FIT_NS}, NULL);
		wm_calibrate_tick(&s->clock);
	} while (wm_calibrate_fit(&s->clock, &fit) == -EAGAIN);
	wm_calibrate_pair(kind, wm_clock_realtime_ns, &moment);
	trace = (struct wm_trace_options){
	    .format = s->o->format,
	    .clock_kind = kind,
	    .clock_hz = fit.hz,
	    .clock_start = moment.clock,
	    .start_realtime_ns = moment.ns,
	    .clock_error_ns = moment.error_ns,
	    .command = s->o->command,
	};
	err = wm_writer_create(s->o->dir, &trace, &s->writer, diag);
	if (err < 0)
		return err;
	err = leave_address(s);
	if (err < 0)
		return wm_diag_set(diag, err, NULL, -1, "cannot write to '%s': %s", s->o->dir,
				   strerror(-err));
	pump.writer = s->writer;
	return wm_pump_create(&pump, &s->pump);
}

/*
 * Creates the sources. The helper of symbols.c is forked first, because sources exclude it by its
 * pid.
 */
static int create_sources(struct serving *s, struct wm_diag *diag)
{
	int err = 0;

	if (s->o->sources[WM_SOURCE_SAMPLES])
		wm_serving_prepare_symbols(s);
	for (unsigned i = 0; !err && i < WM_SOURCES_NR; i++)
		if (s->o->sources[i])
			err = wm_serving_create_source(s, i, s->o->sources[i], diag);
	return err;
}

static int pump_main_begin(struct serving *s)
{
	struct wm_report r = {.kind = WM_REPORT_READY};
	struct wm_diag diag = {.offset = -1};
	int err;

	s->start_ns = s->sealed_ns = s->fitted_ns = wm_clock_monotonic_ns();
	s->kernel_events = s->o->sources[WM_SOURCE_KERNEL];
	s->overwrite = wm_rules_options(s->o->rules)->pool_mode == WM_POOL_OVERWRITE;
	s->wait_ms = s->overwrite ? WAIT_MAX_MS
				  : WAIT_MIN_MS; /* overwrite mode: only messages wake the loop */
	s->host = (struct wm_app_host){
	    .rules = s->o->rules,
	    .buffer = malloc(WM_MSG_MAX),
	    .on_event = wm_serving_on_class,
	    .on_tool = wm_serving_on_tool,
	    .data = s,
	};
	err = s->host.buffer ? begin_waiting(s) : -ENOMEM;
	if (err == 0)
		err = create_trace(s, &diag);
	if (err == 0)
		err = create_sources(s, &diag);
	s->host.loop = s->loop;
	s->host.writer = s->writer;
	if (err < 0) {
		r.kind = WM_REPORT_FAILED;
		r.err = err;
		(void)snprintf(r.sentence, sizeof(r.sentence), "%s", wm_words_of(err, &diag));
	}
	wm_serving_report(s, &r, true);
	return err;
}

/* Tells processes that still run to disable their sites and to send BYE. */
static void pump_main_leave(struct serving *s)
{
	uint64_t until;

	wm_serving_stop_sources(s);
	wm_session_remove(s->o->session);
	wm_serving_take_last(s);
	until = wm_clock_monotonic_ns() + LEAVE_NS;
	for (struct member *m = s->members; m; m = m->next)
		(void)wm_app_send(m->app,
				  /*
				   * If this fails, the process's chunks are read in their current
				   * state.
				   */
				  WM_MSG_DETACH);
	while (s->members && wm_clock_monotonic_ns() < until) {
		(void)wm_loop_step(s->loop, 5);
		(void)wm_pump_round(s->pump, true);
		wm_serving_settle(s, false);
	}
	for (struct member *m = s->members; m; m = m->next)
		wm_app_end(m->app);
	wm_serving_settle(s, false);
}

static void remove_address(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return;
	(void)unlinkat(fd, WM_TOOL_FILE, 0);
	close(fd);
}

void wm_serving_totals(struct serving *s)
{
	struct wm_recording_totals *t = &s->totals;
	struct wm_pump_totals pump;
	struct wm_trace_totals trace;

	wm_pump_totals(s->pump, &pump);
	wm_writer_totals(s->writer, &trace);
	t->events = trace.events;
	t->bytes = trace.bytes;
	t->packets = trace.packets;
	memcpy(t->lost, pump.lost, sizeof(pump.lost));
	(void)wm_serving_account_sources(s, t);
	t->duration_ns = wm_clock_monotonic_ns() - s->start_ns;
}

static int pump_main_close_trace(struct serving *s)
{
	struct wm_report r = {.kind = WM_REPORT_DONE};
	struct wm_pump_totals pump;
	int err;

	if (s->sources[WM_SOURCE_SAMPLES] || s->symbols_begun)
		wm_serving_wait_for_symbols(s);
	wm_serving_finish_sources(s);
	refit(s);
	wm_serving_totals(s);
	wm_pump_totals(s->pump, &pump);
	s->totals.nr_quarantined += pump.quarantined;
	watch_disk(s);
	err = wm_writer_close(s->writer);
	s->writer = NULL;
	remove_address(s->o->dir);
	r.err = err < 0 ? err : 0;
	r.totals = s->totals;
	if (!s->command_gone)
		wm_serving_report(s, &r, true);
	wm_serving_end_live(s);
	return err;
}

static void pump_main_release(struct serving *s)
{
	wm_serving_drop_members(s);
	wm_pump_destroy(s->pump);
	(void)wm_serving_end_symbols(s); /* needed for a recording that did not begin */
	wm_serving_destroy_sources(s);
	(void)wm_writer_close(s->writer);
	wm_loop_destroy(s->loop);
	wm_recorder_kernel_destroy(
	    s->kernel_events); /* the command has its own copy since the fork */
	wm_rules_destroy(s->rules);
	free(s->host.buffer);
	free(s->order);
	close(s->channel);
}

int wm_recording_main(const struct wm_recording_options *o, int channel)
{
	struct serving *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->o = o;
	s->channel = channel;
	s->order = calloc(1, WM_ORDER_BYTES_MAX); /* pages that are never touched cost nothing */
	err = s->order ? pump_main_begin(s) : -ENOMEM;
	if (err == 0) {
		while (!s->stop) {
			(void)wm_loop_step(s->loop, s->snapshot ? 0 : s->wait_ms);
			one_round(s);
		}
		pump_main_leave(s);
		err = pump_main_close_trace(s);
	}
	pump_main_release(s);
	free(s);
	return err;
}
