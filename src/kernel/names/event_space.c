/* SPDX-License-Identifier: MIT */
/* event_space.c - see event_space.h. */
#include "kernel/event_space.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kernel/perf_event.h"

#define NAME_BYTES 512u
#define SYSCALLS   "syscalls"
#define ENTER      "sys_enter_"
#define EXIT       "sys_exit_"

/* Whether the CPU has counters. Returns true if this process is not permitted to test it. */
static bool has_hardware(void)
{
	struct perf_event_attr attr;
	int fd;

	wm_perf_attr_init(&attr, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	fd = wm_perf_open(&attr, (struct wm_perf_where){0, -1}, -1, "", NULL);
	if (fd >= 0)
		(void)close(fd);
	return fd >= 0 || fd == -EACCES || fd == -EPERM || fd == -EMFILE;
}

int wm_event_space_open(struct wm_event_space *s, const char *search)
{
	int err;

	*s = (struct wm_event_space){.search = search, .tracefs_diag = {.offset = -1}};
	err = wm_tracefs_open(&s->tracefs, &s->tracefs_diag);
	if (err == 0) {
		err = wm_tracefs_load(s->tracefs, &s->tracefs_diag);
		if (err < 0) {
			wm_tracefs_close(s->tracefs);
			s->tracefs = NULL;
		}
	}
	s->tracefs_err = err;
	if (err == -ENOMEM)
		return err;
	s->hardware = has_hardware();
	err = wm_pmus_read(WM_PMU_FOLDER, &s->pmus);
	if (err < 0)
		wm_tracefs_close(s->tracefs);
	return err;
}

void wm_event_space_close(struct wm_event_space *s)
{
	wm_tracefs_close(s->tracefs);
	wm_pmus_done(&s->pmus);
	s->tracefs = NULL;
}

/* ---- walking ------------------------------------------------------------------ */

struct walk {
	const struct wm_event_space *space;
	int (*fn)(const struct wm_event_item *item, void *data);
	void *data;
};

/* Builds the name "PREFIX:LAST" and passes the item on. */
static int pass(const struct walk *w, struct wm_event_item *item, const char *prefix,
		const char *last)
{
	char name[NAME_BYTES];

	if (snprintf(name, sizeof(name), "%s:%s", prefix, last) >= (int)sizeof(name))
		return 0;
	item->name = name;
	item->last = name + strlen(prefix) + 1;
	return w->fn(item, w->data);
}

static int walk_known(const struct walk *w)
{
	const struct wm_event_known *k;
	char cache[WM_EVENT_CACHE_NAME];
	uint64_t config;
	int err = 0;

	for (size_t i = 0; !err && (k = wm_event_known(i)); i++) {
		struct wm_event_item item = {.family = k->family, .known = k, .alias = k->alias};

		err = pass(w, &item, wm_event_family_name(k->family), k->name);
	}
	for (size_t i = 0; !err && wm_event_cache(i, cache, &config); i++) {
		struct wm_event_item item = {.family = WM_FAMILY_HARDWARE, .cache = config};

		err = pass(w, &item, "cpu", cache);
	}
	return err;
}

static int walk_pmus(const struct walk *w)
{
	int err = 0;

	for (size_t i = 0; i < w->space->pmus.nr; i++) {
		const struct wm_pmu *pmu = &w->space->pmus.pmus[i];

		for (size_t e = 0; !err && e < pmu->nr_events; e++) {
			struct wm_event_item item = {
			    .family = WM_FAMILY_PMU, .pmu = pmu, .pmu_event = &pmu->events[e]};

			err = pass(w, &item, pmu->name, pmu->events[e].name);
		}
	}
	return err;
}

/* Walks through the events whose file exists on this kernel. */
static int walk_proc(const struct walk *w)
{
	const struct wm_proc_event *e;
	char path[64];
	int err = 0;

	for (size_t i = 0; !err && (e = wm_kproc_event(i)); i++) {
		struct wm_event_item item = {.family = WM_FAMILY_PROC, .proc = e};

		(void)snprintf(path, sizeof(path), "/proc/%s%s", e->of_task ? "self/" : "",
			       e->file);
		if (access(path, F_OK) == 0)
			err = pass(w, &item, WM_PROC_PROVIDER, e->name);
	}
	return err;
}

/*
 * Returns the name that programs use for a system call if the kernel's function has a different
 * one; NULL if the names are equal.
 */
static const char *event_space_called(const char *call)
{
	static const struct {
		const char *call, *name;
	} others[] = {{"newstat", "stat"},       {"newfstat", "fstat"}, {"newlstat", "lstat"},
		      {"newfstatat", "fstatat"}, {"newuname", "uname"}, {"sendfile64", "sendfile"},
		      {"umount", "umount2"}};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!strcmp(call, others[i].call))
			return others[i].name;
	return NULL;
}

static int walk_tracefs(const struct walk *w, enum wm_event_family family)
{
	const struct wm_tracefs *t = w->space->tracefs;
	int err = 0;

	for (size_t i = 0; t && !err && i < t->nr_events; i++) {
		const struct wm_tracefs_event *e = &t->events[i];
		struct wm_event_item item = {
		    .family = family, .system = e->system, .event = e->name};
		bool enter =
		    !strcmp(e->system, SYSCALLS) && !strncmp(e->name, ENTER, strlen(ENTER));

		if (family == WM_FAMILY_TRACEPOINT)
			err = pass(w, &item, e->system, e->name);
		if (family == WM_FAMILY_TRACEPOINT || !enter)
			continue;
		item.alias = event_space_called(e->name + strlen(ENTER));
		err = pass(w, &item, "syscall", e->name + strlen(ENTER));
	}
	return err;
}

int wm_event_space_each(const struct wm_event_space *s,
			int (*fn)(const struct wm_event_item *item, void *data), void *data)
{
	const struct walk w = {s, fn, data};
	int err = walk_known(&w);

	if (!err)
		err = walk_pmus(&w);
	if (!err)
		err = walk_proc(&w);
	if (!err)
		err = walk_tracefs(&w, WM_FAMILY_SYSCALL);
	return err ? err : walk_tracefs(&w, WM_FAMILY_TRACEPOINT);
}

/* ---- from item to definition ------------------------------------------------------ */

static int event_space_add_tracepoint(const struct wm_event_space *s, struct wm_event_def *def,
				      struct wm_event_defs *defs, struct wm_diag *diag)
{
	int err = wm_tracefs_event_id(s->tracefs, def->system, def->event, &def->config, diag);

	def->type = PERF_TYPE_TRACEPOINT;
	return err < 0 ? err : wm_event_defs_add(defs, def);
}

/* Adds the entry, the exit, or both; in the latter case the exit is marked as implied. */
static int add_syscall(const struct wm_event_space *s, const struct wm_event_item *item,
		       enum wm_event_phase phase, struct wm_event_def *def,
		       struct wm_event_defs *defs, struct wm_diag *diag)
{
	char event[WM_TRACEFS_NAME_MAX + sizeof(ENTER)], name[2 * NAME_BYTES];
	const char *call = item->event + strlen(ENTER);
	int err = 0;

	(void)snprintf(name, sizeof(name), "%s%s", def->name,
		       phase == WM_PHASE_ENTER  ? ":enter"
		       : phase == WM_PHASE_EXIT ? ":exit"
						: "");
	def->name = name;
	def->system = SYSCALLS;
	def->event = event;
	for (int exit = 0; exit < 2 && !err; exit++) {
		def->phase = exit ? WM_PHASE_EXIT : WM_PHASE_ENTER;
		if (phase != WM_PHASE_NONE && phase != def->phase)
			continue;
		def->implied = exit && phase == WM_PHASE_NONE;
		(void)snprintf(event, sizeof(event), "%s%.*s", exit ? EXIT : ENTER,
			       (int)WM_TRACEFS_NAME_MAX, call);
		err = event_space_add_tracepoint(s, def, defs, diag);
	}
	return err;
}

static int add_pmu(const struct wm_event_space *s, const struct wm_event_item *item,
		   struct wm_event_def *def, struct wm_event_defs *defs, struct wm_diag *diag)
{
	int err = wm_pmu_terms(&s->pmus, item->pmu, item->pmu_event->name, def, diag);

	return err < 0 ? err : wm_event_defs_add(defs, def);
}

int wm_event_space_add(const struct wm_event_space *s, const struct wm_event_item *item,
		       enum wm_event_phase phase, const struct wm_event_def *modifiers,
		       const char *suffix, struct wm_event_defs *defs, struct wm_diag *diag)
{
	struct wm_event_def def = *modifiers;
	char name[NAME_BYTES + 16];

	(void)snprintf(name, sizeof(name), "%s%s", item->name, suffix);
	def.family = item->family;
	def.name = name;
	switch (item->family) {
	case WM_FAMILY_TRACEPOINT:
		def.system = item->system;
		def.event = item->event;
		return event_space_add_tracepoint(s, &def, defs, diag);
	case WM_FAMILY_SYSCALL:
		return add_syscall(s, item, phase, &def, defs, diag);
	case WM_FAMILY_PMU:
		return add_pmu(s, item, &def, defs, diag);
	case WM_FAMILY_PROC:
		if (*suffix)
			return wm_diag_set(
			    diag, -EINVAL, NULL, -1,
			    "%s is read from a file and has no modifiers: remove '%s'", item->name,
			    suffix);
		def.proc = item->proc;
		return wm_event_defs_add(defs, &def);
	default:
		def.type = item->known ? item->known->type : PERF_TYPE_HW_CACHE;
		def.config = item->known ? item->known->config : item->cache;
		def.in_kernel = item->known && item->known->in_kernel;
		return wm_event_defs_add(defs, &def);
	}
}
