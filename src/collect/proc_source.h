/* SPDX-License-Identifier: MIT */
/*
 * proc_source.h - counters of /proc as events: reads their files at fixed
 * times and writes what stands in them, at the trace's time right before it was
 * read. The machine's go to one stream, those of processes to another.
 *
 * Single-threaded, beside the pump; its owner calls wm_proc_source_tick() when
 * wm_proc_source_next() has come.
 */
#ifndef WM_COLLECT_PROC_SOURCE_H
#define WM_COLLECT_PROC_SOURCE_H

#include "base/clock.h"
#include "collect/source.h"
#include "kernel/proc_files.h"
#include "write/trace_writer.h"

#define WM_PROC_EVERY_MIN_NS     1000000u
#define WM_PROC_EVERY_MAX_NS     3600000000000u
#define WM_PROC_EVERY_DEFAULT_NS 1000000000u

/* One event, how often, and when it is worth recording. */
struct wm_proc_choice {
	const struct wm_proc_event *event;
	uint64_t every_ns;
	const char *filter; /* NULL: always */
};

/* Whether it can be had here: 0, or what wm_proc_source_create() would say. */
int wm_proc_choice_check(const struct wm_proc_choice *choice, struct wm_diag *diag);

/* In wm_source_totals.more. */
enum {
	WM_PROC_MORE_TICKS,       /* times something was read */
	WM_PROC_MORE_MISSED,      /* readings that were not done, because their time had passed */
	WM_PROC_MORE_LATE_MAX_NS, /* how late a reading was at most */
	WM_PROC_MORE_SPENT_NS,    /* in all ticks */
	WM_PROC_MORE_DENIED,      /* readings of processes that need more privilege */
};

struct wm_proc_source;

/*
 * Reads each file once, to declare its event. `writer` and the strings of
 * `choices` must outlive the source. -ENOENT and a sentence: this kernel has no
 * such file; -EINVAL: a filter does not fit.
 */
int wm_proc_source_create(struct wm_trace_writer *writer, enum wm_clock_kind clock,
			  const struct wm_proc_choice *choices, size_t nr_choices, bool everything,
			  const pid_t ours[2], struct wm_proc_source **ret, struct wm_diag *diag);
void wm_proc_source_destroy(struct wm_proc_source *s); /* accepts NULL */

/*
 * The processes whose files are read: this one, and what it forks; first in
 * a moment, when it may have called execve(2). 0 or -ENOMEM.
 */
int wm_proc_source_follow(struct wm_proc_source *s, pid_t pid);

/* The first counter there was no field for; NULL: there is none. */
const struct wm_proc_event *wm_proc_source_left_out(const struct wm_proc_source *s,
						    uint32_t *ret_nr);

/* When the next file is due, of CLOCK_MONOTONIC. */
uint64_t wm_proc_source_next(const struct wm_proc_source *s);

/*
 * Reads what is due then; what was due earlier, too, and was not read is
 * counted and told to the trace as lost (waymark:lost, cause "late").
 */
void wm_proc_source_tick(struct wm_proc_source *s, uint64_t now_ns);
/* Reads everything once more, due or not: the end. */
void wm_proc_source_last(struct wm_proc_source *s);

/* Writes what waits. Packets. */
int wm_proc_source_flush(struct wm_proc_source *s);

void wm_proc_source_totals(const struct wm_proc_source *s, struct wm_source_totals *ret);

#endif
