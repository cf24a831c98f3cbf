/* SPDX-License-Identifier: MIT */
/*
 * growing.h - reads a trace of waymark's recorder while it is being written.
 *
 *   wm_growing_open()
 *     wm_growing_look(until)     finds the packets that are complete by now
 *       wm_growing_next() ...    their events before `until`, in order of time
 *     wm_growing_look(later) ...
 *   wm_growing_close()
 *
 * Memory is bounded by the data written between two looks, the number of threads and the number of
 * event types, independent of the length of the recording. With `give_back` the files are bounded
 * too: holes are punched where data was read, so the folder can be in memory. Other readers cannot
 * read the trace then.
 *
 * `until` is a time up to which the writer has written everything (control/live.h requests it). An
 * event before the last `until` that arrived only now is *late*: it is returned nevertheless, in
 * order of time with the other events of its look, and counted.
 *
 * When event types are added, the trace is *renewed*: opened again under the same name. Types,
 * streams and clocks are new objects from then on; the previous trace stays valid until the next
 * look, for callers that map old objects to new ones. Names and indices of types are kept, new
 * types are appended.
 *
 * One thread.
 */
#ifndef WM_READ_GROWING_H
#define WM_READ_GROWING_H

#include "trace/reader.h"

#define WM_GROWING_NOW UINT64_MAX /* until: everything in complete packets */

struct wm_growing;

struct wm_growing_totals {
	uint64_t events;     /* returned */
	uint64_t late;       /* included in `events` */
	uint64_t skipped;    /* not read before the next look */
	uint64_t lost;       /* from the packets' own counters */
	uint64_t freed;      /* bytes of holes punched in the files */
	uint64_t nr_renewed; /* number of renewals */
};

/* The folder's metadata must exist. 0 or -errno with `diag`. */
int wm_growing_open(const char *dir, bool give_back, struct wm_growing **ret, struct wm_diag *diag);
void wm_growing_close(struct wm_growing *g); /* accepts NULL */

/* The trace as of the last look. */
struct wm_trace *wm_growing_trace(const struct wm_growing *g);

/*
 * Adds the packets written since the last look. `until`: ticks of the trace's clock, not less than
 * at the last look. 0; 1: the trace was renewed; -errno with `diag`.
 */
int wm_growing_look(struct wm_growing *g, uint64_t until, struct wm_diag *diag);

/*
 * Selects events; `want` is for the current trace, and must be set again before the first
 * wm_growing_next() after a renewal. NULL: all. It remains the caller's.
 */
void wm_growing_want(struct wm_growing *g, const struct wm_want *want);

/* 1 and an event, valid until the next call; 0: no more at this time; -errno. */
int wm_growing_next(struct wm_growing *g, const struct wm_event **ret);

void wm_growing_totals(const struct wm_growing *g, struct wm_growing_totals *ret);

#endif
