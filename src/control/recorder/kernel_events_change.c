/* SPDX-License-Identifier: MIT */
/*
 * kernel_events_change.c - switches kernel events on and off, and replaces their filters, while
 * they are being recorded. A change is first staged, with its filters compiled and checked, then
 * applied; if the kernel refuses a part, everything is undone. See kernel_events.h.
 *
 * Rings contain records that passed the kernel's old filter. They are drained first, using the rest
 * of the old filter. Records written after that, but before the kernel uses the new filter, are
 * checked here against the complete new filter.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "control/recorder/kernel_events_int.h"
#include "event/filter.h"

#define NAME_BYTES (2 * WM_TRACEFS_NAME_MAX + 16)

/* --- staging ------------------------------------------------------------------------------ */

static void forget_next(struct wm_kernel_switch *s)
{
	wm_event_filter_done(&s->next);
	s->next = (struct wm_event_filter){0};
	free(s->whole);
	s->whole = NULL;
	s->staged = s->wanted = false;
}

void wm_recorder_switch_done(struct wm_kernel_switch *s)
{
	forget_next(s);
	wm_event_filter_done(&s->filter);
	s->filter = (struct wm_event_filter){0};
}

void wm_recorder_kernel_change(struct wm_recorder_kernel *k)
{
	k->changing = true;
	k->nr_declared = k->nr_events;
}

void wm_recorder_kernel_declared(struct wm_recorder_kernel *k)
{
	k->nr_declared = k->nr_events;
}

void wm_recorder_kernel_abandon(struct wm_recorder_kernel *k)
{
	k->changing = false;
	for (uint32_t i = 0; i < k->nr_events; i++)
		forget_next(&k->switches[i]);
	while (k->nr_events > k->nr_declared)
		wm_recorder_switch_done(&k->switches[--k->nr_events]);
}

int wm_recorder_kernel_stage(struct wm_recorder_kernel *k, uint32_t event, const char *filter,
			     struct wm_diag *diag)
{
	const struct wm_kernel_source_event *e = &k->events[event];
	struct wm_kernel_switch *s = &k->switches[event];
	int err = 0;

	if (s->staged)
		return 0;
	if (filter)
		err = wm_event_filter_make(filter, e->system, e->format, e->format_bytes, &s->next,
					   diag);
	if (filter && !err)
		err = wm_filter_parse(filter, &s->whole, &s->whole_bytes, diag);
	if (err) {
		forget_next(s);
		return err;
	}
	s->staged = s->wanted = true;
	return 0;
}

static bool events_change_same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

int wm_recorder_kernel_stage_probe(struct wm_recorder_kernel *k, const struct wm_event_def *def,
				   const char *filter, struct wm_diag *diag)
{
	int nr = 0, err = 0;

	for (uint32_t i = 0; !err && i < k->nr_events; i++) {
		const struct wm_kernel_switch *s = &k->switches[i];

		if (!s->called || !events_change_same(s->called, def->name) ||
		    !events_change_same(s->path, def->path))
			continue;
		err = wm_recorder_kernel_stage(k, i, filter, diag);
		nr++;
	}
	return err ? err : nr;
}

/* --- names of enabled events ------------------------------------------------------------- */

/*
 * Whether a glob matches the name. A glob without a colon is compared with the part after the
 * name's first colon.
 */
static bool events_change_is_called(const char *glob, const char *name)
{
	const char *last = strchr(name, ':');

	if (!strchr(glob, ':') && last)
		name = last + 1;
	return wm_glob_match(glob, strlen(glob), name, strlen(name));
}

/*
 * Whether a glob like "syscall:openat" or "syscall:openat:enter" matches syscalls:sys_enter_openat.
 */
static bool is_call(const char *glob, const char *system, const char *event)
{
	static const char *const phases[][2] = {{"sys_enter_", "enter"}, {"sys_exit_", "exit"}};

	for (size_t i = 0; !strcmp(system, "syscalls") && i < 2; i++) {
		size_t n = strlen(phases[i][0]);
		char name[NAME_BYTES];

		if (strncmp(event, phases[i][0], n) != 0)
			continue;
		(void)snprintf(name, sizeof(name), "syscall:%s", event + n);
		if (events_change_is_called(glob, name))
			return true;
		(void)snprintf(name, sizeof(name), "syscall:%s:%s", event + n, phases[i][1]);
		return events_change_is_called(glob, name);
	}
	return false;
}

bool wm_recorder_kernel_means(const char *glob, const char *system, const char *event,
			      const char *called)
{
	char name[NAME_BYTES];

	if (called && (events_change_is_called(glob, called) || !strcmp(glob, called)))
		return true;
	if (!system)
		return false;
	(void)snprintf(name, sizeof(name), "%s:%s", system, event);
	return events_change_is_called(glob, name) || is_call(glob, system, event);
}

uint32_t wm_recorder_kernel_off(struct wm_recorder_kernel *k, const char *glob, uint32_t *ret_fixed)
{
	uint32_t nr = 0;

	*ret_fixed = 0;
	for (uint32_t i = 0; i < k->nr_events; i++) {
		struct wm_kernel_switch *s = &k->switches[i];

		if (!wm_recorder_kernel_means(glob, k->events[i].system, k->events[i].name,
					      s->called))
			continue;
		if (!s->event)
			++*ret_fixed;
		if (!s->event || !(s->on || s->wanted))
			continue;
		nr++;
		if (!k->changing) {
			const struct wm_instance_event e = {s->system, s->event, s->called};

			s->on = wm_instance_disable(k->instance, &e) < 0;
			continue;
		}
		forget_next(s);
		s->staged = true;
	}
	return nr;
}

uint32_t wm_recorder_kernel_nr_on(const struct wm_recorder_kernel *k)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < k->nr_events; i++)
		nr += k->switches[i].on || !k->switches[i].event;
	return nr;
}

/* --- commit ----------------------------------------------------------------------------------- */

/* Declares new events to the source. */
static int events_change_declare(struct wm_recorder_kernel *k, struct wm_kernel_source *source,
				 struct wm_diag *diag)
{
	int err = 0;

	while (!err && k->nr_declared < k->nr_events) {
		err = wm_source_kernel_add(source, &k->events[k->nr_declared], diag);
		k->nr_declared += !err;
	}
	return err;
}

/* Sets one event in the kernel to the staged state or, with `back`, to the previous one. */
static int events_change_put(const struct wm_recorder_kernel *k, const struct wm_kernel_switch *s,
			     bool back, struct wm_diag *diag)
{
	const struct wm_instance_event e = {s->system, s->event, s->called};
	const struct wm_event_filter *f = back ? &s->filter : &s->next;
	bool on = back ? s->on : s->wanted;
	int err = 0;

	if (!on)
		return wm_instance_disable(k->instance, &e);
	if (s->filter.text || s->next.text)
		err = wm_instance_refilter(k->instance, &e, f->text, diag);
	return err ? err : wm_instance_enable(k->instance, &e, NULL, diag);
}

/* Sets the filter that the source applies to the event's records. */
static int sift(struct wm_recorder_kernel *k, struct wm_kernel_source *source, uint32_t event,
		const unsigned char *code, size_t bytes)
{
	struct wm_kernel_source_event *e = &k->events[event];

	e->filter = code;
	e->filter_bytes = code ? bytes : 0;
	return wm_source_kernel_filter(source, e);
}

static void undo(struct wm_recorder_kernel *k, struct wm_kernel_source *source, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++) {
		const struct wm_kernel_switch *s = &k->switches[i];

		if (!s->staged)
			continue;
		(void)events_change_put(k, s, true, NULL);
		(void)sift(k, source, i, s->filter.rest, s->filter.rest_bytes);
	}
}

/* Applies all staged events, or none. */
static int apply(struct wm_recorder_kernel *k, struct wm_kernel_source *source,
		 struct wm_diag *diag)
{
	int err = 0;

	for (uint32_t i = 0; i < k->nr_events; i++) {
		const struct wm_kernel_switch *s = &k->switches[i];

		if (!s->staged)
			continue;
		if (s->wanted)
			err = sift(k, source, i, s->whole, s->whole_bytes);
		if (!err)
			err = events_change_put(k, s, false, diag);
		if (err) {
			undo(k, source, i + 1);
			return err;
		}
	}
	return 0;
}

/*
 * Called after a change: the source stops evaluating the parts of filters that the kernel
 * evaluates.
 */
static void events_change_settle(struct wm_recorder_kernel *k, struct wm_kernel_source *source)
{
	for (uint32_t i = 0; i < k->nr_events; i++) {
		struct wm_kernel_switch *s = &k->switches[i];

		if (!s->staged)
			continue;
		s->on = s->wanted;
		/*
		 * If out of memory, the source keeps the complete filter, which gives the same
		 * result.
		 */
		if (s->wanted && sift(k, source, i, s->next.rest, s->next.rest_bytes) < 0)
			k->events[i].filter = NULL;
		if (s->wanted) {
			wm_event_filter_done(&s->filter);
			s->filter = s->next;
			s->next = (struct wm_event_filter){0};
		}
		forget_next(s);
	}
}

int wm_recorder_kernel_commit(struct wm_recorder_kernel *k, struct wm_kernel_source *source,
			      struct wm_diag *diag)
{
	int err = events_change_declare(k, source, diag);

	if (!err) {
		wm_source_kernel_drain(source);
		err = apply(k, source, diag);
	}
	if (!err) {
		wm_source_kernel_drain(source);
		events_change_settle(k, source);
	}
	wm_recorder_kernel_abandon(k);
	return err;
}
