/* SPDX-License-Identifier: MIT */
/*
 * counting.c - see counting.h. CMD is held before its first instruction until every counter is
 * open; command.h describes how it ends.
 */
#include "control/counting.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/loop.h"
#include "control/counting_programs.h"
#include "control/recorder/command.h"

#define LOOK_NS 100000000u /* how often the threads given by -t are checked for existence */

struct run {
	const struct wm_counting_plan *plan;
	struct wm_loop *loop;
	struct wm_counting *result;
	wm_counting_tick *tick;
	void *data;
	struct wm_child child; /* CMD while it is held; pid 0: none */
	struct wm_command command;
	struct wm_watch *interval;
	struct wm_counting_programs programs;
	size_t nr_alive;
	uint64_t start_ns;
	bool declined; /* the caller declined to start, and reported the reason */
	struct wm_diag *diag;
	int late_err; /* errno with which counting failed to start after the delay */
};

/* Whether CMD itself is counted; otherwise it only determines the duration. */
static bool counting_of_command(const struct wm_counting_plan *p)
{
	return !p->all && !p->nr_pids && !p->nr_tids;
}

/* Whether CMD's execve(2) enables its counters. */
static bool begins_on_exec(const struct wm_counting_plan *p)
{
	return counting_of_command(p) && !p->delay_ns;
}

/* ---- end of the run ------------------------------------------------------------------ */

static void counting_on_command_end(void *data)
{
	struct run *r = data;

	r->result->status = r->command.status;
	wm_loop_stop(r->loop, 0);
}

static void on_process_end(pid_t pid, int status, void *data)
{
	struct run *r = data;

	(void)pid;
	(void)status;
	if (--r->nr_alive == 0 && !r->command.pid)
		wm_loop_stop(r->loop, 0);
}

/* Polls, because older kernels have no descriptor that reports a thread's end. */
static void counting_on_look(void *data)
{
	struct run *r = data;

	for (size_t i = 0; i < r->plan->nr_tids; i++) {
		char path[48];

		(void)snprintf(path, sizeof(path), "/proc/%d", (int)r->plan->tids[i]);
		if (access(path, F_OK) == 0)
			return;
	}
	wm_loop_stop(r->loop, 0);
}

static void counting_on_signal(int signo, pid_t from, void *data)
{
	struct run *r = data;

	r->result->signo = signo;
	(void)wm_command_signal(&r->command, signo, from);
	if (!r->command.pid)
		wm_loop_stop(r->loop, 0);
}

static void on_interval(void *data)
{
	struct run *r = data;

	if (r->result->tally)
		wm_tally_read(r->result->tally);
	if (r->tick && wm_counters_read(r->result->counters) == 0)
		r->tick(r->result, wm_clock_monotonic_ns() - r->start_ns, r->data);
}

static void counting_on_timeout(void *data)
{
	struct run *r = data;

	wm_command_stop(&r->command, SIGTERM);
	if (!r->command.pid || !counting_of_command(r->plan))
		wm_loop_stop(r->loop, 0);
}

/* ---- beginning of the run ------------------------------------------------------------- */

static int start_by(struct run *r, struct wm_diag *diag)
{
	struct wm_counting *c = r->result;
	int err = 0;

	for (size_t i = 0; i < c->nr_by && !err; i++) {
		if (c->by[i])
			err = wm_count_by_start(c->by[i], diag);
	}
	if (!err && c->threads)
		err = wm_by_threads_begin(c->threads, r->plan->tracefs, diag);
	return err;
}

/*
 * Starts counting after the delay. If this fails, CMD is already running and continues; the error
 * is returned after its end.
 */
static void on_delay_over(void *data)
{
	struct run *r = data;

	r->late_err = start_by(r, r->diag);
	if (r->result->tally)
		wm_tally_begin(r->result->tally);
	wm_counters_enable(r->result->counters);
	r->start_ns = wm_clock_monotonic_ns();
	r->result->cut_short = false;
}

static int watch_targets(struct run *r)
{
	uint64_t delay_ns = r->plan->delay_ns == WM_COUNTING_NEVER ? 0 : r->plan->delay_ns;
	int err = 0;

	if (delay_ns)
		err = wm_loop_timer(r->loop, delay_ns, 0, on_delay_over, r, NULL);
	if (!err && r->plan->timeout_ns)
		err = wm_loop_timer(r->loop, delay_ns + r->plan->timeout_ns, 0, counting_on_timeout,
				    r, NULL);
	for (size_t i = 0; !err && i < r->plan->nr_pids; i++) {
		err = wm_loop_process(r->loop, r->plan->pids[i], on_process_end, r, NULL);
		r->nr_alive += err == 0;
	}
	if (!err && r->plan->nr_tids && !r->plan->nr_pids)
		err = wm_loop_timer(r->loop, LOOK_NS, LOOK_NS, counting_on_look, r, NULL);
	if (!err && r->plan->interval_ns)
		err = wm_loop_timer(r->loop, delay_ns + r->plan->interval_ns, r->plan->interval_ns,
				    on_interval, r, &r->interval);
	return err;
}

/* ---- counted threads ----------------------------------------------------------------- */

static int add_tids(struct wm_counting *c, const pid_t *tids, size_t nr)
{
	pid_t *grown = reallocarray(c->tids, c->nr_tids + nr, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	memcpy(grown + c->nr_tids, tids, nr * sizeof(*tids));
	c->tids = grown;
	c->nr_tids += nr;
	return 0;
}

static int find_threads(const struct run *r, struct wm_counting *c, struct wm_diag *diag)
{
	const struct wm_counting_plan *p = r->plan;
	int err = p->nr_tids ? add_tids(c, p->tids, p->nr_tids) : 0;

	for (size_t i = 0; !err && i < p->nr_pids; i++) {
		pid_t *tids;
		size_t nr;

		err = wm_threads_of(p->pids[i], &tids, &nr);
		if (err < 0)
			return wm_diag_set(diag, err, NULL, -1,
					   err == -ESRCH ? "there is no process %d"
							 : "cannot read the threads of process %d",
					   (int)p->pids[i]);
		err = add_tids(c, tids, nr);
		free(tids);
	}
	if (!err && !p->all && !c->nr_tids)
		err = add_tids(c, &r->child.pid, 1);
	return err;
}

static void counting_read_name(pid_t tid, struct wm_counting_name *ret)
{
	char path[48], *text;
	size_t bytes;

	(void)snprintf(path, sizeof(path), "/proc/%d/comm", (int)tid);
	(void)snprintf(ret->text, sizeof(ret->text), "?");
	if (wm_file_read(AT_FDCWD, path, 64, &text, &bytes) < 0)
		return;
	(void)snprintf(ret->text, sizeof(ret->text), "%.*s", (int)strcspn(text, "\n"), text);
	free(text);
}

static int counting_read_names(struct wm_counting *c)
{
	c->names = calloc(c->nr_tids, sizeof(*c->names));
	for (size_t i = 0; c->names && i < c->nr_tids; i++)
		counting_read_name(c->tids[i], &c->names[i]);
	return c->names || !c->nr_tids ? 0 : -ENOMEM;
}

/* Opens the counters for --by, one per event; all of them group by the same fields. */
static int open_by(struct run *r, struct wm_diag *diag)
{
	const struct wm_counting_plan *p = r->plan;
	struct wm_counting *c = r->result;
	size_t nr = wm_counters_nr(c->counters);
	int err = 0;

	c->by = calloc(nr + 1, sizeof(struct wm_count_by *));
	if (!c->by)
		return -ENOMEM;
	c->nr_by = nr;
	if (!p->all)
		err = wm_by_threads_create(p->tracefs, c->tids, c->nr_tids, counting_of_command(p),
					   !p->no_inherit, &c->threads, diag);
	for (size_t i = 0; i < nr && !err; i++) {
		const struct wm_counters_event *e = wm_counters_event(c->counters, i);

		if (!e->err)
			err = wm_count_by_create(p->tracefs, e->def, p->by, c->threads, &c->by[i],
						 diag);
	}
	return err;
}

static int counting_open_counters(struct run *r, struct wm_diag *diag)
{
	const struct wm_counting_plan *p = r->plan;
	struct wm_counters_plan plan = {.defs = p->defs,
					.tracefs = p->tracefs,
					.filters = p->filters,
					.cpus = p->cpus,
					.nr_cpus = p->nr_cpus,
					.inherit = !p->all && !p->no_inherit,
					.on_exec = begins_on_exec(p)};
	int err = find_threads(r, r->result, diag);

	if (!err && p->threads_apart)
		err = counting_read_names(r->result);
	if (err < 0)
		return err;
	plan.tids = r->result->tids;
	plan.nr_tids = r->result->nr_tids;
	err = wm_counters_open(&plan, &r->result->counters);
	return err < 0 || !p->by ? err : open_by(r, diag);
}

/* ---- programs' events ------------------------------------------------------------- */

/* Holds CMD until everything is set up. */
static int counting_hold_command(struct run *r, struct wm_diag *diag)
{
	int err = wm_counting_programs_open(&r->programs, r->plan->programs, r->loop, diag);

	r->result->tally = r->programs.tally;
	if (err || !r->plan->command)
		return err;
	return wm_counting_programs_hold(&r->programs, r->plan->command,
					 counting_of_command(r->plan),
					 wm_loop_original_mask(r->loop), &r->child, diag);
}

/* Called once the tasks to count are known. */
static int serve_tally(struct run *r)
{
	const struct wm_counting_plan *p = r->plan;
	bool only = p->no_inherit || (p->nr_tids && !p->nr_pids);
	size_t nr = only || p->threads_apart ? r->result->nr_tids : 0;

	if (r->result->tally && p->delay_ns)
		wm_tally_hold(r->result->tally);
	return wm_counting_programs_serve(&r->programs, r->result->tids, nr, only);
}

int wm_counting_check(const struct wm_counting_plan *plan, struct wm_diag *diag)
{
	return wm_counting_programs_check(plan->programs, diag);
}

/* ---- the run ---------------------------------------------------------------------------- */

static uint64_t time_ns(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * WM_NS_PER_SECOND + (uint64_t)t->tv_usec * 1000u;
}

/* Releases CMD and waits for the end of the run; the counters are enabled. */
static int counting_go(struct run *r, struct wm_diag *diag)
{
	bool at_once = !r->plan->delay_ns;
	int err =
	    counting_of_command(r->plan) ? 0 : wm_counting_programs_attach(&r->programs, diag);

	if (!err && at_once)
		err = start_by(r, diag);
	else if (!err && r->result->threads) /* drops threads that have ended meanwhile */
		err = wm_by_threads_begin(r->result->threads, r->plan->tracefs, diag);
	if (!err)
		err = watch_targets(r);
	if (err < 0) {
		if (r->child.pid)
			wm_child_drop(&r->child);
		return err;
	}
	if (at_once && !begins_on_exec(r->plan))
		wm_counters_enable(r->result->counters);
	r->result->cut_short = !at_once && r->plan->delay_ns != WM_COUNTING_NEVER;
	r->start_ns = wm_clock_monotonic_ns();
	if (r->plan->command)
		err = wm_command_go(&r->command, r->loop, &r->child, counting_on_command_end, r);
	if (err < 0)
		return wm_diag_set(diag, err, WM_RECORDER_IN_COMMAND, -1, "cannot run '%.160s': %s",
				   r->plan->command[0], strerror(-err));
	err = wm_loop_run(r->loop);
	if (!r->result->cut_short)
		r->result->elapsed_ns = wm_clock_monotonic_ns() - r->start_ns;
	wm_counters_disable(r->result->counters);
	wm_watch_remove(r->interval);
	if (r->result->tally)
		wm_tally_end(r->result->tally);
	for (size_t i = 0; i < r->result->nr_by; i++) {
		if (r->result->by[i])
			wm_count_by_stop(r->result->by[i]);
	}
	err = err < 0 ? err : r->late_err;
	return err < 0 ? err : wm_counters_read(r->result->counters);
}

static int run_with_loop(struct run *r, wm_counting_ready *ready, struct wm_diag *diag)
{
	struct rusage before, after;
	int err = wm_loop_signals_that_end(r->loop, counting_on_signal, r);

	if (!err)
		err = counting_hold_command(r, diag);
	if (err < 0)
		return err;
	(void)getrusage(RUSAGE_CHILDREN, &before);
	err = counting_open_counters(r, diag);
	if (!err)
		err = serve_tally(r);
	if (!err && ready) {
		err = ready(r->result, r->data);
		r->declined = err != 0;
	}
	if (err) {
		if (r->child.pid)
			wm_child_drop(&r->child);
		return err;
	}
	err = counting_go(r, diag);
	(void)getrusage(RUSAGE_CHILDREN, &after);
	if (r->plan->command) {
		r->result->user_ns = time_ns(&after.ru_utime) - time_ns(&before.ru_utime);
		r->result->system_ns = time_ns(&after.ru_stime) - time_ns(&before.ru_stime);
	}
	return err;
}

/* Explains an error that has no message yet, with a remedy. */
static int counting_explain(const struct run *r, int err, struct wm_diag *diag)
{
	if (err >= 0 || r->declined || !diag || diag->sentence[0])
		return err;
	return wm_diag_set(diag, err, NULL, -1, "cannot count: %s", wm_diag_errno(err));
}

int wm_counting_run(const struct wm_counting_plan *plan, wm_counting_ready *ready,
		    wm_counting_tick *tick, void *data, struct wm_counting *ret,
		    struct wm_diag *diag)
{
	struct wm_counting result = {.status = -1};
	struct run r = {.plan = plan, .result = &result, .tick = tick, .data = data, .diag = diag};
	int err = wm_loop_create(&r.loop);

	if (err < 0)
		return counting_explain(&r, err, diag);
	err = counting_explain(&r, run_with_loop(&r, ready, diag), diag);
	wm_counting_programs_leave(&r.programs);
	result.nr_refused = r.programs.nr_refused;
	if (err)
		wm_counting_done(&result);
	wm_loop_destroy(r.loop);
	if (!err)
		*ret = result;
	return err;
}

void wm_counting_done(struct wm_counting *c)
{
	for (size_t i = 0; i < c->nr_by; i++)
		wm_count_by_destroy(c->by[i]);
	free(c->by);
	wm_by_threads_destroy(c->threads);
	c->by = NULL;
	c->nr_by = 0;
	c->threads = NULL;
	wm_counters_close(c->counters);
	wm_tally_destroy(c->tally);
	c->tally = NULL;
	free(c->tids);
	free(c->names);
	c->counters = NULL;
	c->tids = NULL;
	c->names = NULL;
	c->nr_tids = 0;
}
