/* SPDX-License-Identifier: MIT */
/*
 * pool.h - the shared memory between one traced process and one recorder.
 *
 * One sealed memfd (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), created by the traced process and
 * mapped by it and by the pump. It holds opaque records in chunks; this file defines chunks, commit
 * words and loss counters and knows nothing about events. The installed <waymark/abi.h> fixes the
 * layout of the commit word, because code compiled into programs stores it.
 *
 *   offset 0                header, one page: struct wm_pool_header
 *   offset 4096             uint64_t state[nr_small + nr_big]
 *   then                    uint16_t queue[nr_small + nr_big]
 *   offset small_offset     nr_small chunks of 4 KiB  (indices 0..nr_small-1)
 *   offset big_offset       nr_big chunks of big_bytes (the remaining indices)
 *
 * The file is sparse: a chunk takes up memory only once it is written. A thread's first chunk (at
 * each nesting level) is a small one; small chunks do not count towards the buffer size that the
 * user gave, big ones do.
 *
 * Each chunk has one 64-bit state word in state[]:
 *
 *   bits 0-2    FREE, OWNED, FULL, READING
 *   bit  3      REUSED: the chunk is OWNED and was FULL before; its old records are lost
 *   bits 4-7    OWNED: the owner's signal-nesting level
 *   bits 8-31   generation, incremented each time the chunk is taken
 *   bits 32-63  OWNED: the owner's tid; FULL, READING: fill order, counted per chunk size
 *
 *   FREE    --wm_pool_take()-->      OWNED(gen+1)   a producer, CAS
 *   OWNED   --wm_pool_seal()-->      FULL           its owner, store release
 *   FULL    --wm_pool_take()-->      OWNED(gen+1)   overwrite mode only, CAS:
 *                                    the chunk's records are counted as lost
 *   FULL    --wm_pool_pin()-->       READING        a reader, CAS
 *   READING --wm_pool_release()-->   FREE           that reader, store release
 *   OWNED   --wm_pool_reclaim()-->   FULL           the owner is known to be dead
 *
 * Pairings: A producer stores `committed` with release; the reader loads it with acquire and reads
 * only below `end`. seal() stores the state with release after the last commit; pin() acquires it.
 * release() stores with release after the last read; take() acquires.
 *
 * A reader may copy the committed part of an OWNED chunk. In discard mode the chunk cannot be
 * reused before that reader releases it, so the copy is valid. In overwrite mode the reader must
 * call wm_pool_still() after the copy and drop the copy if the generation has changed.
 *
 * Taking a chunk takes several stores, and a kill may fall between any two. The state is stored
 * first; the chunk's own `generation` is stored last, after `committed` is set to 0: while the two
 * generations differ, the chunk holds no records of the state's generation, whatever its commit
 * word contains. The records of a reused chunk are counted by one store to `overwritten` in its
 * header, tagged with the new generation, before `committed` is cleared. So the tag of a half-taken
 * chunk shows whether its records have been counted, and every record is counted exactly once.
 *
 * The chunks of one size form a shelf. Its hints make an empty pool cheap: after a search that
 * found no chunk, further searches end at once until a chunk becomes FREE (or FULL, in overwrite
 * mode). queue[order % nr] is the index of the chunk that became FULL with that order, so that
 * overwrite mode finds the oldest chunk without a search. Any hint may be stale or hostile: it can
 * only make a search take longer or fail.
 *
 * Progress: producers are lock-free in take() and wait-free elsewhere; a live thread's chunk is
 * written only by its owner; no producer waits for a reader except in block mode.
 *
 * Every word that a reader loads from this memory is hostile: it is read once and range-checked
 * (see wm_pool_open()).
 */
#ifndef WM_RING_POOL_H
#define WM_RING_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WM_POOL_MAGIC             0x314c4f4f504d57ull /* "WMPOOL1" */
#define WM_POOL_VERSION           1
#define WM_POOL_PAGE              4096u
#define WM_POOL_SMALL_BYTES       4096u
#define WM_POOL_SMALL_MAX         65536u /* threads x levels that can have a first chunk */
#define WM_POOL_BIG_MAX           65536u
#define WM_POOL_BIG_BYTES_DEFAULT 65536u
#define WM_POOL_BIG_BYTES_MAX     (1u << 22) /* limited by the width of `end` in the commit word */
#define WM_POOL_BYTES_MAX         (1ull << 36)

enum wm_pool_mode { WM_POOL_DISCARD, WM_POOL_OVERWRITE, WM_POOL_BLOCK, WM_POOL_NR_MODES };

enum wm_chunk_state { WM_CHUNK_FREE, WM_CHUNK_OWNED, WM_CHUNK_FULL, WM_CHUNK_READING };

/*
 * Causes of event loss. The accounting identity
 *   emitted = recorded + sum of lost[cause]
 * holds exactly; these counters are in shared memory so that they survive the process. The pump
 * detects and counts DISK and NET losses itself.
 */
enum wm_lost {
	WM_LOST_FULL,        /* discard mode: no free chunk; block mode: the wait timed out */
	WM_LOST_TOO_BIG,     /* larger than a chunk */
	WM_LOST_NESTED,      /* more nested signal handlers than nesting levels */
	WM_LOST_OVERWRITTEN, /* a flight recorder reused the chunk */
	WM_LOST_TORN,        /* reserved, but never committed (siglongjmp, death) */
	WM_LOST_EARLY,       /* no pool, not yet or no longer: out of memory, fork, exit */
	WM_LOST_DISK,        /* pump: could not be written to disk */
	WM_LOST_NET,         /* pump: could not be sent over the network */
	WM_LOST_NR
};

/* Search hints for the chunks of one size. One cache line. Written by both sides. */
struct wm_pool_shelf {
	uint32_t high;      /* chunks from this index on have never been used; only grows */
	uint32_t hand;      /* where a search begins */
	uint64_t freed;     /* times a chunk became FREE; incremented after the state changed */
	uint64_t none_free; /* freed + 1 at the time a search for FREE last failed */
	uint64_t filled;    /* overwrite mode: times a chunk became FULL; incremented after */
	uint64_t none_full; /* filled + 1 at the time a search for FULL last failed */
	uint64_t order;     /* fill order of the next FULL chunk; not a hint */
	uint64_t oldest;    /* fill order of the chunk to be reused next */
	uint64_t pad;
};

enum wm_shelf { WM_SHELF_SMALL, WM_SHELF_BIG, WM_SHELF_NR };

/* Fixed-width, little endian. "w:" names the writer. */
struct wm_pool_header {
	uint64_t magic;        /* w: creator */
	uint32_t version;      /* w: creator */
	uint32_t mode;         /* w: creator; enum wm_pool_mode */
	uint64_t bytes;        /* w: creator; size of the file */
	uint32_t nr_small;     /* w: creator */
	uint32_t nr_big;       /* w: creator */
	uint32_t big_bytes;    /* w: creator; power of two, 4 KiB .. 4 MiB */
	uint32_t pid;          /* w: creator; in its own pid namespace */
	uint64_t small_offset; /* w: creator */
	uint64_t big_offset;   /* w: creator */
	uint64_t clock_kind;   /* w: creator; enum wm_clock_kind of base/clock.h */
	uint64_t start_clock;  /* w: creator */
	uint64_t pad0[7];

	/* Hot counters, each in its own cache line where threads contend. */
	uint64_t lost[WM_LOST_NR]; /* w: producers, atomic add */
	uint64_t fill_order; /* w: producers; times any chunk became FULL; incremented after */
	uint64_t pad1[7];

	struct wm_pool_shelf shelf[WM_SHELF_NR];
	uint32_t reader_alive; /* w: reader; changes while the reader lives (block mode) */
	uint32_t closing;      /* w: reader; 1: the reader accepts no more records */
	uint32_t pad3[14];
};

/* A chunk's header: 64 bytes; records follow. w: its owner. */
struct wm_chunk {
	uint64_t committed; /* <waymark/abi.h> */
	uint64_t begin;     /* full clock value when the chunk was taken */
	uint32_t generation;
	uint32_t tid;
	uint16_t level; /* signal-nesting level */
	uint16_t small;
	uint32_t index;
	uint64_t overwritten; /* records lost to reuse: generation << 40 | total, see above */
	uint64_t comm[2];     /* the thread's name, at most 16 bytes; 0: unknown */
	uint64_t pad;
};

#define WM_CHUNK_HEADER_BYTES 64u
#define WM_STATE_REUSED       8u
#define WM_OVERWRITTEN_MASK   ((1ull << 40) - 1)

/* A pool as seen by one process (or one reader). Not shared. */
struct wm_pool {
	unsigned char *map;
	uint64_t bytes;
	/* Copies of the geometry, checked on opening; the shared words are not read again. */
	uint32_t nr_small, nr_big, big_bytes, mode;
	uint64_t small_offset, big_offset;
};

struct wm_pool_options {
	uint64_t buffer_bytes; /* total size of the big chunks; rounded up to whole chunks */
	uint32_t big_bytes;    /* 0: the default */
	uint32_t nr_small;     /* 0: the maximum */
	uint32_t mode;
	uint32_t clock_kind;
	uint32_t pid;
	uint64_t start_clock;
};

static inline struct wm_pool_header *wm_pool_header(const struct wm_pool *p)
{
	return (struct wm_pool_header *)p->map;
}

static inline uint64_t *wm_pool_states(const struct wm_pool *p)
{
	return (uint64_t *)(p->map + WM_POOL_PAGE);
}

static inline uint16_t *wm_pool_queue(const struct wm_pool *p)
{
	return (uint16_t *)(wm_pool_states(p) + p->nr_small + p->nr_big);
}

static inline uint32_t wm_pool_nr_chunks(const struct wm_pool *p)
{
	return p->nr_small + p->nr_big;
}

static inline uint32_t wm_pool_chunk_bytes(const struct wm_pool *p, uint32_t index)
{
	return index < p->nr_small ? WM_POOL_SMALL_BYTES : p->big_bytes;
}

static inline struct wm_chunk *wm_pool_chunk(const struct wm_pool *p, uint32_t index)
{
	if (index < p->nr_small)
		return (struct wm_chunk *)(p->map + p->small_offset +
					   (uint64_t)index * WM_POOL_SMALL_BYTES);
	return (struct wm_chunk *)(p->map + p->big_offset +
				   (uint64_t)(index - p->nr_small) * p->big_bytes);
}

static inline enum wm_chunk_state wm_pool_state_of(uint64_t word)
{
	return (enum wm_chunk_state)(word & 7);
}
static inline uint32_t wm_pool_state_generation(uint64_t word)
{
	return (uint32_t)(word >> 8) & 0xffffff;
}
static inline uint32_t wm_pool_state_order(uint64_t word)
{
	return (uint32_t)(word >> 32);
}
static inline uint64_t wm_pool_state_make(enum wm_chunk_state s, uint32_t generation,
					  uint32_t order)
{
	return (uint64_t)order << 32 | (uint64_t)(generation & 0xffffff) << 8 | (uint64_t)s;
}

static inline uint64_t wm_pool_state_owned(uint32_t generation, uint32_t tid, uint32_t level)
{
	return wm_pool_state_make(WM_CHUNK_OWNED, generation, tid) | (uint64_t)(level & 15) << 4;
}
static inline uint32_t wm_pool_state_tid(uint64_t word) /* only for an OWNED chunk */
{
	return (uint32_t)(word >> 32);
}
static inline uint32_t wm_pool_state_level(uint64_t word) /* only for an OWNED chunk */
{
	return (uint32_t)(word >> 4) & 15;
}

/* A decoded commit word. Offsets are in bytes from the start of the chunk. */
struct wm_commit {
	uint32_t end_bytes, last_bytes, count;
};

/* --- both sides ------------------------------------------------------ */

/*
 * Fills in all of *p except `map`. Returns 0, or -EINVAL when the options are out of range. Pure.
 */
int wm_pool_layout(struct wm_pool *p, const struct wm_pool_options *o);

/* Size in bytes of a pool with these options; 0 when they are out of range. Pure. */
uint64_t wm_pool_size(const struct wm_pool_options *o);

/* --- producer side (guest rules: no libc, no call, no lock) ---------- */

/* Lays out a new, zeroed mapping of wm_pool_size() bytes. Returns 0 or -errno. */
int wm_pool_init(struct wm_pool *p, void *map, const struct wm_pool_options *o);

/*
 * Takes a chunk for a thread and level: a small one if `small`, else a big one. In overwrite mode,
 * when none is FREE, the oldest FULL chunk is reused and its records are counted as lost; small
 * chunks are reused only once they take up a quarter of the pool, so that the records of
 * short-lived threads are kept for a while. Returns the index or -EAGAIN (no chunk). Any thread.
 */
int64_t wm_pool_take(struct wm_pool *p, bool small, uint32_t tid, uint16_t level, uint64_t now);

/*
 * Ends the owner's use of its chunk. A chunk without records becomes FREE. An owner that may be
 * interrupted and never resumed (siglongjmp) must forget the chunk first: once sealed, another
 * thread may take it.
 */
void wm_pool_seal(struct wm_pool *p, uint32_t index);

/*
 * Seals an OWNED chunk whose owner will not return, because it died or left the level by
 * siglongjmp, at whatever point of take, commit or seal it stopped. `state` is the state word that
 * was loaded before the owner was known to be gone. It identifies the owner, so a new owner's chunk
 * is never sealed. Any process. Returns false if the chunk has since changed state.
 */
bool wm_pool_reclaim(struct wm_pool *p, uint32_t index, uint64_t state);

/*
 * Like wm_pool_reclaim(), for all chunks of a dead thread, or for those at one level that a living
 * thread has left. Also finds chunks that the owner had taken without storing their index. Returns
 * the number of chunks sealed.
 */
#define WM_POOL_ALL_LEVELS (~0u)
unsigned wm_pool_reclaim_thread(struct wm_pool *p, uint32_t tid, uint32_t level);

void wm_pool_lost(struct wm_pool *p, enum wm_lost cause, uint64_t n);

/* --- reader side: all shared words are hostile ----------------------- */

/*
 * Maps and checks a pool received from a process: seals present, file size equal to the header's,
 * geometry in range. Returns 0, -EBADMSG, -EPERM (seals), or a call's -errno. The caller keeps the
 * descriptor.
 */
int wm_pool_open(struct wm_pool *p, int fd);
void wm_pool_close(struct wm_pool *p);

/*
 * The same checks on memory that the caller mapped and keeps: a pool in this process, or the
 * private copy of a file that another one left. Returns 0 or -EBADMSG.
 */
int wm_pool_attach(struct wm_pool *p, void *map, uint64_t bytes);

/* Only chunks with an index below this have ever been used. */
void wm_pool_high(const struct wm_pool *p, uint32_t *ret_small, uint32_t *ret_big);

/*
 * Loads (acquire) and checks the commit word of a chunk whose state word was `state`. Returns 0 if
 * *ret belongs to that generation (no record yet: count 0, both offsets at the first record);
 * -ESTALE if the chunk has another generation now; -EBADMSG if no correct producer writes this
 * value.
 */
int wm_pool_committed(const struct wm_pool *p, uint32_t index, uint64_t state,
		      struct wm_commit *ret);

/*
 * Whether, after copying from a chunk, it still has the generation in `state`, the state word
 * loaded before the copy.
 */
bool wm_pool_still(const struct wm_pool *p, uint32_t index, uint64_t state);

uint64_t wm_pool_state(const struct wm_pool *p, uint32_t index); /* load acquire */

/* FULL(gen) -> READING. Returns false if the chunk is no longer FULL in that generation. */
bool wm_pool_pin(struct wm_pool *p, uint32_t index, uint64_t state);
/* READING -> FREE (consumed) or back to FULL with the same order (not consumed). */
void wm_pool_release(struct wm_pool *p, uint32_t index, bool consumed);

/*
 * The number of lost events. Exact when no producer is inside wm_pool_take(); always exact for a
 * dead process.
 */
uint64_t wm_pool_lost_count(const struct wm_pool *p, enum wm_lost cause);
const char *wm_lost_name(enum wm_lost cause);

#endif
