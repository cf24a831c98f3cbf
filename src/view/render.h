/* SPDX-License-Identifier: MIT */
/*
 * render.h - events in order of time, written out: on one thread, or on several
 * by slices of time, each with a merge and a page of its own; the pages go out
 * in order and joined, so the bytes are the same.
 */
#ifndef WM_VIEW_RENDER_H
#define WM_VIEW_RENDER_H

#include "trace/timeline.h"
#include "view/writer.h"

#define WM_RENDER_FLUSH_BYTES (1u << 18)  /* written at once: it stays in a near cache */
#define WM_RENDER_AHEAD_BYTES (64u << 20) /* of all pages whose turn has not come */
#define WM_RENDER_SLICE_BYTES (2u << 20)  /* of packets */

struct wm_render {
	const struct wm_timeline *timeline;
	const struct wm_view *view;
	int64_t begin_ns, end_ns;
	const struct wm_want *const *wants; /* as wm_merge_options has them */

	/* Is the event shown? NULL: all are. Called on several threads. */
	bool (*passes)(const void *data, uint32_t trace, const struct wm_event *e);
	const void *data;

	uint64_t skip, limit; /* events of those that pass; UINT64_MAX: no limit */
	uint32_t nr_threads;  /* 0: as many as there are processors */
	uint64_t slice_bytes; /* 0: WM_RENDER_SLICE_BYTES */

	/* Takes text; -errno ends it all. Never called on two threads at once. */
	int (*write)(void *sink, const char *bytes, size_t count);
	/* Told before that how many bytes of packets are done; -errno ends it all. May be NULL. */
	int (*tick)(void *sink, uint64_t done_bytes);
	void *sink;
};

/*
 * 0, or the first error of reading or writing. `past` is what was written
 * before, and then what was; ret_events counts what passed, the skipped too.
 */
int wm_render(const struct wm_render *r, struct wm_view_past *past, uint64_t *ret_events);

/*
 * Where the last `nr` events that pass begin: events from *ret_begin_ns on are
 * at least so many; *ret_skip of them are too many.
 */
int wm_render_tail(const struct wm_render *r, uint64_t nr, int64_t *ret_begin_ns,
		   uint64_t *ret_skip);

#endif
