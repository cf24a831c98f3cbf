/* SPDX-License-Identifier: MIT */
/*
 * record.c - a recording, for <waymark/record.h>: turns options and names into a plan for the
 * recorder, which does the work (control/recorder.h).
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/record.h"
#include "control/tool.h"
#include "event/context.h"

#define ARENA_MAX      ((size_t)1 << 24)
#define BUFFER_DEFAULT ((uint64_t)64 << 20)

/* --- options ------------------------------------------------------------------------------- */

static int api_record_check(const struct waymark_record_options *o, struct waymark_error *error)
{
	uint64_t bytes = o->buffer_bytes ? o->buffer_bytes : BUFFER_DEFAULT;
	bool running = o->nr_pids || o->nr_tids || o->everything;

	if ((o->nr_pids && !o->pids) || (o->nr_tids && !o->tids) || (o->nr_cpus && !o->cpus))
		return wm_api_fail(
		    error, -EINVAL,
		    "the list of processes, threads or CPUs is NULL, but its count is not 0");
	if (!running && !o->command)
		return wm_api_fail(
		    error, -EINVAL,
		    "nothing to record: give a command, processes, threads, or everything");
	if (o->command && !o->command[0])
		return wm_api_fail(error, -EINVAL, "the command is empty");
	if ((o->nr_pids > 0) + (o->nr_tids > 0) + !!o->everything > 1)
		return wm_api_fail(error, -EINVAL,
				   "processes, threads and 'everything' cannot be combined");
	if (o->nr_pids > WM_RECORDER_TARGETS_MAX || o->nr_tids > WM_RECORDER_TARGETS_MAX)
		return wm_api_fail(error, -E2BIG, "more than %u processes or threads",
				   WM_RECORDER_TARGETS_MAX);
	if ((unsigned)o->mode > WAYMARK_BLOCK)
		return wm_api_fail(error, -EINVAL,
				   "the mode is %u; the last one is %u, WAYMARK_BLOCK",
				   (unsigned)o->mode, (unsigned)WAYMARK_BLOCK);
	if (o->ctf > 2)
		return wm_api_fail(error, -EINVAL,
				   "the version of CTF is %u; 1 and 2 can be written",
				   (unsigned)o->ctf);
	if (!wm_rules_has_pool(bytes, (uint32_t)o->mode))
		return wm_api_fail(error, -EINVAL, "cannot allocate a buffer of %llu bytes",
				   (unsigned long long)o->buffer_bytes);
	if (o->preload && running)
		return wm_api_fail(error, -EINVAL,
				   "helper libraries can be preloaded into a command only, not "
				   "into running processes");
	return 0;
}

static void *api_record_copy(struct wm_arena *a, const void *data, size_t bytes, bool *failed)
{
	void *to = bytes ? wm_arena_copy(a, data, bytes) : NULL;

	*failed |= bytes && !to;
	return to;
}

static char *api_record_copy_text(struct wm_arena *a, const char *text, bool *failed)
{
	return text ? api_record_copy(a, text, strlen(text) + 1, failed) : NULL;
}

static char **copy_command(struct wm_arena *a, const char *const *command, bool *failed)
{
	size_t nr = 0;
	char **to;

	while (command && command[nr])
		nr++;
	if (!nr)
		return NULL;
	to = wm_arena_array(a, nr + 1, sizeof(char *));
	*failed |= !to;
	for (size_t i = 0; to && i < nr; i++)
		to[i] = api_record_copy_text(a, command[i], failed);
	return to;
}

/* Returns this library's folder, which also contains the libraries to preload. */
char *wm_api_own_folder(struct wm_arena *a, bool *failed)
{
	char real[PATH_MAX] = "", *slash;
	Dl_info info;

	if (!dladdr((void *)(uintptr_t)waymark_record, &info) || !realpath(info.dli_fname, real))
		return api_record_copy_text(a, ".", failed);
	slash = strrchr(real, '/');
	if (slash)
		*slash = '\0';
	return api_record_copy_text(a, real, failed);
}

static int copy_options(struct waymark_recording *r, const struct waymark_record_options *o)
{
	struct wm_recorder_plan *p = &r->plan;
	struct wm_arena *a = &r->arena;
	bool failed = false;

	r->words = (struct wm_words){o->say, o->data};
	*p = (struct wm_recorder_plan){
	    .events = &r->events,
	    .dir = api_record_copy_text(a, o->folder, &failed),
	    .format = o->ctf == 2 ? WM_TRACE_CTF2 : WM_TRACE_CTF1,
	    .preload = api_record_copy_text(a, o->preload, &failed),
	    .all = o->everything,
	    .quiet = true,
	    .pids = api_record_copy(a, o->pids, o->nr_pids * sizeof(pid_t), &failed),
	    .nr_pids = o->nr_pids,
	    .tids = api_record_copy(a, o->tids, o->nr_tids * sizeof(pid_t), &failed),
	    .nr_tids = o->nr_tids,
	    .cpus = api_record_copy(a, o->cpus, o->nr_cpus * sizeof(int), &failed),
	    .nr_cpus = o->nr_cpus,
	    .command = copy_command(a, o->command, &failed),
	    .words = &r->words,
	    .search = api_record_copy_text(a, getenv("PATH"), &failed),
	    .runtime_dir = api_record_copy_text(a, getenv("XDG_RUNTIME_DIR"), &failed),
	    .folder = wm_api_own_folder(a, &failed),
	    .environment = environ,
	};
	return failed ? -ENOMEM : 0;
}

/*
 * When individual threads are recorded: finds their processes, and creates the filter for program
 * events.
 */
static int api_record_find_whose(struct waymark_recording *r, struct wm_diag *diag)
{
	struct wm_recorder_plan *p = &r->plan;
	int err = wm_recorder_check_cpus(p->cpus, p->nr_cpus, diag);

	if (!err && p->nr_tids) {
		err = wm_recorder_processes_of(p->tids, p->nr_tids, &r->pids, &p->nr_pids, diag);
		p->pids = r->pids;
	}
	if (!err)
		r->single =
		    wm_recorder_single_filter(p->tids, p->nr_tids, p->cpus, p->nr_cpus, &err);
	return err;
}

static int make_events(struct waymark_recording *r, const struct waymark_record_options *o)
{
	uint64_t bytes = o->buffer_bytes ? o->buffer_bytes : BUFFER_DEFAULT;
	const struct wm_rules_options rules = {
	    .pool_mode = (uint32_t)o->mode,
	    .buffer_bytes = bytes,
	    .chunk_bytes = wm_rules_chunk_bytes(bytes),
	    .block_ms = WM_RULES_BLOCK_MS,
	    .clock_kind = wm_clock_best(),
	};
	int err = wm_recorder_events_init(&r->events, &rules);

	r->events.words = &r->words;
	r->events.search = r->plan.search;
	r->events.cpus = r->plan.cpus;
	r->events.nr_cpus = r->plan.nr_cpus;
	r->events.of = r->plan.nr_pids ? r->plan.pids[0] : 0;
	r->events.single = r->single;
	r->events.kernel_bytes = o->buffer_bytes;
	r->events.everywhere = r->plan.all;
	r->events.quiet = true;
	return err;
}

WM_API int waymark_record(const struct waymark_record_options *options,
			  struct waymark_recording **ret, struct waymark_error *error)
{
	struct wm_diag diag = {.offset = -1};
	struct waymark_record_options o;
	struct waymark_recording *r;
	int err = wm_api_error_begin(error);

	if (!err)
		err = WM_API_COPY_IN(&o, options, data, "options", error);
	if (!err)
		err = api_record_check(&o, error);
	if (err)
		return err;
	r = calloc(1, sizeof(*r));
	if (!r)
		return wm_api_fail(error, -ENOMEM, "out of memory");
	wm_arena_init(&r->arena, ARENA_MAX);
	err = copy_options(r, &o);
	if (!err)
		err = api_record_find_whose(r, &diag);
	if (!err)
		err = make_events(r, &o);
	if (err)
		(void)wm_api_fail_said(error, err, &diag);
	else if (!o.folder)
		err = wm_api_live_create(r, error);
	if (err) {
		waymark_record_close(r);
		return err;
	}
	*ret = r;
	return 0;
}

WM_API void waymark_record_close(struct waymark_recording *r)
{
	if (!r)
		return;
	if (r->recorder)
		(void)wm_recorder_finish(r->recorder);
	wm_recorder_destroy(r->recorder);
	wm_api_live_done(r);
	wm_recorder_events_done(&r->events);
	free(r->single);
	free(r->pids);
	wm_arena_done(&r->arena);
	free(r);
}

/* --- events ---------------------------------------------------------------------------------- */

/* Returns an error when the recording has already started, else 0. */
static int check_before(const struct waymark_recording *r, struct waymark_error *error)
{
	int err = wm_api_error_begin(error);

	if (err)
		return err;
	return r->recorder || r->is_over
		   ? wm_api_fail(error, -EBUSY, "this must be set before the recording starts")
		   : 0;
}

static int check_running(const struct waymark_recording *r, struct waymark_error *error)
{
	int err = wm_api_error_begin(error);

	if (err)
		return err;
	if (!r->recorder)
		return wm_api_fail(error, -EINVAL, "the recording has not started");
	return r->is_over ? wm_api_fail(error, -ESRCH, "the recording is over") : 0;
}

static int check_how(const struct waymark_record_how *how, struct waymark_error *error)
{
	if (how->with & ~(WAYMARK_WITH_CPU | WAYMARK_WITH_STACK))
		return wm_api_fail(error, -EINVAL, "unknown flag");
	if (how->frequency && how->period)
		return wm_api_fail(error, -EINVAL, "a frequency and a period cannot be combined");
	if ((unsigned)how->chain > WAYMARK_CHAIN_STACK || how->stack_bytes % 8 ||
	    how->stack_bytes > WM_SAMPLE_STACK_MAX)
		return wm_api_fail(error, -EINVAL,
				   "the size of a stack must be a multiple of 8 and at most %u",
				   WM_SAMPLE_STACK_MAX);
	return 0;
}

static struct wm_sampling_how sampling_how(const struct waymark_record_how *how)
{
	static const enum wm_sample_chain chains[] = {
	    [WAYMARK_CHAIN_FRAMES] = WM_CHAIN_FRAMES,
	    [WAYMARK_CHAIN_STACK] = WM_CHAIN_STACK,
	};

	return (struct wm_sampling_how){
	    .frequency = how->frequency,
	    .period = how->period,
	    .chain = chains[how->chain],
	    .stack_bytes = how->chain != WAYMARK_CHAIN_STACK ? 0
			   : how->stack_bytes                ? how->stack_bytes
							     : WM_SAMPLE_STACK_DEFAULT,
	};
}

/* Passes the recorder's messages to the caller's function. */
static void api_record_say_words(const struct waymark_recording *r, char *lines)
{
	char *save = NULL;

	for (char *line = strtok_r(lines, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		wm_words_say(&r->words, "%s", line);
}

static int api_record_change_kernel(struct waymark_recording *r, const struct wm_kernel_asks *asks,
				    struct waymark_error *error)
{
	struct wm_diag diag = {.offset = -1};
	struct wm_msg_kernel_changed *now = malloc(sizeof(*now));
	int err =
	    now ? wm_tool_change_kernel(r->plan.dir, asks, r->plan.search, now, &diag) : -ENOMEM;

	if (!err)
		api_record_say_words(r, now->words);
	if (!err && now->err) {
		err = now->err;
		diag.column = now->column;
		diag.where = !now->column     ? NULL
			     : now->in_filter ? WM_RECORDER_IN_FILTER
					      : WM_RECORDER_IN_NAME;
		(void)snprintf(diag.sentence, sizeof(diag.sentence), "%s", now->sentence);
	}
	free(now);
	return err ? wm_api_fail_said(error, err, &diag) : 0;
}

/* Sends all changes to the running recorder in one message. */
static int api_record_change(struct waymark_recording *r, struct wm_recorder_events *e,
			     struct waymark_error *error)
{
	struct wm_diag diag = {.offset = -1};
	struct wm_msg_changed now = {.h = {0}};
	int err = e->later->nr ? api_record_change_kernel(r, e->later, error) : 0;

	if (err)
		return err;
	if (wm_rules_count(e->rules))
		err = wm_tool_change(r->plan.dir, e->rules, &now, &diag);
	if (err)
		return wm_api_fail_said(error, err, &diag);
	return now.unfit[0] & 1 ? wm_api_fail(error, -EINVAL,
					      "an event of that name lacks a field of the filter, "
					      "or the field has another type")
				: 0;
}

/* Prepares a change. The caller calls wm_request_done(). */
static int begin_change(const struct waymark_recording *r, struct wm_recorder_events *ret,
			struct wm_kernel_asks *asks)
{
	int err = wm_recorder_events_init(ret, wm_rules_options(r->events.rules));

	wm_request_init(asks);
	ret->later = asks;
	ret->words = &r->words;
	ret->search = r->plan.search;
	ret->of = r->events.of;
	ret->everywhere = r->events.everywhere;
	ret->single = r->single;
	return err;
}

static int api_record_want(struct wm_recorder_events *e, const char *name,
			   const struct waymark_record_how *how, struct waymark_error *error)
{
	const struct wm_recorder_wanted wanted = {
	    .glob = name,
	    .filter = how->filter,
	    .contexts = (how->with & WAYMARK_WITH_CPU ? WM_CONTEXT_CPU : 0) |
			(how->with & WAYMARK_WITH_STACK ? WM_CONTEXT_USTACK : 0),
	    .sampled = how->frequency || how->period || how->chain,
	    .outright = how->frequency || how->period || how->chain,
	    .how = sampling_how(how),
	    .every_ns = how->every_ns,
	};
	struct wm_diag diag = {.offset = -1};
	int err = wm_recorder_want(e, &wanted, &diag);

	return err ? wm_api_fail_said(error, err, &diag) : 0;
}

WM_API int waymark_record_event(struct waymark_recording *r, const char *name,
				const struct waymark_record_how *how, struct waymark_error *error)
{
	struct waymark_record_how h = WAYMARK_INIT(h);
	struct wm_recorder_events later;
	struct wm_kernel_asks asks;
	int err = r->recorder || r->is_over ? check_running(r, error) : check_before(r, error);

	if (!err && how)
		err = WM_API_COPY_IN(&h, how, every_ns, "members of waymark_record_how", error);
	if (!err)
		err = check_how(&h, error);
	if (err || !r->recorder)
		return err ? err : api_record_want(&r->events, name, &h, error);
	err = begin_change(r, &later, &asks);
	if (err)
		return wm_api_fail(error, err, "out of memory");
	err = api_record_want(&later, name, &h, error);
	if (!err)
		err = api_record_change(r, &later, error);
	wm_request_done(&asks);
	wm_recorder_events_done(&later);
	return err;
}

/*
 * Stores exclusions, which api_record_complete() applies after all other rules. Returns 0 or
 * -ENOMEM.
 */
static int keep_excluded(struct waymark_recording *r, const char *name)
{
	const char **grown = wm_arena_grow(&r->arena, r->excluded, r->nr_excluded, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	r->excluded = grown;
	grown[r->nr_excluded] = wm_arena_copy(&r->arena, name, strlen(name));
	if (!grown[r->nr_excluded])
		return -ENOMEM;
	r->nr_excluded++;
	return 0;
}

WM_API int waymark_record_exclude(struct waymark_recording *r, const char *name,
				  struct waymark_error *error)
{
	struct wm_diag diag = {.offset = -1};
	struct wm_recorder_events later;
	struct wm_kernel_asks asks;
	int err = r->recorder || r->is_over ? check_running(r, error) : check_before(r, error);

	if (err)
		return err;
	err = begin_change(r, &later, &asks);
	if (!err)
		err = wm_recorder_exclude(&later, name, &diag);
	if (err >= 0 && !r->recorder)
		err = keep_excluded(r, name);
	if (err < 0)
		err = wm_api_fail_said(error, err, &diag);
	else if (r->recorder)
		err = api_record_change(r, &later, error);
	wm_request_done(&asks);
	wm_recorder_events_done(&later);
	return err;
}

WM_API int waymark_record_trigger(struct waymark_recording *r, const char *text,
				  struct waymark_error *error)
{
	struct wm_diag diag = {.offset = -1};
	int err = check_before(r, error);

	if (err)
		return err;
	err = wm_recorder_want_trigger(&r->events, text, &diag);
	return err ? wm_api_fail_said(error, err, &diag) : 0;
}

WM_API int waymark_record_synthetic(struct waymark_recording *r, const char *text,
				    struct waymark_error *error)
{
	struct wm_diag diag = {.offset = -1};
	int err = check_before(r, error);

	if (err)
		return err;
	err = wm_recorder_want_synthetic(&r->events, text, &diag);
	return err ? wm_api_fail_said(error, err, &diag) : 0;
}

WM_API int waymark_record_stacks(struct waymark_recording *r, int of_kernel,
				 struct waymark_error *error)
{
	struct wm_diag diag = {.offset = -1};
	int err = check_before(r, error);

	if (err)
		return err;
	err = wm_recorder_want_stacks(&r->events, of_kernel, &diag);
	return err ? wm_api_fail_said(error, err, &diag) : 0;
}

WM_API int waymark_record_clock(struct waymark_recording *r, enum waymark_clock clock,
				struct waymark_error *error)
{
	struct wm_diag diag = {.offset = -1};
	int err = check_before(r, error);

	if (err)
		return err;
	if ((unsigned)clock > WAYMARK_CLOCK_MONOTONIC)
		return wm_api_fail(error, -EINVAL, "unknown clock");
	err = wm_recorder_want_clock(
	    &r->events, clock == WAYMARK_CLOCK_MONOTONIC ? WM_CLOCK_MONOTONIC : wm_clock_best(),
	    &diag);
	return err ? wm_api_fail_said(error, err, &diag) : 0;
}

/* --- lifecycle ---------------------------------------------------------------------------- */

/* Adds all program events if no event was named, then applies the exclusions. */
static int api_record_complete(struct waymark_recording *r, struct waymark_error *error)
{
	static const struct waymark_record_how all;
	struct wm_diag diag = {.offset = -1};
	int err = 0;

	r->plan.nr_asked = wm_rules_count(r->events.rules);
	if (!r->plan.nr_asked && !wm_recorder_events_more(&r->events) && !r->events.sampling)
		err = api_record_want(&r->events, "*:*", &all, error);
	for (uint32_t i = 0; !err && i < r->nr_excluded; i++) {
		err = wm_recorder_exclude(&r->events, r->excluded[i], &diag);
		err = err < 0 ? wm_api_fail_said(error, err, &diag) : 0;
	}
	wm_recorder_want_tasks(&r->events);
	return err;
}

WM_API int waymark_record_start(struct waymark_recording *r, struct waymark_error *error)
{
	struct wm_diag diag = {.offset = -1};
	int err = check_before(r, error);

	if (!err)
		err = api_record_complete(r, error);
	if (err)
		return err;
	err = wm_recorder_create(&r->plan, &r->recorder, &diag);
	if (!err)
		err = wm_recorder_begin(r->recorder, &diag);
	if (!err)
		return 0;
	if (r->recorder)
		(void)wm_recorder_finish(r->recorder);
	r->is_over = true;
	return wm_api_fail_said(error, err, &diag);
}

WM_API int waymark_record_wait(struct waymark_recording *r, int timeout_ms,
			       struct waymark_error *error)
{
	int got = wm_api_error_begin(error);

	if (got)
		return got;
	if (!r->recorder)
		return wm_api_fail(error, -EINVAL, "the recording has not started");
	got = wm_recorder_wait(r->recorder, timeout_ms);
	r->is_over |= got == 1;
	return got < 0 ? wm_api_fail(error, got, "cannot wait: %s", strerror(-got)) : got;
}

WM_API int waymark_record_stop(struct waymark_recording *r, struct waymark_error *error)
{
	int err = check_running(r, error);

	if (err)
		return err == -ESRCH ? 0 : err;
	err = wm_recorder_finish(r->recorder);
	r->is_over = true;
	return err ? wm_api_fail(error, err, "cannot wait: %s", strerror(-err)) : 0;
}

WM_API int waymark_record_snapshot(struct waymark_recording *r, struct waymark_error *error)
{
	struct wm_diag diag = {.offset = -1};
	struct wm_msg_snapshot answer;
	int err = check_running(r, error);

	if (err)
		return err;
	err = wm_tool_snapshot(r->plan.dir, &answer, &diag);
	return err ? wm_api_fail_said(error, err, &diag) : 0;
}

WM_API int waymark_record_mark(struct waymark_recording *r, const char *text,
			       struct waymark_error *error)
{
	int err = check_running(r, error);

	if (err)
		return err;
	if (!text[0])
		return wm_api_fail(error, -EINVAL, "the text of a mark is empty");
	err = r->events.kernel ? wm_recorder_kernel_mark(r->events.kernel, text, strlen(text))
			       : -EINVAL;
	switch (err) {
	case 0:
		return 0;
	case -EINVAL:
		return wm_api_fail(error, err,
				   "marks are not recorded: add the event 'ftrace:print' before "
				   "the recording starts");
	case -EBADF:
	case -ENOENT: /* the instance was removed */
		return wm_api_fail(error, -ESRCH, "the recording is over");
	case -E2BIG:
		return wm_api_fail(error, err,
				   "the kernel recorded only the beginning of the text");
	default:
		return wm_api_fail(error, err, "cannot write a mark: %s", strerror(-err));
	}
}

WM_API int waymark_record_totals(const struct waymark_recording *r, struct waymark_totals *ret)
{
	struct wm_recorder_result result = {.status = -1};
	const struct wm_recording_totals *t = &result.totals;
	struct waymark_totals totals;

	if (r->recorder)
		wm_recorder_result(r->recorder, &result);
	totals = (struct waymark_totals){
	    .events = t->events,
	    .kernel_events = t->sources[WM_SOURCE_KERNEL].events,
	    .samples = t->sources[WM_SOURCE_SAMPLES].events,
	    .lost = wm_recording_lost(t),
	    .bytes = t->bytes,
	    .duration_ns = t->duration_ns,
	    .nr_processes = t->nr_processes,
	    .command = r->recorder ? wm_recorder_command(r->recorder) : 0,
	    .status = result.status,
	    .is_over = result.done || result.is_lost,
	    .err = result.is_lost ? -ECHILD : result.err,
	};
	return WM_API_COPY_OUT(ret, &totals, reserved);
}

WM_API int waymark_record_loss(const struct waymark_recording *r, uint32_t i,
			       struct waymark_loss *ret)
{
	struct wm_recorder_result result = {.status = -1};
	struct waymark_loss loss;

	if (i >= WM_LOST_NR)
		return -ERANGE;
	if (r->recorder)
		wm_recorder_result(r->recorder, &result);
	loss = (struct waymark_loss){
	    .count = result.totals.lost[i],
	    .begin_ns = INT64_MIN,
	    .end_ns = INT64_MAX,
	    .cause = wm_lost_name((enum wm_lost)i),
	    .stream = WAYMARK_NO_NUMBER,
	};
	return WM_API_COPY_OUT(ret, &loss, is_packets);
}
