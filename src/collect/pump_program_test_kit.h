/* SPDX-License-Identifier: MIT */
/*
 * pump_program_test_kit.h - for tests of this room only: programs that emit into small
 * pools.
 *
 * A record is {clock and id | tid, words | sequence number | words that repeat
 * the number}. Each thread numbers all its records from 0, even lost ones, so that tests detect
 * duplicated, late and mixed records.
 */
#ifndef WM_COLLECT_PUMP_PROGRAM_TEST_KIT_H
#define WM_COLLECT_PUMP_PROGRAM_TEST_KIT_H

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include <waymark/abi.h>

#include "base/atomic.h"
#include "base/clock.h"
#include "collect/pump.h"

#define EVENT_ID     7u
#define RECORD_WORDS 12u /* maximum; the minimum is 3 */
#define THREADS_MAX  16u

static inline uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* --- a program: threads that emit into one pool --------------------------- */

struct thread {
	uint32_t tid;
	int64_t chunk;  /* -1: none */
	uint32_t words; /* words written to the chunk, including its header */
	uint64_t count, seq, lost_full;
	bool had_small;
};

struct program {
	struct wm_pool pool;
	int fd;
	struct thread thread[THREADS_MAX];
	uint32_t nr_threads;
	enum wm_clock_kind clock;
};

static inline void program_make(struct program *g, uint32_t mode, uint32_t nr_small,
				uint32_t nr_big, uint32_t nr_threads)
{
	struct wm_pool_options o = {
	    .buffer_bytes = (uint64_t)nr_big * WM_POOL_PAGE,
	    .big_bytes = WM_POOL_PAGE,
	    .nr_small = nr_small,
	    .mode = mode,
	};
	uint64_t bytes = wm_pool_size(&o);
	void *map;

	memset(g, 0, sizeof(*g));
	assert_true(bytes > 0);
	g->fd = memfd_create("wm-test-pool", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	assert_true(g->fd >= 0);
	assert_int_equal(ftruncate(g->fd, (off_t)bytes), 0);
	assert_int_equal(fcntl(g->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
	map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, g->fd, 0);
	assert_ptr_not_equal(map, MAP_FAILED);
	assert_int_equal(wm_pool_init(&g->pool, map, &o), 0);
	g->nr_threads = nr_threads;
	for (uint32_t i = 0; i < nr_threads; i++)
		g->thread[i] = (struct thread){.tid = 100 + i, .chunk = -1};
}

static inline void program_free(struct program *g)
{
	wm_pool_close(&g->pool);
	close(g->fd);
}

static inline void thread_seal(struct program *g, struct thread *t)
{
	if (t->chunk >= 0)
		wm_pool_seal(&g->pool, (uint32_t)t->chunk);
	t->chunk = -1;
}

/* Gets room like the runtime's slow path; returns true when there is room for `words`. */
static inline bool thread_room(struct program *g, struct thread *t, uint32_t words)
{
	bool small = !t->had_small;

	if (t->chunk >= 0 && t->words + words <= WM_POOL_PAGE / 8)
		return true;
	thread_seal(g, t);
	t->chunk = wm_pool_take(&g->pool, small, t->tid, 0, wm_clock_read(g->clock));
	if (t->chunk < 0 && small)
		t->chunk = wm_pool_take(&g->pool, false, t->tid, 0, wm_clock_read(g->clock));
	t->had_small = true;
	t->words = WM_CHUNK_HEADER_BYTES / 8;
	t->count = 0;
	return t->chunk >= 0;
}

/* Emits one event at time `clock`; it is lost and counted when the pool is full. */
static inline void thread_emit_at(struct program *g, struct thread *t, uint32_t words,
				  uint64_t clock)
{
	struct wm_chunk *c;
	uint64_t *p, word;
	uint64_t seq = t->seq++;

	if (!thread_room(g, t, words)) {
		wm_pool_lost(&g->pool, WM_LOST_FULL, 1);
		t->lost_full++;
		return;
	}
	c = wm_pool_chunk(&g->pool, (uint32_t)t->chunk);
	p = (uint64_t *)c + t->words;
	p[0] = clock << 16 | EVENT_ID;
	p[1] = (uint64_t)t->tid << 32 | words;
	for (uint32_t i = 2; i < words; i++)
		p[i] = seq;
	word = (uint64_t)t->words << WAYMARK_COMMIT_END_BITS;
	t->words += words;
	t->count++;
	wm_store_release(&c->committed, word | t->words | t->count << WAYMARK_COMMIT_COUNT_SHIFT);
}

static inline void thread_emit(struct program *g, struct thread *t, uint32_t words)
{
	thread_emit_at(g, t, words, wm_clock_read(g->clock));
}

static inline uint64_t program_emitted(const struct program *g)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < g->nr_threads; i++)
		n += g->thread[i].seq;
	return n;
}

/* --- pump and program together ----------------------------------------------- */

static inline struct wm_pump_source *program_join(struct program *g, struct wm_pump *pump,
						  struct wm_producer *producer)
{
	struct wm_pump_source *s;
	struct wm_pool pool;

	assert_int_equal(wm_pool_open(&pool, g->fd), 0);
	assert_int_equal(wm_pump_add(pump, &pool, producer, 1000, &s), 0);
	return s;
}

static inline struct wm_pump *pump_make(void (*before_write)(void *), void *data)
{
	const struct wm_pump_options o = {
	    .clock_kind = WM_CLOCK_CYCLES,
	    .before_write = before_write,
	    .data = data,
	};
	struct wm_pump *p;

	assert_int_equal(wm_pump_create(&o, &p), 0);
	return p;
}

static inline uint64_t lost_sum(const uint64_t lost[WM_LOST_NR])
{
	uint64_t n = 0;

	for (int i = 0; i < WM_LOST_NR; i++)
		n += lost[i];
	return n;
}

#endif
