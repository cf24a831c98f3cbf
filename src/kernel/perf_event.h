/* SPDX-License-Identifier: MIT */
/*
 * perf_event.h - a thin wrapper of perf_event_open(2): what to watch, on
 * which task and CPU, and counts read back. Every refusal becomes a sentence
 * that names the cure. Knows no event names (event_name.h) and no rings.
 *
 * Descriptors are the caller's: close(2) them. Thread safe.
 */
#ifndef WM_KERNEL_PERF_EVENT_H
#define WM_KERNEL_PERF_EVENT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/diag.h"

/* Which part of the machine one descriptor watches. */
struct wm_perf_where {
	pid_t pid; /* a thread; 0: the calling one; -1: every task (then cpu >= 0) */
	int cpu;   /* -1: whichever the task runs on */
};

/* An attr with its size, type and config set and nothing else. */
void wm_perf_attr_init(struct perf_event_attr *attr, uint32_t type, uint64_t config);

/*
 * For counting: reads give the times too, so that a counter that had to share
 * the hardware can be scaled. `inherit`: threads and children made later are
 * counted in. `on_exec`: begins when the task calls execve(2). Else it begins
 * at wm_perf_enable().
 */
void wm_perf_attr_counting(struct perf_event_attr *attr, bool inherit, bool on_exec);

/*
 * Opens it close-on-exec, in the group of `group_fd` (-1: alone). `name` is
 * what people call the event; the sentence speaks of it. The descriptor, or a
 * negative errno:
 *   -EACCES, -EPERM   not allowed: which setting or capability decides
 *   -ENOENT           the kernel or the CPU does not know this event
 *   -EOPNOTSUPP, -ENODEV  there is no such counter on this machine
 *   -ESRCH            the task has ended
 *   -EMFILE, -ENFILE  too many descriptors
 *   -EINVAL, -ENOSPC, -EBUSY, -E2BIG, -ENOSYS and others
 */
int wm_perf_open(const struct perf_event_attr *attr, struct wm_perf_where where, int group_fd,
		 const char *name, struct wm_diag *diag);

/*
 * The sentence for a refusal of wm_perf_open(), for callers that open
 * themselves. Returns err.
 */
int wm_perf_refused(int err, const struct perf_event_attr *attr, struct wm_perf_where where,
		    const char *name, struct wm_diag *diag);

/* Why the kernel refuses a probe at a place of its own; NULL: for none of the usual reasons. */
const char *wm_perf_kprobe_reason(int err);

/*
 * Only events whose fields pass, in the kernel's filter language. -EINVAL: the
 * kernel refuses this filter; -EOPNOTSUPP: this kind of event has no fields.
 */
int wm_perf_filter(int fd, const char *filter, const char *name, struct wm_diag *diag);

/* `group`: the whole group of a leader. 0 or -errno. */
int wm_perf_enable(int fd, bool group);
int wm_perf_disable(int fd, bool group);

struct wm_perf_count {
	uint64_t value;      /* as counted */
	uint64_t enabled_ns; /* how long it was to count */
	uint64_t running_ns; /* how long it did: less when counters had to take turns */
};

/* What an attr of wm_perf_attr_counting() counted so far. 0 or -errno. */
int wm_perf_read(int fd, struct wm_perf_count *ret);

void wm_perf_count_add(struct wm_perf_count *to, const struct wm_perf_count *more);
/* What was counted between two readings of one counter. */
void wm_perf_count_since(struct wm_perf_count *now, const struct wm_perf_count *before);

/*
 * The value extrapolated to the whole time; equal to it when the counter
 * always ran. 0 when it never did.
 */
uint64_t wm_perf_count_scaled(const struct wm_perf_count *c);

#endif
