/* SPDX-License-Identifier: MIT */
/*
 * pump.h - moves packets from pools to a trace, at no cost per event. It knows about pools and
 * writers but not about sessions: the room control adds and removes sources.
 *
 * One round (wm_pump_round):
 *   1. snapshot: state and commit word of every chunk in use
 *   2. call options.before_write: the caller reads the messages of the processes
 *      that have parts, so that every id in the snapshot is known
 *   3. write packets, sorted by begin, from shared memory to the writer
 *   4. release the chunks that were consumed, account for lost events
 *
 * Sources in overwrite mode take no part in rounds; wm_pump_snapshot() and wm_pump_finish() write
 * their buffers. Single-threaded. Design: doc/design/collect.md.
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
	struct wm_trace_writer *writer; /* not used: each source has its own producer */
	/*
	 * Called in the middle of a round, snapshot or finish that has parts to write. It may add
	 * sources; while it runs, the functions below that move packets or remove a source return
	 * -EBUSY.
	 */
	void (*before_write)(void *data);
	void *data;
};

struct wm_pump_totals {
	uint64_t events, bytes, packets; /* events and packets written; bytes of their payload */
	uint64_t lost[WM_LOST_NR];
	uint64_t clamped;     /* number of packets whose impossible times were corrected */
	uint32_t quarantined; /* number of sources whose program broke the rules */
	int error;            /* -errno of the last write that failed; 0: none failed */
};

int wm_pump_create(const struct wm_pump_options *o, struct wm_pump **ret);
/* Accepts NULL; drops remaining sources without reading them. */
void wm_pump_destroy(struct wm_pump *p);

/*
 * Takes ownership of `pool`, which is already mapped, except on failure; `producer` remains the
 * caller's and must outlive the source. It may be NULL in overwrite mode: then only
 * wm_pump_snapshot() with a function writes.
 */
int wm_pump_add(struct wm_pump *p, struct wm_pool *pool, struct wm_producer *producer, uint32_t pid,
		struct wm_pump_source **ret);

/*
 * Removes a source whose process has exited or is no longer recorded, so that its OWNED chunks are
 * final. Writes the rest, accounts for lost events, and marks the pool as closing for a process
 * that is still running. Returns 0, -EBUSY if nothing was done, or the error of a failed write.
 * *ret_fault (may be NULL) is set to the reason why the source is quarantined, which may have been
 * found only now, or to NULL.
 */
int wm_pump_finish(struct wm_pump *p, struct wm_pump_source *s, const char **ret_fault);

/*
 * Drains all sources. `seal` also takes the committed part of chunks still being written (every 100
 * ms, and at the end). Returns the number of packets written, -EBUSY, or the error of a failed
 * write, after which the round continues; the lost events are in the totals.
 */
int wm_pump_round(struct wm_pump *p, bool seal);

/*
 * Writes the buffers of sources in overwrite mode, while their processes continue. Nothing is
 * consumed.
 *
 * producer NULL: writes to each source's own producer. Records that an earlier snapshot wrote are
 * neither written again nor counted as lost when they are overwritten. Otherwise producer(s, data)
 * is called once for each source that holds records and returns the producer to write to, which
 * must know all event ids (NULL: skip the source); all records are then written, and the totals do
 * not change.
 *
 * While chunks are pinned for writing, a program that fills a chunk reuses the newest chunk instead
 * of the oldest. Returns the same as wm_pump_round(), or -ENOMEM.
 */
int wm_pump_snapshot(struct wm_pump *p,
		     struct wm_producer *(*producer)(struct wm_pump_source *s, void *data),
		     void *data);

/* Exact for finished sources; for the others, as of the last round or snapshot. */
void wm_pump_totals(const struct wm_pump *p, struct wm_pump_totals *ret);

/* For use in before_write: whether this source has parts to write. */
bool wm_pump_source_has_parts(const struct wm_pump_source *s);
/* The reason why the source is quarantined; NULL if it is not. */
const char *wm_pump_source_fault(const struct wm_pump_source *s);

#endif
