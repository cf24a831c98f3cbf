/* SPDX-License-Identifier: MIT */
/* events.c - turns names into rules and enabled events; see events.h. */
#include "control/recorder/events.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "base/plural.h"
#include "base/text.h"
#include "control/recorder/misspelt_int.h"
#include "event/context.h"
#include "kernel/event_name.h"
#include "kernel/privilege.h"
#include "kernel/tracefs.h"

#define RATE_DEFAULT  4000 /* samples per second when the user gave no rate */
#define MAX_RATE_FILE "/proc/sys/kernel/perf_event_max_sample_rate"
#define FUNCTIONS     "func:kernel:"
#define GRAPH         ":graph"
#define RETURN        ":return"

int wm_recorder_events_init(struct wm_recorder_events *e, const struct wm_rules_options *o)
{
	*e = (struct wm_recorder_events){.clock = o->clock_kind};
	return wm_rules_create(o, &e->rules);
}

void wm_recorder_events_done(struct wm_recorder_events *e)
{
	wm_recorder_kernel_destroy(e->kernel);
	wm_sampling_destroy(e->sampling);
	wm_rules_destroy(e->rules);
	for (unsigned i = 0; i < WM_SOURCES_NR; i++)
		if (e->options[i])
			wm_sources[i]->forget(e->options[i]);
	*e = (struct wm_recorder_events){0};
}

/* --- kernel or program -------------------------------------------------------------------- */

static bool recorder_events_begins(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

static bool recorder_events_ends(const char *s, const char *with)
{
	size_t n = strlen(s), back = strlen(with);

	return n > back && !strcmp(s + n - back, with);
}

/*
 * Whether the part before the colon has wildcards: "*:*" matches program events, but not 2,000
 * tracepoints.
 */
static bool is_vague(const char *glob)
{
	size_t system = strcspn(glob, ":");

	return strcspn(glob, "*?[") < system;
}

bool wm_recorder_is_kernels(const char *glob, const char **ret_user)
{
	static const char *const kernels[] = {
	    "kernel:", "syscall:",   "uprobe:", "uretprobe:", "usdt:",
	    "kprobe:", "kretprobe:", "func:",   "eprobe:",    "proc:"};

	*ret_user = glob;
	if (recorder_events_begins(glob, "user:")) {
		*ret_user = glob + strlen("user:");
		return false;
	}
	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
		if (!recorder_events_begins(glob, kernels[i]))
			continue;
		*ret_user = NULL;
		return true;
	}
	return !is_vague(glob);
}

/*
 * Whether the name is ftrace:print, which tracefs does not list as an event: it has its own file to
 * enable it.
 */
static bool is_marker(const char *glob)
{
	return !strcmp(glob, "ftrace:print") || !strcmp(glob, "kernel:ftrace:print");
}

/*
 * Whether the name selects the kernel's function tracer: "func:kernel:GLOB", unless it has the form
 * of a probe.
 */
static bool is_functions(const char *glob)
{
	if (recorder_events_begins(glob, "kernel:"))
		glob += strlen("kernel:");
	return recorder_events_begins(glob, FUNCTIONS) && !recorder_events_ends(glob, RETURN) &&
	       glob[strlen(glob) - 1] != ')';
}

/* --- events of the kernel ---------------------------------------------------------------- */

static int make_kernel(struct wm_recorder_events *e, struct wm_diag *diag)
{
	int err;

	if (e->kernel)
		return 0;
	err = wm_recorder_kernel_create(e->clock, e->kernel_bytes, &e->kernel, diag);
	if (!err && e->running)
		wm_recorder_kernel_change(e->kernel);
	return err;
}

/*
 * Reports events that lack a field in their filter, and so never pass it: an error if no other
 * event matched, else a message.
 */
static int say_lacking(const struct wm_recorder_events *e, const char *glob, int added,
		       size_t nr_lacking)
{
	if (!nr_lacking)
		return added;
	if (!added)
		return -EINVAL; /* diag describes the last event */
	wm_words_say(e->words, "%zu %s of '%s' %s a field of the filter, and will not be recorded",
		     nr_lacking, wm_plural(nr_lacking, "event", "events"), glob,
		     wm_plural(nr_lacking, "lacks", "lack"));
	return added;
}

/*
 * Adds the events that can be recorded in a ring; a counter is refused only if it was named
 * exactly.
 */
static int add_defs(struct wm_recorder_events *e, const struct wm_event_defs *defs,
		    const struct wm_recorder_wanted *w, bool outright, struct wm_diag *diag)
{
	size_t nr_lacking = 0;
	int added = 0;

	for (size_t i = 0, places; i < defs->nr; i += places) {
		int err;

		*diag = (struct wm_diag){.offset = -1};
		places = wm_recorder_kernel_places(defs, i);
		err = wm_recorder_kernel_add(e->kernel, &defs->defs[i], places, w->filter, diag);
		nr_lacking += err == -ENOENT && w->filter;
		if ((err == -EOPNOTSUPP && !outright) || (err == -ENOENT && w->filter))
			continue;
		if (err)
			return err;
		added++;
	}
	return say_lacking(e, w->glob, added, nr_lacking);
}

/* Adds functions through the function tracer, or the graph tracer with ":graph". */
static int recorder_events_add_functions(struct wm_recorder_events *e,
					 const struct wm_recorder_wanted *w, struct wm_diag *diag)
{
	char *name = strdup(strstr(w->glob, FUNCTIONS) + strlen(FUNCTIONS));
	bool graph = name && recorder_events_ends(name, GRAPH);
	int err;

	if (!name)
		return -ENOMEM;
	if (graph)
		name[strlen(name) - strlen(GRAPH)] = '\0';
	if (w->filter)
		err = wm_diag_set(diag, -EINVAL, NULL, -1,
				  "functions are selected by name: they have no fields for "
				  "--filter");
	else
		err = wm_recorder_kernel_functions(e->kernel, name, graph, diag);
	free(name);
	return err ? err : 1;
}

/*
 * Reports, once per probe for all its places, the arguments that the kernel cannot fetch, and the
 * places that are not probed.
 */
static void recorder_events_say_left_out(const struct wm_recorder_events *e,
					 const struct wm_event_defs *defs)
{
	for (size_t i = 0; i < defs->nr; i += wm_recorder_kernel_places(defs, i)) {
		size_t places = wm_recorder_kernel_places(defs, i), k = 0;

		if (defs->defs[i + places - 1].places_left_out)
			wm_words_say(e->words, "%s: %s", defs->defs[i].name,
				     defs->defs[i + places - 1].places_left_out);
		while (k < places && !defs->defs[i + k].left_out)
			k++;
		if (k < places)
			wm_words_say(e->words,
				     "%s is recorded without one or more of its arguments: %s",
				     defs->defs[i].name, defs->defs[i + k].left_out);
	}
}

/* --- sampling -------------------------------------------------------------------------------- */

/*
 * Sets the default rate: every hit for a tracepoint or breakpoint; for other events, perf's default
 * number of samples per second.
 */
static void set_rate(struct wm_sampling_how *how, const struct wm_event_def *def)
{
	int64_t most;

	if (how->frequency || how->period)
		return;
	if (def->type == PERF_TYPE_TRACEPOINT || def->type == PERF_TYPE_BREAKPOINT) {
		how->period = 1;
		return;
	}
	how->frequency = RATE_DEFAULT;
	if (wm_privilege_setting(MAX_RATE_FILE, &most) == 0 && most > 0 && most < RATE_DEFAULT)
		how->frequency = (uint64_t)most;
}

static void say_narrowed(const struct wm_recorder_events *e, const struct wm_event_def *def)
{
	struct wm_privilege p;

	wm_privilege_read(&p);
	wm_words_say(e->words,
		     "%s is sampled in user space only: kernel samples need more privilege "
		     "(kernel.perf_event_paranoid is %" PRId64
		     "); %s, or: sudo sysctl kernel.perf_event_paranoid=1",
		     def->name, p.paranoid, wm_privilege_hint(&p));
}

static int recorder_events_sample(struct wm_recorder_events *e, const struct wm_event_def *def,
				  const char *filter, const struct wm_sampling_how *asked,
				  struct wm_diag *diag)
{
	struct wm_sampling_how how = *asked;
	int got = 0;

	if (!e->sampling)
		got = wm_sampling_create(e->clock, e->cpus, e->nr_cpus, &e->sampling);
	if (e->sampling)
		wm_sampling_set_buffer(e->sampling, e->kernel_bytes);
	set_rate(&how, def);
	if (!got)
		got = wm_sampling_add(e->sampling, def, filter, &how, e->everywhere, diag);
	if (got == 1)
		say_narrowed(e, def);
	return got < 0 ? got : 0;
}

static int sample_defs(struct wm_recorder_events *e, const struct wm_event_defs *defs,
		       const struct wm_recorder_wanted *w, struct wm_diag *diag)
{
	size_t nr_lacking = 0;
	int added = 0;

	for (size_t i = 0; i < defs->nr; i++) {
		int err;

		*diag = (struct wm_diag){.offset = -1};
		err = recorder_events_sample(e, &defs->defs[i], w->filter, &w->how, diag);
		nr_lacking += err == -ENOENT && w->filter;
		if (err == -ENOENT && w->filter)
			continue;
		if (err)
			return err;
		added++;
	}
	return say_lacking(e, w->glob, added, nr_lacking);
}

/* Whether events of this family can only be recorded by sampling. */
static bool is_counter(const struct wm_event_def *def)
{
	return def->family >= WM_FAMILY_SOFTWARE && def->family <= WM_FAMILY_BREAKPOINT;
}

/*
 * Whether to sample the events. Probes and other events that are recorded at each hit are sampled
 * only on explicit request; a counter, only if the user named it rather than matched it with a
 * wildcard.
 */
static bool can_sample(const struct wm_event_defs *defs, const struct wm_recorder_wanted *w)
{
	if (!defs->nr)
		return false;
	if (!w->sampled)
		return is_counter(defs->defs) && !wm_glob_is_pattern(w->glob, strlen(w->glob));
	return w->outright || defs->defs[0].family <= WM_FAMILY_BREAKPOINT;
}

/* Samples the first of these events that the machine has. */
int wm_recorder_want_usual(struct wm_recorder_events *e, const struct wm_sampling_how *how,
			   struct wm_diag *diag)
{
	static const char *const names[] = {"cpu:cycles", "sw:cpu-clock"};
	struct wm_event_space space;
	struct wm_event_defs defs;
	int got = wm_event_space_open(&space, e->search);

	if (got < 0)
		return got;
	wm_event_defs_init(&defs);
	got = -ENOENT;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && got < 0; i++) {
		got = wm_event_name_resolve(&space, names[i], &defs, diag);
		if (got > 0)
			got = recorder_events_sample(e, &defs.defs[defs.nr - 1], NULL, how, diag);
		if (got >= 0 && !e->quiet)
			wm_words_say(e->words, "sampling %s%s", names[i],
				     i ? " (cpu:cycles is not available here)" : "");
	}
	wm_event_defs_done(&defs);
	wm_event_space_close(&space);
	return got < 0 ? got : 0;
}

/* --- other sources of the pump ---------------------------------------------------------------- */

/* The index of a name's source; WM_SOURCES_NR: none. */
static unsigned find_source(const char *name, const struct wm_event_def *def)
{
	unsigned i = 0;

	while (i < WM_SOURCES_NR && !(wm_sources[i]->takes && wm_sources[i]->takes(name, def)))
		i++;
	return i;
}

static int refuse_later(const char *name, struct wm_diag *diag)
{
	return wm_diag_set(diag, -EOPNOTSUPP, NULL, -1,
			   "'%.120s' can be recorded only from the beginning of a recording: "
			   "start a new one",
			   name);
}

static int want_of(struct wm_recorder_events *e, unsigned source,
		   const struct wm_recorder_wanted *w, const struct wm_event_defs *defs,
		   struct wm_diag *diag)
{
	const struct wm_source_wanted wanted = {
	    .name = w->glob,
	    .filter = w->filter,
	    .defs = defs->defs,
	    .nr_defs = defs->nr,
	    .every_ns = w->every_ns,
	    .sampled = w->sampled && w->outright,
	};

	if (e->running)
		return refuse_later(w->glob, diag);
	return wm_sources[source]->want(&e->options[source], &wanted, diag);
}

/* --- one name --------------------------------------------------------------------------------- */

/* Adds the events that a name selects. Returns their number or -errno. */
static int recorder_events_switch_on(struct wm_recorder_events *e,
				     const struct wm_recorder_wanted *w,
				     const struct wm_event_defs *defs, bool outright,
				     struct wm_diag *diag)
{
	unsigned source = find_source(w->glob, defs->nr ? &defs->defs[0] : NULL);
	int err;

	if (source < WM_SOURCES_NR)
		return want_of(e, source, w, defs, diag);
	if (can_sample(defs, w))
		return sample_defs(e, defs, w, diag);
	if (w->sampled && w->outright && !defs->nr)
		return wm_diag_set(diag, -EINVAL, NULL, -1,
				   "'%.120s' is recorded each time: omit -F and -c, and use "
				   "--stacks kernel,user instead of -g",
				   w->glob);
	err = make_kernel(e, diag);
	if (err)
		return err;
	if (is_functions(w->glob) && !defs->nr)
		return recorder_events_add_functions(e, w, diag);
	if (!is_marker(w->glob))
		return add_defs(e, defs, w, outright, diag);
	err = wm_recorder_kernel_add_markers(e->kernel, w->filter, diag);
	return err ? err : 1;
}

/* Sets diag->where to the name or the filter, if diag has a column. */
static int wrong_in(int err, const char *where, struct wm_diag *diag)
{
	diag->where = diag->column ? where : NULL;
	return err;
}

/* Refuses events that can only start together with a recording. */
static int check_later(const struct wm_recorder_wanted *w, const struct wm_event_defs *defs,
		       struct wm_diag *diag)
{
	if (!defs->nr)
		return refuse_later(w->glob, diag);
	if (find_source(w->glob, &defs->defs[0]) < WM_SOURCES_NR || w->sampled)
		return wm_diag_set(diag, -EOPNOTSUPP, NULL, -1,
				   "%.120s can be %s only from the beginning of a recording: "
				   "start a new one",
				   defs->defs[0].name, w->sampled ? "sampled" : "read");
	return 0;
}

/*
 * Stores the request, because the recorder will resolve the name itself. Returns the number of
 * events found here, or -errno.
 */
static int ask_later(struct wm_recorder_events *e, const struct wm_recorder_wanted *w,
		     const struct wm_event_defs *defs, struct wm_diag *diag)
{
	int err = check_later(w, defs, diag);

	if (!err && !defs->defs[0].label && !defs->defs[0].system)
		err = wm_diag_set(diag, -EOPNOTSUPP, NULL, -1,
				  "%.120s can be counted ('waymark stat'), or sampled from the "
				  "beginning of a recording: start a new one with -F HZ or -c N",
				  defs->defs[0].name);
	if (!err)
		err = wm_request_add(e->later, w->glob, w->filter, false, diag);
	return err ? err : (int)defs->nr;
}

/*
 * Whether options were given for events of programs that these cannot have: they are recorded at
 * each hit, with the frames that the program walks by itself.
 */
static bool has_sampling(const struct wm_recorder_wanted *w)
{
	return w->outright && (w->how.period || w->how.frequency || w->how.chain == WM_CHAIN_STACK);
}

static int refuse_sampling(const struct wm_recorder_wanted *w, struct wm_diag *diag)
{
	return wm_diag_set(diag, -EINVAL, NULL, -1,
			   "'%.120s' is not a kernel event: program events are recorded every "
			   "time they occur; omit -F and -c, and use -g without dwarf",
			   w->glob);
}

/*
 * Whether a name means an event that --synthetic created. It is recorded without being named, and
 * all of it: the kernel's trigger decides what it writes.
 */
static bool is_made_here(const struct wm_recorder_events *e, const char *glob)
{
	if (recorder_events_begins(glob, "kernel:"))
		glob += strlen("kernel:");
	return e->kernel && wm_recorder_kernel_has_synthetic(e->kernel, glob);
}

static int refuse_made_here(const char *glob, struct wm_diag *diag)
{
	return wm_diag_set(
	    diag, -EINVAL, NULL, -1,
	    "'%.120s' is created by --synthetic and cannot have a --filter; give the "
	    "trigger that writes it a condition (if ...)",
	    glob);
}

/*
 * Adds kernel events. Returns the number added; 0 if the kernel has none and `user` may be a
 * program event; or -errno.
 */
static int want_kernel(struct wm_recorder_events *e, const struct wm_recorder_wanted *w,
		       const char *user, struct wm_diag *diag)
{
	char root[WM_EVENT_ROOT_BYTES];
	struct wm_event_space space;
	struct wm_event_defs defs;
	int got = wm_event_space_open(&space, e->search);
	bool made;

	if (got < 0)
		return got;
	space.root = e->of ? wm_event_space_root(e->of, root) : NULL;
	wm_event_defs_init(&defs);
	made = is_made_here(e, w->glob);
	got = is_marker(w->glob) || is_functions(w->glob) ||
		      find_source(w->glob, NULL) < WM_SOURCES_NR
		  ? 1
		  : wm_event_name_resolve(&space, w->glob, &defs, diag);
	if (made && w->filter) {
		got = refuse_made_here(w->glob, diag);
	} else if (made && got == -ENOENT) {
		got = 1;
	} else if (got > 0) {
		got = e->later ? ask_later(e, w, &defs, diag)
			       : recorder_events_switch_on(e, w, &defs, !user, diag);
		if (got >= 0 && !e->later)
			recorder_events_say_left_out(e, &defs);
		else if (got < 0)
			(void)wrong_in(got, WM_RECORDER_IN_FILTER, diag);
		/*
		 * In a running recorder, the requesting command has already found the program
		 * event.
		 */
	} else if (got == -ENOENT && user && !e->running &&
		   wm_recorder_is_misspelt(e, &space, w->glob, diag)) {
		got = wm_recorder_refuse_misspelt(w->glob, diag);
	} else if (got == -ENOENT && user && !e->running && has_sampling(w)) {
		got = refuse_sampling(w, diag);
	} else if (user && !e->running) {
		got = 0;
	} else {
		got = wrong_in(got ? got : -ENOENT, WM_RECORDER_IN_NAME, diag);
	}
	wm_event_defs_done(&defs);
	wm_event_space_close(&space);
	return got;
}

/* Adds a rule for programs; its filter is combined with the filter common to all rules. */
static int recorder_events_add_rule(struct wm_recorder_events *e,
				    const struct wm_recorder_wanted *w, const char *glob,
				    struct wm_diag *diag)
{
	uint32_t contexts = w->contexts;
	struct wm_text both;
	int got = 0;

	if (w->outright && w->how.chain)
		contexts |= WM_CONTEXT_USTACK;
	wm_text_init(&both);
	if (w->filter && e->single)
		wm_text_f(&both, "(%s) && (%s)", w->filter, e->single);
	else if (w->filter || e->single)
		wm_text_str(&both, w->filter ? w->filter : e->single);
	if (both.failed)
		got = -ENOMEM;
	else
		got = wm_rules_add(e->rules, glob, both.data, contexts, WM_RULES_ALL_LEVELS, diag);
	e->user_stacks |= got >= 0 && (contexts & WM_CONTEXT_USTACK);
	wm_text_done(&both);
	return got;
}

int wm_recorder_want(struct wm_recorder_events *e, const struct wm_recorder_wanted *w,
		     struct wm_diag *diag)
{
	const char *user;
	uint32_t rule;
	int got = 0;

	if (wm_recorder_is_kernels(w->glob, &user))
		got = want_kernel(e, w, user, diag);
	else if (has_sampling(w))
		got = refuse_sampling(w, diag);
	if (got < 0 || e->kernel_only || !user)
		return got < 0 ? got : 0;
	rule = wm_rules_count(e->rules);
	if (rule < WM_RULES_NR_MAX)
		e->in_kernel[rule] = got > 0;
	got = recorder_events_add_rule(e, w, user, diag);
	return got < 0 ? wrong_in(got, WM_RECORDER_IN_FILTER, diag) : 0;
}

/* --- other facilities ------------------------------------------------------------------------ */

int wm_recorder_want_clock(struct wm_recorder_events *e, enum wm_clock_kind clock,
			   struct wm_diag *diag)
{
	int err;

	if (e->has_times && clock != WM_CLOCK_MONOTONIC)
		return wm_diag_set(diag, -EBUSY, NULL, -1,
				   "a histogram of common_timestamp needs the clock mono");
	err = e->kernel ? wm_recorder_kernel_set_clock(e->kernel, clock, diag) : 0;

	if (err)
		return err;
	e->clock = clock;
	wm_rules_set_clock(e->rules, clock);
	if (e->sampling)
		wm_sampling_set_clock(e->sampling, clock);
	return 0;
}

int wm_recorder_want_trigger(struct wm_recorder_events *e, const char *text, struct wm_diag *diag)
{
	int err = make_kernel(e, diag);

	if (!err && wm_recorder_kernel_takes_times(text)) {
		err = wm_recorder_want_clock(e, WM_CLOCK_MONOTONIC, diag);
		e->has_times = true;
	}
	return err ? err : wm_recorder_kernel_trigger(e->kernel, text, diag);
}

int wm_recorder_want_synthetic(struct wm_recorder_events *e, const char *text, struct wm_diag *diag)
{
	int err = make_kernel(e, diag);

	return err ? err : wm_recorder_kernel_synthetic(e->kernel, text, diag);
}

int wm_recorder_want_stacks(struct wm_recorder_events *e, bool of_kernel, struct wm_diag *diag)
{
	int err = make_kernel(e, diag);

	return err ? err : wm_recorder_kernel_stacks(e->kernel, of_kernel, diag);
}

void wm_recorder_want_tasks(struct wm_recorder_events *e)
{
	if ((e->kernel || e->user_stacks) && !e->sampling)
		(void)wm_sampling_create(e->clock, NULL, 0, &e->sampling); /* optional */
}
