/* SPDX-License-Identifier: MIT */
/*
 * live.h - events while they happen: a recording, with all it may take
 * (programs, the kernel, samples), that is read by the process that began it.
 *
 *   wm_live_create()               a folder in memory that nobody else looks into
 *   wm_live_options(live, &o)      the recording's options: it writes there,
 *   wm_recording_start(&o, &r)     and is begun like any other
 *
 *   wm_live_look(live, &r)         asks, at most once at a time; answered by
 *                                  a report, WM_REPORT_LOOKED (or, at the end, DONE)
 *     wm_live_take(live, &report)  a batch begins; 1: wm_live_trace() is another one,
 *                                  types are to be bound again
 *       wm_live_next() ...         its events, in order of time; 0: no more of it.
 *                                  What is not asked for is counted as skipped
 *   wm_live_destroy()
 *
 * A batch has all events up to a moment at which the recorder had written
 * everything, so batches follow one another in time. Events that came too late
 * for theirs are given with the next and counted.
 *
 * Nothing grows with time: what was read is given back at once. When the
 * reader is slow, or stopped, at most `bytes` wait in the folder; after that
 * events stay in the rings of programs, kernel and perf, which lose what does
 * not fit and count it. report.totals has all of it by cause, as of any
 * recording: wm_recording_lost(). So: happened = given + skipped + lost.
 *
 * The folder is removed by wm_live_destroy(); by the recorder when we are
 * killed; and when that was killed, too, by the next wm_live_create().
 *
 * One thread.
 */
#ifndef WM_CONTROL_LIVE_H
#define WM_CONTROL_LIVE_H

#include "control/pump/recording.h"
#include "read/growing.h"

#define WM_LIVE_BYTES_DEFAULT ((uint64_t)64 << 20)
#define WM_LIVE_BYTES_MIN     ((uint64_t)1 << 20)

struct wm_live;

/*
 * `runtime_dir`: $XDG_RUNTIME_DIR, where /dev/shm cannot be had; NULL: none.
 * After it /tmp is tried. `bytes` wait at most; 0: the default. -errno with `diag`.
 */
int wm_live_create(const char *runtime_dir, uint64_t bytes, struct wm_live **ret,
		   struct wm_diag *diag);
void wm_live_destroy(struct wm_live *l); /* accepts NULL; the recording's end is the caller's */

/* dir, format and live_* of the options; what they point to is the live one's. */
void wm_live_options(const struct wm_live *l, struct wm_recording_options *o);

/* 0; -EALREADY: the last question is not answered; -errno: the recorder is gone. */
int wm_live_look(struct wm_live *l, struct wm_recording *r);

/*
 * A report of the recording's: LOOKED and DONE begin a batch, others are none.
 * 0; 1: the trace is another one than before; -ENOENT: no such report; -errno
 * with `diag`. After DONE's there is none any more.
 */
int wm_live_take(struct wm_live *l, const struct wm_report *report, struct wm_diag *diag);

/* The trace as of this batch; NULL before the first. The one before lives until the next batch. */
struct wm_trace *wm_live_trace(const struct wm_live *l);

/* What of the events is wanted; after each take() that returned 1, before next(). NULL: all. */
void wm_live_want(struct wm_live *l, const struct wm_want *want);

/* 1 and an event, valid until the next call; 0: no more in this batch; -errno. */
int wm_live_next(struct wm_live *l, const struct wm_event **ret);

void wm_live_totals(const struct wm_live *l, struct wm_growing_totals *ret);

/* For the recorder whose command is gone. */
void wm_live_remove_folder(const char *path);

#endif
