/* SPDX-License-Identifier: MIT */
/* kernel_events.c - a recording's kernel events; see kernel_events.h. */
#include "control/recorder/kernel_events_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "event/filter.h"

#define FORMATS_BYTES_MAX ((size_t)256 << 20)

int wm_recorder_kernel_create(enum wm_clock_kind clock, uint64_t buffer_bytes,
			      struct wm_recorder_kernel **ret, struct wm_diag *diag)
{
	const struct wm_instance_options o = {.clock = clock, .buffer_bytes = buffer_bytes};
	struct wm_recorder_kernel *k = calloc(1, sizeof(*k));
	int err;

	if (!k)
		return -ENOMEM;
	wm_arena_init(&k->arena, FORMATS_BYTES_MAX);
	k->clock = clock;
	err = wm_tracefs_open(&k->tracefs, diag);
	if (!err)
		err = wm_instance_create(k->tracefs, &o, &k->instance, diag);
	if (!err)
		/* Possible only now that the instances that used the probes are gone. */
		wm_dynamic_sweep(k->tracefs);
	if (err) {
		wm_recorder_kernel_destroy(k);
		return err;
	}
	*ret = k;
	return 0;
}

int wm_recorder_kernel_set_clock(struct wm_recorder_kernel *k, enum wm_clock_kind clock,
				 struct wm_diag *diag)
{
	int err = k->clock == clock ? 0 : wm_instance_set_clock(k->instance, clock, diag);

	if (!err && k->top && k->clock != clock)
		err = wm_instance_set_clock(k->top, clock, diag);
	if (!err)
		k->clock = clock;
	return err;
}

void wm_recorder_kernel_destroy(struct wm_recorder_kernel *k)
{
	if (!k)
		return;
	wm_instance_destroy(k->top);
	wm_instance_destroy(k->instance); /* destroyed before the probes that it uses */
	wm_dynamic_destroy(k->dynamic);
	wm_tracefs_close(k->tracefs);
	wm_child_exec_destroy(k->exec);
	for (uint32_t i = 0; i < k->nr_events; i++)
		wm_recorder_switch_done(&k->switches[i]);
	wm_arena_done(&k->arena);
	free(k);
}

void wm_recorder_kernel_sweep(void)
{
	struct wm_tracefs *t;

	if (wm_tracefs_open(&t, NULL))
		return;
	(void)wm_instance_sweep(t);
	wm_tracefs_close(t);
}

int wm_recorder_kernel_take_top(struct wm_recorder_kernel *k, const char *what,
				struct wm_diag *diag)
{
	uint64_t half = wm_instance_buffer_bytes(k->instance) / 2;
	const struct wm_instance_options o = {.clock = k->clock, .buffer_bytes = half};
	int err = k->top ? 0 : wm_instance_take_top(k->tracefs, &o, what, &k->top, diag);

	if (!err)
		/* On failure it keeps more memory. */
		(void)wm_instance_limit(k->instance, half);
	return err;
}

struct wm_kernel_source_event *wm_recorder_kernel_find(const struct wm_recorder_kernel *k,
						       const char *system, const char *event)
{
	for (uint32_t i = 0; i < k->nr_events; i++)
		if (!strcmp(k->events[i].name, event) && !strcmp(k->events[i].system, system))
			return &k->events[i];
	return NULL;
}

static bool kernel_events_is_there(const struct wm_recorder_kernel *k, const char *system,
				   const char *event)
{
	return wm_recorder_kernel_find(k, system, event) != NULL;
}

int wm_recorder_kernel_keep(struct wm_recorder_kernel *k, const char *system, const char *name,
			    const char *format, size_t bytes)
{
	struct wm_kernel_source_event *more, e = {0};
	struct wm_kernel_switch *switches;

	more = wm_arena_grow(&k->arena, k->events, k->nr_events, sizeof(*more));
	switches = wm_arena_grow(&k->arena, k->switches, k->nr_events, sizeof(*switches));
	e.system = wm_arena_copy(&k->arena, system, strlen(system));
	e.name = wm_arena_copy(&k->arena, name, strlen(name));
	e.format = wm_arena_copy(&k->arena, format, bytes);
	e.format_bytes = bytes;
	if (!more || !switches || !e.system || !e.name || !e.format)
		return -ENOMEM;
	k->events = more;
	k->switches = switches;
	k->switches[k->nr_events] = (struct wm_kernel_switch){0};
	k->events[k->nr_events++] = e;
	return 0;
}

int wm_recorder_kernel_remember(struct wm_recorder_kernel *k, const char *system, const char *event,
				struct wm_diag *diag)
{
	size_t bytes;
	char *text;
	int err;

	if (kernel_events_is_there(k, system, event))
		return 0;
	err = wm_tracefs_event_format(k->tracefs, system, event, &text, &bytes, diag);
	if (err)
		return err;
	err = wm_recorder_kernel_keep(k, system, event, text, bytes);
	free(text);
	return err;
}

static char *kernel_events_copy(struct wm_recorder_kernel *k, const char *text)
{
	return text ? wm_arena_copy(&k->arena, text, strlen(text)) : NULL;
}

/*
 * Enables an event. The kernel gets its part of the filter; the reader of the records applies the
 * rest. During a change both take effect at the commit.
 */
static int enable(struct wm_recorder_kernel *k, const struct wm_instance_event *e, uint32_t event,
		  const char *filter, struct wm_diag *diag)
{
	struct wm_kernel_source_event *kept = &k->events[event];
	struct wm_kernel_switch *s = &k->switches[event];
	int err;

	s->system = kernel_events_copy(k, e->system);
	s->event = kernel_events_copy(k, e->name);
	s->called = kernel_events_copy(k, e->called);
	if (!s->system || !s->event || (e->called && !s->called))
		return -ENOMEM;
	if (k->changing)
		return wm_recorder_kernel_stage(k, event, filter, diag);
	err = filter ? wm_event_filter_make(filter, kept->system, kept->format, kept->format_bytes,
					    &s->filter, diag)
		     : 0;
	kept->filter = s->filter.rest;
	kept->filter_bytes = s->filter.rest_bytes;
	if (!err)
		err = wm_instance_enable(k->instance, e, s->filter.text, diag);
	s->on = !err;
	return err;
}

/* Removes the last `nr` events, which could not be enabled. */
static int kernel_events_forget(struct wm_recorder_kernel *k, uint32_t nr, int err)
{
	while (k->nr_events > nr)
		wm_recorder_switch_done(&k->switches[--k->nr_events]);
	return err;
}

static int kernel_events_add_tracepoint(struct wm_recorder_kernel *k,
					const struct wm_event_def *def, const char *filter,
					struct wm_diag *diag)
{
	const struct wm_instance_event e = {def->system, def->event, NULL};
	const struct wm_kernel_source_event *there =
	    wm_recorder_kernel_find(k, def->system, def->event);
	uint32_t before = k->nr_events;
	int err;

	if (there)
		return k->changing ? wm_recorder_kernel_stage(k, (uint32_t)(there - k->events),
							      filter, diag)
				   : 0;
	err = wm_recorder_kernel_remember(k, def->system, def->event, diag);
	if (!err)
		err = enable(k, &e, before, filter, diag);
	return err ? kernel_events_forget(k, before, err) : 0;
}

/* --- probes -------------------------------------------------------------------- */

/*
 * Finds the entry "NAME" or "NAME:BITS" in a blank-separated list; returns what follows the name,
 * NULL if there is none.
 */
static const char *recast_of(const char *list, const char *name, size_t bytes)
{
	while (list && *list) {
		size_t n = strcspn(list, ": ");

		if (n == bytes && !memcmp(list, name, n))
			return list + n;
		list += strcspn(list, " ");
		list += *list == ' ';
	}
	return NULL;
}

/*
 * Rewrites "field:u64 arg2;" with the type of what the argument holds, if that differs from what
 * the kernel believes: "double", or "sbits9" for a signed 9-bit field (kdata/transcode.h).
 */
static bool put_recast(struct wm_text *t, const char *line, size_t bytes, const char *recast)
{
	static const char begin[] = "\tfield:u", sign[] = "signed:0";
	const char *name = line + sizeof(begin) - 1, *how, *is_signed;
	unsigned long bits;
	char *end;

	if (bytes <= sizeof(begin) || strncmp(line, begin, sizeof(begin) - 1))
		return false;
	bits = strtoul(name, &end, 10);
	if (*end != ' ')
		return false;
	name = end + 1;
	how = recast_of(recast, name, strcspn(name, "[;"));
	if (!how)
		return false;
	if (*how != ':') {
		wm_text_f(t, "\tfield:%s ", bits == 32 ? "float" : "double");
		wm_text_add(t, name, (size_t)(line + bytes - name));
		return true;
	}
	is_signed = memmem(name, (size_t)(line + bytes - name), sign, sizeof(sign) - 1);
	if (!is_signed)
		return false;
	wm_text_f(t, "\tfield:sbits%lu ", strtoul(how + 1, NULL, 10));
	wm_text_add(t, name, (size_t)(is_signed - name));
	wm_text_f(t, "signed:1;");
	return true;
}

/* Writes a format file under the user's name for the event. */
int wm_recorder_kernel_keep_as(struct wm_recorder_kernel *k, const char *system, const char *name,
			       const char *format, const char *recast)
{
	struct wm_text t;
	int err;

	wm_text_init(&t);
	wm_text_f(&t, "name: %s\n", name);
	for (const char *line = strchr(format, '\n'); line && *++line; line = strchr(line, '\n')) {
		size_t n = strcspn(line, "\n");

		if (!put_recast(&t, line, n, recast))
			wm_text_add(&t, line, n);
		wm_text_char(&t, '\n');
		if (!line[n])
			break;
	}
	err = t.failed ? -ENOMEM : wm_recorder_kernel_keep(k, system, name, t.data, t.bytes);
	wm_text_done(&t);
	return err;
}

static int remember_probe(struct wm_recorder_kernel *k, const struct wm_event_def *def,
			  const char *system, const char *event, struct wm_diag *diag)
{
	size_t bytes;
	char *text;
	int err = wm_tracefs_event_format(k->tracefs, system, event, &text, &bytes, diag);

	if (err)
		return err;
	err = wm_recorder_kernel_keep_as(k, wm_event_family_name(def->family), def->label, text,
					 def->recast);
	free(text);
	return err;
}

/* The events into which one probe was split, by their kernel names. */
struct made {
	char system[WM_TRACEFS_NAME_MAX], event[WM_TRACEFS_NAME_MAX];
};

/* Adds a place to the first event that fetches the same types, or creates a new event for it. */
static int kernel_events_place(struct wm_recorder_kernel *k, const struct wm_event_def *def,
			       struct made *made, size_t *nr, struct wm_diag *diag)
{
	int err;

	for (size_t i = 0; i < *nr; i++) {
		err = wm_dynamic_append(k->dynamic, def, made[i].event, diag);
		if (err != -EEXIST)
			return err;
	}
	err = wm_dynamic_add(k->dynamic, def, made[*nr].system, made[*nr].event, diag);
	if (!err)
		err = remember_probe(k, def, made[*nr].system, made[*nr].event, diag);
	*nr += !err;
	return err;
}

int wm_recorder_kernel_dynamic(struct wm_recorder_kernel *k, struct wm_diag *diag)
{
	return k->dynamic ? 0 : wm_dynamic_create(k->tracefs, &k->dynamic, diag);
}

static int add_probe(struct wm_recorder_kernel *k, const struct wm_event_def *defs, size_t nr_defs,
		     const char *filter, struct wm_diag *diag)
{
	struct made *made;
	uint32_t before = k->nr_events;
	size_t nr = 0;
	int err = k->changing ? wm_recorder_kernel_stage_probe(k, defs, filter, diag) : 0;

	if (err)
		return err < 0 ? err : 0;
	made = calloc(nr_defs, sizeof(*made));
	err = made ? 0 : -ENOMEM;
	if (!err)
		err = wm_recorder_kernel_dynamic(k, diag);
	for (size_t i = 0; i < nr_defs && !err; i++)
		err = kernel_events_place(k, &defs[i], made, &nr, diag);
	for (size_t i = 0; i < nr && !err; i++) {
		const struct wm_instance_event e = {made[i].system, made[i].event, defs->name};

		k->switches[before + i].path = kernel_events_copy(k, defs->path);
		err = enable(k, &e, before + (uint32_t)i, filter, diag);
	}
	free(made);
	return err ? kernel_events_forget(k, before, err) : 0;
}

size_t wm_recorder_kernel_places(const struct wm_event_defs *defs, size_t first)
{
	size_t nr = 1;

	while (first + nr < defs->nr && defs->defs[first + nr].more)
		nr++;
	return nr;
}

int wm_recorder_kernel_add(struct wm_recorder_kernel *k, const struct wm_event_def *defs,
			   size_t nr_places, const char *filter, struct wm_diag *diag)
{
	if (defs->label)
		return add_probe(k, defs, nr_places, filter, diag);
	if (!defs->system || !defs->event)
		return wm_diag_set(
		    diag, -EOPNOTSUPP, NULL, -1,
		    "%s can be counted ('waymark stat -e %s'), or sampled: add -F HZ or "
		    "-c N",
		    defs->name, defs->name);
	if (wm_recorder_kernel_made(k, defs))
		return 0;
	return kernel_events_add_tracepoint(k, defs, filter, diag);
}

/*
 * Sets the filter for markers. They are not a tracefs event, so the reader evaluates the whole
 * filter.
 */
static int filter_markers(struct wm_recorder_kernel *k, const char *filter, struct wm_diag *diag)
{
	struct wm_kernel_source_event *e = &k->events[k->nr_events - 1];
	unsigned char *code;
	size_t bytes;
	int err = wm_filter_parse(filter, &code, &bytes, diag);

	if (err)
		return err;
	err = wm_event_filter_check(code, bytes, e->system, e->format, e->format_bytes, diag);
	if (!err) {
		e->filter = wm_arena_copy(&k->arena, code, bytes);
		e->filter_bytes = bytes;
		err = e->filter ? 0 : -ENOMEM;
	}
	free(code);
	return err;
}

int wm_recorder_kernel_add_markers(struct wm_recorder_kernel *k, const char *filter,
				   struct wm_diag *diag)
{
	bool in_top = false;
	int err;

	if (kernel_events_is_there(k, "ftrace", "print"))
		return 0;
	if (wm_instance_copy_markers(k->instance) < 0) {
		in_top = true;
		err = wm_recorder_kernel_take_top(
		    k, "the texts written to trace_marker (before Linux 6.16)", diag);
		if (err)
			return err;
	}
	err = wm_recorder_kernel_remember(k, "ftrace", "print", diag);
	if (!err)
		k->events[k->nr_events - 1].in_top = in_top;
	return err || !filter ? err : filter_markers(k, filter, diag);
}

int wm_recorder_kernel_mark(const struct wm_recorder_kernel *k, const char *text, size_t bytes)
{
	const struct wm_kernel_source_event *e = wm_recorder_kernel_find(k, "ftrace", "print");

	if (!e)
		return -EINVAL;
	return wm_instance_mark(e->in_top ? k->top : k->instance, text, bytes);
}

/* Whether a format prints symbols: with %pS, %ps, %pB and so on; other letters after %p do not. */
static bool shows_symbols(const char *format, size_t bytes)
{
	for (size_t i = 0; i + 2 < bytes; i++)
		if (format[i] == '%' && format[i + 1] == 'p' && strchr("SsBFf", format[i + 2]))
			return true;
	return false;
}

bool wm_recorder_kernel_has_system(const struct wm_recorder_kernel *k, const char *system)
{
	for (uint32_t i = 0; i < k->nr_events; i++)
		if (!strcmp(k->events[i].system, system))
			return true;
	return false;
}

bool wm_recorder_kernel_show_symbols(const struct wm_recorder_kernel *k)
{
	for (uint32_t i = 0; i < k->nr_events; i++)
		if (shows_symbols(k->events[i].format, k->events[i].format_bytes))
			return true;
	return false;
}

int wm_recorder_kernel_follow(struct wm_recorder_kernel *k, const pid_t *tids, size_t nr,
			      bool children, struct wm_diag *diag)
{
	int err = wm_instance_follow(k->instance, tids, nr, children, diag);

	return err || !k->top ? err : wm_instance_follow(k->top, tids, nr, children, diag);
}

int wm_recorder_kernel_follow_also(struct wm_recorder_kernel *k, const pid_t *tids, size_t nr)
{
	return wm_instance_follow_also(k->instance, tids, nr);
}

int wm_recorder_kernel_cpus(struct wm_recorder_kernel *k, const int *cpus, size_t nr,
			    struct wm_diag *diag)
{
	int err = wm_instance_cpus(k->instance, cpus, nr, diag);

	return err || !k->top ? err : wm_instance_cpus(k->top, cpus, nr, diag);
}

int wm_recorder_kernel_exclude(struct wm_recorder_kernel *k, const pid_t *tids, size_t nr)
{
	int err = wm_instance_exclude(k->instance, tids, nr);

	return err || !k->top ? err : wm_instance_exclude(k->top, tids, nr);
}

int wm_recorder_kernel_from_exec(struct wm_recorder_kernel *k, struct wm_child_exec **ret_exec)
{
	int err = k->exec ? 0 : wm_child_exec_create(k->clock, &k->exec);

	*ret_exec = k->exec;
	return err;
}

int wm_recorder_kernel_start(struct wm_recorder_kernel *k, struct wm_diag *diag)
{
	int err = wm_instance_start(k->instance, diag);

	return err || !k->top ? err : wm_instance_start(k->top, diag);
}

void wm_recorder_kernel_stop(struct wm_recorder_kernel *k)
{
	wm_instance_stop(k->instance);
	if (k->top)
		wm_instance_stop(k->top);
}

int wm_recorder_kernel_fds(const struct wm_recorder_kernel *k, int **ret)
{
	int nr = wm_instance_fds(k->instance, ret), nr_top, *more, *top = NULL;

	if (nr < 0)
		return nr;
	nr_top = k->top ? wm_instance_fds(k->top, &top) : 0;
	more = nr_top < 0 ? NULL : realloc(*ret, ((size_t)(nr + nr_top) + 2) * sizeof(*more));
	if (!more) {
		free(*ret);
		free(top);
		return -ENOMEM;
	}
	if (nr_top)
		memcpy(more + nr, top, (size_t)nr_top * sizeof(*top));
	nr += nr_top;
	free(top);
	more[nr++] = k->tracefs->dirfd;
	if (k->dynamic)
		more[nr++] = wm_dynamic_fd(k->dynamic);
	*ret = more;
	return nr;
}

void wm_recorder_kernel_leave_rings(struct wm_recorder_kernel *k)
{
	wm_instance_close_rings(k->instance);
	if (k->top)
		wm_instance_close_rings(k->top);
}

int wm_recorder_kernel_source(struct wm_recorder_kernel *k, struct wm_trace_writer *w,
			      struct wm_kernel_source **ret, struct wm_diag *diag)
{
	const struct wm_kernel_rings from = {k->instance, k->top, k->clock, k->exec};

	return wm_source_kernel_create(&from, w, k->events, k->nr_events, ret, diag);
}

uint32_t wm_recorder_kernel_nr_rings(const struct wm_recorder_kernel *k)
{
	return wm_instance_nr_cpus(k->instance) * (k->top ? 2 : 1);
}

int wm_recorder_kernel_fd(const struct wm_recorder_kernel *k, uint32_t ring)
{
	uint32_t nr_cpus = wm_instance_nr_cpus(k->instance);

	return ring < nr_cpus ? wm_instance_fd(k->instance, ring)
			      : wm_instance_fd(k->top, ring - nr_cpus);
}
