/* SPDX-License-Identifier: MIT */
/*
 * value_hash.h - one number for all field values of all events, to compare what two readers decode
 * from a trace: doc/format/hash.md has the definition, which can be computed from babeltrace2's
 * text. Independent of the order of events: their hashes are added.
 */
#ifndef WM_TRACE_VALUE_HASH_H
#define WM_TRACE_VALUE_HASH_H

#include "trace/reader.h"

/* The hash of one event: its packet, stream and event contexts and its fields. */
uint64_t wm_value_hash(const struct wm_event *e);

/* The hash of a text. */
uint64_t wm_value_hash_text(const void *bytes, size_t count);

/* The value of a real number: of its %g text, so that an integral value equals that integer. */
uint64_t wm_value_real(double d);

/*
 * Hashes all values of all events of a trace, decoded on that many threads (0: one per processor).
 */
int wm_value_hash_trace(struct wm_trace *t, uint32_t nr_threads, uint64_t *ret_events,
			uint64_t *ret_hash);

#endif
