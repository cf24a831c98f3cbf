/* SPDX-License-Identifier: MIT */
/*
 * proc_source.h - counters of /proc as events: reads their files at fixed times. An
 * event has the time right before its file was read. Counters of the machine go to one
 * stream, those of processes to another.
 *
 * Runs in the pump's thread; its owner calls wm_proc_source_tick() at the time that
 * wm_proc_source_next() returned.
 */
#ifndef WM_COLLECT_PROC_SOURCE_H
#define WM_COLLECT_PROC_SOURCE_H

#include "base/clock.h"
#include "collect/source.h"
#include "kernel/proc_files.h"
#include "write/trace_writer.h"

#define WM_PROC_EVERY_MIN_NS     1000000u
#define WM_PROC_EVERY_MAX_NS     3600000000000u
#define WM_PROC_EVERY_DEFAULT_NS WM_NS_PER_SECOND

/* One event, its interval, and the filter that its values must pass. */
struct wm_proc_choice {
	const struct wm_proc_event *event;
	uint64_t every_ns;
	const char *filter; /* NULL: none */
};

/* Checks that this kernel has the event: 0, or the error of wm_proc_source_create(). */
int wm_proc_choice_check(const struct wm_proc_choice *choice, struct wm_diag *diag);

/* In wm_source_totals.more. */
enum {
	WM_PROC_MORE_TICKS,       /* how often files were read */
	WM_PROC_MORE_MISSED,      /* readings that were not done, because their time had passed */
	WM_PROC_MORE_LATE_MAX_NS, /* how late a reading was at most */
	WM_PROC_MORE_SPENT_NS,    /* in all ticks */
	WM_PROC_MORE_DENIED,      /* readings of processes that need more privilege */
};

struct wm_proc_source;

/*
 * Reads each file once, to declare its event. `writer` and the strings of
 * `choices` must outlive the source. -ENOENT with a sentence: this kernel has no
 * such file; -EINVAL: a filter does not fit the event.
 */
int wm_proc_source_create(struct wm_trace_writer *writer, enum wm_clock_kind clock,
			  const struct wm_proc_choice *choices, size_t nr_choices, bool everything,
			  const pid_t ours[2], struct wm_proc_source **ret, struct wm_diag *diag);
void wm_proc_source_destroy(struct wm_proc_source *s); /* accepts NULL */

/*
 * Adds a process, and its children from now on. Their files are read for the first
 * time 10 ms later, when the process may have called execve(2). 0 or -ENOMEM.
 */
int wm_proc_source_follow(struct wm_proc_source *s, pid_t pid);

/* The first event whose counters do not all have a field, and how many are left out; NULL: none. */
const struct wm_proc_event *wm_proc_source_left_out(const struct wm_proc_source *s,
						    uint32_t *ret_nr);

/* The time of the next reading, on CLOCK_MONOTONIC. */
uint64_t wm_proc_source_next(const struct wm_proc_source *s);

/*
 * Reads the files that are due at now_ns. Readings whose time passed before that are
 * counted, and written to the trace as lost (waymark:lost, cause "late").
 */
void wm_proc_source_tick(struct wm_proc_source *s, uint64_t now_ns);
/* Reads every file once more, due or not, at the end. */
void wm_proc_source_last(struct wm_proc_source *s);

/* Writes the current packets. 0 or -errno. */
int wm_proc_source_flush(struct wm_proc_source *s);

void wm_proc_source_totals(const struct wm_proc_source *s, struct wm_source_totals *ret);

#endif
