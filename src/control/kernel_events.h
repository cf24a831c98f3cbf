/* SPDX-License-Identifier: MIT */
/*
 * kernel_events.h - the kernel's part of a recording: a tracing instance with its enabled events
 * and their formats; and the system's own buffer as a second instance (kernel/instance.h), for
 * facilities that the kernel offers only there.
 *
 * Created by the command, which selects the events and starts them; drained by the pump, which
 * inherits it over the fork. The process that ends last removes the instance.
 */
#ifndef WM_CONTROL_KERNEL_EVENTS_H
#define WM_CONTROL_KERNEL_EVENTS_H

#include "collect/kernel_source.h"
#include "kernel/event_def.h"

struct wm_kernel_events;

/* `buffer_bytes` for all CPUs; 0: the default. Errors as for wm_instance_create(). */
int wm_kernel_events_create(enum wm_clock_kind clock, uint64_t buffer_bytes,
			    struct wm_kernel_events **ret, struct wm_diag *diag);
void wm_kernel_events_destroy(struct wm_kernel_events *k); /* accepts NULL */

/* Removes the instances of killed recorders; probes are removed without this. */
void wm_kernel_events_sweep(void);

/*
 * Switches an event on, the first of `defs`, with all its places (a USDT probe has several). A
 * tracepoint that is already on is not changed; a probe is created, and removed with the last
 * process that holds it. -EOPNOTSUPP with diag: a ring cannot hold it (a counter).
 *
 * `filter` (event/filter.h; NULL: none): the kernel evaluates the part that it evaluates as waymark
 * does, the pump the rest. -ENOENT: the event lacks a field.
 */
int wm_kernel_events_add(struct wm_kernel_events *k, const struct wm_event_def *defs,
			 size_t nr_places, const char *filter, struct wm_diag *diag);

/* The number of places of the event that begins at `first` in the list. */
size_t wm_kernel_events_places(const struct wm_event_defs *defs, size_t first);

/*
 * ftrace:print: the texts that programs write to trace_marker. Before Linux 6.12 from the system's
 * own buffer; -EBUSY with diag: that is in use.
 */
int wm_kernel_events_add_markers(struct wm_kernel_events *k, const char *filter,
				 struct wm_diag *diag);

/*
 * The other facilities of tracefs (kernel_events_trigger.c), all within the instance.
 * -EOPNOTSUPP with diag: this kernel lacks it; -EINVAL: refused.
 *
 * trigger:    "SYSTEM:EVENT:COMMAND [if FILTER]", with a command of tracefs;
 *             it acts whichever tasks are followed
 * synthetic:  "NAME TYPE FIELD; ...", recorded as synthetic:NAME; later
 *             triggers may name it
 * stacks:     a stack after each event, of the kernel or of the program
 * functions:  the kernel's function tracer, ftrace:function, or with `graph`
 *             ftrace:funcgraph_entry and _exit, before Linux 6.13 from the
 *             system's own buffer; -EBUSY: that is in use
 */
int wm_kernel_events_trigger(struct wm_kernel_events *k, const char *text, struct wm_diag *diag);
int wm_kernel_events_synthetic(struct wm_kernel_events *k, const char *definition,
			       struct wm_diag *diag);
int wm_kernel_events_stacks(struct wm_kernel_events *k, bool of_kernel, struct wm_diag *diag);
int wm_kernel_events_functions(struct wm_kernel_events *k, const char *glob, bool graph,
			       struct wm_diag *diag);

/* For the pump, at the end: saves histograms and snapshots in the trace's folder `kernel`. */
bool wm_kernel_events_has_files(const struct wm_kernel_events *k);
int wm_kernel_events_save(struct wm_kernel_events *k, struct wm_trace_writer *w);

/*
 * A change while it runs (kernel_events_change.c), by the pump: after begin, added events are only
 * staged, and an event that is already on gets the new filter in place of its own; commit applies
 * all of it, or nothing (with diag). A record is checked by the filter that was in force when it
 * was written. `source` has the events that existed before begin; new events are declared to it.
 */
void wm_kernel_events_change(struct wm_kernel_events *k);
int wm_kernel_events_commit(struct wm_kernel_events *k, struct wm_kernel_source *source,
			    struct wm_diag *diag);
void wm_kernel_events_abandon(struct wm_kernel_events *k); /* drops all that was staged */
/* All events have just been declared, by a source created within the change. */
void wm_kernel_events_declared(struct wm_kernel_events *k);

/*
 * Switches off the events with that name: SYSTEM:EVENT, syscall:NAME, a probe's name as given, or
 * the part after the first colon, with wildcards; within a change at its commit. Returns their
 * number; *ret_fixed: events with that name that cannot be switched.
 */
uint32_t wm_kernel_events_off(struct wm_kernel_events *k, const char *glob, uint32_t *ret_fixed);

uint32_t wm_kernel_events_nr_on(const struct wm_kernel_events *k);

/* Whether one of the events belongs to that system. */
bool wm_kernel_events_has_system(const struct wm_kernel_events *k, const char *system);

/* Whether a print form of one of the events prints addresses as symbols. */
bool wm_kernel_events_show_symbols(const struct wm_kernel_events *k);

/* The tasks to record: these and with `children` their children, or all but these; and the CPUs. */
int wm_kernel_events_follow(struct wm_kernel_events *k, const pid_t *tids, size_t nr, bool children,
			    struct wm_diag *diag);
int wm_kernel_events_follow_also(struct wm_kernel_events *k, const pid_t *tids, size_t nr);
int wm_kernel_events_cpus(struct wm_kernel_events *k, const int *cpus, size_t nr,
			  struct wm_diag *diag);
int wm_kernel_events_exclude(struct wm_kernel_events *k, const pid_t *tids, size_t nr);
/* Starts recording. */
int wm_kernel_events_start(struct wm_kernel_events *k, struct wm_diag *diag);

/* The descriptors the pump needs, malloc'ed; returns their number or -ENOMEM. */
int wm_kernel_events_fds(const struct wm_kernel_events *k, int **ret);
/* Closes the command's copies of the rings; the pump has its own. */
void wm_kernel_events_leave_rings(struct wm_kernel_events *k);

/* For the pump: switches off; creates a source that drains the rings. */
void wm_kernel_events_stop(struct wm_kernel_events *k);
int wm_kernel_events_source(struct wm_kernel_events *k, struct wm_trace_writer *w,
			    struct wm_kernel_source **ret, struct wm_diag *diag);
/* A ring's descriptor to wait on, -1: none; `ring` is below nr_rings(). */
uint32_t wm_kernel_events_nr_rings(const struct wm_kernel_events *k);
int wm_kernel_events_fd(const struct wm_kernel_events *k, uint32_t ring);

#endif
