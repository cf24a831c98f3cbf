/* SPDX-License-Identifier: MIT */
/*
 * kernel_source.h - drains the rings of tracing instances into a trace, page by page; each record
 * is transcoded when it is read (kdata/transcode.h).
 *
 * A round reads the rings that are at least an eighth full; a sealing round reads all rings. Events
 * that the kernel lost before a page are written to the trace before the packet that follows, with
 * their time range. A thread's name is read from /proc at its first record, at most a tenth of a
 * second after the record was made, so most threads are still alive.
 *
 * Runs in the pump's thread; must not know about sessions.
 */
#ifndef WM_COLLECT_KERNEL_SOURCE_H
#define WM_COLLECT_KERNEL_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/child.h"
#include "collect/source.h"
#include "kernel/instance.h"
#include "write/trace_writer.h"

struct wm_kernel_source;

/* An event that is enabled in the instance. */
struct wm_kernel_source_event {
	const char *system, *name;
	const char *format; /* contents of the event's format file */
	size_t format_bytes;
	/* Bytecode of a filter (event/filter.h) that records must pass; NULL: no filter. */
	const unsigned char *filter;
	size_t filter_bytes;
	/* The event is also read from the second instance, which may hold other users' events. */
	bool in_top;
};

/*
 * The rings to read: an instance and, if `top` is not NULL, the system's own buffer
 * (wm_instance_take_top()). The caller keeps both; they must outlive the source. `exec` (NULL:
 * none) is the start of a command: older records are not written, because they come from the
 * process that waits to become the command.
 */
struct wm_kernel_rings {
	struct wm_instance *instance, *top;
	enum wm_clock_kind clock; /* of both */
	const struct wm_child_exec *exec;
};

/* Declares the events to the writer. */
int wm_source_kernel_create(const struct wm_kernel_rings *rings, struct wm_trace_writer *writer,
			    const struct wm_kernel_source_event *events, size_t nr_events,
			    struct wm_kernel_source **ret, struct wm_diag *diag);
void wm_source_kernel_destroy(struct wm_kernel_source *s); /* accepts NULL */

/* Declares one more event during the recording, before the event is enabled. */
int wm_source_kernel_add(struct wm_kernel_source *s, const struct wm_kernel_source_event *e,
			 struct wm_diag *diag);

/*
 * Replaces an event's filter during the recording, starting with the next page. Returns -ENOENT if
 * the event was not declared, or -ENOMEM.
 */
int wm_source_kernel_filter(struct wm_kernel_source *s, const struct wm_kernel_source_event *e);

/* Reads everything that is now in the rings; errors are in the totals. */
void wm_source_kernel_drain(struct wm_kernel_source *s);

/*
 * Returns the number of packets written, or the error of a failed write, after which the round
 * continues.
 */
int wm_source_kernel_round(struct wm_kernel_source *s, bool seal);

/* Call it after wm_instance_stop(): reads the rest, and the losses that no page reported. */
int wm_source_kernel_finish(struct wm_kernel_source *s);

void wm_source_kernel_totals(const struct wm_kernel_source *s, struct wm_source_totals *ret);

#endif
