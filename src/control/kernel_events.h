/* SPDX-License-Identifier: MIT */
/*
 * kernel_events.h - the kernel's part of a recording: a tracing instance with its enabled events
 * and their formats; and the system's own buffer as a second instance (kernel/instance.h), for
 * facilities that the kernel offers only there.
 *
 * The command creates it, selects the events and starts them. The pump process inherits it across
 * the fork and drains the rings. The process that ends last removes the instance.
 */
#ifndef WM_CONTROL_KERNEL_EVENTS_H
#define WM_CONTROL_KERNEL_EVENTS_H

#include "collect/kernel_source.h"
#include "kernel/event_def.h"

struct wm_recorder_kernel;

/* `buffer_bytes` is the size for all CPUs; 0: the default. Errors as for wm_instance_create(). */
int wm_recorder_kernel_create(enum wm_clock_kind clock, uint64_t buffer_bytes,
			      struct wm_recorder_kernel **ret, struct wm_diag *diag);
void wm_recorder_kernel_destroy(struct wm_recorder_kernel *k); /* accepts NULL */

/* Changes the clock, before the pump is forked. Errors as for wm_instance_create(). */
int wm_recorder_kernel_set_clock(struct wm_recorder_kernel *k, enum wm_clock_kind clock,
				 struct wm_diag *diag);

/* Removes the instances of killed recorders. (Probes are removed without this.) */
void wm_recorder_kernel_sweep(void);

/*
 * Enables the first event in `defs`, with all its places (a USDT probe has several). A tracepoint
 * that is already enabled is not changed; a probe is created, and removed when the last process
 * that uses it ends. Returns -EOPNOTSUPP with diag if the event cannot be recorded in a ring (a
 * counter).
 *
 * `filter` (event/filter.h; NULL: none): the kernel evaluates the part for which it gives the same
 * results as waymark; the pump process evaluates the rest. Returns -ENOENT if the event lacks a
 * field.
 */
int wm_recorder_kernel_add(struct wm_recorder_kernel *k, const struct wm_event_def *defs,
			   size_t nr_places, const char *filter, struct wm_diag *diag);

/* The number of places for the event that begins at `first` in the list. */
size_t wm_recorder_kernel_places(const struct wm_event_defs *defs, size_t first);

/*
 * Enables ftrace:print, the strings that programs write to trace_marker. Before Linux 6.16 they
 * come from the system's own buffer; returns -EBUSY with diag if that is in use.
 */
int wm_recorder_kernel_add_markers(struct wm_recorder_kernel *k, const char *filter,
				   struct wm_diag *diag);
/*
 * While the recording runs: writes a text as ftrace:print. Returns -EINVAL if that event is not
 * recorded, else as wm_instance_mark().
 */
int wm_recorder_kernel_mark(const struct wm_recorder_kernel *k, const char *text, size_t bytes);

/*
 * Use other tracefs facilities within the instance (kernel_events_trigger.c). Return -EOPNOTSUPP
 * with diag if this kernel lacks the facility, -EINVAL if it refuses.
 *
 * trigger:    "SYSTEM:EVENT:COMMAND [if FILTER]", with a tracefs command; it
 *             acts whichever tasks are followed
 * synthetic:  "NAME TYPE FIELD; ...", recorded as synthetic:NAME; later
 *             triggers may name it
 * stacks:     a stack after each event, the kernel's or the program's
 * functions:  the kernel's function tracer, ftrace:function, or with `graph`
 *             ftrace:funcgraph_entry and _exit; before Linux 6.11 from the
 *             system's own buffer, -EBUSY if that is in use
 */
int wm_recorder_kernel_trigger(struct wm_recorder_kernel *k, const char *text,
			       struct wm_diag *diag);
/* Whether a trigger records times, and so needs a recording on CLOCK_MONOTONIC. */
bool wm_recorder_kernel_takes_times(const char *trigger);
int wm_recorder_kernel_synthetic(struct wm_recorder_kernel *k, const char *definition,
				 struct wm_diag *diag);
/*
 * Whether a name of an event, which may have wildcards, means a synthetic event that was created
 * here and so is recorded already.
 */
bool wm_recorder_kernel_has_synthetic(const struct wm_recorder_kernel *k, const char *glob);
int wm_recorder_kernel_stacks(struct wm_recorder_kernel *k, bool of_kernel, struct wm_diag *diag);
int wm_recorder_kernel_functions(struct wm_recorder_kernel *k, const char *glob, bool graph,
				 struct wm_diag *diag);

/* For the pump process, at the end: saves histograms and snapshots in the folder `kernel`. */
bool wm_recorder_kernel_has_files(const struct wm_recorder_kernel *k);
int wm_recorder_kernel_save(struct wm_recorder_kernel *k, struct wm_trace_writer *w);

/*
 * For changes during a recording, by the pump process (kernel_events_change.c). After begin, added
 * events are only staged, and an event that is already enabled gets the new filter instead of its
 * own; commit applies either all of this or nothing (with diag). A record is checked by the filter
 * that was in effect when it was written. `source` has the events that existed before begin; new
 * events are declared to it.
 */
void wm_recorder_kernel_change(struct wm_recorder_kernel *k);
int wm_recorder_kernel_commit(struct wm_recorder_kernel *k, struct wm_kernel_source *source,
			      struct wm_diag *diag);
void wm_recorder_kernel_abandon(
    struct wm_recorder_kernel *k); /* drops everything that was staged */
/* Records that all events have been declared by a source that was created within the change. */
void wm_recorder_kernel_declared(struct wm_recorder_kernel *k);

/*
 * Disables the events with that name: SYSTEM:EVENT, syscall:NAME, a probe's name as given, or the
 * part after the first colon, with wildcards; within a change, it takes effect at the commit.
 * Returns the number disabled; *ret_fixed is the number of events with that name that cannot be
 * disabled.
 */
uint32_t wm_recorder_kernel_off(struct wm_recorder_kernel *k, const char *glob,
				uint32_t *ret_fixed);

/*
 * Whether a name means an event, as above: SYSTEM:EVENT (NULL: it is no tracepoint) or its name as
 * given (NULL: the same).
 */
bool wm_recorder_kernel_means(const char *glob, const char *system, const char *event,
			      const char *called);

uint32_t wm_recorder_kernel_nr_on(const struct wm_recorder_kernel *k);

/* Whether one of the events belongs to the given system. */
bool wm_recorder_kernel_has_system(const struct wm_recorder_kernel *k, const char *system);

/* Whether one of the events' print forms prints addresses as symbols. */
bool wm_recorder_kernel_show_symbols(const struct wm_recorder_kernel *k);

/*
 * Set the tasks to record: these and, with `children`, their children, or all tasks but these; and
 * the CPUs.
 */
int wm_recorder_kernel_follow(struct wm_recorder_kernel *k, const pid_t *tids, size_t nr,
			      bool children, struct wm_diag *diag);
int wm_recorder_kernel_follow_also(struct wm_recorder_kernel *k, const pid_t *tids, size_t nr);
int wm_recorder_kernel_cpus(struct wm_recorder_kernel *k, const int *cpus, size_t nr,
			    struct wm_diag *diag);
int wm_recorder_kernel_exclude(struct wm_recorder_kernel *k, const pid_t *tids, size_t nr);
/*
 * Records only a CMD, from its execve(2) on. Call it before the pump is forked; CMD is started with
 * *ret_exec (base/child.h), which belongs to `k`. Returns 0 or -errno.
 */
int wm_recorder_kernel_from_exec(struct wm_recorder_kernel *k, struct wm_child_exec **ret_exec);
/* Starts recording. */
int wm_recorder_kernel_start(struct wm_recorder_kernel *k, struct wm_diag *diag);

/* Returns the number of descriptors for the pump process, in a malloc'ed array, or -ENOMEM. */
int wm_recorder_kernel_fds(const struct wm_recorder_kernel *k, int **ret);
/* Closes the command's copies of the rings; the pump process has its own. */
void wm_recorder_kernel_leave_rings(struct wm_recorder_kernel *k);

/* For the pump process: disables the events; creates a source that drains the rings. */
void wm_recorder_kernel_stop(struct wm_recorder_kernel *k);
int wm_recorder_kernel_source(struct wm_recorder_kernel *k, struct wm_trace_writer *w,
			      struct wm_kernel_source **ret, struct wm_diag *diag);
/* The descriptor of a ring to wait on; -1: none. `ring` must be below nr_rings(). */
uint32_t wm_recorder_kernel_nr_rings(const struct wm_recorder_kernel *k);
int wm_recorder_kernel_fd(const struct wm_recorder_kernel *k, uint32_t ring);

#endif
