/* SPDX-License-Identifier: MIT */
/*
 * event_space.h - all events this kernel has under one naming: what can be
 * listed without being asked for by a place (probes and breakpoints can be
 * put anywhere: event_name.h). Opened once per command; not thread safe.
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
	/* NULL: tracepoints and system calls cannot be named; why is in the two below. */
	struct wm_tracefs *tracefs;
	int tracefs_err;
	struct wm_diag tracefs_diag;
	struct wm_pmus pmus;
	bool hardware; /* the CPU's counters can be used, or it cannot be told */
	const char
	    *search;      /* where programs are looked for; borrowed, NULL: the system's folders */
	const char *root; /* and in which root first, "/proc/PID/root"; borrowed, NULL: ours */
};

/* What is missing or not permitted is left out and remembered. 0 or -ENOMEM. */
int wm_event_space_open(struct wm_event_space *s, const char *search);
void wm_event_space_close(struct wm_event_space *s);

/*
 * For space.root: the root a process sees, when it sees other files than we do
 * (a container's), written to `buf`; NULL: it sees ours, or is not to be asked.
 */
#define WM_EVENT_ROOT_BYTES 32u
const char *wm_event_space_root(pid_t pid, char buf[WM_EVENT_ROOT_BYTES]);

/* An event on the list, before anything was read for it. */
struct wm_event_item {
	enum wm_event_family family;
	const char *name;  /* the whole one: "sw:page-faults", "sched:sched_switch" */
	const char *last;  /* what follows its first ':' */
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
 * tracepoints last, until it returns other than 0; returns that. The item is
 * valid during the call. Hardware events are walked also where the machine
 * has none: `hardware` says so.
 */
int wm_event_space_each(const struct wm_event_space *s,
			int (*fn)(const struct wm_event_item *item, void *data), void *data);

/*
 * Adds what the item stands for to the list: one event, or the two of a system
 * call, `phase` NONE: both, the exit implied. `suffix` ("", ":u") is put
 * behind its name. 0 or a negative errno with a sentence.
 */
int wm_event_space_add(const struct wm_event_space *s, const struct wm_event_item *item,
		       enum wm_event_phase phase, const struct wm_event_def *modifiers,
		       const char *suffix, struct wm_event_defs *defs, struct wm_diag *diag);

#endif
