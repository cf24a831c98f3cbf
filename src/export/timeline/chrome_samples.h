/* SPDX-License-Identifier: MIT */
/*
 * chrome_samples.h - the `samples` and `stackFrames` parts of Chrome's trace event format. The
 * frames form a tree: a frame has a name, the file of its function as category, and the frame that
 * called it as parent.
 *
 * Both parts follow the events in a file, so they are kept in memory until the file is complete;
 * the exporter splits the output by the sum of the sizes.
 */
#ifndef WM_EXPORT_TIMELINE_CHROME_SAMPLES_H
#define WM_EXPORT_TIMELINE_CHROME_SAMPLES_H

#include "base/table.h"
#include "export/timeline/sampled.h"
#include "trace/name_table.h"

struct wm_chrome_frame;

struct wm_chrome_samples {
	struct wm_sampled sampled;
	struct wm_names names; /* of functions and files */
	struct wm_chrome_frame *frames;
	uint32_t nr_frames, room_frames;
	struct wm_table table;         /* of frames */
	struct wm_chrome_frame *chain; /* of the current sample, innermost first */
	uint32_t nr_chain;
	struct wm_text samples, stack_frames; /* of the current file */
};

/* A sample's thread and time. */
struct wm_chrome_sample {
	uint32_t pid, tid;
	const char *us; /* the time as written in `ts` */
	size_t bytes;
};

/* 0 or -ENOMEM; call wm_chrome_samples_done() in either case. */
int wm_chrome_samples_init(struct wm_chrome_samples *s, const struct wm_export *x);
void wm_chrome_samples_done(struct wm_chrome_samples *s);

/* Adds a sample. 0, -ENOMEM, or an error from resolving names. */
int wm_chrome_samples_add(struct wm_chrome_samples *s, uint32_t trace, const struct wm_event *e,
			  const struct wm_chrome_sample *where);

/* Returns the size of both parts. */
static inline size_t wm_chrome_samples_bytes(const struct wm_chrome_samples *s)
{
	return s->samples.bytes + s->stack_frames.bytes;
}

/* Appends both parts, and begins the next file. 0 or -ENOMEM. */
int wm_chrome_samples_end(struct wm_chrome_samples *s, struct wm_text *t);

#endif
