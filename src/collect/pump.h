/* SPDX-License-Identifier: MIT */
/*
 * pump.h - moves packets from pools to a trace, with no work per event. It
 * knows pools and writers, not sessions: control/ adds and removes sources.
 *
 * One round (wm_pump_round):
 *   1. snapshot: state and commit word of every chunk in use
 *   2. call options.before_write: the caller reads what the sources that have
 *      parts had said, so that every id met in the snapshot is known
 *   3. packets, sorted by begin, straight from shared memory to the writer
 *   4. release what was consumed, account what was lost
 *
 * Sources in overwrite mode take no part in rounds; wm_pump_snapshot() and
 * wm_pump_finish() write what they hold. Single-threaded; doc/design/collect.md
 * has the whole story.
 */
#ifndef WM_COLLECT_PUMP_H
#define WM_COLLECT_PUMP_H

#include <stdbool.h>
#include <stdint.h>

#include "ring/pool.h"
#include "write/trace_writer.h"

struct wm_pump;
struct wm_pump_source;

struct wm_pump_options {
	enum wm_clock_kind clock_kind;
	struct wm_trace_writer *writer; /* not used: each source has its producer */
	/*
	 * Called in the middle of a round, snapshot or finish that has something
	 * to write. It may add sources; it must not call another function below
	 * that moves packets or forgets a source (-EBUSY).
	 */
	void (*before_write)(void *data);
	void *data;
};

struct wm_pump_totals {
	uint64_t events, bytes, packets; /* written; bytes of payload */
	uint64_t lost[WM_LOST_NR];
	uint64_t clamped;     /* packets whose times could not be true and were moved */
	uint32_t quarantined; /* sources that broke the rules */
	int error;            /* the last write that failed: -errno; 0: none did */
};

int wm_pump_create(const struct wm_pump_options *o, struct wm_pump **ret);
void wm_pump_destroy(struct wm_pump *p); /* accepts NULL; sources left are dropped unread */

/*
 * Takes over `pool` (and maps nothing itself), not on failure; `producer` stays
 * the caller's and must outlive the source. It may be NULL in overwrite mode:
 * then only wm_pump_snapshot() with a function writes.
 */
int wm_pump_add(struct wm_pump *p, struct wm_pool *pool, struct wm_producer *producer, uint32_t pid,
		struct wm_pump_source **ret);

/*
 * The process has ended, or is not listened to any more: OWNED chunks are
 * final. Writes what is left, accounts what was lost, forgets the source, and
 * tells a process that lives that nobody reads. 0; -EBUSY: nothing was done; or
 * the error of a write that failed.
 */
int wm_pump_finish(struct wm_pump *p, struct wm_pump_source *s);

/*
 * Drains all sources. `seal` also takes the committed part of chunks still
 * being written (every 100 ms, at the end). Returns the packets moved; -EBUSY;
 * or the error of a write that failed: the round went on, and what was lost is
 * in the totals.
 */
int wm_pump_round(struct wm_pump *p, bool seal);

/*
 * Writes what the buffers of sources in overwrite mode hold now, while the
 * processes run on. Nothing is consumed.
 *
 * producer NULL: to each source's own producer, and what an earlier snapshot
 * wrote there is not written again (nor counted as lost once it is
 * overwritten). Else producer(s, data), asked once for each source that holds
 * records, says where; it must know all event ids (NULL: skip the source); all
 * the buffers hold is written, and the totals do not change.
 *
 * While chunks are held for writing, a program that fills a chunk reuses the
 * newest instead of the oldest. Returns as wm_pump_round() does, and -ENOMEM.
 */
int wm_pump_snapshot(struct wm_pump *p,
		     struct wm_producer *(*producer)(struct wm_pump_source *s, void *data),
		     void *data);

/* Exact for finished sources; of running ones, as of the last round or snapshot. */
void wm_pump_totals(const struct wm_pump *p, struct wm_pump_totals *ret);

uint32_t wm_pump_source_pid(const struct wm_pump_source *s);
/* In before_write: there is something of this source to write. */
bool wm_pump_source_has_parts(const struct wm_pump_source *s);
/* What the source did to be quarantined; NULL: nothing. */
const char *wm_pump_source_fault(const struct wm_pump_source *s);

#endif
