/* SPDX-License-Identifier: MIT */
/* kernel_events.c - what of the kernel a recording takes; see kernel_events.h. */
#include "control/kernel_events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FORMATS_BYTES_MAX ((size_t)256 << 20)

struct wm_kernel_events {
	struct wm_arena arena;
	struct wm_tracefs *tracefs;
	struct wm_instance *instance;
	enum wm_clock_kind clock;
	uint64_t most_bytes;
	struct wm_kernel_source_event *events;
	uint32_t nr_events;
};

int wm_kernel_events_create(enum wm_clock_kind clock, uint64_t buffer_bytes,
			    struct wm_kernel_events **ret, struct wm_diag *diag)
{
	const struct wm_instance_options o = {.clock = clock, .buffer_bytes = buffer_bytes};
	struct wm_kernel_events *k = calloc(1, sizeof(*k));
	int err;

	if (!k)
		return -ENOMEM;
	wm_arena_init(&k->arena, FORMATS_BYTES_MAX);
	k->clock = clock;
	k->most_bytes = buffer_bytes ? buffer_bytes : wm_instance_buffer_default();
	err = wm_tracefs_open(&k->tracefs, diag);
	if (!err)
		err = wm_instance_create(k->tracefs, &o, &k->instance, diag);
	if (err) {
		wm_kernel_events_destroy(k);
		return err;
	}
	*ret = k;
	return 0;
}

void wm_kernel_events_destroy(struct wm_kernel_events *k)
{
	if (!k)
		return;
	wm_instance_destroy(k->instance);
	wm_tracefs_close(k->tracefs);
	wm_arena_done(&k->arena);
	free(k);
}

static bool is_there(const struct wm_kernel_events *k, const struct wm_event_def *def)
{
	for (uint32_t i = 0; i < k->nr_events; i++)
		if (!strcmp(k->events[i].name, def->event) &&
		    !strcmp(k->events[i].system, def->system))
			return true;
	return false;
}

/* Keeps the event's names and format. */
static int remember(struct wm_kernel_events *k, const struct wm_event_def *def,
		    struct wm_diag *diag)
{
	struct wm_kernel_source_event *more, e = {0};
	size_t bytes;
	char *text;
	int err = wm_tracefs_event_format(k->tracefs, def->system, def->event, &text, &bytes, diag);

	if (err)
		return err;
	more = wm_arena_grow(&k->arena, k->events, k->nr_events, sizeof(*more));
	e.system = wm_arena_copy(&k->arena, def->system, strlen(def->system));
	e.name = wm_arena_copy(&k->arena, def->event, strlen(def->event));
	e.format = wm_arena_copy(&k->arena, text, bytes);
	e.format_bytes = bytes;
	free(text);
	if (!more || !e.system || !e.name || !e.format)
		return -ENOMEM;
	k->events = more;
	k->events[k->nr_events++] = e;
	return 0;
}

int wm_kernel_events_add(struct wm_kernel_events *k, const struct wm_event_def *def,
			 const char *filter, struct wm_diag *diag)
{
	int err;

	if (!def->system || !def->event)
		return wm_diag_set(diag, -EOPNOTSUPP, NULL, -1,
				   "%s is counted, not recorded: 'waymark stat -e %s'", def->name,
				   def->name);
	if (is_there(k, def))
		return 0;
	err = remember(k, def, diag);
	if (err)
		return err;
	err = wm_instance_enable(k->instance, def->system, def->event, filter, diag);
	if (err)
		k->nr_events--;
	return err;
}

int wm_kernel_events_add_markers(struct wm_kernel_events *k, struct wm_diag *diag)
{
	const struct wm_event_def print = {
	    .name = "ftrace:print", .system = "ftrace", .event = "print"};

	if (wm_instance_copy_markers(k->instance) < 0)
		return wm_diag_set(diag, -EOPNOTSUPP, NULL, -1,
				   "this kernel does not give what is written to trace_marker to a "
				   "private instance (Linux 6.12 and later do)");
	return is_there(k, &print) ? 0 : remember(k, &print, diag);
}

size_t wm_kernel_events_count(const struct wm_kernel_events *k)
{
	return k->nr_events;
}

int wm_kernel_events_follow(struct wm_kernel_events *k, const pid_t *tids, size_t nr,
			    struct wm_diag *diag)
{
	return wm_instance_follow(k->instance, tids, nr, diag);
}

int wm_kernel_events_exclude(struct wm_kernel_events *k, const pid_t *tids, size_t nr)
{
	return wm_instance_exclude(k->instance, tids, nr);
}

int wm_kernel_events_start(struct wm_kernel_events *k, struct wm_diag *diag)
{
	return wm_instance_start(k->instance, diag);
}

void wm_kernel_events_stop(struct wm_kernel_events *k)
{
	wm_instance_stop(k->instance);
}

int wm_kernel_events_fds(const struct wm_kernel_events *k, int **ret)
{
	int nr = wm_instance_fds(k->instance, ret), *more;

	if (nr < 0)
		return nr;
	more = realloc(*ret, ((size_t)nr + 1) * sizeof(*more));
	if (!more) {
		free(*ret);
		return -ENOMEM;
	}
	more[nr] = k->tracefs->dirfd;
	*ret = more;
	return nr + 1;
}

void wm_kernel_events_leave_rings(struct wm_kernel_events *k)
{
	wm_instance_close_rings(k->instance);
}

int wm_kernel_events_source(struct wm_kernel_events *k, struct wm_trace_writer *w,
			    struct wm_kernel_source **ret, struct wm_diag *diag)
{
	return wm_kernel_source_create(k->instance, w, k->clock, k->events, k->nr_events,
				       k->most_bytes, ret, diag);
}

uint32_t wm_kernel_events_nr_cpus(const struct wm_kernel_events *k)
{
	return wm_instance_nr_cpus(k->instance);
}

int wm_kernel_events_fd(const struct wm_kernel_events *k, uint32_t cpu)
{
	return wm_instance_fd(k->instance, cpu);
}
