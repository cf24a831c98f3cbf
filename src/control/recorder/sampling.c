/* SPDX-License-Identifier: MIT */
/* sampling.c - see sampling.h. */
#include "control/recorder/sampling.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "control/kernel_events.h"
#include "kernel/counters.h"
#include "kernel/event_filter.h"
#include "kernel/instance.h"
#include "kernel/synthesize.h"
#include "kernel/tracefs.h"

#define FORMATS_BYTES_MAX ((size_t)64 << 20)
/* Limit for each CPU's ring, unless the user chooses a size. */
#define SAMPLES_RING_BYTES ((uint64_t)8 << 20)
/* Size of each CPU's ring when only task records are needed. */
#define TASKS_RING_BYTES ((uint64_t)512 << 10)

struct wm_sampling {
	struct wm_arena arena;
	struct wm_tracefs *tracefs; /* NULL: no tracepoint was added */
	enum wm_clock_kind clock;
	uint64_t buffer_bytes; /* 0: the default */
	struct wm_sample_event *events;
	struct wm_event_defs defs; /* copies of the definitions, with their strings */
	uint32_t nr_events;
	int *cpus;
	size_t nr_cpus;
};

int wm_sampling_create(enum wm_clock_kind clock, const int *cpus, size_t nr_cpus,
		       struct wm_sampling **ret)
{
	struct wm_sampling *s = calloc(1, sizeof(*s));
	int err = 0;

	if (!s)
		return -ENOMEM;
	wm_arena_init(&s->arena, FORMATS_BYTES_MAX);
	wm_event_defs_init(&s->defs);
	s->clock = clock;
	if (nr_cpus) {
		s->cpus = malloc(nr_cpus * sizeof(*cpus));
		if (s->cpus)
			memcpy(s->cpus, cpus, nr_cpus * sizeof(*cpus));
		s->nr_cpus = nr_cpus;
		err = s->cpus ? 0 : -ENOMEM;
	} else {
		err = wm_cpus_online(&s->cpus, &s->nr_cpus);
	}
	if (err) {
		wm_sampling_destroy(s);
		return err;
	}
	*ret = s;
	return 0;
}

void wm_sampling_set_buffer(struct wm_sampling *s, uint64_t bytes)
{
	s->buffer_bytes = bytes;
}

void wm_sampling_set_clock(struct wm_sampling *s, enum wm_clock_kind clock)
{
	s->clock = clock;
}

void wm_sampling_destroy(struct wm_sampling *s)
{
	if (!s)
		return;
	wm_tracefs_close(s->tracefs);
	wm_event_defs_done(&s->defs);
	wm_arena_done(&s->arena);
	free(s->cpus);
	free(s);
}

/* --- the events ------------------------------------------------------------------------ */

/* Reads a tracepoint's format, which determines how its fields are written. */
static int read_format(struct wm_sampling *s, struct wm_sample_event *e,
		       const struct wm_event_def *def, struct wm_diag *diag)
{
	size_t bytes;
	char *text;
	int err = s->tracefs ? 0 : wm_tracefs_open(&s->tracefs, diag);

	if (!err)
		err = wm_tracefs_event_format(s->tracefs, def->system, def->event, &text, &bytes,
					      diag);
	if (err)
		return err;
	e->system = def->system;
	e->name = def->event;
	e->format = wm_arena_copy(&s->arena, text, bytes);
	e->format_bytes = bytes;
	free(text);
	return e->format ? 0 : -ENOMEM;
}

/*
 * Sets an event's filter: the kernel gets its part, and the reader of the samples applies the rest.
 */
static int sampling_set_filter(struct wm_sampling *s, struct wm_sample_event *e, const char *filter,
			       struct wm_diag *diag)
{
	struct wm_event_filter f;
	int err;

	if (!e->format)
		return wm_diag_set(
		    diag, -EINVAL, NULL, -1,
		    "'%.100s' cannot be filtered: only tracepoints and system calls have fields",
		    e->sampled.def->name);
	err = wm_event_filter_make(filter, e->system, e->format, e->format_bytes, &f, diag);
	if (err)
		return err;
	if (f.text)
		e->sampled.filter = wm_arena_copy(&s->arena, f.text, strlen(f.text));
	if (f.rest)
		e->filter = wm_arena_copy(&s->arena, f.rest, f.rest_bytes);
	e->filter_bytes = f.rest_bytes;
	if ((f.text && !e->sampled.filter) || (f.rest && !e->filter))
		err = -ENOMEM;
	wm_event_filter_done(&f);
	return err;
}

static bool sampling_is_there(const struct wm_sampling *s, const struct wm_event_def *def)
{
	for (size_t i = 0; i < s->defs.nr; i++)
		if (!strcmp(s->defs.defs[i].name, def->name) &&
		    s->defs.defs[i].config == def->config)
			return true;
	return false;
}

/* Updates the pointers to definitions, which have moved. */
static void sampling_moved(struct wm_sampling *s)
{
	for (uint32_t i = 0; i < s->nr_events; i++) {
		const struct wm_event_def *def = &s->defs.defs[i];

		s->events[i].sampled.def = def;
		s->events[i].system = s->events[i].format ? def->system : NULL;
		s->events[i].name = s->events[i].format ? def->event : NULL;
	}
}

/* Copies a definition into the list, so that its strings live as long as `s`. */
static int sampling_keep(struct wm_sampling *s, const struct wm_sample_event *e)
{
	struct wm_sample_event *more =
	    wm_arena_grow(&s->arena, s->events, s->nr_events, sizeof(*more));
	int err = more ? wm_event_defs_add(&s->defs, e->sampled.def) : -ENOMEM;

	if (err)
		return err;
	s->events = more;
	s->events[s->nr_events++] = *e;
	sampling_moved(s);
	return 0;
}

uint32_t wm_sampling_exclude(struct wm_sampling *s, const char *glob)
{
	uint32_t kept = 0, nr = s->nr_events;

	for (uint32_t i = 0; i < nr; i++) {
		const struct wm_event_def *def = &s->defs.defs[i];

		if (wm_recorder_kernel_means(glob, def->system, def->event, def->name))
			continue;
		s->events[kept] = s->events[i];
		s->defs.defs[kept++] = *def;
	}
	s->nr_events = kept;
	s->defs.nr = kept;
	sampling_moved(s);
	return nr - kept;
}

int wm_sampling_add(struct wm_sampling *s, const struct wm_event_def *def, const char *filter,
		    const struct wm_sampling_how *how, bool everywhere, struct wm_diag *diag)
{
	struct wm_sample_event e = {
	    .sampled = {.def = def,
			.period = how->period,
			.frequency = how->frequency,
			.chain = how->chain,
			.stack_bytes = how->stack_bytes},
	};
	int narrowed, err = 0;

	if (def->type == PERF_TYPE_TRACEPOINT && def->system)
		err = read_format(s, &e, def, diag);
	if (!err && filter)
		err = sampling_set_filter(s, &e, filter, diag);
	if (err)
		return err;
	narrowed = wm_sampler_try(&e.sampled, wm_sample_clockid(s->clock), everywhere, diag);
	if (narrowed < 0 || sampling_is_there(s, def))
		return narrowed < 0 ? narrowed : 0;
	err = sampling_keep(s, &e);
	return err ? err : narrowed;
}

size_t wm_sampling_count(const struct wm_sampling *s)
{
	return s->nr_events;
}

/* --- the pump process's half --------------------------------------------------------------- */

int wm_sampling_source(const struct wm_sampling *s, struct wm_trace_writer *w,
		       struct wm_calibrate *clock, struct wm_sample_source **ret,
		       struct wm_diag *diag)
{
	return wm_sample_source_create(w, clock, s->events, s->nr_events, ret, diag);
}

/* The size of all rings together. */
static uint64_t sampling_buffer_bytes(const struct wm_sampling *s)
{
	uint64_t machine = wm_instance_buffer_default(), most = SAMPLES_RING_BYTES * s->nr_cpus;

	if (!s->nr_events)
		return TASKS_RING_BYTES * s->nr_cpus;
	if (s->buffer_bytes)
		return s->buffer_bytes;
	return machine < most ? machine : most;
}

static int open_sampler(const struct wm_sampling *s, const struct wm_sampling_whom *whom,
			struct wm_sampler **ret, struct wm_diag *diag)
{
	struct wm_sampler_event *events = calloc(s->nr_events + 1u, sizeof(*events));
	struct wm_sampler_plan plan = {
	    .events = events,
	    .nr_events = s->nr_events,
	    .clockid = wm_sample_clockid(s->clock),
	    .tids = whom->tids,
	    .nr_tids = whom->nr_tids,
	    .cpus = s->cpus,
	    .nr_cpus = s->nr_cpus,
	    .alone = whom->alone,
	    .switches = wm_sample_has_switches(s->events, s->nr_events),
	    .on_exec = whom->on_exec,
	    .buffer_bytes = sampling_buffer_bytes(s),
	};
	int err;

	if (!events)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->nr_events; i++)
		events[i] = s->events[i].sampled;
	err = wm_sampler_open(&plan, ret, diag);
	free(events);
	return err;
}

static void sampling_tell(const struct wm_perf_record *r, void *data)
{
	wm_sample_source_tell(data, r);
}

static bool sampling_has_stacks(const struct wm_sampling *s)
{
	for (uint32_t i = 0; i < s->nr_events; i++)
		if (s->events[i].sampled.chain == WM_CHAIN_STACK)
			return true;
	return false;
}

int wm_sampling_begin(const struct wm_sampling *s, struct wm_sample_source *source,
		      const struct wm_sampling_whom *whom, const struct wm_kernel_text *text,
		      struct wm_diag *diag)
{
	struct wm_sampler *sampler;
	int err = open_sampler(s, whom, &sampler, diag);

	if (err)
		return err;
	err = wm_sample_source_attach(source, sampler);
	if (err) {
		wm_sampler_close(sampler);
		return err;
	}
	/*
	 * The rings report mappings from now on, so a mapping may be written twice, which is
	 * harmless.
	 */
	if (text)
		wm_running_tell_kernel(text, sampling_tell, source);
	/*
	 * CMD, which still has to call exec, has mappings and a name that the rings report when
	 * they change. Its first events, however, have the name from before.
	 */
	if (whom->on_exec)
		wm_running_tell_names(whom->tids, whom->nr_tids, sampling_tell, source);
	else
		wm_running_tell(whom->tids, whom->nr_tids, sampling_has_stacks(s), sampling_tell,
				source);
	return whom->on_exec ? 0 : wm_sampler_start(sampler);
}
