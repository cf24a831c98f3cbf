/* SPDX-License-Identifier: MIT */
/*
 * counts.h - chunks of a pool whose process counts events instead of recording them (WM_RULES_COUNT
 * in runtime/agent.h). The pool is an ordinary one in discard mode; only the content of its chunks
 * differs:
 *
 *   offset 0    struct wm_chunk; its commit word describes one record as long as
 *               the chunk, from the moment the chunk can be used
 *   offset 64   that record's first word, its time << 16
 *   offset 72   uint64_t count[], by event id, up to the end of the chunk
 *
 * A thread owns a chunk for each level, as when it records; only the owner writes it, so a count is
 * incremented by an ordinary store, and the counts left by a killed thread are exact. A small chunk
 * holds the counts of the first WM_COUNTS_SMALL ids. A thread that meets a greater id seals the
 * small chunk and continues in a big one, whose counts start at 0: a thread's counts are the sum
 * over all chunks it ever owned.
 *
 * A FREE chunk is all zeros from offset 72 on: new chunks are, and a reader clears the chunks that
 * it empties.
 */
#ifndef WM_RING_COUNTS_H
#define WM_RING_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "ring/pool.h"

#define WM_COUNTS_OFFSET    (WM_CHUNK_HEADER_BYTES + 8u)
#define WM_COUNTS_SMALL     ((WM_POOL_SMALL_BYTES - WM_COUNTS_OFFSET) / 8)
#define WM_COUNTS_BIG_BYTES (1u << 20) /* a count for each of 65536 ids */

/* The offset of the count from the chunk's base. */
static inline uint32_t wm_counts_at(uint32_t id)
{
	return WM_COUNTS_OFFSET + 8 * id;
}

/*
 * The reader's side, in two steps. wm_counts_pin() pins the chunks that are sealed now;
 * wm_counts_read() reads all chunks, then empties the pinned ones and makes them FREE. Between the
 * steps the reader learns which ids are known: the ids in a pinned chunk were announced before it
 * was sealed. `sealed` means that this count was removed from the pool; otherwise its thread is
 * still counting, or sealed the chunk after wm_counts_pin(), and the next read returns the count
 * again. Counts of 0 are skipped. Only ids below `nr_ids` are reported.
 */
typedef void wm_counts_fn(uint32_t tid, uint32_t id, uint64_t count, bool sealed, void *data);
void wm_counts_pin(struct wm_pool *p);
void wm_counts_read(struct wm_pool *p, uint32_t nr_ids, wm_counts_fn *fn, void *data);

/* Makes the process stop counting. For a process that has lost its socket to the recorder. */
void wm_counts_close(struct wm_pool *p);

#endif
