/* SPDX-License-Identifier: MIT */
/*
 * growing.h - reads a trace of waymark's recorder while it is being written.
 *
 *   wm_growing_open()
 *     wm_growing_look(until) finds the packets that are complete now
 *       wm_growing_next() ...    their events before `until`, in time order
 *     wm_growing_look(later) ...
 *   wm_growing_close()
 *
 * Memory is bounded by the data written between two calls of wm_growing_look(), the number of
 * threads and the number of event types, independent of the length of the recording. With
 * `give_back` the disk space is bounded too: holes are punched where data was read, so that the
 * folder can be on tmpfs. Other readers cannot read the trace then.
 *
 * The caller passes as `until` a time up to which the writer has written everything (control/live.h
 * requests it). An event that is older than the previous `until` but arrived only now is *late*: it
 * is returned in time order with the other events up to this `until`, and counted.
 *
 * When event types are added, the trace is *renewed*: opened again under the same name. Types,
 * streams and clocks are new objects from then on; the previous trace stays valid until the next
 * wm_growing_look(), so that callers can map old objects to new ones. Types keep their names and
 * indices; new types are appended.
 *
 * Not thread-safe.
 */
#ifndef WM_READ_GROWING_H
#define WM_READ_GROWING_H

#include "trace/reader.h"

#define WM_GROWING_NOW UINT64_MAX /* value for `until`: all events of complete packets */

struct wm_growing;

struct wm_growing_totals {
	uint64_t events;     /* events returned */
	uint64_t late;       /* late events, included in `events` */
	uint64_t skipped;    /* events that the caller had not read by the next wm_growing_look() */
	uint64_t lost;       /* events lost, from the packets' counters */
	uint64_t freed;      /* bytes of holes punched in the files */
	uint64_t nr_renewed; /* number of renewals */
};

/* The folder's metadata must exist. 0 or -errno with `diag`. */
int wm_growing_open(const char *dir, bool give_back, struct wm_growing **ret, struct wm_diag *diag);
void wm_growing_close(struct wm_growing *g); /* accepts NULL */

/* Returns the trace as of the last wm_growing_look(). */
struct wm_trace *wm_growing_trace(const struct wm_growing *g);

/*
 * Adds the packets written since the last call. `until` is in ticks of the trace's clock and must
 * not decrease. Returns 0, 1 when the trace was renewed, or -errno with `diag`.
 */
int wm_growing_look(struct wm_growing *g, uint64_t until, struct wm_diag *diag);

/*
 * Selects the events that wm_growing_next() returns. `want` is for the current trace, so it must be
 * set again after a renewal. NULL: all events. `want` is not copied.
 */
void wm_growing_want(struct wm_growing *g, const struct wm_want *want);

/*
 * Returns 1 and an event, valid until the next call; 0 when there are no more events until the next
 * wm_growing_look(); or -errno.
 */
int wm_growing_next(struct wm_growing *g, const struct wm_event **ret);

void wm_growing_totals(const struct wm_growing *g, struct wm_growing_totals *ret);

#endif
