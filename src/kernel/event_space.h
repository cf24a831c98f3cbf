/* SPDX-License-Identifier: MIT */
/*
 * event_space.h - all events of this kernel in one namespace: the events that
 * can be listed without naming a place (probes and breakpoints can be anywhere:
 * event_name.h). Opened once per command; not thread safe.
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
	 * NULL: tracepoints and system calls cannot be named; the two members
	 * below have the reason.
	 */
	struct wm_tracefs *tracefs;
	int tracefs_err;
	struct wm_diag tracefs_diag;
	struct wm_pmus pmus;
	bool hardware;      /* the CPU's counters can be used, or this is unknown */
	const char *search; /* folders to search for programs; borrowed, NULL: the system's */
	const char *root;   /* root to search first, "/proc/PID/root"; borrowed, NULL: own */
};

/* Missing or forbidden parts are left out and recorded. 0 or -ENOMEM. */
int wm_event_space_open(struct wm_event_space *s, const char *search);
void wm_event_space_close(struct wm_event_space *s);

/*
 * For space.root: the root of a process that sees other files than this one
 * does (a container's), written to `buf`; NULL: it sees the same files, or its
 * root may not be read.
 */
#define WM_EVENT_ROOT_BYTES 32u
const char *wm_event_space_root(pid_t pid, char buf[WM_EVENT_ROOT_BYTES]);

/* A listed event, before its files are read. */
struct wm_event_item {
	enum wm_event_family family;
	const char *name;  /* the full name: "sw:page-faults", "sched:sched_switch" */
	const char *last;  /* the part after the first ':' */
	const char *alias; /* another spelling of `last`; NULL: none */
	const struct wm_event_known *known;   /* software and hardware events; NULL: a cache */
	uint64_t cache;                       /* config of a cache event */
	const char *system, *event;           /* tracepoints and system calls (sys_enter_X) */
	const struct wm_proc_event *proc;     /* counters of /proc */
	const struct wm_pmu *pmu;             /* PMU events */
	const struct wm_pmu_event *pmu_event; /* likewise */
};

/*
 * Calls fn for every event, families in the order of their enum but the
 * tracepoints last, until fn returns other than 0; returns that. The item is
 * valid during the call. Hardware events are walked even where the machine has
 * none: see `hardware`.
 */
int wm_event_space_each(const struct wm_event_space *s,
			int (*fn)(const struct wm_event_item *item, void *data), void *data);

/*
 * Appends the item's events to the list: one event, or the two of a system call
 * (`phase` NONE: both, the exit implied). `suffix` ("", ":u") is appended to
 * the name. 0 or a negative errno with a sentence.
 */
int wm_event_space_add(const struct wm_event_space *s, const struct wm_event_item *item,
		       enum wm_event_phase phase, const struct wm_event_def *modifiers,
		       const char *suffix, struct wm_event_defs *defs, struct wm_diag *diag);

#endif
