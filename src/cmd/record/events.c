/* SPDX-License-Identifier: MIT */
/* events.c - see events.h: turns options into a recorder's plan. */
#include "cmd/record/events.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "cmd/exit.h"
#include "cmd/say.h"
#include "event/context.h"
#include "event/filter.h"
#include "kernel/counters.h"

#define BUFFER_DEFAULT ((uint64_t)64 << 20)
#define CLOCK_PERIOD_MIN                                                                           \
	10000u /* cycles or ns: the shortest period that the kernel accepts for its clock */

int wm_record_on_context(const struct wm_option *o, const char *argument, void *values,
			 struct wm_diag *diag)
{
	static const struct {
		const char *name;
		uint32_t bit;
	} names[] = {{"cpu", WM_CONTEXT_CPU}, {"ustack", WM_CONTEXT_USTACK}};
	struct wm_listed_event *w;
	int err = wm_listed_last(o, values, &w, diag);

	if (err)
		return err;
	for (const char *p = argument; *p;) {
		size_t n = strcspn(p, ","), i;

		for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			if (n == strlen(names[i].name) && !strncmp(p, names[i].name, n))
				break;
		if (i == sizeof(names) / sizeof(names[0]))
			return wm_diag_set(diag, -EINVAL, NULL, -1,
					   "unknown context '%.*s': use cpu or ustack", (int)n, p);
		w->contexts |= names[i].bit;
		p += n + (p[n] == ',');
	}
	return 0;
}

int wm_record_on_trigger(const struct wm_option *o, const char *argument, void *values,
			 struct wm_diag *diag)
{
	(void)o;
	return wm_record_more_trigger(&((struct wm_record_asked *)values)->more, argument, diag);
}

int wm_record_on_synthetic(const struct wm_option *o, const char *argument, void *values,
			   struct wm_diag *diag)
{
	(void)o;
	return wm_record_more_synthetic(&((struct wm_record_asked *)values)->more, argument, diag);
}

int wm_record_on_stacks(const struct wm_option *o, const char *argument, void *values,
			struct wm_diag *diag)
{
	(void)o;
	return wm_record_more_stacks(&((struct wm_record_asked *)values)->more, argument, diag);
}

int wm_record_on_rate(const struct wm_option *o, const char *argument, void *values,
		      struct wm_diag *diag)
{
	struct wm_listed_event *w;
	int err = wm_listed_last(o, values, &w, diag);

	return err ? err : wm_record_sample_rate(&w->how, argument, o->letter == 'F', diag);
}

int wm_record_on_every(const struct wm_option *o, const char *argument, void *values,
		       struct wm_diag *diag)
{
	struct wm_listed_event *w;
	int err = wm_listed_last(o, values, &w, diag);

	return err ? err : wm_record_proc_every(&w->every_ns, argument, diag);
}

int wm_record_on_chain(const struct wm_option *o, const char *argument, void *values,
		       struct wm_diag *diag)
{
	struct wm_listed_event *w;
	int err = wm_listed_last(o, values, &w, diag);

	return err ? err : wm_record_sample_chain(&w->how, argument, diag);
}

int wm_record_on_cpus(const struct wm_option *o, const char *argument, void *values,
		      struct wm_diag *diag)
{
	struct wm_record_asked *r = values;
	int err;

	(void)o;
	free(r->cpus);
	r->cpus = NULL;
	err = wm_cpus_parse(argument, &r->cpus, &r->nr_cpus);
	return err ? wm_diag_set(diag, err, NULL, -1, "'%s' is not a list of CPUs such as '0-3,8'",
				 argument)
		   : wm_recorder_check_cpus(r->cpus, r->nr_cpus, diag);
}

/* ------------------------------------------------------------------ *
 * The plan
 * ------------------------------------------------------------------ */

/*
 * Checks a filter's syntax. Returns 0, or -EINVAL after printing a message with a caret under the
 * error.
 */
static int record_events_check_filter(const char *text)
{
	struct wm_diag diag = {.offset = -1};
	unsigned char *code = NULL;
	size_t bytes;
	int err = wm_filter_parse(text, &code, &bytes, &diag);

	free(code);
	if (err < 0)
		wm_say_caret(text, &diag);
	return err;
}

static size_t record_events_nr_samples(const struct wm_recorder_events *e)
{
	return e->sampling ? wm_sampling_count(e->sampling) : 0;
}

/* Returns the text that diag->column refers to, or NULL. */
static const char *record_events_text_of(const struct wm_recorder_wanted *w,
					 const struct wm_diag *diag)
{
	if (!diag->where)
		return NULL;
	return !strcmp(diag->where, WM_RECORDER_IN_NAME) ? w->glob : w->filter;
}

static int say_unwanted(int err, const char *text, const struct wm_diag *diag)
{
	if (text && diag->column)
		wm_say_caret(text, diag);
	else
		wm_say("%s", wm_words_of(err, diag));
	if (err == -ENOENT)
		return WM_EXIT_NO_MATCH;
	return err == -EINVAL || err == -EOPNOTSUPP || err == -E2BIG || err == -EILSEQ ||
		       err == -EEXIST
		   ? WM_EXIT_USAGE
		   : (int)wm_exit_of(err);
}

/* What the last -e named, given the numbers of rules and samples before it. */
static unsigned record_events_kind(const struct wm_record_asked *r, const char *names,
				   uint32_t nr_rules, size_t nr_samples)
{
	const struct wm_recorder_events *e = &r->events;
	uint32_t nr = wm_rules_count(e->rules);

	if (nr > nr_rules && nr <= WM_RULES_NR_MAX && !e->in_kernel[nr - 1])
		return WM_RECORD_PROGRAMS;
	if (record_events_nr_samples(e) > nr_samples)
		return WM_RECORD_SAMPLES;
	names += strncmp(names, "kernel:", strlen("kernel:")) ? 0 : strlen("kernel:");
	return strncmp(names, "proc:", strlen("proc:")) ? WM_RECORD_KERNEL : WM_RECORD_PROC;
}

/*
 * Adds one -e, merged with the options before any -e. Returns 0, or an exit status after a message.
 */
static int record_events_want(struct wm_record_asked *r, const struct wm_listed_event *own)
{
	const struct wm_listed_event *general = &r->list.events[0];
	struct wm_recorder_wanted w = {
	    .glob = own->names,
	    .contexts = general->contexts | own->contexts,
	    .outright = own->how.frequency || own->how.period || own->how.chain,
	    .every_ns = own->every_ns ? own->every_ns : general->every_ns,
	};
	uint32_t nr_rules = wm_rules_count(r->events.rules);
	size_t nr_samples = record_events_nr_samples(&r->events);
	struct wm_diag diag = {.offset = -1};
	unsigned kind;
	char *filter;
	int err, status;

	filter = wm_recorder_join_filters(general->filter, own->filter, &err);
	w.filter = filter;
	w.sampled = wm_record_sample_join(&general->how, &own->how, &w.how);
	if (!err)
		err = wm_recorder_want(&r->events, &w, &diag);
	status = err ? say_unwanted(err, record_events_text_of(&w, &diag), &diag) : 0;
	free(filter);
	if (status)
		return status;
	kind = record_events_kind(r, own->names, nr_rules, nr_samples);
	r->kinds |= kind;
	return r->change ? 0 : wm_record_check_own_uses(own, kind);
}

/*
 * Records the events of the libraries of --preload, too, when other events are named. Returns 0, or
 * an exit status after a message.
 */
static int want_helpers(struct wm_record_asked *r)
{
	int status = 0;

	if (!r->preload || !strcmp(r->preload, "none") || wm_record_names_helpers(r))
		return 0;
	for (const char *p = r->preload; *p && !status;) {
		size_t n = strcspn(p, ",");
		struct wm_listed_event own = {0};
		char names[64];

		(void)snprintf(names, sizeof(names), "user:%.*s:*", (int)n, p);
		own.names = names;
		if (n)
			status = record_events_want(r, &own);
		p += n + (p[n] == ',');
	}
	return status;
}

static int exclude(struct wm_record_asked *r, const struct wm_listed_event *w)
{
	struct wm_diag diag = {.offset = -1};
	int err = wm_recorder_exclude(&r->events, w->names, &diag);

	return err < 0 ? say_unwanted(err, w->names, &diag) : 0;
}

static bool record_events_names_some(const struct wm_record_asked *r)
{
	for (uint32_t i = 1; i < r->list.nr; i++)
		if (!r->list.events[i].exclude)
			return true;
	return false;
}

/*
 * Checks -F, -c and -g before the first -e. They apply to the default event, a clock, which
 * is not recorded when other events are named.
 */
static int check_default(const struct wm_record_asked *r, const struct wm_sampling_how *how)
{
	if (record_events_names_some(r) && (r->events.kernel || how->period)) {
		wm_say("-F, -c and -g before the first -e apply to sampled events, but each event "
		       "named here is recorded directly: put them after the -e they apply to");
		return WM_EXIT_USAGE;
	}
	if (how->period && how->period < CLOCK_PERIOD_MIN) {
		wm_say("-c %" PRIu64 " without -e counts a clock, whose shortest period is %u: "
		       "name an event with -e, or use -F",
		       how->period, CLOCK_PERIOD_MIN);
		return WM_EXIT_USAGE;
	}
	return 0;
}

/* Adds the default event when -F, -c or -g is given before any -e and no event is sampled. */
static int sample_default(struct wm_record_asked *r)
{
	const struct wm_sampling_how none = {0};
	struct wm_diag diag = {.offset = -1};
	struct wm_sampling_how how;
	int err, status;

	if (r->events.sampling || r->change ||
	    !wm_record_sample_join(&r->list.events[0].how, &none, &how))
		return 0;
	status = check_default(r, &how);
	if (status)
		return status;
	err = wm_recorder_want_usual(&r->events, &how, &diag);
	r->kinds |= WM_RECORD_SAMPLES;
	if (err)
		wm_say("%s", wm_words_of(err, &diag));
	return err ? (int)wm_exit_of(err) : 0;
}

/*
 * Adds the events given with -e, or all events, then applies each -x. Returns 0, or an exit status
 * after a message.
 */
static int want_all(struct wm_record_asked *r, uint32_t *ret_nr_asked)
{
	const struct wm_listed_event everything = {.names = "*:*"};
	struct wm_diag diag = {.offset = -1};
	const char *text;
	int err = wm_record_more_begin(&r->more, &r->events, &text, &diag);
	int status = err ? say_unwanted(err, text, &diag) : 0;

	for (uint32_t i = 1; !status && i < r->list.nr; i++)
		if (!r->list.events[i].exclude)
			status = record_events_want(r, &r->list.events[i]);
	if (!status)
		status = sample_default(r);
	if (!status && (wm_rules_count(r->events.rules) || wm_recorder_events_more(&r->events)))
		status = want_helpers(r);
	*ret_nr_asked = wm_rules_count(r->events.rules);
	if (!status && !*ret_nr_asked && !r->change && !wm_recorder_events_more(&r->events))
		status = record_events_want(r, &everything);
	for (uint32_t i = 1; !status && i < r->list.nr; i++)
		if (r->list.events[i].exclude)
			status = exclude(r, &r->list.events[i]);
	if (r->more.nr_triggers || r->more.nr_synthetics)
		r->kinds |= WM_RECORD_KERNEL;
	return status || r->change ? status : wm_record_check_uses(r);
}

uint64_t wm_record_asked_buffer(const struct wm_record_asked *r)
{
	return r->buffer_bytes ? r->buffer_bytes : BUFFER_DEFAULT;
}

/* Finds the events to record. Returns 0, or an exit status after a message. */
static int record_events_find(struct wm_record_asked *r, char *const *command,
			      uint32_t *ret_nr_asked)
{
	const struct wm_rules_options o = {
	    .pool_mode = (uint32_t)r->mode,
	    .buffer_bytes = wm_record_asked_buffer(r),
	    .chunk_bytes = wm_rules_chunk_bytes(wm_record_asked_buffer(r)),
	    .block_ms = WM_RULES_BLOCK_MS,
	    .clock_kind = wm_clock_best(),
	};

	if (wm_listed_init(&r->list) || wm_recorder_events_init(&r->events, &o) < 0)
		return WM_EXIT_FAILED;
	r->events.words = &wm_say_words;
	r->events.search = getenv("PATH");
	r->events.command = command;
	r->events.kernel_bytes = r->buffer_bytes;
	r->events.cpus = r->cpus;
	r->events.nr_cpus = r->nr_cpus;
	r->events.of = r->pids.nr ? r->pids.ids[0] : 0;
	r->events.single = r->single;
	r->events.everywhere = r->all;
	r->events.quiet = r->quiet;
	wm_request_init(&r->later);
	r->events.later = r->change ? &r->later : NULL;
	for (uint32_t i = 0; i < r->list.nr; i++)
		if (r->list.events[i].filter &&
		    record_events_check_filter(r->list.events[i].filter) < 0)
			return WM_EXIT_USAGE;
	return want_all(r, ret_nr_asked);
}

/*
 * Finds the processes of the threads given with -t, and builds the filter for -t and -C. Returns 0
 * or an exit status.
 */
static int record_events_find_whose(struct wm_record_asked *r)
{
	struct wm_diag diag = {.offset = -1};
	int err =
	    wm_recorder_processes_of(r->tids.ids, r->tids.nr, &r->pids.ids, &r->pids.nr, &diag);

	if (!err)
		r->single =
		    wm_recorder_single_filter(r->tids.ids, r->tids.nr, r->cpus, r->nr_cpus, &err);
	if (err)
		wm_say("%s", wm_words_of(err, &diag));
	return err ? (int)wm_exit_of(err) : WM_EXIT_DONE;
}

int wm_record_asked_plan(struct wm_record_asked *r, char *const *command,
			 struct wm_recorder_plan *ret)
{
	int status = record_events_find_whose(r),
	    err = wm_recorder_own_folder(r->folder, sizeof(r->folder));

	*ret = (struct wm_recorder_plan){
	    .events = &r->events,
	    .dir = r->change ? r->change : r->dir,
	    .format = (enum wm_trace_format)r->format,
	    .preload = r->preload,
	    .all = r->all,
	    .quiet = r->quiet,
	    .pids = r->pids.ids,
	    .nr_pids = r->pids.nr,
	    .tids = r->tids.ids,
	    .nr_tids = r->tids.nr,
	    .cpus = r->cpus,
	    .nr_cpus = r->nr_cpus,
	    .command = command,
	    .words = &wm_say_words,
	    .search = getenv("PATH"),
	    .runtime_dir = getenv("XDG_RUNTIME_DIR"),
	    .folder = r->folder,
	    .environment = environ,
	};
	if (!status)
		status = record_events_find(r, command, &ret->nr_asked);
	if (status)
		return status == WM_EXIT_FAILED && command ? WM_EXIT_BEFORE_COMMAND : status;
	if (r->change)
		return WM_EXIT_DONE;
	if (err < 0) {
		wm_say_cannot("find", "the folder of this executable", err);
		return WM_EXIT_FAILED;
	}
	wm_recorder_want_tasks(&r->events);
	return WM_EXIT_DONE;
}

void wm_record_asked_done(struct wm_record_asked *r)
{
	if (r->events.later)
		wm_request_done(&r->later);
	wm_recorder_events_done(&r->events);
	free(r->cpus);
	free(r->single);
	wm_listed_done(&r->list);
	free(r->pids.ids);
	free(r->tids.ids);
}
