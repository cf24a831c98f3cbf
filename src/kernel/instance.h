/* SPDX-License-Identifier: MIT */
/*
 * instance.h - a private corner of tracefs: a ring buffer of our own for each
 * CPU, with its own clock, events and filters, so that nobody else's tracing
 * is disturbed and nobody disturbs ours.
 *
 * An instance is a folder, and folders outlive who made them. Ours holds a
 * lock on it that the kernel takes back with the process, however it ends;
 * instances nobody holds any more are removed when the next one is made.
 *
 * Reading: wm_instance_read() takes a page (sub-buffer) at a time, oldest
 * first, with what was lost before it noted in its head (kdata/page.h). Pages
 * are copied by read(2): a mapped ring costs no copy, but can not grow while
 * it is mapped, and with sub-buffers of 16 KiB the copy is a few ns an event.
 *
 * Not thread-safe.
 */
#ifndef WM_KERNEL_INSTANCE_H
#define WM_KERNEL_INSTANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/clock.h"
#include "kernel/tracefs.h"

#define WM_INSTANCE_CPUS_MAX 4096u

struct wm_instance;

struct wm_instance_options {
	enum wm_clock_kind clock;
	uint64_t buffer_bytes; /* in all, all CPUs together; 0: wm_instance_buffer_default() */
};

/* min(RAM / 32, 1 GiB): what a recording takes for all CPUs unless asked. */
uint64_t wm_instance_buffer_default(void);

/*
 * Makes one, switched off. 0, or with a sentence: -EACCES (not permitted: the
 * cure), -ENOMEM, -EOPNOTSUPP (no instances here, or the clock is not there).
 */
int wm_instance_create(const struct wm_tracefs *t, const struct wm_instance_options *o,
		       struct wm_instance **ret, struct wm_diag *diag);
void wm_instance_destroy(struct wm_instance *i); /* removes it; accepts NULL */

/*
 * The system's own buffer, everybody's, as an instance that has functions and
 * what is written to trace_marker only, for older kernels, which give these to
 * no other: `what` it is for, in sentences. Taken when nobody uses it (no tracer,
 * event, filter or choice of tasks, nothing in it, nobody who reads it), else
 * -EBUSY with who or what does. Destroying it gives it back as it was found;
 * when all who hold it are killed, the next sweep does.
 */
int wm_instance_take_top(const struct wm_tracefs *t, const struct wm_instance_options *o,
			 const char *what, struct wm_instance **ret, struct wm_diag *diag);

/* Removes instances whose recorder is gone. How many. */
uint32_t wm_instance_sweep(const struct wm_tracefs *t);

/*
 * An event is on from wm_instance_start() on. `filter`: the kernel's language,
 * NULL: none. -EINVAL when the kernel refuses the filter: `diag` has its word
 * and the column.
 */
struct wm_instance_event {
	const char *system, *name;
	const char *called; /* in sentences; NULL: SYSTEM:NAME */
};
int wm_instance_enable(struct wm_instance *i, const struct wm_instance_event *e, const char *filter,
		       struct wm_diag *diag);

/* While it runs: off, and on with this filter instead of what it had. 0 or -errno. */
int wm_instance_disable(struct wm_instance *i, const struct wm_instance_event *e);
int wm_instance_refilter(struct wm_instance *i, const struct wm_instance_event *e,
			 const char *filter, struct wm_diag *diag);

/*
 * A trigger of an event, "stacktrace if prev_pid == 0", "hist:keys=next_pid";
 * it acts whenever the event happens, whatever tasks are followed.
 * -EOPNOTSUPP: the kernel has no such triggers; -EINVAL: it refuses this one,
 * at a column of the text when the filter is at fault.
 */
int wm_instance_trigger(struct wm_instance *i, const struct wm_instance_event *e,
			const char *trigger, struct wm_diag *diag);
/* After each event a stack: ftrace:kernel_stack, or ftrace:user_stack. */
int wm_instance_stacks(struct wm_instance *i, bool of_kernel, struct wm_diag *diag);
/*
 * Traces functions of the kernel, of those tasks that are followed:
 * ftrace:function for each call, or (`graph`) ftrace:funcgraph_entry and
 * _exit. -EOPNOTSUPP where the kernel does not; -ENOENT: none is called so.
 */
int wm_instance_functions(struct wm_instance *i, const char *glob, bool graph,
			  struct wm_diag *diag);

/* Only these tasks, and with `children` all they fork from now on. */
int wm_instance_follow(struct wm_instance *i, const pid_t *tids, size_t nr, bool children,
		       struct wm_diag *diag);
/* These, too, of whom `children` was said. */
int wm_instance_follow_also(struct wm_instance *i, const pid_t *tids, size_t nr);
/* Only what happens on these CPUs. -EINVAL: one of them is not there. */
int wm_instance_cpus(struct wm_instance *i, const int *cpus, size_t nr, struct wm_diag *diag);
/* Not these tasks, nor those that were said before. */
int wm_instance_exclude(struct wm_instance *i, const pid_t *tids, size_t nr);

int wm_instance_start(struct wm_instance *i, struct wm_diag *diag);
void wm_instance_stop(struct wm_instance *i); /* what is in the rings stays */

uint32_t wm_instance_nr_cpus(const struct wm_instance *i);
uint32_t wm_instance_page_bytes(const struct wm_instance *i);   /* room one read needs */
uint64_t wm_instance_buffer_bytes(const struct wm_instance *i); /* all CPUs, now */

/* To wait on: readable when a good part of that CPU's ring is full. -1: CPU without one. */
int wm_instance_fd(const struct wm_instance *i, uint32_t cpu);

/*
 * Over a fork: the descriptors a child needs to go on with the instance,
 * malloc'ed (their number, or -ENOMEM), and, for the parent, to be without the
 * rings: it can still choose tasks, start, and remove the instance at last.
 */
int wm_instance_fds(const struct wm_instance *i, int **ret);
void wm_instance_close_rings(struct wm_instance *i);

/*
 * The next page of a CPU: its bytes (of which the head says how many count),
 * 0: nothing is there, -errno.
 */
ssize_t wm_instance_read(struct wm_instance *i, uint32_t cpu, void *page);

/* Twice the room for each CPU, up to `most_bytes` in all. 1: done, 0: no more, -errno. */
int wm_instance_grow(struct wm_instance *i, uint64_t most_bytes);

/* No more room than that, in all; before it is filled. 0 or -errno. */
int wm_instance_limit(struct wm_instance *i, uint64_t most_bytes);

/* A file of the instance, e.g. "saved_cmdlines" of its tracefs; free() it. */
int wm_instance_read_file(const struct wm_instance *i, const char *name, size_t limit,
			  char **ret_text, size_t *ret_bytes);

/*
 * What programs write into the system's own trace_marker comes here, too, as
 * ftrace:print. -ENOENT: the kernel cannot (Linux 6.12 and later can).
 */
int wm_instance_copy_markers(struct wm_instance *i);

/* For programs: a descriptor that writes into this instance's trace_marker; -errno. */
int wm_instance_marker(const struct wm_instance *i);

#endif
