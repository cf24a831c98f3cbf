/* SPDX-License-Identifier: MIT */
/*
 * event_space.h - all of this kernel's events in one namespace: those that can be listed without
 * naming a place (probes and breakpoints can be anywhere: event_name.h). Opened once per command;
 * not thread-safe.
 */
#ifndef WM_KERNEL_EVENT_SPACE_H
#define WM_KERNEL_EVENT_SPACE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/diag.h"
#include "kernel/event_def.h"
#include "kernel/event_table.h"
#include "kernel/names/pmu.h"
#include "kernel/tracefs.h"

struct wm_event_space {
	/*
	 * NULL: tracepoints and system calls cannot be named; the next two members tell why.
	 */
	struct wm_tracefs *tracefs;
	int tracefs_err;
	struct wm_diag tracefs_diag;
	struct wm_pmus pmus;
	/* The CPU's counters can be used, or whether they can is unknown. */
	bool hardware;
	/* Folders to search for programs, borrowed; NULL: the system's default. */
	const char *search;
	/*
	 * Root folder to search first, such as "/proc/PID/root", borrowed; NULL: this process's
	 * own.
	 */
	const char *root;
};

/*
 * Opens the parts of the namespace. Missing or forbidden parts are left out, with the reason.
 * Returns 0 or -ENOMEM.
 */
int wm_event_space_open(struct wm_event_space *s, const char *search);
void wm_event_space_close(struct wm_event_space *s);

/*
 * For space.root: writes to `buf` the root of a process that sees other files than this one (in a
 * container). Returns NULL if it sees the same files, or its root may not be read.
 */
#define WM_EVENT_ROOT_BYTES 32u
const char *wm_event_space_root(pid_t pid, char buf[WM_EVENT_ROOT_BYTES]);

/* A listed event, before its files are read. */
struct wm_event_item {
	enum wm_event_family family;
	const char *name;  /* the full name, such as "sw:page-faults" or "sched:sched_switch" */
	const char *last;  /* the part of the name after the first ':' */
	const char *alias; /* another spelling of `last`; NULL: none */
	/* For software and hardware events; NULL: a cache event. */
	const struct wm_event_known *known;
	uint64_t cache;                       /* config of a cache event */
	const char *system, *event;           /* for tracepoints and system calls (sys_enter_X) */
	const struct wm_proc_event *proc;     /* for /proc counters */
	const struct wm_pmu *pmu;             /* for PMU events */
	const struct wm_pmu_event *pmu_event; /* likewise */
};

/*
 * Calls fn for every event until fn returns a value other than 0; returns that value. Families come
 * in the order of their enum, except that tracepoints come last. The item is valid during the call.
 * Includes hardware events even if the machine has none: see `hardware`.
 */
int wm_event_space_each(const struct wm_event_space *s,
			int (*fn)(const struct wm_event_item *item, void *data), void *data);

/*
 * Appends the item's events to the list: one event, or a system call's two (`phase` NONE: both, the
 * exit implied). `suffix` ("", ":u") is appended to the name. Returns 0, or -errno with an error
 * message.
 */
int wm_event_space_add(const struct wm_event_space *s, const struct wm_event_item *item,
		       enum wm_event_phase phase, const struct wm_event_def *modifiers,
		       const char *suffix, struct wm_event_defs *defs, struct wm_diag *diag);

#endif
