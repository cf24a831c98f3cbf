/* SPDX-License-Identifier: MIT */
/*
 * thread_int.h - the runtime's state for a traced thread: its writers, one per signal-nesting
 * level, in private memory that a fork of any kind wipes.
 *
 *   current (TLS) ──▶ level 0 ─ level 1 ─ ... ─ level 7 ─ terminator
 *
 * The current writer is the lowest level at which no emit of this thread is in progress. An emit
 * moves it up by one (step) while busy, so a signal handler that traces writes to the level above.
 * Three kinds of writer have step 0 and no chunk, and so lead straight to the slow path: the null
 * writer (a thread that never traced), the terminator (nested too deep), and any writer after a
 * fork (wiped). An emit with such a writer does not move `current`.
 *
 * Only the owning thread writes its block, and after its death the thread that reclaims it.
 * Exception: the agent stores 0 to `end` in other threads' writers to send them to the slow path
 * (wm_thread_kick()).
 */
#ifndef WM_RUNTIME_THREAD_INT_H
#define WM_RUNTIME_THREAD_INT_H

#include <stdbool.h>
#include <stdint.h>

#include <waymark/abi.h>

#define WM_THREAD_LEVELS 8
#define WM_THREAD_BYTES  1024u
#define WM_THREADS_MAX   65536u
/* Not free, but owned by no thread: the block is being reclaimed. */
#define WM_TID_NOBODY UINT32_MAX
/* Limit for simultaneous recorders; slot 0 is used by the direct case. */
#define WM_SLOTS 4

/* A writer's other fields, which are not in its cache line. */
struct wm_level {
	uint32_t chunk;      /* index of the chunk in the pool, valid when base is set */
	uint32_t generation; /* generation of the slot's session that the chunk belongs to */
	/* Number of emits that ended or released everything they held, without a commit. */
	uint32_t passes;
	/* 1: the emit in progress is between enter and gate, or enter and leave. */
	uint32_t complex;
};

/* The writers for slots 1 and up, allocated when first needed. */
struct wm_thread_extra {
	struct waymark_writer writer[WM_SLOTS - 1][WM_THREAD_LEVELS];
	struct wm_level level[WM_SLOTS - 1][WM_THREAD_LEVELS];
};

struct wm_thread {
	struct waymark_writer writer[WM_THREAD_LEVELS + 1]; /* the last one is the terminator */
	struct wm_level level[WM_THREAD_LEVELS];
	struct wm_thread_extra *extra;
	struct waymark_writer **current; /* address of the thread's TLS word */
	uint64_t comm[2];                /* the thread's name when it got the block */
	uint32_t tid;                    /* 0: the block is free; or WM_TID_NOBODY */
};

/*
 * State kept in case a signal handler that interrupted an emit forks. Indexed by block like the
 * table, but inherited by the child.
 */
struct wm_thread_shadow {
	struct {
		unsigned char *pos, *base;
		uint64_t tally;
	} level[WM_THREAD_LEVELS];
	/* Number of levels that were busy at the fork; 0: it interrupted no emit. */
	uint32_t levels;
};

_Static_assert(sizeof(struct waymark_writer) == 64, "step and entry_x86_64.S depend on it");
_Static_assert(sizeof(struct wm_thread) <= WM_THREAD_BYTES, "a thread's block");

/* The TLS word, and the null writers to which it points in a thread without a block. */
extern __thread struct waymark_writer *wm_current
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

static inline bool wm_guest_writer_is_null(const struct waymark_writer *w)
{
	extern struct wm_thread wm_null_thread __attribute__((visibility("hidden")));
	return w == wm_null_thread.writer;
}

static inline struct wm_thread *wm_thread_of(const struct waymark_writer *w)
{
	return (struct wm_thread *)((uintptr_t)w & ~(uintptr_t)(WM_THREAD_BYTES - 1));
}

/* Records that the emit at this level has released everything it held. */
static inline void wm_level_passed(struct wm_level *l)
{
	*(volatile uint32_t *)&l->passes = l->passes + 1;
}

/*
 * Whether the calling process owns the block; false in a child for a block that belongs to a thread
 * of its parent.
 */
static inline bool wm_thread_owned(const struct wm_thread *t)
{
	return t->tid && t->tid != WM_TID_NOBODY;
}

static inline unsigned wm_level_of(const struct waymark_writer *w)
{
	return (unsigned)(((uintptr_t)w & (WM_THREAD_BYTES - 1)) / sizeof(*w));
}

/*
 * Whether this process forked from the one that set up the runtime and has not set up its own yet.
 */
bool wm_thread_forked(void);

/* Sets up the table of threads. Called by the constructor, and again in a forked child. */
int wm_thread_init(void);

/* The runtime's lock is in the table's first block: a fork of any kind frees it. */
uint32_t *wm_thread_lock_word(void);

/*
 * Must be called around the C library's fork(). An emit that was interrupted by a signal handler
 * that forks finds its position again in the child, but in private memory. Returns whether there is
 * such an emit.
 */
void wm_thread_before_fork(void);
bool wm_thread_after_fork(void);

/*
 * Must be called once in a child. Returns true when a handler interrupted emits of the parent, so
 * that this thread may return into them.
 */
bool wm_thread_leave_behind(void);
/*
 * Whether wm_thread_leave_behind() returned true in this process: a thread may then return into an
 * emit that wm_thread_quiesce() does not know about.
 */
bool wm_thread_is_haunted(void);

/*
 * The number of the parent's emits that w's thread finished in this process, in private memory,
 * where no reader sees the record.
 */
unsigned wm_thread_swallowed(const struct waymark_writer *w);

/*
 * Gets a block for the calling thread and sets `current` to its level 0. Returns NULL when no block
 * is free.
 */
struct wm_thread *wm_thread_join(void);

/*
 * Takes back levels below w whose emit was abandoned by siglongjmp: commits complete records and
 * counts incomplete ones as torn. Returns the writer to use, marked busy.
 */
struct waymark_writer *wm_thread_take_back(struct waymark_writer *w);

/* Makes every thread take the slow path at its next event. */
void wm_thread_kick(void);

/*
 * Waits until every thread has been seen outside any emit that began before the call (membarrier,
 * then checks each). Never waits for more than `ms`; returns whether all were seen.
 */
bool wm_thread_quiesce(unsigned ms);

/* Seals the chunks of dead threads. Returns the number of blocks that became free. */
unsigned wm_thread_reap(unsigned most);

#endif
