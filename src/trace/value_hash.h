/* SPDX-License-Identifier: MIT */
/*
 * value_hash.h - one hash over all field values of all events of a trace, to compare what two
 * readers decode from it. doc/format/hash.md defines it so that it can also be computed from
 * babeltrace2's text output. The hashes of the events are summed, so their order does not matter.
 */
#ifndef WM_TRACE_VALUE_HASH_H
#define WM_TRACE_VALUE_HASH_H

#include "trace/reader.h"

/* The hash of one event: its packet, stream and event contexts and its fields. */
uint64_t wm_value_hash(const struct wm_event *e);

/* The hash of a string. */
uint64_t wm_value_hash_text(const void *bytes, size_t count);

/*
 * Returns the hash input for a real number, derived from its %g form. An integral number gives the
 * same input as the integer.
 */
uint64_t wm_value_real(double d);

/* Hashes all values of all events of a trace, using nr_threads threads (0: one per processor). */
int wm_value_hash_trace(struct wm_trace *t, uint32_t nr_threads, uint64_t *ret_events,
			uint64_t *ret_hash);

#endif
