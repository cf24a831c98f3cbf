/* SPDX-License-Identifier: MIT */
/*
 * sample_source.h - drains a sampler's rings into a trace: samples to one stream, task records to
 * another. The kernel's times are converted to the trace's clock.
 *
 * A source is made in two steps: the events are declared when the trace begins; the sampler is
 * attached once it is known which tasks are sampled. Runs in the pump's thread; must not know about
 * sessions.
 */
#ifndef WM_COLLECT_SAMPLE_SOURCE_H
#define WM_COLLECT_SAMPLE_SOURCE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collect/calibrate.h"
#include "collect/sample_record_int.h"
#include "collect/source.h"
#include "kernel/sampler.h"
#include "write/trace_writer.h"

struct wm_sample_source;

/* In wm_source_totals.more. */
enum {
	/* How often the kernel throttled an event that was too frequent. */
	WM_SAMPLE_MORE_THROTTLED,
	WM_SAMPLE_MORE_CLOCK_ERROR_NS, /* upper bound for the error of the converted times */
};

/*
 * Returns the CLOCK_* to request for the records' times, so that they can be converted to the given
 * clock.
 */
int wm_sample_clockid(enum wm_clock_kind kind);

/* Whether one of the events is sched:sched_switch. */
bool wm_sample_has_switches(const struct wm_sample_event *events, size_t nr);

/*
 * `clock` is the trace's; its owner and each round add pairs to it. `events` and `clock` must
 * outlive the source.
 */
int wm_sample_source_create(struct wm_trace_writer *writer, struct wm_calibrate *clock,
			    const struct wm_sample_event *events, size_t nr_events,
			    struct wm_sample_source **ret, struct wm_diag *diag);
void wm_sample_source_destroy(struct wm_sample_source *s); /* accepts NULL; closes the sampler */

/* Takes ownership of the sampler, except on -ENOMEM. */
int wm_sample_source_attach(struct wm_sample_source *s, struct wm_sampler *sampler);
/* Drops the samples of this process, which belongs to the recorder. At most four processes. */
void wm_sample_source_leave_out(struct wm_sample_source *s, pid_t pid);
struct wm_sampler *wm_sample_source_sampler(struct wm_sample_source *s); /* NULL: none */

/*
 * Writes one record about a task's state before the sampler was attached. All these records get the
 * time of the first call. The caller writes all of them before the first round.
 */
void wm_sample_source_tell(struct wm_sample_source *s, const struct wm_perf_record *r);

/*
 * Drains rings that are at least an eighth full, and all rings once a second. Returns the number of
 * packets written.
 */
int wm_sample_source_round(struct wm_sample_source *s);
int wm_sample_source_seal(struct wm_sample_source *s); /* drains all rings now */
/* Call it after wm_sampler_stop(): drains the rest. */
int wm_sample_source_finish(struct wm_sample_source *s);

/* `events` counts samples; task records count only as packets and bytes. */
void wm_sample_source_totals(const struct wm_sample_source *s, struct wm_source_totals *ret);

#endif
