/* SPDX-License-Identifier: MIT */
/*
 * pool_source_int.h - private to this room: one pool being drained, and the parts of
 * chunks a round found in it.
 *
 * A part is what was committed to one chunk since the last look. The source
 * remembers, chunk by chunk, how far it has come; that memory is its own and
 * the only thing it believes.
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
	const unsigned char *data; /* in the chunk, or `copy` */
	void *copy;                /* ours; NULL: data is in the chunk */
	uint64_t begin, end;       /* full clock values, not in the future */
	uint32_t chunk;
	uint32_t bytes, last_offset, count; /* bytes 0: was split, is not written */
	uint32_t tid, level;
	bool pinned; /* the chunk is READING: release it after the write */
};

/* Parts of one round. Grows; never shrinks; room for one part is always there. */
struct wm_parts {
	struct wm_part *part;
	uint32_t nr, room;
};

int wm_parts_init(struct wm_parts *l);
void wm_parts_done(struct wm_parts *l);
bool wm_parts_reserve(struct wm_parts *l, uint32_t more); /* false: no memory for so many */

/* A packet must span less: 48 bits of clock have to say which record comes when. */
#define WM_PART_SPAN_MAX ((uint64_t)1 << 46)

/* part_split.c: cuts parts that span more, once all event ids are known. */
void wm_parts_split(struct wm_parts *l, bool guest);

/* How far one chunk was read. end_bytes 0: nothing of any generation. */
struct wm_progress {
	uint64_t last_clock; /* of the last record taken */
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
	bool has_parts;    /* in the round at hand */
	const char *fault; /* not NULL: quarantined, nothing is read any more */
	uint64_t fills;    /* the pool's fill_order when all FULL chunks had been taken */
	struct wm_progress *progress; /* one per chunk of the pool */

	/*
	 * Losses. sampled: the pool's counters when last looked at; they only
	 * count up. credit: records written and then overwritten, which the pool
	 * counts as lost. settled: of the sampled ones, those in `lost`, which is
	 * what this source lost of all causes, the pump's own included. untold: of
	 * those, not yet in the recorder's stream; unsent: not yet in a packet.
	 */
	uint64_t sampled[WM_LOST_NR], credit, settled[WM_LOST_NR];
	uint64_t lost[WM_LOST_NR], untold[WM_LOST_NR], unsent;
	uint64_t added_at, untold_since;
	uint64_t clamped;

	/* A snapshot to another writer than our own. */
	struct wm_producer *guest;
	bool guest_asked;
	uint64_t guest_unsent;
};

int wm_source_create(struct wm_pool *pool, struct wm_producer *producer, uint32_t pid,
		     enum wm_clock_kind kind, struct wm_pump_source **ret);
void wm_source_destroy(struct wm_pump_source *s); /* closes the pool; accepts NULL */

/* Broke a rule: nothing of it is read from now on. */
void wm_source_quarantine(struct wm_pump_source *s, const char *fault);

/* For block mode: a reader lives. `closing`: none does any more. */
void wm_source_beat(struct wm_pump_source *s);
void wm_source_closing(struct wm_pump_source *s);

/*
 * Adds parts of FULL chunks (pinned) and, with `seal`, of OWNED ones. 0;
 * -ENOMEM: there is more, but no room. Not for overwrite mode.
 */
int wm_source_collect(struct wm_pump_source *s, bool seal, struct wm_parts *l);

/*
 * The same for overwrite mode (snapshot.c): FULL chunks pinned in the order
 * they became FULL, OWNED ones copied. `guest`: everything, forgetting and
 * remembering nothing; else what is new since the last time.
 */
int wm_snapshot_collect(struct wm_pump_source *s, bool guest, struct wm_parts *l);

/*
 * Looks at the pool's counters. In overwrite mode call it before collecting:
 * credits found later than the sample only make it report less, never more
 * than was lost.
 */
void wm_source_sample(struct wm_pump_source *s);
/* What the sample says beyond what was known, credits deducted, joins `lost`. */
void wm_source_settle_losses(struct wm_pump_source *s);
/* The pump's own losses; `tell`: the writer does not say it by itself. */
void wm_source_lost(struct wm_pump_source *s, enum wm_lost cause, uint64_t n, bool tell);
/* Tells the recorder's stream what is untold; what cannot be told now is told later. */
void wm_source_tell_losses(struct wm_pump_source *s);

/* --- between pool_source.c and snapshot.c ---------------------------------- */

/* What is new in a chunk seen in `state`, and where it starts. */
struct wm_fresh {
	struct wm_commit commit;
	struct wm_progress from; /* end_bytes: where the fresh part starts */
};

/*
 * 1: something is, 0: nothing, -ESTALE: the chunk moved on, -EBADMSG: the
 * source is quarantined now. `guest` as above.
 */
int wm_source_fresh(struct wm_pump_source *s, uint32_t chunk, uint64_t state, bool guest,
		    struct wm_fresh *ret);

/*
 * Makes the next part of `f` out of `data`, which holds the fresh bytes.
 * Room was reserved. `guest`: progress is not remembered.
 */
struct wm_part *wm_source_part(struct wm_pump_source *s, uint32_t chunk, uint64_t state,
			       const struct wm_fresh *f, const void *data, bool guest,
			       struct wm_parts *l);

/* Sums that cannot wrap: a hostile counter ends at the maximum. */
static inline uint64_t wm_sum(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

#endif
