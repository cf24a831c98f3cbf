/* SPDX-License-Identifier: MIT */
/*
 * kernel_source.h - drains the rings of tracing instances into a trace: page
 * by page, record by record, each transcoded as it comes (kdata/transcode.h).
 *
 * A round takes the rings that have a good part full; a sealing round takes
 * what there is. What the kernel says it lost before a page is told to the
 * trace before the packet that follows, with its time range. Names of threads
 * are asked of /proc when their first record is met: within a tenth of a
 * second of it, so most of them still live.
 *
 * Single-threaded, beside the pump; knows no sessions.
 */
#ifndef WM_COLLECT_KERNEL_SOURCE_H
#define WM_COLLECT_KERNEL_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/source.h"
#include "kernel/instance.h"
#include "write/trace_writer.h"

struct wm_kernel_source;

/* An event that is on in the instance. */
struct wm_kernel_source_event {
	const char *system, *name;
	const char *format; /* the format file's text */
	size_t format_bytes;
	/* Bytecode of a filter (event/filter.h) that records must pass; NULL: all do. */
	const unsigned char *filter;
	size_t filter_bytes;
	bool in_top; /* it is taken from the second instance, too, where others' events may be */
};

/* In wm_source_totals.more. */
enum {
	WM_KERNEL_MORE_GROWN, /* how often rings were made larger */
};

/*
 * Where events come from: an instance, and the system's own buffer as another
 * (wm_instance_take_top()), NULL: it is not needed. Both stay the caller's and
 * must outlive the source. `most_bytes`: how far their rings may grow, all
 * together.
 */
struct wm_kernel_rings {
	struct wm_instance *instance, *top;
	enum wm_clock_kind clock; /* of both */
	uint64_t most_bytes;
};

/* Declares the events to the writer. */
int wm_kernel_source_create(const struct wm_kernel_rings *rings, struct wm_trace_writer *writer,
			    const struct wm_kernel_source_event *events, size_t nr_events,
			    struct wm_kernel_source **ret, struct wm_diag *diag);
void wm_kernel_source_destroy(struct wm_kernel_source *s); /* accepts NULL */

/* While it runs: declares an event more, before it is switched on. */
int wm_kernel_source_add(struct wm_kernel_source *s, const struct wm_kernel_source_event *e,
			 struct wm_diag *diag);

/*
 * While it runs: records of the event must pass e->filter instead of what it
 * had, from the next page on. -ENOENT: it was not declared; -ENOMEM.
 */
int wm_kernel_source_filter(struct wm_kernel_source *s, const struct wm_kernel_source_event *e);

/* Takes all that is in the rings now; errors are in the totals. */
void wm_kernel_source_drain(struct wm_kernel_source *s);

/* Packets moved, or the error of a write that failed: the round went on. */
int wm_kernel_source_round(struct wm_kernel_source *s, bool seal);

/* After wm_instance_stop(): all that is left, and losses no page told of. */
int wm_kernel_source_finish(struct wm_kernel_source *s);

void wm_kernel_source_totals(const struct wm_kernel_source *s, struct wm_source_totals *ret);

#endif
