/* SPDX-License-Identifier: MIT */
/*
 * perf_event.h - a thin wrapper around perf_event_open(2): opens an event on a task and a CPU, and
 * reads its count. For every refusal it writes an error message with a hint. Knows nothing about
 * event names (event_name.h) or rings. The caller owns the descriptors and closes them with
 * close(2). Thread-safe.
 */
#ifndef WM_KERNEL_PERF_EVENT_H
#define WM_KERNEL_PERF_EVENT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/diag.h"

/* The task and CPU that a descriptor observes. */
struct wm_perf_where {
	pid_t pid; /* a thread; 0: the calling one; -1: every task (then cpu must be >= 0) */
	int cpu;   /* -1: any CPU that the task runs on */
};

/* Sets an attr's size, type and config, and zeroes the rest. */
void wm_perf_attr_init(struct perf_event_attr *attr, uint32_t type, uint64_t config);

/*
 * Sets an attr up for counting: reads also return the times, so that a counter that had to share
 * the hardware can be scaled. `inherit`: also counts threads and children that are created later.
 * `on_exec`: counting begins when the task calls execve(2), else at wm_perf_enable().
 */
void wm_perf_attr_counting(struct perf_event_attr *attr, bool inherit, bool on_exec);

/*
 * Opens the event close-on-exec, in the group led by `group_fd` (-1: alone). `name` is the event's
 * name in error messages. Returns the descriptor, or a negative errno:
 *
 *   -EACCES, -EPERM   not allowed: the setting or capability that decides
 *   -ENOENT           the kernel or the CPU has no such event
 *   -EOPNOTSUPP, -ENODEV  this machine has no such counter
 *   -ESRCH            the task has ended
 *   -EMFILE, -ENFILE  too many descriptors
 *   -EINVAL, -ENOSPC, -EBUSY, -E2BIG, -ENOSYS and others
 */
int wm_perf_open(const struct perf_event_attr *attr, struct wm_perf_where where, int group_fd,
		 const char *name, struct wm_diag *diag);

/*
 * Writes wm_perf_open()'s error message for a caller that makes the system call itself. Returns
 * err.
 */
int wm_perf_refused(int err, const struct perf_event_attr *attr, struct wm_perf_where where,
		    const char *name, struct wm_diag *diag);

/*
 * Explains why the kernel rejects a probe at this location; NULL if the errno has no well-known
 * cause.
 */
const char *wm_perf_kprobe_reason(int err);

/*
 * Counts only events whose fields pass `filter`, which is in the kernel's filter language. Returns
 * -EINVAL if the kernel refuses this filter; -EOPNOTSUPP if this kind of event has no fields.
 */
int wm_perf_filter(int fd, const char *filter, const char *name, struct wm_diag *diag);

/* With `group`, acts on a leader's whole group. Returns 0 or -errno. */
int wm_perf_enable(int fd, bool group);
int wm_perf_disable(int fd, bool group);

struct wm_perf_count {
	uint64_t value;      /* unscaled */
	uint64_t enabled_ns; /* time during which the counter was enabled */
	/* Time during which it counted: shorter when counters had to take turns. */
	uint64_t running_ns;
};

/* Reads the current count of an event set up by wm_perf_attr_counting(). Returns 0 or -errno. */
int wm_perf_read(int fd, struct wm_perf_count *ret);

void wm_perf_count_add(struct wm_perf_count *to, const struct wm_perf_count *more);
/* Subtracts an earlier reading of the same counter. */
void wm_perf_count_since(struct wm_perf_count *now, const struct wm_perf_count *before);

/*
 * The value extrapolated to the whole enabled time; equal to the value if the counter always ran, 0
 * if it never did.
 */
uint64_t wm_perf_count_scaled(const struct wm_perf_count *c);

#endif
