/* SPDX-License-Identifier: MIT */
/*
 * pool_source_int.h - a pool being drained, and the parts of chunks that a round found in it.
 * Private to this room.
 *
 * A part holds the records committed to one chunk since the last round. The source remembers for
 * each chunk how far it has read. Only this private memory is trusted, never the pool.
 */
#ifndef WM_COLLECT_POOL_SOURCE_INT_H
#define WM_COLLECT_POOL_SOURCE_INT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "ring/pool.h"
#include "write/trace_writer.h"

struct wm_pump_source;

struct wm_part {
	struct wm_pump_source *source;
	const unsigned char *data; /* points into the chunk, or into `copy` */
	void *copy;                /* owned by the part; NULL: the data is in the chunk */
	uint64_t begin, end;       /* full clock values, never in the future */
	uint32_t chunk;
	/* If bytes is 0, the part was split and must not be written. */
	uint32_t bytes, last_offset, count;
	uint32_t tid, level;
	uint64_t comm[2]; /* the thread's name; 0: unknown */
	bool pinned;      /* the chunk is READING and must be released after the write */
};

/* The parts found in one round. Grows, never shrinks; always has room for one part. */
struct wm_parts {
	struct wm_part *part;
	uint32_t nr, room;
};

int wm_parts_init(struct wm_parts *l);
void wm_parts_done(struct wm_parts *l);
bool wm_parts_reserve(struct wm_parts *l, uint32_t more); /* returns false when out of memory */

/* A packet spans less time than this, so that the 48 clock bits of its records are unambiguous. */
#define WM_PART_SPAN_MAX ((uint64_t)1 << 46)

/* part_split.c: splits parts that span more; call it once all event ids are known. */
void wm_parts_split(struct wm_parts *l, bool guest);

/* How far one chunk has been read. If end_bytes is 0, nothing has been read, in any generation. */
struct wm_chunk_progress {
	uint64_t last_clock; /* time of the last record read */
	uint32_t generation;
	uint32_t end_bytes;
	uint32_t count;
	uint32_t reserved;
};

struct wm_pump_source {
	struct wm_pump_source *prev, *next;
	struct wm_pool pool;
	struct wm_producer *producer;
	enum wm_clock_kind clock_kind;
	uint32_t pid, alive;
	bool has_parts;    /* the source has parts in this round */
	const char *fault; /* set when the source is quarantined: the pool is no longer read */
	uint64_t fills;    /* the pool's fill_order when all FULL chunks had been collected */
	struct wm_chunk_progress *progress; /* one per chunk in the pool */

	/*
	 * Losses. sampled: the pool's counters at the last sample; they only grow. credit: records
	 * that were written to the trace before they were overwritten, which the pool counts as
	 * lost. settled: the part of `sampled` that is included in `lost`; `lost` holds all losses
	 * of this source, including the pump's own. untold: the part of `lost` not yet written to
	 * the recorder's stream; unsent: the part not yet in a packet.
	 */
	uint64_t sampled[WM_LOST_NR], credit, settled[WM_LOST_NR];
	uint64_t lost[WM_LOST_NR], untold[WM_LOST_NR], unsent;
	uint64_t added_at, untold_since;
	uint64_t clamped;

	/* Used for a snapshot to a writer other than the source's own. */
	struct wm_producer *guest;
	bool guest_asked;
	uint64_t guest_unsent;
};

int wm_source_create(struct wm_pool *pool, struct wm_producer *producer, uint32_t pid,
		     enum wm_clock_kind kind, struct wm_pump_source **ret);
void wm_source_destroy(struct wm_pump_source *s); /* closes the pool; accepts NULL */

/* Tells a program in block mode that a reader is alive, or with `closing`, that it has left. */
void wm_source_beat(struct wm_pump_source *s);
void wm_source_closing(struct wm_pump_source *s);

/*
 * Adds the parts of FULL chunks (pinned) and, with `seal`, of OWNED ones. Returns 0, or -ENOMEM
 * when some chunks were not collected for lack of memory. Not for overwrite mode.
 */
int wm_source_collect(struct wm_pump_source *s, bool seal, struct wm_parts *l);

/*
 * Like wm_source_collect(), for overwrite mode (snapshot.c): FULL chunks are pinned in the order in
 * which they became FULL, OWNED ones are copied. With `guest` everything is collected and the
 * progress does not change; otherwise only what is new since the last snapshot is collected.
 */
int wm_snapshot_collect(struct wm_pump_source *s, bool guest, struct wm_parts *l);

/*
 * Samples the pool's counters. In overwrite mode, call it before collecting: credits found after
 * the sample can then make the reported loss temporarily too small, but never too large.
 */
void wm_source_sample(struct wm_pump_source *s);
/* Adds the losses since the last sample to `lost`, less the credits. */
void wm_source_settle_losses(struct wm_pump_source *s);
/*
 * Counts a loss that happened in the pump. With `tell` it is also written to the trace, because the
 * writer does not do so itself.
 */
void wm_source_lost(struct wm_pump_source *s, enum wm_lost cause, uint64_t n, bool tell);
/*
 * Writes the losses that the trace does not contain yet to the recorder's stream. Those that cannot
 * be written are kept for the next call.
 */
void wm_source_tell_losses(struct wm_pump_source *s);

/* --- between pool_source.c and snapshot.c ---------------------------------- */

/* The part of a chunk that has not been read yet; see wm_source_fresh(). */
struct wm_fresh {
	struct wm_commit commit;
	struct wm_chunk_progress from; /* end_bytes is where the new part starts */
};

/*
 * Finds the new part of a chunk that was in state `state`. Returns 1 if there is one, 0 if not,
 * -ESTALE if the chunk has another state now, -EBADMSG if the source is quarantined. `guest` as
 * above.
 */
int wm_source_fresh(struct wm_pump_source *s, uint32_t chunk, uint64_t state, bool guest,
		    struct wm_fresh *ret);

/*
 * Appends a part for `f` to `l`; `data` points to the new bytes. The caller has reserved room. If
 * `guest` is set, the chunk's progress stays unchanged.
 */
struct wm_part *wm_source_part(struct wm_pump_source *s, uint32_t chunk, uint64_t state,
			       const struct wm_fresh *f, const void *data, bool guest,
			       struct wm_parts *l);

/* A sum that saturates, because hostile counters may have any value. */
static inline uint64_t wm_sum(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

#endif
