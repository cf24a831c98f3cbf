/* SPDX-License-Identifier: MIT */
/*
 * count.c - counters of kernel events, and the lifecycle of all counters, for
 * <waymark/record.h>.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <waymark/record.h>

#include "api/count.h"
#include "base/child.h"
#include "base/glob.h"
#include "base/number.h"
#include "base/words.h"
#include "kernel/count_filter.h"
#include "kernel/counters.h"
#include "kernel/event_name.h"

struct waymark_counters {
	struct wm_event_space space;
	struct wm_event_defs defs;
	struct wm_count_filters filters;
	struct wm_words words;
	struct wm_api_programs programs;
	struct wm_counters *counters;
	pid_t *tids;
	size_t nr_tids;
	int *cpus; /* CPUs to count on, for the whole machine */
	size_t nr_cpus;
	struct wm_child child; /* pid 0: no command, or it has ended */
	int status;            /* status of the command, as from waitpid(2); -1: unknown */
	bool had_command;
};

/* --- events and targets ------------------------------------------------------------------- */

/* Sets the filter of the events from `before` on, if there is one. */
static int api_count_add_filter(struct waymark_counters *c, const char *name, const char *filter,
				size_t before, struct wm_diag *diag)
{
	bool wild = wm_glob_is_pattern(name, strlen(name));
	size_t nr_left_out;
	int err = wm_count_filters_add(&c->filters, &c->space, &filter, 1, wild, before, &c->defs,
				       &nr_left_out, diag);

	if (!err && c->filters.beyond)
		return wm_diag_set(
		    diag, -EOPNOTSUPP, NULL, -1,
		    "the kernel cannot evaluate '%.120s' exactly for '%.80s'; record the events "
		    "with this filter instead, and count them in the trace",
		    filter, name);
	if (!err && nr_left_out)
		wm_words_say(&c->words,
			     "events that match '%s' but lack a field of the filter, so they are "
			     "not counted: %zu",
			     name, nr_left_out);
	return err;
}

/* Resolves a name, which may denote kernel or program events. */
static int api_count_find_event(struct waymark_counters *c, const char *name, const char *filter,
				struct wm_diag *diag)
{
	const struct wm_recorder_plan *programs = &c->programs.plan;
	size_t before = c->defs.nr;
	const char *user;
	int got = 0;

	if (!wm_counting_means_programs(programs, &c->space, name, 0, &user))
		got = wm_event_name_resolve(&c->space, name, &c->defs, diag);
	if (got > 0)
		return api_count_add_filter(c, name, filter, before, diag);
	if (got && !wm_counting_means_programs(programs, &c->space, name, got, &user))
		return got;
	*diag = (struct wm_diag){.offset = -1};
	return wm_api_programs_add(&c->programs, user, filter, diag);
}

static int api_count_find_events(struct waymark_counters *c, const struct waymark_count_options *o,
				 struct waymark_error *error)
{
	struct wm_diag diag = {.offset = -1};
	int err = 0;

	for (uint32_t i = 0; i < o->nr_events && !err; i++)
		err =
		    api_count_find_event(c, o->events[i], o->filters ? o->filters[i] : NULL, &diag);
	return err ? wm_api_fail_said(error, err, &diag) : 0;
}

static int api_count_add_threads(struct waymark_counters *c, pid_t pid, struct waymark_error *error)
{
	pid_t *tids, *grown;
	size_t nr;
	int err = wm_threads_of(pid, &tids, &nr);

	if (err)
		return wm_api_fail(error, err,
				   err == -ESRCH ? "there is no process %d"
						 : "cannot read the threads of process %d",
				   (int)pid);
	grown = reallocarray(c->tids, c->nr_tids + nr, sizeof(*grown));
	if (grown) {
		memcpy(grown + c->nr_tids, tids, nr * sizeof(*tids));
		c->tids = grown;
		c->nr_tids += nr;
	}
	free(tids);
	return grown ? 0 : wm_api_fail(error, -ENOMEM, "out of memory");
}

static int add_these(struct waymark_counters *c, const int32_t *tids, uint32_t nr,
		     struct waymark_error *error)
{
	c->tids = calloc(nr, sizeof(*c->tids));
	if (!c->tids)
		return wm_api_fail(error, -ENOMEM, "out of memory");
	memcpy(c->tids, tids, nr * sizeof(*tids));
	c->nr_tids = nr;
	return 0;
}

static bool api_count_of_command(const struct waymark_count_options *o)
{
	return o->command && !o->nr_pids && !o->nr_tids && !o->everything;
}

static int api_count_find_whose(struct waymark_counters *c, const struct waymark_count_options *o,
				struct waymark_error *error)
{
	int err = 0;

	if (o->everything) {
		err = wm_cpus_online(&c->cpus, &c->nr_cpus);
		return err ? wm_api_fail(error, err, "cannot find the online CPUs: %s",
					 strerror(-err))
			   : 0;
	}
	for (uint32_t i = 0; i < o->nr_pids && !err; i++)
		err = api_count_add_threads(c, o->pids[i], error);
	if (err || o->nr_pids)
		return err;
	if (o->nr_tids)
		return add_these(c, o->tids, o->nr_tids, error);
	return o->command ? add_these(c, &c->child.pid, 1, error)
			  : api_count_add_threads(c, getpid(), error);
}

/* --- lifecycle ---------------------------------------------------------------------------- */

static int api_count_hold_command(struct waymark_counters *c, const struct waymark_count_options *o,
				  struct waymark_error *error)
{
	struct wm_diag diag = {.offset = -1};
	sigset_t mask;
	int err;

	(void)pthread_sigmask(SIG_SETMASK, NULL, &mask);
	err = wm_counting_programs_hold(&c->programs.run, (char *const *)o->command,
					api_count_of_command(o), &mask, &c->child, &diag);
	if (err && diag.sentence[0])
		return wm_api_fail_said(error, err, &diag);
	if (err)
		return wm_api_fail(error, err, "cannot start a process: %s", strerror(-err));
	c->had_command = true;
	return 0;
}

static int api_count_open_counters(struct waymark_counters *c,
				   const struct waymark_count_options *o,
				   struct waymark_error *error)
{
	const struct wm_counters_plan plan = {
	    .defs = &c->defs,
	    .tracefs = c->space.tracefs,
	    .filters = (const char *const *)c->filters.list,
	    .tids = c->tids,
	    .nr_tids = c->nr_tids,
	    .cpus = c->cpus,
	    .nr_cpus = c->nr_cpus,
	    .inherit = !o->everything && !o->alone,
	    .on_exec = api_count_of_command(o),
	};
	int err = wm_counters_open(&plan, &c->counters);

	if (!err)
		err = wm_counting_programs_serve(&c->programs.run, c->tids, c->nr_tids,
						 o->alone || o->nr_tids);
	return err ? wm_api_fail(error, err, "out of memory") : 0;
}

static int api_count_go(struct waymark_counters *c, const struct waymark_count_options *o,
			struct waymark_error *error)
{
	struct wm_diag diag = {.offset = -1};
	int err = 0;

	if (!api_count_of_command(o)) {
		err = wm_counting_programs_attach(&c->programs.run, &diag);
		wm_counters_enable(c->counters);
	}
	if (err) {
		if (c->child.pid)
			wm_child_drop(&c->child);
		c->child.pid = 0;
		return wm_api_fail_said(error, err, &diag);
	}
	if (!o->command)
		return 0;
	err = wm_child_go(&c->child);
	if (!err)
		return 0;
	c->child.pid = 0; /* the child was reaped */
	return wm_api_fail(error, err, "cannot run '%.200s': %s", o->command[0], strerror(-err));
}

static int api_count_begin(struct waymark_counters *c, const struct waymark_count_options *o,
			   struct waymark_error *error)
{
	struct wm_diag diag = {.offset = -1};
	int err = wm_api_programs_init(&c->programs, o, &c->words, error);

	if (!err)
		err = api_count_find_events(c, o, error);
	if (err)
		return err;
	err = wm_api_programs_open(&c->programs, c->defs.nr != 0, &diag);
	if (err)
		return wm_api_fail_said(error, err, &diag);
	if (o->command)
		err = api_count_hold_command(c, o, error);
	if (err)
		return err;
	err = api_count_find_whose(c, o, error);
	if (!err)
		err = api_count_open_counters(c, o, error);
	if (!err)
		return api_count_go(c, o, error);
	if (c->child.pid)
		wm_child_drop(&c->child);
	c->child.pid = 0;
	return err;
}

static int api_count_check(const struct waymark_count_options *o, struct waymark_error *error)
{
	if (!o->nr_events || !o->events)
		return wm_api_fail(error, -EINVAL, "no event to count was given");
	for (uint32_t i = 0; i < o->nr_events; i++)
		if (!o->events[i])
			return wm_api_fail(error, -EINVAL, "name %u of events is NULL", i);
	if ((o->nr_pids && !o->pids) || (o->nr_tids && !o->tids) || (o->command && !o->command[0]))
		return wm_api_fail(
		    error, -EINVAL,
		    "the list of a command, processes or threads is missing or empty");
	if ((o->nr_pids > 0) + (o->nr_tids > 0) + !!o->everything > 1)
		return wm_api_fail(error, -EINVAL,
				   "processes, threads and 'everything' cannot be combined");
	return 0;
}

WM_API int waymark_count(const struct waymark_count_options *options, struct waymark_counters **ret,
			 struct waymark_error *error)
{
	struct waymark_count_options o;
	struct waymark_counters *c;
	int err = wm_api_error_begin(error);

	if (!err)
		err = WM_API_COPY_IN(&o, options, preload, "options", error);
	if (!err)
		err = api_count_check(&o, error);
	if (err)
		return err;
	c = calloc(1, sizeof(*c));
	if (!c)
		return wm_api_fail(error, -ENOMEM, "out of memory");
	c->status = -1;
	c->words = (struct wm_words){o.say, o.data};
	wm_event_defs_init(&c->defs);
	err = wm_event_space_open(&c->space, getenv("PATH"));
	err = err ? wm_api_fail(error, err, "out of memory") : api_count_begin(c, &o, error);
	if (err) {
		waymark_count_close(c);
		return err;
	}
	*ret = c;
	return 0;
}

WM_API void waymark_count_close(struct waymark_counters *c)
{
	if (!c)
		return;
	wm_api_programs_done(&c->programs);
	wm_counters_close(c->counters);
	wm_count_filters_done(&c->filters);
	wm_event_defs_done(&c->defs);
	wm_event_space_close(&c->space);
	free(c->tids);
	free(c->cpus);
	free(c);
}

WM_API int waymark_count_read(struct waymark_counters *c)
{
	wm_api_programs_read(&c->programs);
	return wm_counters_read(c->counters);
}

/*
 * Reaps the child if it has ended. If other code in the program has already reaped it, its status
 * is unknown.
 */
static void api_count_reap(struct waymark_counters *c)
{
	int status;
	pid_t got;

	do {
		got = waitpid(c->child.pid, &status, 0);
	} while (got < 0 && errno == EINTR);
	c->status = got == c->child.pid ? status : -1;
	c->child.pid = 0;
}

/*
 * Waits until a process ends. Returns 1 when it has ended, 0 after the timeout or a signal, or
 * -errno.
 */
static int wait_end(pid_t pid, int timeout_ms)
{
	struct pollfd end = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
	int got = 1;

	if (end.fd >= 0) {
		got = poll(&end, 1, timeout_ms);
		got = got < 0 ? -errno : got;
		(void)close(end.fd);
	}
	return got == -EINTR ? 0 : got;
}

WM_API int waymark_count_wait(struct waymark_counters *c, int timeout_ms, int *ret_status)
{
	int got;

	if (!c->had_command)
		return -ECHILD;
	if (c->child.pid) {
		got = c->programs.loop
			  ? wm_api_programs_wait(&c->programs, c->child.pid, timeout_ms)
			  : wait_end(c->child.pid, timeout_ms);
		if (got <= 0)
			return got;
		api_count_reap(c);
	}
	*ret_status = c->status;
	return 1;
}

/* Describes a counter of all threads (WM_COUNTERS_ALL) or of one. */
static int api_count_tell(const struct waymark_counters *c, uint32_t i, size_t thread,
			  struct waymark_counter *ret)
{
	const struct wm_counters_event *e;
	struct wm_counters_sum sum;
	double scale = 1;

	if (i >= wm_counters_nr(c->counters))
		return wm_api_programs_tell(&c->programs, i - wm_counters_nr(c->counters), thread,
					    ret);
	e = wm_counters_event(c->counters, i);
	wm_counters_sum(c->counters, i, thread, WM_COUNTERS_ALL, false, &sum);
	if (e->def->scale && wm_number_parse_float(e->def->scale, &scale) < 0)
		scale = 1;
	*ret = (struct waymark_counter){
	    .name = e->def->name,
	    .value = sum.scaled,
	    .counted = sum.count.value,
	    .enabled_ns = sum.count.enabled_ns,
	    .running_ns = sum.count.running_ns,
	    .unit = e->def->unit,
	    .scale = scale,
	    .is_user_only = e->user_only,
	    .err = e->err,
	    .why = e->err ? wm_words_of(e->err, &e->why) : NULL,
	};
	return 0;
}

WM_API int waymark_counter(const struct waymark_counters *c, uint32_t i,
			   struct waymark_counter *ret)
{
	struct waymark_counter counter;
	int err = api_count_tell(c, i, WM_COUNTERS_ALL, &counter);

	return err ? err : WM_API_COPY_OUT(ret, &counter, why);
}

WM_API int waymark_counter_thread(const struct waymark_counters *c, uint32_t i, uint32_t k,
				  int32_t *ret_tid, struct waymark_counter *ret)
{
	struct waymark_counter counter;
	int err = k < c->nr_tids ? api_count_tell(c, i, k, &counter) : -ERANGE;

	if (!err)
		err = WM_API_COPY_OUT(ret, &counter, why);
	if (!err)
		*ret_tid = c->tids[k];
	return err;
}
