/* SPDX-License-Identifier: MIT */
/*
 * live.h - reads a recording's events while it runs, in the process that started it. The events can
 * be program events, kernel events and samples.
 *
 *   wm_live_create()               a private folder in memory
 *   wm_live_options(live, &o)      sets the recording's options to write there;
 *   wm_pumproc_start(&o, &channel) it is started like any other
 *
 *   wm_live_look(live, &channel)   requests a batch, one request at a time; the
 *                                  reply is WM_REPORT_LOOKED (or, at the end, DONE)
 *     wm_live_take(live, &report)  begins a batch; 1: wm_live_trace() has changed,
 *                                  types must be bound again
 *       wm_live_next() ...         its events, in time order; 0: end of batch.
 *                                  Events not selected are counted as skipped
 *   wm_live_destroy()
 *
 * A batch has all events up to a moment at which the recorder had written everything, so the
 * batches are in time order. Events that arrived too late for their batch are returned with the
 * next one and counted.
 *
 * Memory does not grow over time, because data is freed as soon as it is read. When the reader is
 * slow or stopped, at most `bytes` wait in the folder; further events stay in the program, kernel
 * and perf rings, which count the events that do not fit as lost. report.totals has all losses by
 * cause, as for any recording: wm_recording_lost(). So: happened = returned + skipped + lost.
 *
 * The folder is removed by wm_live_destroy(); by the recorder if this process is killed; and if
 * both are killed, by the next wm_live_create().
 *
 * One thread.
 */
#ifndef WM_CONTROL_LIVE_H
#define WM_CONTROL_LIVE_H

#include "control/pump/channel.h"
#include "read/growing.h"

#define WM_LIVE_BYTES_DEFAULT ((uint64_t)64 << 20)
#define WM_LIVE_BYTES_MIN     ((uint64_t)1 << 20)

struct wm_live;

/*
 * Creates the folder. `runtime_dir` is $XDG_RUNTIME_DIR, used if /dev/shm is not available; NULL:
 * none. /tmp is tried last. At most `bytes` of data wait for the reader; 0: the default. Returns 0,
 * or -errno with `diag`.
 */
int wm_live_create(const char *runtime_dir, uint64_t bytes, struct wm_live **ret,
		   struct wm_diag *diag);
void wm_live_destroy(struct wm_live *l); /* accepts NULL; the caller must end the recording */

/* Sets `dir`, `format` and `live_*` in the options; they point into `l`. */
void wm_live_options(const struct wm_live *l, struct wm_recording_options *o);

/*
 * Requests a batch. Returns 0; -EALREADY if the last request has not been answered yet; -errno if
 * the recorder has exited.
 */
int wm_live_look(struct wm_live *l, struct wm_channel *c);

/*
 * Handles a report from the recording; LOOKED and DONE begin a batch. Returns 0; 1 if the trace was
 * replaced; -ENOENT if the report is of another kind; -errno with `diag`. After DONE there are no
 * more batches.
 */
int wm_live_take(struct wm_live *l, const struct wm_report *report, struct wm_diag *diag);

/*
 * The trace at this batch; NULL before the first batch. The previous trace is valid until the next
 * batch.
 */
struct wm_trace *wm_live_trace(const struct wm_live *l);

/*
 * Selects which parts of events to decode; NULL: all. Call it after each take() that returned 1,
 * before next().
 */
void wm_live_want(struct wm_live *l, const struct wm_want *want);

/* Returns 1 and an event, valid until the next call; 0 at the end of the batch; or -errno. */
int wm_live_next(struct wm_live *l, const struct wm_event **ret);

void wm_live_totals(const struct wm_live *l, struct wm_growing_totals *ret);

/* For the recorder, when its command has exited. */
void wm_live_remove_folder(const char *path);

#endif
