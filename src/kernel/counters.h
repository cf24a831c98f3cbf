/* SPDX-License-Identifier: MIT */
/*
 * counters.h - counts many events at once: every event on every requested thread and CPU, all read
 * together, with sums by event, thread or CPU. An event that cannot be counted does not stop the
 * others: it records the reason. Events of a group (struct wm_event_def) are on the CPU at the same
 * times, or are split when the kernel cannot do that. Counts are exact; a counter that had to share
 * the hardware reports how long it ran. Not thread-safe.
 */
#ifndef WM_KERNEL_COUNTERS_H
#define WM_KERNEL_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/diag.h"
#include "kernel/event_def.h"
#include "kernel/perf_event.h"
#include "kernel/tracefs.h"

struct wm_counters_plan {
	/* Without implied events, such as a system call's exit. */
	const struct wm_event_defs *defs;
	/* Needed for inherited probes; NULL: not available. */
	const struct wm_tracefs *tracefs;
	/* One per def, in the kernel's filter language; NULL entries: no filter. */
	const char *const *filters;
	const pid_t *tids; /* empty: every task on the machine; then `cpus` must not be empty */
	size_t nr_tids;
	const int *cpus; /* empty: all CPUs the threads run on */
	size_t nr_cpus;
	bool inherit; /* also counts threads and children that are created later */
	/* Counting begins when the thread calls execve(2), else at wm_counters_enable() */
	bool on_exec;
};

struct wm_counters_event {
	const struct wm_event_def *def; /* the first def with that name */
	bool user_only; /* counting in the kernel was not permitted, so only user mode is counted */
	/*
	 * The events of its group cannot be counted together, for the reason in `why`, so they are
	 * counted one by one.
	 */
	bool is_split;
	uint32_t nr_open;
	int err; /* negative: the event is not counted at all, for the reason in `why` */
	struct wm_diag why;
};

struct wm_counters;

/* Opens the counters. Returns 0 or -ENOMEM; each event records whether it can be counted. */
int wm_counters_open(const struct wm_counters_plan *plan, struct wm_counters **ret);
void wm_counters_close(struct wm_counters *c); /* accepts NULL */

size_t wm_counters_nr(const struct wm_counters *c);
const struct wm_counters_event *wm_counters_event(const struct wm_counters *c, size_t event);

void wm_counters_enable(struct wm_counters *c);
void wm_counters_disable(struct wm_counters *c);

/* Reads all counters; the functions below use the last two readings. Returns 0 or -errno. */
int wm_counters_read(struct wm_counters *c);

#define WM_COUNTERS_ALL SIZE_MAX

/*
 * An event's sum over all threads and CPUs of the plan, or over one of them, given by index. With
 * `since`, the difference between the last two readings. Each counter is scaled before it is added;
 * `nr` is the number of counters.
 */
struct wm_counters_sum {
	struct wm_perf_count count; /* the unscaled value */
	/* Equal to count.value if no counter had to share the hardware. */
	uint64_t scaled;
	uint32_t nr;
};
void wm_counters_sum(const struct wm_counters *c, size_t event, size_t tid, size_t cpu, bool since,
		     struct wm_counters_sum *ret);

/* The CPUs now online, ascending; free() them. Returns 0 or -errno. */
int wm_cpus_online(int **ret_cpus, size_t *ret_nr);
/* Parses "0-3,8". Returns -EINVAL if the text is not such a list. */
int wm_cpus_parse(const char *text, int **ret_cpus, size_t *ret_nr);
/* The threads of a process; free() them. Returns -ESRCH if there is no such process. */
int wm_threads_of(pid_t pid, pid_t **ret_tids, size_t *ret_nr);

#endif
