/* SPDX-License-Identifier: MIT */
/*
 * render.h - writes events in time order: on one thread, or on several,
 * each of which renders time slices with its own merge and page. The pages are joined and written
 * in order, so the output does not depend on the number of threads.
 */
#ifndef WM_VIEW_RENDER_H
#define WM_VIEW_RENDER_H

#include "trace/timeline.h"
#include "view/writer.h"

#define WM_RENDER_FLUSH_BYTES (1u << 18) /* size of one write: small enough for the L2 cache */
/* maximum bytes in all pages waiting to be written */
#define WM_RENDER_AHEAD_BYTES (64u << 20)
#define WM_RENDER_SLICE_BYTES (2u << 20) /* size of the packets in a slice */

struct wm_render {
	const struct wm_timeline *timeline;
	const struct wm_view *view;
	int64_t begin_ns, end_ns;
	const struct wm_want *const *wants; /* as in wm_merge_options */

	/* Whether the event is shown; NULL: all are. Called on several threads. */
	bool (*passes)(const void *data, uint32_t trace, const struct wm_event *e);
	const void *data;

	uint64_t skip, limit; /* counts of passing events; UINT64_MAX: no limit */
	uint32_t nr_threads;  /* 0: the number of CPUs */
	uint64_t slice_bytes; /* 0: WM_RENDER_SLICE_BYTES */

	/* Writes text; -errno stops the rendering. Never called on two threads at once. */
	int (*write)(void *sink, const char *bytes, size_t count);
	/*
	 * Called before each write with the number of packet bytes done; -errno stops the
	 * rendering. May be NULL.
	 */
	int (*tick)(void *sink, uint64_t done_bytes);
	void *sink;
};

/*
 * Returns 0, or the first read or write error. `past` describes the lines written before, and is
 * updated; *ret_events is the number of events that passed, including skipped ones.
 */
int wm_render(const struct wm_render *r, struct wm_view_past *past, uint64_t *ret_events);

/*
 * Finds the start of the last `nr` passing events: skip *ret_skip passing events, starting at
 * *ret_begin_ns.
 */
int wm_render_tail(const struct wm_render *r, uint64_t nr, int64_t *ret_begin_ns,
		   uint64_t *ret_skip);

#endif
