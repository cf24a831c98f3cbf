/* SPDX-License-Identifier: MIT */
/*
 * kernel_events.h - what of the kernel a recording takes: a tracing instance
 * with the events that are on in it, and their formats; the system's own buffer
 * as another (kernel/instance.h), when the kernel gives something to that only.
 *
 * Made by the command, which says what is wanted and when it begins; drained
 * by the pump, which inherits it over the fork. Whoever of the two ends last
 * removes the instance.
 */
#ifndef WM_CONTROL_KERNEL_EVENTS_H
#define WM_CONTROL_KERNEL_EVENTS_H

#include "collect/kernel_source.h"
#include "kernel/event_def.h"

struct wm_kernel_events;

/* `buffer_bytes` for all CPUs; 0: the default. Errors as of wm_instance_create(). */
int wm_kernel_events_create(enum wm_clock_kind clock, uint64_t buffer_bytes,
			    struct wm_kernel_events **ret, struct wm_diag *diag);
void wm_kernel_events_destroy(struct wm_kernel_events *k); /* accepts NULL */

/* Removes what recorders that were killed have left; probes go by themselves. */
void wm_kernel_events_sweep(void);

/*
 * Switches an event on, with all of its places (a USDT probe has several), the
 * first of `defs`. A tracepoint that is on already stays as it is; a probe is
 * made, and vanishes with the last process that holds these. -EOPNOTSUPP: it
 * is none that a ring can hold (a counter), said in `diag`.
 *
 * `filter` (event/filter.h; NULL: none): the kernel evaluates of it what it
 * evaluates as we do, the pump the rest. -ENOENT: the event lacks a field.
 */
int wm_kernel_events_add(struct wm_kernel_events *k, const struct wm_event_def *defs,
			 size_t nr_places, const char *filter, struct wm_diag *diag);

/* How many places on the list the event has that begins there. */
size_t wm_kernel_events_places(const struct wm_event_defs *defs, size_t first);

/*
 * ftrace:print: what programs write to trace_marker. Before Linux 6.12 from the
 * system's own buffer; -EBUSY: somebody uses that, said in `diag`.
 */
int wm_kernel_events_add_markers(struct wm_kernel_events *k, const char *filter,
				 struct wm_diag *diag);

/*
 * The rest that a tracefs has (kernel_events_trigger.c), all within the instance.
 * -EOPNOTSUPP: this kernel has no such thing, said in `diag`; -EINVAL: refused.
 *
 * trigger:    "SYSTEM:EVENT:COMMAND [if FILTER]", as tracefs knows commands;
 *             it acts whatever tasks are followed
 * synthetic:  "NAME TYPE FIELD; ...", recorded as synthetic:NAME; triggers
 *             that come later may name it
 * stacks:     a stack after each event, of the kernel or of the program
 * functions:  the kernel's function tracer, ftrace:function, or with `graph`
 *             ftrace:funcgraph_entry and _exit, before Linux 6.13 from the
 *             system's own buffer; -EBUSY: somebody uses that
 */
int wm_kernel_events_trigger(struct wm_kernel_events *k, const char *text, struct wm_diag *diag);
int wm_kernel_events_synthetic(struct wm_kernel_events *k, const char *definition,
			       struct wm_diag *diag);
int wm_kernel_events_stacks(struct wm_kernel_events *k, bool of_kernel, struct wm_diag *diag);
int wm_kernel_events_functions(struct wm_kernel_events *k, const char *glob, bool graph,
			       struct wm_diag *diag);

/* For the pump, at the end: histograms and snapshots go into the trace's folder `kernel`. */
bool wm_kernel_events_has_files(const struct wm_kernel_events *k);
int wm_kernel_events_save(struct wm_kernel_events *k, struct wm_trace_writer *w);

/*
 * A change while it runs (kernel_events_change.c), by the pump: from begin on what is
 * added is only noted, an event that is on already gets the new filter instead of
 * its own; commit does all of it, or nothing (with a sentence). A record is judged
 * by the filter that was in force when it was written. `source` has the events
 * that were there before begin; events that are new are declared to it.
 */
void wm_kernel_events_change(struct wm_kernel_events *k);
int wm_kernel_events_commit(struct wm_kernel_events *k, struct wm_kernel_source *source,
			    struct wm_diag *diag);
void wm_kernel_events_abandon(struct wm_kernel_events *k); /* as if nothing had been said */
/* All that is there has just been declared, by a source that was made within the change. */
void wm_kernel_events_declared(struct wm_kernel_events *k);

/*
 * Switches off what is on and called so: SYSTEM:EVENT, syscall:NAME, a probe as it
 * was named, or the part behind the first colon, with wildcards; within a change
 * with its commit. How many; *ret_fixed: that are called so, but cannot be switched.
 */
uint32_t wm_kernel_events_off(struct wm_kernel_events *k, const char *glob, uint32_t *ret_fixed);

uint32_t wm_kernel_events_nr_on(const struct wm_kernel_events *k);

/* Whether one of them is of that system. */
bool wm_kernel_events_has_system(const struct wm_kernel_events *k, const char *system);

/* Whether a print form of one of them shows addresses by their symbols. */
bool wm_kernel_events_show_symbols(const struct wm_kernel_events *k);

/* Which tasks: these and with `children` what they fork, or all but these; on which CPUs. */
int wm_kernel_events_follow(struct wm_kernel_events *k, const pid_t *tids, size_t nr, bool children,
			    struct wm_diag *diag);
int wm_kernel_events_follow_also(struct wm_kernel_events *k, const pid_t *tids, size_t nr);
int wm_kernel_events_cpus(struct wm_kernel_events *k, const int *cpus, size_t nr,
			  struct wm_diag *diag);
int wm_kernel_events_exclude(struct wm_kernel_events *k, const pid_t *tids, size_t nr);
/* Then it begins. */
int wm_kernel_events_start(struct wm_kernel_events *k, struct wm_diag *diag);

/* Descriptors the pump needs, malloc'ed; their number or -ENOMEM. */
int wm_kernel_events_fds(const struct wm_kernel_events *k, int **ret);
/* The command's copies of the rings go; the pump has its own. */
void wm_kernel_events_leave_rings(struct wm_kernel_events *k);

/* For the pump: switched off, and drained by a source of its own. */
void wm_kernel_events_stop(struct wm_kernel_events *k);
int wm_kernel_events_source(struct wm_kernel_events *k, struct wm_trace_writer *w,
			    struct wm_kernel_source **ret, struct wm_diag *diag);
/* A ring's descriptor to wait on, -1: none; ring < what is returned by nr_rings(). */
uint32_t wm_kernel_events_nr_rings(const struct wm_kernel_events *k);
int wm_kernel_events_fd(const struct wm_kernel_events *k, uint32_t ring);

#endif
