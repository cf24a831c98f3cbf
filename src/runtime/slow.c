/* SPDX-License-Identifier: MIT */
/*
 * slow.c - an event that found no room: gets its thread a block, its writer a
 * chunk, or counts why not. Reached from inline code through entry_*.S with
 * every register preserved; never takes a lock.
 */
#include <time.h>

#include "base/atomic.h"
#include "base/clock.h"
#include "runtime/runtime.h"
#include "runtime/sys.h"

/* Room behind a chunk's end that eight-byte stores may run into. */
#define CHUNK_SLACK 16u

/* Into the first pool there is; one that comes later asks for what is left. */
void wm_early(uint64_t n)
{
	wm_add_relaxed(&wm_rt.early, n);
	if (wm_thread_forked()) /* the pools are still the parent's */
		return;
	for (unsigned k = 0; k < WM_SLOTS; k++) {
		struct wm_session *s = &wm_rt.session[k];
		if (!wm_load_acquire(&s->active))
			continue;
		wm_pool_lost(&s->pool, WM_LOST_EARLY, wm_exchange_acq_rel(&wm_rt.early, 0));
		return;
	}
}

static struct waymark_writer *early(void)
{
	wm_early(1);
	return NULL;
}

/* The calling thread's level 0, busy; its first event, or its first after a fork. */
static struct waymark_writer *join(const struct waymark_writer *w, uintptr_t sp)
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
	 * In a vfork child, or another that shares our memory, the thread pointer
	 * is its parent's: a block of its tid would be taken for dead while the
	 * parent uses it.
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

/* One emit at a level ended without a commit. */
static struct waymark_writer *dropped(struct waymark_writer *w)
{
	wm_level_passed(&wm_thread_of(w)->level[wm_level_of(w)]);
	wm_fence_signal();
	wm_current = w;
	return NULL;
}

/*
 * Deeper than there are levels. Of a complex event nobody can say who would
 * have wanted it: it counts for each recorder.
 */
static void nested(bool complex)
{
	for (unsigned k = 0; k < (complex ? WM_SLOTS : 1); k++)
		if (wm_load_acquire(&wm_rt.session[k].active))
			wm_pool_lost(&wm_rt.session[k].pool, WM_LOST_NESTED, 1);
}

/* A writer that can hold a chunk, busy; NULL when there is none (counted). */
static struct waymark_writer *usable(struct waymark_writer *w, bool complex)
{
	struct wm_thread *t = wm_thread_of(w);

	if (!w->step) {
		if (wm_writer_is_null(w) || !t->tid || wm_thread_forked())
			return join(w, (uintptr_t)__builtin_frame_address(0));
		w->sp = (uintptr_t)__builtin_frame_address(0);
		w = wm_thread_take_back(w);
		if (w->step)
			return w;
		nested(complex); /* the terminator */
		return NULL;
	}
	return wm_level_of(w) ? wm_thread_take_back(w) : w;
}

/* Block mode: naps until the reader has made room or seems dead. */
static int64_t wait_for_chunk(struct wm_session *s, uint32_t tid, unsigned level)
{
	struct wm_pool_header *h = wm_pool_header(&s->pool);
	struct timespec nap = {0, 500 * 1000};
	uint32_t alive = wm_load_relaxed(&h->reader_alive);
	unsigned still = 0;

	for (unsigned i = 0; i < 2 * s->block_ms && still < 1000; i++) {
		uint32_t now_alive;
		int64_t index;
		(void)WM_SYS_2(SYS_nanosleep, &nap, 0);
		index = wm_pool_take(&s->pool, false, tid, (uint16_t)level,
				     wm_clock_now(s->clock_kind));
		if (index >= 0)
			return index;
		now_alive = wm_load_relaxed(&h->reader_alive);
		still = now_alive == alive ? still + 1 : 0;
		alive = now_alive;
	}
	return -11; /* EAGAIN */
}

static int64_t take(struct wm_session *s, bool small, const struct wm_thread *t, unsigned level)
{
	uint64_t now = wm_clock_now(s->clock_kind);
	int64_t index = -11;

	if (small)
		index = wm_pool_take(&s->pool, true, t->tid, (uint16_t)level, now);
	if (index < 0)
		index = wm_pool_take(&s->pool, false, t->tid, (uint16_t)level, now);
	return index;
}

/* Forgotten first: once sealed it may be another's. */
static void let_go(struct wm_session *s, struct waymark_writer *w, uint32_t chunk)
{
	wm_store_relaxed(&w->end, NULL);
	w->pos = NULL;
	w->base = NULL;
	wm_fence_signal();
	wm_pool_seal(&s->pool, chunk);
}

bool wm_chunk_next(struct wm_session *s, struct waymark_writer *w, struct wm_level *l,
		   const struct wm_thread *t, unsigned level)
{
	bool first = l->generation != s->generation, mine = w->base && !first;
	uint32_t bytes = mine ? wm_pool_chunk_bytes(&s->pool, l->chunk) : 0;
	struct wm_chunk *c;
	int64_t index;

	if (mine && !w->end) { /* only kicked */
		wm_store_relaxed(&w->end, w->base + bytes - CHUNK_SLACK);
		return true;
	}
	if (mine && w->pos == w->base + WM_CHUNK_HEADER_BYTES && bytes == s->pool.big_bytes) {
		wm_pool_lost(&s->pool, WM_LOST_TOO_BIG, 1); /* an empty one did not do */
		return false;
	}
	if (!t->tid) /* a handler forked just now: this is the child, and the block the parent's */
		return false;
	index = take(s, first, t, level);
	if (index < 0 && mine) {
		/* So that it can be overwritten, or read: where there are no more chunks than
		 * threads, each would otherwise wait for the others'. */
		let_go(s, w, l->chunk);
		mine = false;
		if (s->mode == WM_POOL_OVERWRITE)
			index = take(s, false, t, level);
	}
	if (index < 0 && s->mode == WM_POOL_BLOCK && level == 0)
		index = wait_for_chunk(s, t->tid, level);
	if (!t->tid)
		return false;
	if (index < 0) {
		wm_pool_lost(&s->pool, WM_LOST_FULL, 1);
		return false;
	}
	if (mine)
		let_go(s, w, l->chunk);
	c = wm_pool_chunk(&s->pool, (uint32_t)index);
	l->chunk = (uint32_t)index;
	l->generation = s->generation;
	w->base = (unsigned char *)c;
	w->pos = w->base + WM_CHUNK_HEADER_BYTES;
	w->tally = WM_CHUNK_HEADER_BYTES / 8;
	w->last = c->begin << 16;
	wm_store_relaxed(&w->end, w->base + wm_pool_chunk_bytes(&s->pool, l->chunk) - CHUNK_SLACK);
	return true;
}

struct waymark_writer *wm_slow(struct waymark_writer *w)
{
	struct wm_session *s = &wm_rt.session[0];
	struct wm_thread *t;
	unsigned level;

	w = usable(w, false);
	if (!w)
		return NULL;
	t = wm_thread_of(w);
	level = wm_level_of(w);
	if (wm_load_acquire(&s->active)) {
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
