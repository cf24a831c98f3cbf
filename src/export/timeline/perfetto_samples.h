/* SPDX-License-Identifier: MIT */
/*
 * perfetto_samples.h - writes samples as Perfetto's PerfSamples, with function names, so that
 * viewers draw flame graphs and trace_processor has them in its perf_sample table.
 *
 * Each event type has its own sequence, because the event's name belongs to the sequence. Names,
 * frames and chains are interned there.
 */
#ifndef WM_EXPORT_TIMELINE_PERFETTO_SAMPLES_H
#define WM_EXPORT_TIMELINE_PERFETTO_SAMPLES_H

#include "export/timeline/sampled.h"

struct wm_perfetto_samples;

/* 0 or -ENOMEM. */
int wm_perfetto_samples_create(const struct wm_export *x, uint32_t first_sequence,
			       struct wm_perfetto_samples **ret);
void wm_perfetto_samples_destroy(struct wm_perfetto_samples *s); /* accepts NULL */

enum wm_sampled_how wm_perfetto_samples_take(const struct wm_perfetto_samples *s, uint32_t trace,
					     const struct wm_event_type *t);

/*
 * Appends the packet of a sample. `ns` is the time for the output, `pid` and `tid` are the task's.
 * 0, -ENOMEM, or an error from resolving names.
 */
int wm_perfetto_samples_put(struct wm_perfetto_samples *s, uint32_t trace, const struct wm_event *e,
			    uint64_t ns, int32_t pid, int32_t tid, struct wm_text *t);

/* Called when a new file begins: everything used so far will be written again. */
void wm_perfetto_samples_again(struct wm_perfetto_samples *s);

#endif
