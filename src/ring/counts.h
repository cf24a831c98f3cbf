/* SPDX-License-Identifier: MIT */
/*
 * counts.h - chunks of a pool whose process counts events instead of recording
 * them (WM_RULES_COUNT of runtime/agent.h). The pool is one as any other, in
 * discard mode; only what lies in its chunks differs:
 *
 *   offset 0    struct wm_chunk; its commit word says from the moment the chunk
 *               can be used: one record, as long as the chunk
 *   offset 64   that record's first word, its time << 16
 *   offset 72   uint64_t count[], by event id, as far as the chunk reaches
 *
 * A thread owns a chunk for each level, as when it records; nobody else writes
 * it, so a count goes up by an ordinary store, and what a kill leaves is exact.
 * A small chunk has the first WM_COUNTS_SMALL ids. Whoever meets a greater one
 * seals it and goes on in a big chunk, where counts begin at 0 again: what a
 * thread has counted is the sum over all chunks it ever had.
 *
 * A FREE chunk is all zeros behind offset 72: fresh ones are, and a reader
 * leaves those it empties so.
 */
#ifndef WM_RING_COUNTS_H
#define WM_RING_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "ring/pool.h"

#define WM_COUNTS_OFFSET    (WM_CHUNK_HEADER_BYTES + 8u)
#define WM_COUNTS_SMALL     ((WM_POOL_SMALL_BYTES - WM_COUNTS_OFFSET) / 8)
#define WM_COUNTS_BIG_BYTES (1u << 20) /* a count for each of 65536 ids */

/* From a chunk's base. */
static inline uint32_t wm_counts_at(uint32_t id)
{
	return WM_COUNTS_OFFSET + 8 * id;
}

/*
 * The reader's side, in two steps. Chunks that are sealed now are pinned; then
 * all are read, and the pinned ones are emptied and become FREE. In between
 * the reader learns what ids there are: those of a pinned chunk were announced
 * before it was sealed. `sealed`: this count was taken out for good; else it is
 * a thread's, which goes on, or has ended since the pinning, and comes again
 * with the next read. Counts that are 0 are left out. `nr_ids`: ids below it are known.
 */
typedef void wm_counts_fn(uint32_t tid, uint32_t id, uint64_t count, bool sealed, void *data);
void wm_counts_pin(struct wm_pool *p);
void wm_counts_read(struct wm_pool *p, uint32_t nr_ids, wm_counts_fn *fn, void *data);

/* No more is wanted: for a process that has lost our socket. */
void wm_counts_close(struct wm_pool *p);

#endif
