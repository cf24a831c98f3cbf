/* SPDX-License-Identifier: MIT */
/* stream_want.c - selects the events that a stream records, and those that count. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cmd/exit.h"
#include "cmd/record/record.h"
#include "cmd/say.h"
#include "cmd/stat/stream.h"
#include "event/context.h"
#include "kernel/event_name.h"

#define BUFFER_BYTES (16u << 20) /* size of the buffer per process */

const char *wm_stat_stream_by(const struct wm_stat_plan *plan)
{
	if (plan->counting.by)
		return plan->counting.by;
	return plan->per_cpu ? "$cpu" : plan->per_thread ? "$tid" : "";
}

/* Returns the part of `name` after "FIRST:"; NULL when it begins otherwise. */
static const char *stream_want_behind(const char *name, const char *first)
{
	size_t bytes = strlen(first);

	return !strncmp(name, first, bytes) && name[bytes] == ':' ? name + bytes + 1 : NULL;
}

/* Maps "syscalls:sys_enter_write" to the event named "syscall:write"; NULL: not a kernel event. */
const struct wm_event_def *wm_stat_stream_def(const struct wm_stat_stream *s, const char *name)
{
	for (size_t i = 0; i < s->plan->counting.defs->nr; i++) {
		const struct wm_event_def *d = &s->plan->counting.defs->defs[i];
		const char *rest = stream_want_behind(
		    name, d->system ? d->system : wm_event_family_name(d->family));
		const char *event = d->system ? d->event : d->label;

		if (rest && event && !strcmp(rest, event))
			return d;
	}
	return NULL;
}

/*
 * Returns false for events that are recorded along with the requested ones: exits of system calls,
 * names of tasks, mappings.
 */
bool wm_stat_stream_counts(const void *data, const char *name)
{
	const struct wm_stat_stream *s = data;
	const struct wm_event_def *d = wm_stat_stream_def(s, name);

	return d ? !d->implied : strncmp(name, "perf:", 5) != 0;
}

/*
 * Returns the name to record. A system call is counted at its entry; "syscall:NAME" would also
 * record its exit.
 */
static char *name_to_record(const char *name, size_t bytes)
{
	bool call = bytes > 8 && !strncmp(name, "syscall:", 8);
	const char *more = call && !memchr(name + 8, ':', bytes - 8) ? ":enter" : "";
	char *copy;

	return asprintf(&copy, "%.*s%s", (int)bytes, name, more) < 0 ? NULL : copy;
}

/* Adds the names of one -e, with its filter and the one for all events. 0 or -errno. */
static int want_names(struct wm_stat_stream *s, const struct wm_listed_event *wanted,
		      struct wm_diag *diag)
{
	int err;
	char *filter =
	    wm_recorder_join_filters(s->plan->events->events[0].filter, wanted->filter, &err);
	const char *list = wanted->names, *name;
	size_t bytes;

	while (!err && (bytes = wm_event_name_next(&list, &name))) {
		struct wm_recorder_wanted w = {
		    .glob = name_to_record(name, bytes),
		    .filter = filter,
		    .contexts = strstr(wm_stat_stream_by(s->plan), "cpu") ? WM_CONTEXT_CPU : 0};

		err = w.glob ? wm_recorder_want(&s->events, &w, diag) : -ENOMEM;
		free((char *)w.glob);
	}
	free(filter);
	return err;
}

int wm_stat_stream_want(struct wm_stat_stream *s)
{
	const struct wm_counting_plan *c = &s->plan->counting;
	const struct wm_rules_options o = {
	    .pool_mode = WM_POOL_DISCARD,
	    .buffer_bytes = BUFFER_BYTES,
	    .chunk_bytes = wm_rules_chunk_bytes(BUFFER_BYTES),
	    .block_ms = WM_RULES_BLOCK_MS,
	    .clock_kind = wm_clock_best(),
	};
	struct wm_diag diag = {.offset = -1};
	int err = wm_recorder_events_init(&s->events, &o);

	s->events.words = &wm_say_words;
	s->events.search = getenv("PATH");
	s->events.of = c->nr_pids ? c->pids[0] : 0;
	s->events.everywhere = c->all;
	s->events.kernel_only = !c->programs;
	if (!err)
		s->events.single = wm_recorder_single_filter(c->tids, c->nr_tids, s->recorder.cpus,
							     s->recorder.nr_cpus, &err);
	for (uint32_t i = 1; i < s->plan->events->nr && !err; i++)
		err = want_names(s, &s->plan->events->events[i], &diag);
	if (err) {
		wm_say("stat: %s", wm_words_of(err, &diag));
		return err == -EINVAL ? WM_EXIT_USAGE : (int)wm_exit_of(err);
	}
	wm_recorder_want_tasks(&s->events);
	s->recorder.nr_asked = wm_rules_count(s->events.rules);
	return 0;
}
