/* SPDX-License-Identifier: MIT */
/*
 * choice_stream.c - the recording needed for counting from a stream: its processes and events, and
 * which of the events count. See counting_choice.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "control/counting_choice.h"
#include "event/context.h"
#include "kernel/event_names.h"

#define BUFFER_BYTES (16u << 20) /* size of the buffer per process */

const char *wm_counting_stream_by(const struct wm_counting_choice *c)
{
	if (c->counting.by)
		return c->counting.by;
	return c->request->per_cpu ? "$cpu" : c->request->per_thread ? "$tid" : "";
}

/* Returns the part of `name` after "FIRST:"; NULL if it begins otherwise. */
static const char *choice_stream_behind(const char *name, const char *first)
{
	size_t bytes = strlen(first);

	return !strncmp(name, first, bytes) && name[bytes] == ':' ? name + bytes + 1 : NULL;
}

/* Maps "syscalls:sys_enter_write" to the event named "syscall:write"; NULL: not a kernel event. */
const struct wm_event_def *wm_counting_stream_def(const struct wm_counting_choice *c,
						  const char *name)
{
	for (size_t i = 0; i < c->defs.nr; i++) {
		const struct wm_event_def *d = &c->defs.defs[i];
		const char *rest = choice_stream_behind(
		    name, d->system ? d->system : wm_event_family_name(d->family));
		const char *event = d->system ? d->event : d->label;

		if (rest && event && !strcmp(rest, event))
			return d;
	}
	return NULL;
}

/*
 * Returns false for events that are recorded along with the requested ones: system call exits, task
 * names, mappings.
 */
bool wm_counting_stream_counts(const void *choice, const char *name)
{
	const struct wm_event_def *d = wm_counting_stream_def(choice, name);

	return d ? !d->implied : strncmp(name, "perf:", 5) != 0;
}

/*
 * Returns the name to record. A system call is counted at its entry; "syscall:NAME" would also
 * record its exit.
 */
static char *name_to_record(const char *name)
{
	bool call = !strncmp(name, "syscall:", 8);
	const char *more = call && !strchr(name + 8, ':') ? ":enter" : "";
	char *copy;

	return asprintf(&copy, "%s%s", name, more) < 0 ? NULL : copy;
}

/* Adds a list of names, with its own filter and the one for all events. A stream has no groups. */
static int want_names(const struct wm_counting_choice *c, const struct wm_counting_named *wanted,
		      struct wm_recorder_events *to, struct wm_diag *diag)
{
	int err;
	char *filter = wm_recorder_join_filters(c->request->named[0].filter, wanted->filter, &err);
	struct wm_event_names names;
	char *name;

	wm_event_names_begin(&names, wanted->names, 0);
	while (!err && (err = wm_event_names_next(&names, &name, diag)) > 0) {
		struct wm_recorder_wanted w = {
		    .glob = name_to_record(name),
		    .filter = filter,
		    .contexts = strstr(wm_counting_stream_by(c), "cpu") ? WM_CONTEXT_CPU : 0};

		err = w.glob ? wm_recorder_want(to, &w, diag) : -ENOMEM;
		free((char *)w.glob);
		free(name);
	}
	wm_event_names_done(&names);
	free(filter);
	return err;
}

int wm_counting_stream_want(const struct wm_counting_choice *choice, struct wm_recorder_events *ret,
			    struct wm_diag *diag)
{
	const struct wm_counting_request *q = choice->request;
	const struct wm_counting_plan *c = &choice->counting;
	const struct wm_rules_options o = {
	    .pool_mode = WM_POOL_DISCARD,
	    .buffer_bytes = BUFFER_BYTES,
	    .chunk_bytes = wm_rules_chunk_bytes(BUFFER_BYTES),
	    .block_ms = WM_RULES_BLOCK_MS,
	    .clock_kind = wm_clock_best(),
	};
	int err = wm_recorder_events_init(ret, &o);

	ret->words = q->words;
	ret->search = q->search;
	ret->of = c->nr_pids ? c->pids[0] : 0;
	ret->everywhere = c->all;
	ret->kernel_only = !c->programs;
	if (!err)
		ret->single = wm_recorder_single_filter(c->tids, c->nr_tids, c->cpus,
							q->cpus ? c->nr_cpus : 0, &err);
	for (size_t i = 1; i < q->nr_named && !err; i++)
		err = want_names(choice, &q->named[i], ret, diag);
	if (!err)
		wm_recorder_want_tasks(ret);
	return err;
}

void wm_counting_stream_plan(const struct wm_counting_choice *choice, struct wm_recorder_plan *ret)
{
	const struct wm_counting_plan *c = &choice->counting;
	bool only_cpus = choice->request->cpus != NULL;

	*ret = *wm_counting_rules_whose(choice->rules);
	if (!c->programs)
		ret->preload = "none";
	ret->tids = c->tids;
	ret->nr_tids = c->nr_tids;
	ret->cpus = only_cpus ? c->cpus : NULL;
	ret->nr_cpus = only_cpus ? c->nr_cpus : 0;
}
