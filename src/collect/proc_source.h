/* SPDX-License-Identifier: MIT */
/*
 * proc_source.h - records /proc counters as events: reads the files at fixed times. The time of an
 * event is taken right before its file is read. System-wide counters go to one stream, per-process
 * ones to another.
 *
 * Runs in the pump's thread; its owner calls wm_source_proc_tick() at the time that
 * wm_source_proc_next() returned.
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

/* An event, its interval, and the filter that its values must pass. */
struct wm_proc_choice {
	const struct wm_proc_event *event;
	uint64_t every_ns;
	const char *filter; /* NULL: none */
};

/*
 * Checks that this kernel has the event. Returns 0, or the error that wm_source_proc_create()
 * would.
 */
int wm_source_proc_check(const struct wm_proc_choice *choice, struct wm_diag *diag);

/* In wm_source_totals.more. */
enum {
	WM_PROC_MORE_TICKS, /* how often files were read */
	/* Number of readings that were skipped because their time had passed. */
	WM_PROC_MORE_MISSED,
	WM_PROC_MORE_LATE_MAX_NS, /* largest delay of a reading */
	WM_PROC_MORE_SPENT_NS,    /* time spent in all ticks */
	/* Number of process readings that failed for lack of privilege. */
	WM_PROC_MORE_DENIED,
	WM_PROC_MORE_FAILED, /* number of readings that failed for other reasons */
	WM_PROC_MORE_ERROR,  /* errno of the first such failure */
};

struct wm_proc_source;

/*
 * Reads each file once, to declare its event. `writer` and the strings in `choices` must outlive
 * the source. Returns -ENOENT with an error message when this kernel has no such file; -EINVAL when
 * a filter does not fit the event.
 */
int wm_source_proc_create(struct wm_trace_writer *writer, enum wm_clock_kind clock,
			  const struct wm_proc_choice *choices, size_t nr_choices, bool everything,
			  const pid_t ours[2], struct wm_proc_source **ret, struct wm_diag *diag);
void wm_source_proc_destroy(struct wm_proc_source *s); /* accepts NULL */

/*
 * Adds a process, and its children from now on. Their files are first read 10 ms later, when the
 * process may have called execve(2). Returns 0 or -ENOMEM.
 */
int wm_source_proc_follow(struct wm_proc_source *s, pid_t pid);

/*
 * Returns the first event that has more counters than fields, and the number of counters left out;
 * NULL if there is none.
 */
const struct wm_proc_event *wm_source_proc_left_out(const struct wm_proc_source *s,
						    uint32_t *ret_nr);

/* The time of the next reading, on CLOCK_MONOTONIC. */
uint64_t wm_source_proc_next(const struct wm_proc_source *s);

/*
 * Reads the files that are due at now_ns. Readings whose time had already passed are counted, and
 * written to the trace as lost (waymark:lost, cause "late").
 */
void wm_source_proc_tick(struct wm_proc_source *s, uint64_t now_ns);
/* Reads every file once more at the end, due or not. */
void wm_source_proc_last(struct wm_proc_source *s);

/* Writes the current packets. Returns 0 or -errno. */
int wm_source_proc_flush(struct wm_proc_source *s);

void wm_source_proc_totals(const struct wm_proc_source *s, struct wm_source_totals *ret);

#endif
