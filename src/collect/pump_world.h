/* SPDX-License-Identifier: MIT */
/*
 * pump_world.h - for tests of this room only: programs that emit into small
 * pools, a trace writer that remembers and checks instead of writing, and a
 * clock that stands still until told.
 *
 * A record is {clock and id | tid, words | sequence number | words that repeat
 * the number}. Each thread numbers its records from 0, lost ones included, so a
 * record that comes twice, late or mixed shows.
 */
#ifndef WM_COLLECT_PUMP_WORLD_H
#define WM_COLLECT_PUMP_WORLD_H

#include "collect/pump.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include <waymark/abi.h>

#include "base/atomic.h"

#define EVENT_ID      7u
#define RECORD_WORDS  12u /* at most; 3 at least */
#define THREADS_MAX   16u
#define CLOCK_ADVANCE 1000u
#define RANGES        128u

static inline uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* --- the clock: replaces base's for pump and test ------------------------ */

static uint64_t world_clock = (uint64_t)1 << 52;

uint64_t wm_clock_read(enum wm_clock_kind kind)
{
	return wm_add_relaxed(&world_clock, 1);
}

/* --- a program: threads that emit into one pool --------------------------- */

struct thread {
	uint32_t tid;
	int64_t chunk;  /* -1: none */
	uint32_t words; /* written into the chunk, header included */
	uint64_t count, seq, lost_full;
	bool had_small;
};

struct program {
	struct wm_pool pool;
	int fd;
	struct thread thread[THREADS_MAX];
	uint32_t nr_threads;
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

/* As the slow path does: true when there is room for `words` now. */
static inline bool thread_room(struct program *g, struct thread *t, uint32_t words)
{
	bool small = !t->had_small;

	if (t->chunk >= 0 && t->words + words <= WM_POOL_PAGE / 8)
		return true;
	thread_seal(g, t);
	t->chunk = wm_pool_take(&g->pool, small, t->tid, 0, wm_clock_read(WM_CLOCK_CYCLES));
	if (t->chunk < 0 && small)
		t->chunk = wm_pool_take(&g->pool, false, t->tid, 0, wm_clock_read(WM_CLOCK_CYCLES));
	t->had_small = true;
	t->words = WM_CHUNK_HEADER_BYTES / 8;
	t->count = 0;
	return t->chunk >= 0;
}

/* One event at `clock`; lost and counted when the pool is full. */
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
	thread_emit_at(g, t, words, wm_clock_read(WM_CLOCK_CYCLES));
}

static inline uint64_t program_emitted(const struct program *g)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < g->nr_threads; i++)
		n += g->thread[i].seq;
	return n;
}

/* --- the trace writer that remembers --------------------------------------- */

struct range {
	uint64_t first, end;
	uint32_t tid;
};

struct wm_producer {
	uint64_t next[THREADS_MAX];  /* above all sequence numbers of a thread so far */
	struct range recent[RANGES]; /* of packets; 0 .. nr_ranges - 1, as a ring */
	uint64_t nr_ranges;
	bool concurrent; /* a round may see a thread's later chunk before an earlier one */
	uint64_t events, packets, lost_in_packets, last_begin;
	uint64_t lost[WM_LOST_NR]; /* told by wm_trace_lost() */
	uint64_t carry;            /* as the real one: what a failed packet should have said */
	bool hostile;              /* contents are not checked */
	int fail;                  /* the error of the next `nr_fail` packets */
	uint32_t nr_fail;
	uint64_t failed;
};

int64_t wm_producer_record_bytes(const struct wm_producer *p, const void *at, size_t avail)
{
	const uint64_t *r = at;
	uint64_t bytes = avail >= 16 ? (r[1] & 0xffffffff) * 8 : 0;

	return bytes >= 24 && bytes <= avail ? (int64_t)bytes : -EBADMSG;
}

/* One record of a packet; returns its words. */
static inline uint32_t check_record(struct wm_producer *p, const struct wm_packet *k,
				    const uint64_t *r, size_t left, uint64_t *clock)
{
	uint32_t words, tid;
	uint64_t seq;

	assert_true(left >= 3);
	words = (uint32_t)r[1];
	tid = (uint32_t)(r[1] >> 32);
	assert_int_equal(r[0] & 0xffff, EVENT_ID);
	assert_true(words >= 3 && words <= left && words <= RECORD_WORDS);
	assert_int_equal(tid, k->tid);
	assert_true(tid >= 100 && tid < 100 + THREADS_MAX);
	seq = r[2];
	for (uint32_t i = 3; i < words; i++)
		assert_true(r[i] == seq);
	assert_true(p->concurrent || seq >= p->next[tid - 100]);
	if (seq >= p->next[tid - 100])
		p->next[tid - 100] = seq + 1;
	*clock += ((r[0] >> 16) - *clock) & (((uint64_t)1 << 48) - 1);
	return words;
}

/* No record comes twice; when rounds race with threads, lately. */
static inline void check_range(struct wm_producer *p, const struct range *new)
{
	for (uint64_t i = 0; i < RANGES && i < p->nr_ranges; i++) {
		const struct range *old = &p->recent[i];

		assert_true(old->tid != new->tid || new->end <= old->first ||
			    new->first >= old->end);
	}
	p->recent[p->nr_ranges++ % RANGES] = *new;
}

static inline void check_packet(struct wm_producer *p, const struct wm_packet *k)
{
	const uint64_t *r = k->payload.iov_base;
	size_t words = k->payload.iov_len / 8, at = 0, last = 0;
	uint64_t clock = k->begin, count = 0;
	uint64_t first = r[2];

	assert_true(words > 0);
	assert_int_equal(k->payload.iov_len % 8, 0);
	while (at < words) {
		last = at;
		assert_int_equal(r[at + 2], first + count); /* one chunk: nothing is missing */
		at += check_record(p, k, r + at, words - at, &clock);
		if (!count++)
			assert_int_equal(clock, k->begin);
	}
	check_range(p, &(struct range){first, first + count, k->tid});
	assert_int_equal(count, k->count);
	assert_int_equal(last * 8, k->last_offset);
	assert_int_equal(clock, k->end);
	assert_true(k->end - k->begin < (uint64_t)1 << 46);
	assert_true(k->end <= wm_load_relaxed(&world_clock));
}

/* As writing it does: every byte must be there. */
static inline void touch_packet(const struct wm_packet *k)
{
	const volatile uint64_t *r = k->payload.iov_base;

	assert_int_equal(k->payload.iov_len % 8, 0);
	assert_true(k->last_offset < k->payload.iov_len);
	for (size_t i = 0; i < k->payload.iov_len / 8; i++)
		(void)r[i];
}

int wm_producer_packet(struct wm_producer *p, const struct wm_packet *k)
{
	assert_true(k->begin <= k->end);
	assert_true(k->count > 0 && k->count * 8 <= k->payload.iov_len);
	if (p->nr_fail) {
		p->nr_fail--;
		p->failed += k->count;
		if (p->fail != -EBADMSG)
			p->carry += k->lost + k->count;
		return p->fail;
	}
	if (!p->hostile)
		check_packet(p, k);
	else
		touch_packet(k);
	p->lost_in_packets += k->lost + p->carry;
	p->carry = 0;
	p->events += k->count;
	p->packets++;
	return 0;
}

int wm_trace_lost(struct wm_producer *p, uint64_t from, uint64_t to, const char *cause,
		  uint64_t count)
{
	assert_true(count > 0);
	assert_true(from <= to);
	for (int i = 0; i < WM_LOST_NR; i++)
		if (!strcmp(cause, wm_lost_name((enum wm_lost)i)))
			p->lost[i] += count;
	return 0;
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
