/* SPDX-License-Identifier: MIT */
/*
 * slow.c - handles an event when its writer has no room: gets a block for the thread or a chunk for
 * the writer, or counts the loss by cause. Reached from inline code through entry_*.S with every
 * register preserved; never takes a lock.
 */
#include <errno.h>
#include <time.h>

#include "base/atomic.h"
#include "base/clock.h"
#include "ring/counts.h"
#include "runtime/runtime_int.h"
#include "runtime/sys_int.h"

/* bytes past the end of a chunk that eight-byte stores may touch */
#define CHUNK_SLACK 16u

/*
 * Counts n early events as lost in the first active pool; if there is none, they wait for the next
 * pool.
 */
void wm_early(uint64_t n)
{
	wm_add_relaxed(&wm_rt.early, n);
	if (wm_thread_forked()) /* the pools still belong to the parent */
		return;
	for (unsigned k = 0; k < WM_SLOTS; k++) {
		struct wm_guest_session *s = &wm_rt.session[k];
		if (!wm_load_acquire(&s->active))
			continue;
		wm_pool_lost(s->pool, WM_LOST_EARLY, wm_exchange_acq_rel(&wm_rt.early, 0));
		return;
	}
}

static struct waymark_writer *early(void)
{
	wm_early(1);
	return NULL;
}

/*
 * Returns level 0 of the calling thread, busy. Called for the thread's first event, and for the
 * first one after a fork.
 */
static struct waymark_writer *slow_join(const struct waymark_writer *w, uintptr_t sp)
{
	unsigned swallowed = wm_thread_swallowed(w);
	struct wm_thread *t;

	if (wm_thread_forked())
		wm_runtime_forked();
	if (swallowed)
		wm_early(swallowed);
	if (!wm_load_acquire(&wm_rt.ready) || wm_thread_forked())
		return early();
	/*
	 * In a vfork child, or another process that shares this memory, the thread pointer is the
	 * parent's: a block with the child's tid would look dead while the parent uses it.
	 */
	if (wm_sys_pid() != wm_rt.pid)
		return early();
	t = wm_thread_join();
	if (!t)
		return early();
	t->writer[0].sp = sp;
	wm_fence_signal();
	wm_current = &t->writer[1];
	return t->writer;
}

/* Ends an emit at this level without a commit. */
static struct waymark_writer *dropped(struct waymark_writer *w)
{
	wm_level_passed(&wm_thread_of(w)->level[wm_level_of(w)]);
	wm_fence_signal();
	wm_current = w;
	return NULL;
}

/*
 * Counts an event that is nested deeper than there are levels. Which recorders would have wanted a
 * complex event is unknown, so it counts as lost for each of them.
 */
static void nested(bool complex)
{
	for (unsigned k = 0; k < (complex ? WM_SLOTS : 1); k++)
		if (wm_load_acquire(&wm_rt.session[k].active))
			wm_pool_lost(wm_rt.session[k].pool, WM_LOST_NESTED, 1);
}

/*
 * Returns a writer that can hold a chunk, marked busy; if there is none, counts the event and
 * returns NULL.
 */
static struct waymark_writer *usable(struct waymark_writer *w, bool complex)
{
	struct wm_thread *t = wm_thread_of(w);

	if (!w->step) {
		if (wm_guest_writer_is_null(w) || !wm_thread_owned(t) || wm_thread_forked())
			return slow_join(w, (uintptr_t)__builtin_frame_address(0));
		w = wm_thread_take_back(w);
		if (w->step)
			return w;
		nested(complex); /* the terminator */
		return NULL;
	}
	return wm_level_of(w) ? wm_thread_take_back(w) : w;
}

/*
 * A request for a chunk. Pool and generation are read once: if a handler of
 * this thread forks, the child continues with the parent's pool, whose address
 * holds private memory by then, and not with the child's own.
 */
struct want {
	struct wm_guest_session *session;
	struct wm_pool *pool;
	uint32_t generation, tid;
	uint16_t level;
};

static int64_t slow_take(struct want *n, bool small)
{
	return wm_pool_take(n->pool, small, n->tid, n->level,
			    wm_guest_clock_now(n->session->clock_kind));
}

/* Block mode: sleeps until the reader has made room or seems to be dead. */
static int64_t wait_for_chunk(struct want *n)
{
	struct wm_pool_header *h = wm_pool_header(n->pool);
	struct timespec nap = {0, 500 * 1000};
	uint32_t alive = wm_load_relaxed(&h->reader_alive);
	unsigned still = 0;

	for (unsigned i = 0; i < 2 * n->session->block_ms && still < 1000; i++) {
		uint32_t now_alive;
		int64_t index;
		(void)WM_SYS_2(SYS_nanosleep, &nap, 0);
		index = slow_take(n, false);
		if (index >= 0)
			return index;
		now_alive = wm_load_relaxed(&h->reader_alive);
		still = now_alive == alive ? still + 1 : 0;
		alive = now_alive;
	}
	return -EAGAIN;
}

/* Inlined, because this is where an event uses the most of the program's stack. */
__attribute__((always_inline)) static inline int64_t take_some(struct want *n, bool small)
{
	int64_t index = small ? slow_take(n, true) : -EAGAIN;

	if (index < 0)
		index = slow_take(n, false);
	if (index < 0 && n->session->mode == WM_POOL_BLOCK && n->level == 0)
		index = wait_for_chunk(n);
	return index;
}

/*
 * Gives the chunk back. The writer forgets the chunk first, because once sealed it may get another
 * owner. `end` is set only while `base` is, and `base` only while everything that belongs to it is
 * valid: a siglongjmp may leave this function at any point, and wm_thread_take_back() then looks
 * for a chunk to which no writer refers.
 */
static void slow_let_go(struct want *n, struct waymark_writer *w, uint32_t chunk)
{
	wm_store_relaxed(&w->end, NULL);
	wm_fence_signal();
	wm_store_relaxed(&w->base, NULL);
	wm_fence_signal();
	wm_pool_seal(n->pool, chunk);
}

static void take_on(const struct want *n, struct waymark_writer *w, struct wm_level *l,
		    uint32_t chunk)
{
	unsigned char *base = (unsigned char *)wm_pool_chunk(n->pool, chunk);

	wm_store_relaxed(&w->end, NULL); /* the old chunk may belong to another recorder's pool */
	wm_fence_signal();
	wm_store_relaxed(&w->base, NULL);
	wm_fence_signal();
	l->chunk = chunk;
	l->generation = n->generation;
	wm_store_relaxed(&w->pos, base + WM_CHUNK_HEADER_BYTES);
	w->tally = WM_CHUNK_HEADER_BYTES / 8;
	w->last = ((struct wm_chunk *)(void *)base)->begin << 16;
	wm_fence_signal();
	wm_store_relaxed(&w->base, base);
	wm_fence_signal();
	wm_store_relaxed(&w->end, base + wm_pool_chunk_bytes(n->pool, chunk) - CHUNK_SLACK);
}

/* The name is stored before the chunk's first record: its readers then find this thread's name. */
static void slow_name_chunk(struct wm_chunk *c, const struct wm_thread *t)
{
	wm_store_relaxed(&c->comm[0], t->comm[0]);
	wm_store_relaxed(&c->comm[1], t->comm[1]);
}

bool wm_chunk_next(struct wm_guest_session *s, struct waymark_writer *w, struct wm_level *l,
		   const struct wm_thread *t, unsigned level)
{
	struct want n = {s, s->pool, s->generation, t->tid, (uint16_t)level};
	bool mine = w->base && l->generation == n.generation;
	uint32_t bytes = mine ? wm_pool_chunk_bytes(n.pool, l->chunk) : 0;
	int64_t index;

	if (mine && !w->end) { /* the chunk is valid; wm_thread_kick() cleared `end` */
		wm_store_relaxed(&w->end, w->base + bytes - CHUNK_SLACK);
		return true;
	}
	if (mine && w->pos == w->base + WM_CHUNK_HEADER_BYTES && bytes == n.pool->big_bytes) {
		wm_pool_lost(n.pool, WM_LOST_TOO_BIG, 1); /* too big even for an empty chunk */
		return false;
	}
	index = take_some(&n, !mine);
	if (index < 0 && mine && s->mode == WM_POOL_OVERWRITE) {
		slow_let_go(&n, w, l->chunk); /* seals the chunk so that it can be overwritten */
		mine = false;
		index = slow_take(&n, false);
	}
	if (index < 0) {
		/* The old chunk stays in use, for smaller events. */
		wm_pool_lost(n.pool, WM_LOST_FULL, 1);
		return false;
	}
	if (mine)
		slow_let_go(&n, w, l->chunk);
	slow_name_chunk(wm_pool_chunk(n.pool, (uint32_t)index), t);
	take_on(&n, w, l, (uint32_t)index);
	wm_fence_signal();
	if (wm_thread_owned(t))
		return true;
	/*
	 * A signal handler has forked, and this is the child: its next event must take the slow
	 * path.
	 */
	wm_store_relaxed(&w->end, NULL);
	return false;
}

/*
 * Takes a chunk for counting, like take_on(). The chunk's only record, its counts, is committed
 * before `base` is set, so that any process that seals the chunk keeps the counts. The record
 * leaves no room in the chunk: a direct-case event is never written to it.
 */
static void count_in(const struct want *n, struct waymark_writer *w, struct wm_level *l,
		     uint32_t chunk)
{
	struct wm_chunk *c = wm_pool_chunk(n->pool, chunk);
	unsigned char *base = (unsigned char *)c;
	uint64_t words = wm_pool_chunk_bytes(n->pool, chunk) / 8;
	uint64_t tally = WAYMARK_COMMIT_COUNT_ONE | words;

	wm_store_relaxed(&w->end, NULL);
	wm_fence_signal();
	wm_store_relaxed(&w->base, NULL);
	wm_fence_signal();
	l->chunk = chunk;
	l->generation = n->generation;
	wm_store_relaxed(&w->pos, base + 8 * words);
	w->tally = tally;
	w->last = c->begin << 16;
	wm_store_relaxed((uint64_t *)(void *)(base + WM_CHUNK_HEADER_BYTES), w->last);
	wm_store_release(&c->committed, tally | (uint64_t)(WM_CHUNK_HEADER_BYTES / 8)
						    << WAYMARK_COMMIT_END_BITS);
	wm_fence_signal();
	wm_store_relaxed(&w->base, base);
	wm_fence_signal();
	wm_store_relaxed(&w->end, base + 8 * words);
}

bool wm_guest_counts_next(struct wm_guest_session *s, struct waymark_writer *w, struct wm_level *l,
			  const struct wm_thread *t, unsigned level, uint32_t at)
{
	struct want n = {s, s->pool, s->generation, t->tid, (uint16_t)level};
	bool mine = w->base && l->generation == n.generation;
	uint32_t bytes = mine ? wm_pool_chunk_bytes(n.pool, l->chunk) : 0;
	bool small = !mine && at < WM_POOL_SMALL_BYTES;
	int64_t index;

	if (mine && !w->end) { /* the chunk is valid; wm_thread_kick() cleared `end` */
		wm_store_relaxed(&w->end, w->base + bytes);
		return true;
	}
	if (at >= n.pool->big_bytes) {
		wm_pool_lost(n.pool, WM_LOST_TOO_BIG, 1);
		return false;
	}
	index = take_some(&n, small);
	if (index < 0) {
		wm_pool_lost(n.pool, WM_LOST_FULL, 1);
		return false;
	}
	if (mine)
		slow_let_go(&n, w, l->chunk);
	count_in(&n, w, l, (uint32_t)index);
	wm_fence_signal();
	if (wm_thread_owned(t))
		return true;
	/* The next event must take the slow path, as in wm_chunk_next() */
	wm_store_relaxed(&w->end, NULL);
	return false;
}

struct waymark_writer *wm_slow(struct waymark_writer *full)
{
	struct waymark_writer *w = usable(full, false);
	struct wm_guest_session *s = &wm_rt.session[0];
	struct wm_thread *t;
	unsigned level;

	if (!w)
		return NULL;
	/* wm_thread_take_back() returned the level, whose chunk may have room. */
	if (w != full && w->end)
		return w;
	t = wm_thread_of(w);
	level = wm_level_of(w);
	/* A session that counts has no direct case, so this event comes from an earlier session. */
	if (wm_load_acquire(&s->active) && !s->counts) {
		if (wm_chunk_next(s, w, &t->level[level], t, level))
			return w;
	} else {
		wm_early(1);
	}
	return dropped(w);
}

static unsigned char *begin_complex(struct waymark_writer *w)
{
	wm_store_relaxed(&wm_thread_of(w)->level[wm_level_of(w)].complex, 1);
	return w->scratch;
}

unsigned char *wm_enter(struct waymark_writer *w)
{
	if (__builtin_expect(w->step && w->scratch != NULL, 1))
		return begin_complex(w);
	wm_runtime_attach_check();
	w = usable(w, true);
	if (!w)
		return NULL;
	if (!w->scratch)
		w->scratch = wm_sys_map(WAYMARK_SCRATCH_BYTES);
	if (!w->scratch) {
		wm_early(1);
		return (unsigned char *)dropped(w);
	}
	return begin_complex(w);
}
