/* SPDX-License-Identifier: MIT */
/*
 * growing.h - a trace of waymark's that is being written, read as it grows.
 *
 *   wm_growing_open()
 *     wm_growing_look(until)     what whole packets there are by now
 *       wm_growing_next() ...    their events before `until`, in order of time
 *     wm_growing_look(later) ...
 *   wm_growing_close()
 *
 * Memory is bounded by what was written between two looks, by the number of
 * threads, and by the number of kinds of events; never by how long it lasts.
 * With `give_back` the files are, too: what was read is taken out of them
 * (holes), so the folder can be in memory. Nobody else can read it then.
 *
 * `until` is a moment up to which the writer has written everything
 * (control/live.h asks it). An event before the last `until` that came only
 * now is *late*: it is given nevertheless, in order of time with the others of
 * its look, and counted.
 *
 * Kinds of events are added while it grows: then the trace is *renewed*, opened
 * anew under the same name. Types, streams and clocks are other objects from
 * there on; the trace before stays valid up to the next look, for who has to
 * find one by the other. Names and indices of types are the same, new ones
 * come behind.
 *
 * One thread.
 */
#ifndef WM_READ_GROWING_H
#define WM_READ_GROWING_H

#include "trace/reader.h"

#define WM_GROWING_NOW UINT64_MAX /* until: all that is in whole packets */

struct wm_growing;

struct wm_growing_totals {
	uint64_t events;     /* given */
	uint64_t late;       /* of these */
	uint64_t skipped;    /* not asked for when the next look came */
	uint64_t lost;       /* by the packets' own counters */
	uint64_t freed;      /* bytes that were taken out of the files */
	uint64_t nr_renewed; /* how often the trace was opened anew */
};

/* The folder's metadata must be there. 0 or -errno with `diag`. */
int wm_growing_open(const char *dir, bool give_back, struct wm_growing **ret, struct wm_diag *diag);
void wm_growing_close(struct wm_growing *g); /* accepts NULL */

/* As it is now: of the last look. */
struct wm_trace *wm_growing_trace(const struct wm_growing *g);

/*
 * Takes the packets that came since. `until`: ticks of the trace's clock, not
 * before the last one's. 0; 1: the trace was renewed; -errno with `diag`.
 */
int wm_growing_look(struct wm_growing *g, uint64_t until, struct wm_diag *diag);

/*
 * What of the events is wanted: of the trace as it is now, before the first
 * wm_growing_next() of the look that renewed it. NULL: all. The caller's.
 */
void wm_growing_want(struct wm_growing *g, const struct wm_want *want);

/* 1 and an event, valid until the next call; 0: no more by now; -errno. */
int wm_growing_next(struct wm_growing *g, const struct wm_event **ret);

void wm_growing_totals(const struct wm_growing *g, struct wm_growing_totals *ret);

#endif
