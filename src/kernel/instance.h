/* SPDX-License-Identifier: MIT */
/*
 * instance.h - a private tracefs instance: a ring buffer for each CPU with its own clock, events
 * and filters, so that waymark and other tracers do not disturb each other.
 *
 * An instance is a folder, and folders outlive the processes that made them. The process holds a
 * lock on the folder, which the kernel releases when the process ends, however it ends; instances
 * whose lock nobody holds are removed when the next one is created.
 *
 * Reading: wm_instance_read() takes one page (sub-buffer) at a time, oldest first; the page's
 * header counts the events lost before it (kdata/page.h). Pages are copied by read(2): a mapped
 * ring would avoid the copy, but with 16 KiB sub-buffers the copy costs only a few ns per event.
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
	/*
	 * Total size of all CPUs' rings; 0: wm_instance_buffer_default(), with at most 64 MiB per
	 * CPU. It does not change during recording: while the kernel resizes a ring, it drops
	 * events without counting them (since Linux 6.7).
	 */
	uint64_t buffer_bytes;
};

/* The default size for all CPUs together: min(RAM / 32, 1 GiB). */
uint64_t wm_instance_buffer_default(void);

/*
 * Creates an instance, switched off. Returns 0, or an error with a message: -EACCES (not permitted;
 * the message has the hint), -EOPNOTSUPP (this kernel has no instances, or not this clock), -ENOMEM
 * and other errors from tracefs.
 */
int wm_instance_create(const struct wm_tracefs *t, const struct wm_instance_options *o,
		       struct wm_instance **ret, struct wm_diag *diag);
void wm_instance_destroy(struct wm_instance *i); /* removes it; accepts NULL */

/*
 * Takes the system's own buffer, which all tools share, as an instance, only for functions and
 * writes to trace_marker: older kernels offer these in no other instance. `what` names the purpose
 * in error messages. The buffer is taken only if it is not in use (no tracer, event, filter or task
 * selection, no unread events, no reader); otherwise returns -EBUSY and names the user or the
 * setting. Destroying the instance restores the buffer's state; if all holders were killed, the
 * next sweep restores it.
 */
int wm_instance_take_top(const struct wm_tracefs *t, const struct wm_instance_options *o,
			 const char *what, struct wm_instance **ret, struct wm_diag *diag);

/*
 * Changes the clock, which drops all events in the rings. Errors as for wm_instance_create()
 */
int wm_instance_set_clock(struct wm_instance *i, enum wm_clock_kind kind, struct wm_diag *diag);

/* Removes instances whose recorder has exited. Returns the number removed. */
uint32_t wm_instance_sweep(const struct wm_tracefs *t);

/*
 * Enables an event, which is recorded from wm_instance_start() on. `filter` is in the kernel's
 * filter language (NULL: none). Returns -EINVAL if the kernel refuses the filter: `diag` has the
 * kernel's reason and the column.
 */
struct wm_instance_event {
	const char *system, *name;
	const char *called; /* the event's name in messages; NULL: SYSTEM:NAME */
};
int wm_instance_enable(struct wm_instance *i, const struct wm_instance_event *e, const char *filter,
		       struct wm_diag *diag);

/* While the instance runs: disables the event, or replaces its filter. Returns 0 or -errno. */
int wm_instance_disable(struct wm_instance *i, const struct wm_instance_event *e);
int wm_instance_refilter(struct wm_instance *i, const struct wm_instance_event *e,
			 const char *filter, struct wm_diag *diag);

/*
 * Sets a trigger on an event, such as "stacktrace if prev_pid == 0" or "hist:keys=next_pid". It
 * acts on every hit of the event, whichever tasks are followed. Returns -EOPNOTSUPP if the kernel
 * has no such triggers; -EINVAL if it refuses this one; diag has the column when its filter is at
 * fault.
 */
int wm_instance_trigger(struct wm_instance *i, const struct wm_instance_event *e,
			const char *trigger, struct wm_diag *diag);
/* Records a stack after each event: ftrace:kernel_stack or ftrace:user_stack. */
int wm_instance_stacks(struct wm_instance *i, bool of_kernel, struct wm_diag *diag);
/*
 * Traces the kernel functions that the followed tasks call: ftrace:function for each call, or
 * (`graph`) ftrace:funcgraph_entry and _exit. Returns -EOPNOTSUPP if the kernel cannot; -ENOENT if
 * no function matches.
 */
int wm_instance_functions(struct wm_instance *i, const char *glob, bool graph,
			  struct wm_diag *diag);

/* Records only these tasks and, with `children`, the tasks that they fork from now on. */
int wm_instance_follow(struct wm_instance *i, const pid_t *tids, size_t nr, bool children,
		       struct wm_diag *diag);
/* Adds tasks. The `children` argument of wm_instance_follow() applies to them, too. */
int wm_instance_follow_also(struct wm_instance *i, const pid_t *tids, size_t nr);
/* Records only these CPUs. Returns -EINVAL if the machine lacks one of them. */
int wm_instance_cpus(struct wm_instance *i, const int *cpus, size_t nr, struct wm_diag *diag);
/* Adds tasks to those that are not recorded. */
int wm_instance_exclude(struct wm_instance *i, const pid_t *tids, size_t nr);

int wm_instance_start(struct wm_instance *i, struct wm_diag *diag);
void wm_instance_stop(struct wm_instance *i); /* stops recording; the rings keep their contents */

uint32_t wm_instance_nr_cpus(const struct wm_instance *i);
/* Size of the buffer that a read needs. */
uint32_t wm_instance_page_bytes(const struct wm_instance *i);
/* Current total size of all CPUs' rings. */
uint64_t wm_instance_buffer_bytes(const struct wm_instance *i);

/*
 * A descriptor for poll(2): readable once that CPU's ring is partly filled. -1: the CPU has no
 * ring.
 */
int wm_instance_fd(const struct wm_instance *i, uint32_t cpu);

/*
 * For a fork. The first function returns the number of descriptors that a child needs to continue
 * with the instance, in a malloc'ed array, or -ENOMEM. The second closes the parent's rings; the
 * parent can still choose tasks, start the instance, and finally remove it.
 */
int wm_instance_fds(const struct wm_instance *i, int **ret);
void wm_instance_close_rings(struct wm_instance *i);

/*
 * Reads a CPU's next page. Returns the size of the page, whose header has the number of valid
 * bytes; 0 if the ring is empty; or -errno.
 */
ssize_t wm_instance_read(struct wm_instance *i, uint32_t cpu, void *page);

/*
 * Shrinks the rings to at most that many bytes in total. Must be called before they hold events.
 * Returns 0 or -errno.
 */
int wm_instance_limit(struct wm_instance *i, uint64_t most_bytes);

/* Reads a file in the instance, such as "saved_cmdlines"; free() it. */
int wm_instance_read_file(const struct wm_instance *i, const char *name, size_t limit,
			  char **ret_text, size_t *ret_bytes);

/*
 * Has programs' writes to the system's own trace_marker copied to this instance as ftrace:print.
 * Returns -ENOENT if the kernel cannot do that (Linux 6.16 and later can).
 */
int wm_instance_copy_markers(struct wm_instance *i);

/*
 * Writes a text into this instance as ftrace:print. Returns 0; -EBADF: it is not recording; -E2BIG:
 * the kernel recorded only the beginning of the text; or another -errno.
 */
int wm_instance_mark(const struct wm_instance *i, const char *text, size_t bytes);

#endif
