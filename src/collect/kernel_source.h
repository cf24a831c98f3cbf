/* SPDX-License-Identifier: MIT */
/*
 * kernel_source.h - drains the rings of a tracing instance into a trace: page
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

#include "format/trace_writer.h"
#include "kernel/instance.h"

struct wm_kernel_source;

/* An event that is on in the instance. */
struct wm_kernel_source_event {
	const char *system, *name;
	const char *format; /* the format file's text */
	size_t format_bytes;
};

struct wm_kernel_totals {
	uint64_t events, packets;
	uint64_t lost;         /* overwritten in a ring before they were read */
	uint64_t lost_disk;    /* read, and not written: see error */
	uint64_t torn;         /* records that are not as their format says */
	uint64_t buffer_bytes; /* of all rings, now */
	uint32_t grown;        /* how often they were made larger */
	int error;             /* the last write that failed: -errno; 0: none did */
};

/*
 * Declares the events to the writer. The instance stays the caller's and must
 * outlive the source. `most_bytes`: how far rings may grow, all together.
 */
int wm_kernel_source_create(struct wm_instance *instance, struct wm_trace_writer *writer,
			    enum wm_clock_kind clock, const struct wm_kernel_source_event *events,
			    size_t nr_events, uint64_t most_bytes, struct wm_kernel_source **ret,
			    struct wm_diag *diag);
void wm_kernel_source_destroy(struct wm_kernel_source *s); /* accepts NULL */

/* Packets moved, or the error of a write that failed: the round went on. */
int wm_kernel_source_round(struct wm_kernel_source *s, bool seal);

/* After wm_instance_stop(): all that is left, and losses no page told of. */
int wm_kernel_source_finish(struct wm_kernel_source *s);

void wm_kernel_source_totals(const struct wm_kernel_source *s, struct wm_kernel_totals *ret);

#endif
