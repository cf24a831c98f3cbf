/* SPDX-License-Identifier: MIT */
/* kernel_events.c - what of the kernel a recording takes; see kernel_events.h. */
#include "control/kernel_events_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define FORMATS_BYTES_MAX ((size_t)256 << 20)

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
	if (!err)
		wm_dynamic_sweep(k->tracefs); /* what used them is gone now */
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
	wm_instance_destroy(k->instance); /* it uses the probes */
	wm_dynamic_destroy(k->dynamic);
	wm_tracefs_close(k->tracefs);
	wm_arena_done(&k->arena);
	free(k);
}

static bool is_there(const struct wm_kernel_events *k, const char *system, const char *event)
{
	for (uint32_t i = 0; i < k->nr_events; i++)
		if (!strcmp(k->events[i].name, event) && !strcmp(k->events[i].system, system))
			return true;
	return false;
}

int wm_kernel_events_keep(struct wm_kernel_events *k, const char *system, const char *name,
			  const char *format, size_t bytes)
{
	struct wm_kernel_source_event *more, e = {0};

	more = wm_arena_grow(&k->arena, k->events, k->nr_events, sizeof(*more));
	e.system = wm_arena_copy(&k->arena, system, strlen(system));
	e.name = wm_arena_copy(&k->arena, name, strlen(name));
	e.format = wm_arena_copy(&k->arena, format, bytes);
	e.format_bytes = bytes;
	if (!more || !e.system || !e.name || !e.format)
		return -ENOMEM;
	k->events = more;
	k->events[k->nr_events++] = e;
	return 0;
}

int wm_kernel_events_remember(struct wm_kernel_events *k, const char *system, const char *event,
			      struct wm_diag *diag)
{
	size_t bytes;
	char *text;
	int err;

	if (is_there(k, system, event))
		return 0;
	err = wm_tracefs_event_format(k->tracefs, system, event, &text, &bytes, diag);
	if (err)
		return err;
	err = wm_kernel_events_keep(k, system, event, text, bytes);
	free(text);
	return err;
}

static int add_tracepoint(struct wm_kernel_events *k, const struct wm_event_def *def,
			  const char *filter, struct wm_diag *diag)
{
	const struct wm_instance_event e = {def->system, def->event, NULL};
	int err;

	if (is_there(k, def->system, def->event))
		return 0;
	err = wm_kernel_events_remember(k, def->system, def->event, diag);
	if (err)
		return err;
	err = wm_instance_enable(k->instance, &e, filter, diag);
	if (err)
		k->nr_events--;
	return err;
}

/* --- probes -------------------------------------------------------------------- */

/* Is the word among those of a list separated by blanks? */
static bool is_among(const char *list, const char *word, size_t bytes)
{
	while (list && *list) {
		size_t n = strcspn(list, " ");

		if (n == bytes && !memcmp(list, word, n))
			return true;
		list += n + (list[n] == ' ');
	}
	return false;
}

/* "field:u64 arg2;" of an argument that is a double's bytes: says so. */
static bool put_float(struct wm_text *t, const char *line, size_t bytes, const char *floats)
{
	static const char *const types[][2] = {{"\tfield:u64 ", "\tfield:double "},
					       {"\tfield:u32 ", "\tfield:float "}};

	for (size_t i = 0; i < 2; i++) {
		size_t n = strlen(types[i][0]), name;

		if (bytes <= n || strncmp(line, types[i][0], n))
			continue;
		name = strcspn(line + n, ";");
		if (!is_among(floats, line + n, name))
			return false;
		wm_text_str(t, types[i][1]);
		wm_text_add(t, line + n, bytes - n);
		return true;
	}
	return false;
}

/* A format file under the name people know the event by. */
int wm_kernel_events_keep_as(struct wm_kernel_events *k, const char *system, const char *name,
			     const char *format, const char *floats)
{
	struct wm_text t;
	int err;

	wm_text_init(&t);
	wm_text_f(&t, "name: %s\n", name);
	for (const char *line = strchr(format, '\n'); line && *++line; line = strchr(line, '\n')) {
		size_t n = strcspn(line, "\n");

		if (!put_float(&t, line, n, floats))
			wm_text_add(&t, line, n);
		wm_text_char(&t, '\n');
		if (!line[n])
			break;
	}
	err = t.failed ? -ENOMEM : wm_kernel_events_keep(k, system, name, t.data, t.bytes);
	wm_text_done(&t);
	return err;
}

static int remember_probe(struct wm_kernel_events *k, const struct wm_event_def *def,
			  const char *system, const char *event, struct wm_diag *diag)
{
	size_t bytes;
	char *text;
	int err = wm_tracefs_event_format(k->tracefs, system, event, &text, &bytes, diag);

	if (err)
		return err;
	err = wm_kernel_events_keep_as(k, wm_event_family_name(def->family), def->label, text,
				       def->floats);
	free(text);
	return err;
}

/* The events that one probe became: the kernel's names of them. */
struct made {
	char system[WM_TRACEFS_NAME_MAX], event[WM_TRACEFS_NAME_MAX];
};

/*
 * A place goes to the first of the events made before that fetches the same
 * types, or gets one of its own.
 */
static int place(struct wm_kernel_events *k, const struct wm_event_def *def, struct made *made,
		 size_t *nr, struct wm_diag *diag)
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

int wm_kernel_events_dynamic(struct wm_kernel_events *k, struct wm_diag *diag)
{
	return k->dynamic ? 0 : wm_dynamic_create(k->tracefs, &k->dynamic, diag);
}

static int add_probe(struct wm_kernel_events *k, const struct wm_event_def *defs, size_t nr_defs,
		     const char *filter, struct wm_diag *diag)
{
	struct made *made = calloc(nr_defs, sizeof(*made));
	uint32_t before = k->nr_events;
	size_t nr = 0;
	int err = made ? 0 : -ENOMEM;

	if (!err)
		err = wm_kernel_events_dynamic(k, diag);
	for (size_t i = 0; i < nr_defs && !err; i++)
		err = place(k, &defs[i], made, &nr, diag);
	for (size_t i = 0; i < nr && !err; i++) {
		const struct wm_instance_event e = {made[i].system, made[i].event, defs->name};

		err = wm_instance_enable(k->instance, &e, filter, diag);
	}
	if (err)
		k->nr_events = before;
	free(made);
	return err;
}

size_t wm_kernel_events_places(const struct wm_event_defs *defs, size_t first)
{
	size_t nr = 1;

	while (first + nr < defs->nr && defs->defs[first + nr].more)
		nr++;
	return nr;
}

int wm_kernel_events_add(struct wm_kernel_events *k, const struct wm_event_def *defs,
			 size_t nr_places, const char *filter, struct wm_diag *diag)
{
	if (defs->label)
		return add_probe(k, defs, nr_places, filter, diag);
	if (!defs->system || !defs->event)
		return wm_diag_set(diag, -EOPNOTSUPP, NULL, -1,
				   "%s is counted ('waymark stat -e %s'), or sampled: add -F HZ or "
				   "-c N",
				   defs->name, defs->name);
	return add_tracepoint(k, defs, filter, diag);
}

int wm_kernel_events_add_markers(struct wm_kernel_events *k, struct wm_diag *diag)
{
	if (wm_instance_copy_markers(k->instance) < 0)
		return wm_diag_set(diag, -EOPNOTSUPP, NULL, -1,
				   "this kernel does not give what is written to trace_marker to a "
				   "private instance (Linux 6.12 and later do)");
	return wm_kernel_events_remember(k, "ftrace", "print", diag);
}

/* %pS, %ps, %pB: the other letters behind %p are no symbols. */
static bool shows_symbols(const char *format, size_t bytes)
{
	for (size_t i = 0; i + 2 < bytes; i++)
		if (format[i] == '%' && format[i + 1] == 'p' && strchr("SsBFf", format[i + 2]))
			return true;
	return false;
}

bool wm_kernel_events_show_symbols(const struct wm_kernel_events *k)
{
	for (uint32_t i = 0; i < k->nr_events; i++)
		if (shows_symbols(k->events[i].format, k->events[i].format_bytes))
			return true;
	return false;
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
	more = realloc(*ret, ((size_t)nr + 2) * sizeof(*more));
	if (!more) {
		free(*ret);
		return -ENOMEM;
	}
	more[nr++] = k->tracefs->dirfd;
	if (k->dynamic)
		more[nr++] = wm_dynamic_fd(k->dynamic);
	*ret = more;
	return nr;
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
