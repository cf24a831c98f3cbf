/* SPDX-License-Identifier: MIT */
/*
 * kernel_events_trigger.c - kernel facilities besides events: triggers with their histograms and
 * snapshots, synthetic events, stacks after events, functions. See kernel_events.h.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "base/text.h"
#include "control/recorder/kernel_events_int.h"

#define HISTOGRAM_BYTES_MAX (16u << 20)
#define SNAPSHOT_BYTES_MAX  (64u << 20)
#define LIST_BYTES_MAX      65536u

/* --- stacks -------------------------------------------------------------------- */

/*
 * Changes the format: it describes 8 callers, but a record has a variable number, so the array is
 * extended to the end of the record.
 */
static int remember_kernel_stack(struct wm_recorder_kernel *k, struct wm_diag *diag)
{
	static const char fixed[] = "caller[8];\toffset:16;\tsize:64;",
			  open[] = "caller[];\toffset:16;\tsize:0;";
	struct wm_text t;
	size_t bytes;
	char *text, *at;
	int err =
	    wm_tracefs_event_format(k->tracefs, "ftrace", "kernel_stack", &text, &bytes, diag);

	if (err)
		return err;
	wm_text_init(&t);
	at = strstr(text, fixed);
	if (at) {
		wm_text_add(&t, text, (size_t)(at - text));
		wm_text_str(&t, open);
		wm_text_str(&t, at + strlen(fixed));
	} else {
		wm_text_str(&t, text);
	}
	err = t.failed ? -ENOMEM
		       : wm_recorder_kernel_keep(k, "ftrace", "kernel_stack", t.data, t.bytes);
	wm_text_done(&t);
	free(text);
	return err;
}

static int expect_kernel_stacks(struct wm_recorder_kernel *k, struct wm_diag *diag)
{
	return wm_recorder_kernel_find(k, "ftrace", "kernel_stack")
		   ? 0
		   : remember_kernel_stack(k, diag);
}

int wm_recorder_kernel_stacks(struct wm_recorder_kernel *k, bool of_kernel, struct wm_diag *diag)
{
	int err = wm_instance_stacks(k->instance, of_kernel, diag);

	if (err)
		return err;
	return of_kernel ? expect_kernel_stacks(k, diag)
			 : wm_recorder_kernel_remember(k, "ftrace", "user_stack", diag);
}

/* --- functions ------------------------------------------------------------------ */

/*
 * Changes the print form: the kernel prints both times in hexadecimal; the difference is printed
 * instead.
 */
static int remember_exit(struct wm_recorder_kernel *k, struct wm_diag *diag)
{
	static const char form[] =
	    "print fmt: \"<-- %ps (%d) %llu ns over: %d\", (void *)REC->func, REC->depth, "
	    "REC->rettime - REC->calltime, REC->overrun\n";
	struct wm_text t;
	size_t bytes;
	char *text, *print;
	int err =
	    wm_tracefs_event_format(k->tracefs, "ftrace", "funcgraph_exit", &text, &bytes, diag);

	if (err)
		return err;
	wm_text_init(&t);
	print = strstr(text, "print fmt:");
	if (print && strstr(text, " calltime;") && strstr(text, " rettime;") &&
	    strstr(text, " overrun;")) {
		wm_text_add(&t, text, (size_t)(print - text));
		wm_text_str(&t, form);
	} else {
		wm_text_str(&t, text);
	}
	err = t.failed ? -ENOMEM
		       : wm_recorder_kernel_keep(k, "ftrace", "funcgraph_exit", t.data, t.bytes);
	wm_text_done(&t);
	free(text);
	return err;
}

/* Whether the kernel has the graph tracer, at least in the system's own buffer. */
static bool has_graph(const struct wm_recorder_kernel *k)
{
	size_t bytes;
	char *list;
	bool has;

	if (wm_tracefs_read(k->tracefs, "available_tracers", LIST_BYTES_MAX, &list, &bytes, NULL))
		return false;
	has = strstr(list, "function_graph") != NULL;
	free(list);
	return has;
}

static int trace_graph(struct wm_recorder_kernel *k, const char *glob, struct wm_diag *diag)
{
	int err = k->top ? -EOPNOTSUPP : wm_instance_functions(k->instance, glob, true, diag);

	if (err != -EOPNOTSUPP || !has_graph(k))
		return err;
	err = wm_recorder_kernel_take_top(k, "the function graph (before Linux 6.11)", diag);
	return err ? err : wm_instance_functions(k->top, glob, true, diag);
}

static int remember_graph(struct wm_recorder_kernel *k, struct wm_diag *diag)
{
	int err = wm_recorder_kernel_remember(k, "ftrace", "funcgraph_entry", diag);

	if (!err && !wm_recorder_kernel_find(k, "ftrace", "funcgraph_exit"))
		err = remember_exit(k, diag);
	if (!err && k->top) {
		wm_recorder_kernel_find(k, "ftrace", "funcgraph_entry")->in_top = true;
		wm_recorder_kernel_find(k, "ftrace", "funcgraph_exit")->in_top = true;
	}
	return err;
}

int wm_recorder_kernel_functions(struct wm_recorder_kernel *k, const char *glob, bool graph,
				 struct wm_diag *diag)
{
	int err = graph ? trace_graph(k, glob, diag)
			: wm_instance_functions(k->instance, glob, false, diag);

	if (err)
		return err;
	return graph ? remember_graph(k, diag)
		     : wm_recorder_kernel_remember(k, "ftrace", "function", diag);
}

/* --- synthetic events -------------------------------------------------------------- */

static bool trigger_is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

int wm_recorder_kernel_synthetic(struct wm_recorder_kernel *k, const char *definition,
				 struct wm_diag *diag)
{
	char event[WM_TRACEFS_NAME_MAX], name[WM_TRACEFS_NAME_MAX];
	struct wm_instance_event e = {.system = "synthetic", .name = event};
	struct wm_kernel_synthetic *more;
	size_t n = strcspn(definition, " \t"), bytes;
	char *text;
	int err = wm_recorder_kernel_dynamic(k, diag);

	if (!err)
		err = wm_dynamic_synthetic(k->dynamic, definition, event, diag);
	if (err)
		return err;
	(void)snprintf(name, sizeof(name), "%.*s", (int)n, definition);
	more = wm_arena_grow(&k->arena, k->synthetics, k->nr_synthetics, sizeof(*more));
	if (!more)
		return -ENOMEM;
	k->synthetics = more;
	more[k->nr_synthetics++] =
	    (struct wm_kernel_synthetic){wm_arena_copy(&k->arena, name, strlen(name)),
					 wm_arena_copy(&k->arena, event, strlen(event))};
	err = wm_tracefs_event_format(k->tracefs, "synthetic", event, &text, &bytes, diag);
	if (err)
		return err;
	err = wm_recorder_kernel_keep_as(k, "synthetic", name, text, NULL);
	free(text);
	return err ? err : wm_instance_enable(k->instance, &e, NULL, diag);
}

bool wm_recorder_kernel_has_synthetic(const struct wm_recorder_kernel *k, const char *glob)
{
	char full[WM_TRACEFS_NAME_MAX + sizeof("synthetic:")];

	for (uint32_t i = 0; i < k->nr_synthetics; i++) {
		int n = snprintf(full, sizeof(full), "synthetic:%s", k->synthetics[i].name);

		if (wm_glob_match(glob, strlen(glob), full, (size_t)n))
			return true;
	}
	return false;
}

bool wm_recorder_kernel_made(const struct wm_recorder_kernel *k, const struct wm_event_def *def)
{
	if (!def->system || strcmp(def->system, "synthetic") != 0)
		return false;
	for (uint32_t i = 0; i < k->nr_synthetics; i++)
		if (!strcmp(k->synthetics[i].event, def->event))
			return true;
	return false;
}

/* Replaces users' names for synthetic events with their names in the kernel. */
static void trigger_put_names(const struct wm_recorder_kernel *k, const char *text,
			      struct wm_text *to)
{
	while (*text) {
		size_t n = 0;
		const char *put = NULL;

		while (trigger_is_word(text[n]))
			n++;
		for (uint32_t i = 0; n && i < k->nr_synthetics; i++)
			if (strlen(k->synthetics[i].name) == n &&
			    !memcmp(k->synthetics[i].name, text, n))
				put = k->synthetics[i].event;
		if (put)
			wm_text_str(to, put);
		else
			wm_text_add(to, text, n ? n : 1);
		text += n ? n : 1;
	}
}

/* --- triggers ------------------------------------------------------------------------- */

/*
 * Splits "sched:sched_switch:stacktrace" into system, event and rest. Returns false for other
 * forms.
 */
static bool trigger_split(const char *text, char *system, char *event, const char **ret_rest)
{
	size_t n = strcspn(text, ":"), m = text[n] ? strcspn(text + n + 1, ":") : 0;

	if (!n || !m || n >= WM_TRACEFS_NAME_MAX || m >= WM_TRACEFS_NAME_MAX || !text[n + 1 + m] ||
	    !text[n + 2 + m])
		return false;
	memcpy(system, text, n);
	system[n] = '\0';
	memcpy(event, text + n + 1, m);
	event[m] = '\0';
	*ret_rest = text + n + 2 + m;
	return true;
}

static bool trigger_begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* Registers the events that a trigger writes to the rings, and the files to save at the end. */
static int expect(struct wm_recorder_kernel *k, const struct wm_instance_event *e,
		  const char *trigger, struct wm_diag *diag)
{
	char system[WM_TRACEFS_NAME_MAX], event[WM_TRACEFS_NAME_MAX + 8];
	char file[2 * WM_TRACEFS_NAME_MAX + 32];
	const char **more, *rest;

	if (trigger_begins(trigger, "stacktrace"))
		return expect_kernel_stacks(k, diag);
	k->has_snapshot |= trigger_begins(trigger, "snapshot") || strstr(trigger, ".snapshot(");
	if (trigger_begins(trigger, "hist:")) {
		more = wm_arena_grow(&k->arena, (void *)k->histograms, k->nr_histograms,
				     sizeof(*more));
		if (!more)
			return -ENOMEM;
		k->histograms = more;
		(void)snprintf(file, sizeof(file), "events/%s/%s/hist", e->system, e->name);
		more[k->nr_histograms] = wm_arena_copy(&k->arena, file, strlen(file));
		if (!more[k->nr_histograms])
			return -ENOMEM;
		k->nr_histograms++;
		return 0;
	}
	if (trigger_begins(trigger, "enable_event:")) {
		(void)snprintf(event, sizeof(event),
			       "%.*s:", (int)strcspn(trigger, " ") - (int)strlen("enable_event:"),
			       trigger + strlen("enable_event:"));
		if (!trigger_split(strcat(event, "x"), system, event, &rest))
			return 0; /* not an error here: the kernel will report it */
		return wm_recorder_kernel_remember(k, system, event, diag);
	}
	return 0;
}

/*
 * A histogram that records times makes the kernel set the instance's clock to the trigger's, which
 * is "global" if it names none. Its events would no longer be on the recording's clock.
 */
#define TIMES      "common_timestamp"
#define TIMES_HIST "hist:"
#define TIMES_MONO "clock=mono:"

bool wm_recorder_kernel_takes_times(const char *trigger)
{
	return strstr(trigger, TIMES) != NULL;
}

/* Returns the clock that a trigger names, or NULL. */
static const char *trigger_clock(const char *trigger)
{
	const char *at = strstr(trigger, ":clock=");

	return at ? at + strlen(":clock=") : NULL;
}

/*
 * Adds the clock to a trigger that records times. Returns the number of bytes inserted, or -errno.
 */
static int trigger_put_clock(const struct wm_recorder_kernel *k, const char *text,
			     struct wm_text *to, struct wm_diag *diag)
{
	const char *clock = trigger_clock(text);
	size_t n = clock ? strcspn(clock, ": ") : 0;

	if (!wm_recorder_kernel_takes_times(text) || !trigger_begins(text, TIMES_HIST)) {
		trigger_put_names(k, text, to);
		return to->failed ? -ENOMEM : 0;
	}
	if (clock && (n != strlen("mono") || strncmp(clock, "mono", n) != 0))
		return wm_diag_set(diag, -EINVAL, NULL, -1,
				   "a trigger's clock '%.*s' would apply to all recorded events, "
				   "which then could not be compared with others: omit it (the "
				   "default is mono)",
				   (int)n, clock);
	wm_text_str(to, TIMES_HIST);
	if (!clock)
		wm_text_str(to, TIMES_MONO);
	trigger_put_names(k, text + strlen(TIMES_HIST), to);
	if (to->failed)
		return -ENOMEM;
	return clock ? 0 : (int)strlen(TIMES_MONO);
}

int wm_recorder_kernel_trigger(struct wm_recorder_kernel *k, const char *text, struct wm_diag *diag)
{
	char system[WM_TRACEFS_NAME_MAX], event[WM_TRACEFS_NAME_MAX];
	struct wm_instance_event e = {.system = system, .name = event};
	struct wm_text trigger;
	const char *rest;
	uint64_t id;
	int err, inserted;

	if (!trigger_split(text, system, event, &rest))
		return wm_diag_set(
		    diag, -EINVAL, NULL, -1,
		    "'%.120s' is not of the form SYSTEM:EVENT:COMMAND [if FILTER], such as "
		    "sched:sched_switch:stacktrace if prev_pid == 0",
		    text);
	err = wm_tracefs_event_id(k->tracefs, system, event, &id, diag);
	if (err)
		return err;
	wm_text_init(&trigger);
	inserted = trigger_put_clock(k, rest, &trigger, diag);
	err = inserted < 0 ? inserted : wm_instance_trigger(k->instance, &e, trigger.data, diag);
	/* The column is valid in the user's text only if no name was replaced. */
	if (err && inserted >= 0 && diag && diag->column)
		diag->column = trigger.bytes == strlen(rest) + (size_t)inserted
				   ? diag->column + (uint32_t)(rest - text) - (uint32_t)inserted
				   : 0;
	wm_text_done(&trigger);
	return err ? err : expect(k, &e, rest, diag);
}

/* --- at the end ------------------------------------------------------------------------ */

bool wm_recorder_kernel_has_files(const struct wm_recorder_kernel *k)
{
	return k->nr_histograms || k->has_snapshot;
}

int wm_recorder_kernel_save(struct wm_recorder_kernel *k, struct wm_trace_writer *w)
{
	struct wm_text t;
	size_t bytes;
	char *text;
	int err = 0;

	wm_text_init(&t);
	for (uint32_t i = 0; i < k->nr_histograms; i++) {
		if (i && !strcmp(k->histograms[i], k->histograms[i - 1]))
			/* The file is already listed: it contains all of its event's histograms. */
			continue;
		if (wm_instance_read_file(k->instance, k->histograms[i], HISTOGRAM_BYTES_MAX, &text,
					  &bytes) < 0)
			continue;
		wm_text_f(&t, "# %s\n", k->histograms[i]);
		wm_text_add(&t, text, bytes);
		free(text);
	}
	if (k->nr_histograms)
		err = t.failed ? -ENOMEM : wm_writer_kernel_file(w, "histograms", t.data, t.bytes);
	wm_text_done(&t);
	if (err || !k->has_snapshot ||
	    wm_instance_read_file(k->instance, "snapshot", SNAPSHOT_BYTES_MAX, &text, &bytes) < 0)
		return err;
	err = wm_writer_kernel_file(w, "snapshot", text, bytes);
	free(text);
	return err;
}
