/* SPDX-License-Identifier: MIT */
/*
 * main.c - the pump process: accepts the session's processes, runs the pump's rounds, and closes
 * the trace. Its states:
 *
 *   SERVING  --STOP, command gone, SIGTERM-->  LEAVING  (processes are told to detach)
 *   LEAVING  --all detached, or 500 ms-->      CLOSED   (last packets, trace closed, DONE)
 *
 * One thread and one loop. Callbacks only set flags; wm_pumproc_settle() changes the pump's set of
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

void wm_pumproc_report(struct wm_pumproc *p, const struct wm_report *r, bool must_arrive)
{
	/* Waits for a command that is not reading only if the report must arrive. */
	if (send(p->channel, r, sizeof(*r), MSG_NOSIGNAL | (must_arrive ? 0 : MSG_DONTWAIT)) < 0 &&
	    errno == EPIPE)
		p->command_gone = p->stop = true;
}

void wm_pumproc_trouble(struct wm_pumproc *p, const char *fmt, ...)
{
	struct wm_report r = {.kind = WM_REPORT_TROUBLE};
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(r.sentence, sizeof(r.sentence), fmt, args);
	va_end(args);
	wm_pumproc_report(p, &r, false);
}

/* ------------------------------------------------------------------ *
 * Rounds
 * ------------------------------------------------------------------ */

/* Reads every EVENT message that was sent before this round collected its parts. */
static void pump_main_before_write(void *data)
{
	struct wm_pumproc *p = data;

	for (struct wm_pumproc_member *m = p->members; m; m = m->next)
		wm_app_catch_up(m->app);
}

/* Reports a write error at once, and again when the error changes. */
static void watch_disk(struct wm_pumproc *p)
{
	struct wm_recording_totals sources = {0};
	struct wm_pump_totals t;
	int error;

	wm_pump_totals(p->pump, &t);
	error = wm_pumproc_account_sources(p, &sources);
	if (t.error)
		error = t.error;
	if (error == p->last_error)
		return;
	p->last_error = error;
	if (error)
		wm_pumproc_trouble(
		    p, "cannot write to '%s': %s; events are lost until writing works again",
		    p->o->dir, wm_diag_errno(error));
}

/*
 * Chooses the wait before the next round. After packets it is short, because a burst fills buffers
 * faster than a wake-up. Without packets it grows up to a tenth of a second.
 */
static void adapt(struct wm_pumproc *p, bool moved)
{
	if (moved) {
		p->wait_ms = WAIT_MIN_MS;
		p->quiet = 0;
	} else if (++p->quiet >= QUIET_ROUNDS) {
		p->quiet = 0;
		p->wait_ms = p->wait_ms * 2 > WAIT_MAX_MS ? WAIT_MAX_MS : p->wait_ms * 2;
	}
}

static void writer_now(struct wm_pumproc *p, struct wm_trace_totals *ret)
{
	wm_writer_totals(p->writer, ret);
}

static void answer_snapshot(struct wm_pumproc *p, int err, const struct wm_trace_totals *before)
{
	struct wm_report r = {.kind = WM_REPORT_SNAPSHOT, .err = err < 0 ? err : 0};
	struct wm_msg_snapshot answer = {
	    .h = {.type = WM_MSG_SNAPSHOT_DONE, .bytes = sizeof(answer)},
	    .err = err < 0 ? err : 0,
	};
	struct wm_trace_totals after;
	struct wm_pump_totals pump;
	bool asked_by_tool = false;

	writer_now(p, &after);
	wm_pump_totals(p->pump, &pump);
	memcpy(r.totals.lost, pump.lost, sizeof(pump.lost));
	r.totals.events = answer.events = after.events - before->events;
	r.totals.bytes = answer.bytes = after.bytes - before->bytes;
	answer.lost = wm_recording_lost(&r.totals);
	for (struct wm_pumproc_member *m = p->members; m; m = m->next) {
		if (!m->asks)
			continue;
		asked_by_tool = true;
		(void)wm_app_reply(m->app, &answer, sizeof(answer)); /* the tool may have exited */
		wm_app_end(m->app);
	}
	if (!asked_by_tool)
		wm_pumproc_report(p, &r, false);
}

static void take_snapshot(struct wm_pumproc *p)
{
	struct wm_trace_totals before;
	int err;

	p->snapshot = false;
	writer_now(p, &before);
	/* Also adds and removes members, including processes that exited. */
	wm_pumproc_settle(p, false);
	err = p->overwrite ? wm_pump_snapshot(p->pump, NULL, NULL) : wm_pump_round(p->pump, true);
	answer_snapshot(p, err, &before);
}

static void refit(struct wm_pumproc *p)
{
	struct wm_calibration fit;

	wm_calibrate_tick(&p->clock);
	if (wm_calibrate_fit(&p->clock, &fit) == 0)
		wm_writer_clock_hz(p->writer, fit.hz);
}

static void one_round(struct wm_pumproc *p)
{
	uint64_t now = wm_clock_monotonic_ns();
	bool seal = now - p->sealed_ns >= SEAL_NS, full = wm_pumproc_is_full(p);
	bool moved = false;

	if (p->snapshot)
		take_snapshot(p);
	else if (!p->overwrite && !full)
		moved = wm_pump_round(p->pump, seal) > 0;
	if (!full)
		moved |= wm_pumproc_round_sources(p, seal ? WM_ROUND_SEAL : WM_ROUND_SOON);
	adapt(p, moved);
	if (seal)
		p->sealed_ns = now;
	if (now - p->fitted_ns >= REFIT_NS) {
		p->fitted_ns = now;
		refit(p);
		wm_pumproc_release(p);
	}
	wm_pumproc_settle(p, true);
	wm_pumproc_answer_look(p);
	wm_pumproc_change_round(p);
	watch_disk(p);
	wm_pumproc_resume_accepting(p);
}

/* ------------------------------------------------------------------ *
 * Beginning and end
 * ------------------------------------------------------------------ */

static void on_order(int fd, uint32_t events, void *data)
{
	struct wm_pumproc *p = data;
	ssize_t n = wm_receive(fd, p->order, WM_ORDER_BYTES_MAX, MSG_DONTWAIT);
	uint32_t order = p->order->order;

	(void)events;
	if (n == -EAGAIN)
		return;
	if (n < (ssize_t)sizeof(order)) {
		p->command_gone = p->stop = true;
		wm_watch_remove(p->order_watch);
		p->order_watch = NULL;
	} else if (order == WM_ORDER_STOP)
		p->stop = true;
	else if (order == WM_ORDER_SNAPSHOT)
		p->snapshot = true;
	else if (order == WM_ORDER_LOOK)
		wm_pumproc_look(p, (const struct wm_order_look *)(const void *)p->order, (size_t)n);
	else if (order == WM_ORDER_SAMPLE)
		wm_pumproc_sample(p, p->order, (size_t)n);
	else if (order == WM_ORDER_FOLLOW)
		wm_pumproc_follow(p, (const void *)p->order, (size_t)n);
}

static void pump_main_on_signal(int signo, pid_t from, void *data)
{
	struct wm_pumproc *p = data;

	(void)from;
	if (signo == SIGUSR2)
		p->snapshot = true;
	else
		p->stop = true;
}

static int begin_waiting(struct wm_pumproc *p)
{
	static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR2};
	struct rlimit files;
	int err;

	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max; /* each process needs two descriptors */
		(void)setrlimit(RLIMIT_NOFILE, &files);
	}
	(void)signal(SIGPIPE, SIG_IGN);
	/* So that write(2) fails with EFBIG when a file reaches its size limit. */
	(void)signal(SIGXFSZ, SIG_IGN);
	err = wm_loop_create(&p->loop);
	for (size_t i = 0; err == 0 && i < sizeof(signals) / sizeof(signals[0]); i++)
		err = wm_loop_signal(p->loop, signals[i], pump_main_on_signal, p, NULL);
	if (err == 0)
		err = wm_loop_fd(p->loop, p->channel, EPOLLIN, on_order, p, &p->order_watch);
	if (err == 0)
		err = wm_loop_fd(p->loop, p->o->session->listen_fd, EPOLLIN,
				 wm_pumproc_on_connection, p, &p->accept_watch);
	return err;
}

/* Writes the session's path into the trace's folder, where other commands find it. */
static int leave_address(struct wm_pumproc *p)
{
	char text[WM_SESSION_PATH_MAX + 1];
	int n = snprintf(text, sizeof(text), "%s\n", p->o->session->path);
	int fd = open(p->o->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int err;

	if (fd < 0)
		return -errno;
	err = wm_file_replace(fd, WM_TOOL_FILE, 0600, text, (size_t)n);
	close(fd);
	return err;
}

static int create_trace(struct wm_pumproc *p, struct wm_diag *diag)
{
	enum wm_clock_kind kind = wm_rules_options(p->o->rules)->clock_kind;
	struct wm_clock_pair moment;
	struct wm_calibration fit;
	struct wm_pump_options pump = {
	    .clock_kind = kind,
	    .before_write = pump_main_before_write,
	    .data = p,
	};
	struct wm_trace_options trace;
	int err;

	wm_calibrate_init(&p->clock, kind);
	do {
		/* Makes a first estimate; the fit improves during the recording. */
		nanosleep(&(struct timespec){.tv_nsec = FIRST_FIT_NS}, NULL);
		wm_calibrate_tick(&p->clock);
	} while (wm_calibrate_fit(&p->clock, &fit) == -EAGAIN);
	wm_calibrate_pair(kind, wm_clock_realtime_ns, &moment);
	trace = (struct wm_trace_options){
	    .format = p->o->format,
	    .clock_kind = kind,
	    .clock_hz = fit.hz,
	    .clock_start = moment.clock,
	    .start_realtime_ns = moment.ns,
	    .clock_error_ns = moment.error_ns,
	    .command = p->o->command,
	};
	err = wm_writer_create(p->o->dir, &trace, &p->writer, diag);
	if (err < 0)
		return err;
	err = leave_address(p);
	if (err < 0)
		return wm_diag_set(diag, err, NULL, -1, "cannot write to '%s': %s", p->o->dir,
				   strerror(-err));
	pump.writer = p->writer;
	return wm_pump_create(&pump, &p->pump);
}

/*
 * Creates the sources. The symbols.c helper is forked first, because sources exclude it by its pid.
 */
static int create_sources(struct wm_pumproc *p, struct wm_diag *diag)
{
	int err = 0;

	if (p->o->sources[WM_SOURCE_SAMPLES])
		wm_pumproc_prepare_symbols(p);
	for (unsigned i = 0; !err && i < WM_SOURCES_NR; i++)
		if (p->o->sources[i])
			err = wm_pumproc_create_source(p, i, p->o->sources[i], diag);
	return err;
}

static int pump_main_begin(struct wm_pumproc *p)
{
	struct wm_report r = {.kind = WM_REPORT_READY};
	struct wm_diag diag = {.offset = -1};
	int err;

	p->start_ns = p->sealed_ns = p->fitted_ns = wm_clock_monotonic_ns();
	p->kernel_events = p->o->sources[WM_SOURCE_KERNEL];
	p->overwrite = wm_rules_options(p->o->rules)->pool_mode == WM_POOL_OVERWRITE;
	p->wait_ms = p->overwrite ? WAIT_MAX_MS
				  : WAIT_MIN_MS; /* overwrite mode: only messages wake the loop */
	p->host = (struct wm_app_host){
	    .rules = p->o->rules,
	    .buffer = malloc(WM_MSG_MAX),
	    .on_event = wm_pumproc_on_class,
	    .on_tool = wm_pumproc_on_tool,
	    .data = p,
	};
	err = p->host.buffer ? begin_waiting(p) : -ENOMEM;
	if (err == 0)
		err = create_trace(p, &diag);
	if (err == 0)
		err = create_sources(p, &diag);
	p->host.loop = p->loop;
	p->host.writer = p->writer;
	if (err < 0) {
		r.kind = WM_REPORT_FAILED;
		r.err = err;
		(void)snprintf(r.sentence, sizeof(r.sentence), "%s", wm_words_of(err, &diag));
	}
	wm_pumproc_report(p, &r, true);
	return err;
}

/* Tells processes that are still running to disable their sites and send BYE. */
static void pump_main_leave(struct wm_pumproc *p)
{
	uint64_t until;

	wm_pumproc_stop_sources(p);
	wm_session_remove(p->o->session);
	wm_pumproc_take_last(p);
	until = wm_clock_monotonic_ns() + LEAVE_NS;
	for (struct wm_pumproc_member *m = p->members; m; m = m->next)
		(void)wm_app_send(m->app,
				  /*
				   * If this fails, the process's chunks are read in their current
				   * state.
				   */
				  WM_MSG_DETACH);
	while (p->members && wm_clock_monotonic_ns() < until) {
		(void)wm_loop_step(p->loop, 5);
		(void)wm_pump_round(p->pump, true);
		wm_pumproc_settle(p, false);
	}
	for (struct wm_pumproc_member *m = p->members; m; m = m->next)
		wm_app_end(m->app);
	wm_pumproc_settle(p, false);
}

static void remove_address(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return;
	(void)unlinkat(fd, WM_TOOL_FILE, 0);
	close(fd);
}

void wm_pumproc_totals(struct wm_pumproc *p)
{
	struct wm_recording_totals *t = &p->totals;
	struct wm_pump_totals pump;
	struct wm_trace_totals trace;

	wm_pump_totals(p->pump, &pump);
	wm_writer_totals(p->writer, &trace);
	t->events = trace.events;
	t->bytes = trace.bytes;
	t->packets = trace.packets;
	memcpy(t->lost, pump.lost, sizeof(pump.lost));
	(void)wm_pumproc_account_sources(p, t);
	t->duration_ns = wm_clock_monotonic_ns() - p->start_ns;
}

static int pump_main_close_trace(struct wm_pumproc *p)
{
	struct wm_report r = {.kind = WM_REPORT_DONE};
	struct wm_pump_totals pump;
	int err;

	if (p->sources[WM_SOURCE_SAMPLES] || p->symbols_begun)
		wm_pumproc_wait_for_symbols(p);
	wm_pumproc_finish_sources(p);
	refit(p);
	wm_pumproc_totals(p);
	wm_pump_totals(p->pump, &pump);
	p->totals.nr_quarantined += pump.quarantined;
	watch_disk(p);
	err = wm_writer_close(p->writer);
	p->writer = NULL;
	remove_address(p->o->dir);
	r.err = err < 0 ? err : 0;
	r.totals = p->totals;
	if (!p->command_gone)
		wm_pumproc_report(p, &r, true);
	wm_pumproc_end_live(p);
	return err;
}

static void pump_main_release(struct wm_pumproc *p)
{
	wm_pumproc_drop_members(p);
	wm_pump_destroy(p->pump);
	(void)wm_pumproc_end_symbols(p); /* needed for a recording that did not begin */
	wm_pumproc_destroy_sources(p);
	(void)wm_writer_close(p->writer);
	wm_loop_destroy(p->loop);
	wm_recorder_kernel_destroy(
	    p->kernel_events); /* the command has had its own copy since the fork */
	wm_rules_destroy(p->rules);
	free(p->host.buffer);
	free(p->order);
	close(p->channel);
}

int wm_pumproc_main(const struct wm_recording_options *o, int channel)
{
	struct wm_pumproc *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return -ENOMEM;
	p->o = o;
	p->channel = channel;
	p->order = calloc(1, WM_ORDER_BYTES_MAX); /* pages that are never touched cost nothing */
	err = p->order ? pump_main_begin(p) : -ENOMEM;
	if (err == 0) {
		while (!p->stop) {
			(void)wm_loop_step(p->loop, p->snapshot ? 0 : p->wait_ms);
			one_round(p);
		}
		pump_main_leave(p);
		err = pump_main_close_trace(p);
	}
	pump_main_release(p);
	free(p);
	return err;
}
