/* SPDX-License-Identifier: MIT */
/*
 * pool_world_test_kit.h - for tests of the ring only: a small pool in a sealed memfd, a writer that
 * commits like the emit path, and a reader that drains like the pump and checks each record.
 *
 * A record is {magic, words, thread, generation of its chunk | sequence number | words that repeat
 * the number}, so that a reader can detect a torn, mixed or repeated record from its bytes alone.
 */
#ifndef WM_RING_POOL_WORLD_TEST_KIT_H
#define WM_RING_POOL_WORLD_TEST_KIT_H

#include "ring/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
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
#include "ring/pool_check_test_kit.h"

#define RECORD_MAGIC  0xa5u
#define RECORD_WORDS  64u /* at most */
#define NR_WRITERS    4u
#define WRITER_EVENTS 60000u

static inline uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* --- a pool in a sealed memfd, and in plain memory ---------------------- */

struct world {
	struct wm_pool pool;
	int fd;
};

static inline void world_make(struct world *w, uint32_t nr_small, uint32_t nr_big, uint32_t mode)
{
	struct wm_pool_options o = {.buffer_bytes = (uint64_t)nr_big * WM_POOL_PAGE,
				    .big_bytes = WM_POOL_PAGE,
				    .nr_small = nr_small,
				    .mode = mode};
	uint64_t bytes = wm_pool_size(&o);
	void *map;

	w->fd = memfd_create("pool_test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	assert_true(w->fd >= 0);
	assert_int_equal(ftruncate(w->fd, (off_t)bytes), 0);
	assert_int_equal(fcntl(w->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
	map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, w->fd, 0);
	assert_true(map != MAP_FAILED);
	assert_int_equal(wm_pool_init(&w->pool, map, &o), 0);
}

static inline void world_drop(struct world *w)
{
	wm_pool_close(&w->pool);
	close(w->fd);
}

static inline void check(const struct wm_pool *p)
{
	uint32_t index;
	const char *wrong = pool_check(p, &index);

	if (wrong)
		fail_msg("chunk %u: %s", index, wrong);
}

/* --- a writer, like the emit path -------------------------------------- */

struct writer {
	struct wm_pool *pool;
	uint64_t *base, *pos, *end;
	uint64_t tally;
	uint32_t thread, index, generation;
	uint64_t sequence; /* number of the next record; also the number of records emitted */
};

static inline bool writer_take(struct writer *w, bool small)
{
	int64_t i = wm_pool_take(w->pool, small, w->thread, 0, w->sequence);

	if (i < 0) {
		assert_int_equal(i, -EAGAIN);
		w->base = NULL;
		return false;
	}
	w->index = (uint32_t)i;
	w->base = (uint64_t *)wm_pool_chunk(w->pool, w->index);
	w->pos = w->base + WM_CHUNK_HEADER_BYTES / 8;
	w->end = w->base + wm_pool_chunk_bytes(w->pool, w->index) / 8;
	w->tally = 0;
	w->generation = wm_pool_state_generation(wm_pool_state(w->pool, w->index));
	return true;
}

static inline void writer_seal(struct writer *w)
{
	if (w->base)
		wm_pool_seal(w->pool, w->index);
	w->base = NULL;
}

/* Writes one record without committing it. */
static inline void writer_put(struct writer *w, uint32_t words)
{
	wm_store_relaxed(w->pos, (uint64_t)RECORD_MAGIC << 56 | (uint64_t)words << 48 |
				     (uint64_t)w->thread << 32 | w->generation);
	for (uint32_t i = 1; i < words; i++)
		wm_store_relaxed(w->pos + i, w->sequence);
}

static inline void writer_commit(struct writer *w, uint32_t words)
{
	uint64_t *p = w->pos;

	w->tally += WAYMARK_COMMIT_COUNT_ONE;
	w->pos = p + words;
	wm_store_release(w->base, w->tally | (uint64_t)(p - w->base) << WAYMARK_COMMIT_END_BITS |
				      (uint64_t)(w->pos - w->base));
}

/* Returns false if there is no chunk; the event is counted as lost. */
static inline bool writer_emit(struct writer *w, uint32_t words)
{
	bool done = true;

	if (w->base && w->pos + words > w->end)
		writer_seal(w);
	if (!w->base && !writer_take(w, false)) {
		wm_pool_lost(w->pool, WM_LOST_FULL, 1);
		done = false;
	} else {
		writer_put(w, words);
		writer_commit(w, words);
	}
	w->sequence++;
	return done;
}

static inline void writer_fill(struct writer *w)
{
	while (w->pos + RECORD_WORDS <= w->end)
		assert_true(writer_emit(w, RECORD_WORDS));
}

/* --- a reader, like the pump --------------------------------------------- */

struct reader {
	struct wm_pool pool;
	uint64_t recorded;
	bool strict;                   /* the memory is valid: any irregularity is a failure */
	bool consume;                  /* overwrite mode: consume FULL chunks instead of only
					* reading them */
	const volatile uint32_t *stop; /* scribbling test: end the drain */
	uint8_t *seen[NR_WRITERS];     /* indexed by sequence number */
	uint32_t taken_generation[64]; /* per chunk: the generation of the bytes already recorded */
	uint32_t taken_bytes[64];
	uint64_t copy[WM_POOL_PAGE / 8];
};

static inline void reader_record(struct reader *r, uint32_t thread, uint64_t sequence)
{
	if (!r->seen[0])
		return;
	if (thread >= NR_WRITERS || sequence >= WRITER_EVENTS)
		fail_msg("a record that was never written: thread %u number %lu", thread, sequence);
	if (r->seen[thread][sequence]++)
		fail_msg("recorded twice: thread %u number %lu", thread, sequence);
}

/* Walks the copy from offset `from` to `to`; counts its records if `record`. */
static inline void reader_walk(struct reader *r, uint32_t generation, uint32_t from, uint32_t to,
			       bool record)
{
	uint64_t *p = r->copy + from / 8, *end = r->copy + to / 8;

	while (p < end) {
		uint64_t head = *p;
		uint32_t words = (uint32_t)(head >> 48) & 0xff;
		uint32_t thread = (uint32_t)(head >> 32) & 0xffff;

		if (head >> 56 != RECORD_MAGIC || words < 2 || words > (uint64_t)(end - p)) {
			assert_false(r->strict);
			return;
		}
		if ((uint32_t)head != generation && r->strict)
			fail_msg("mixed generations: %u in chunk of %u", (uint32_t)head,
				 generation);
		for (uint32_t i = 2; i < words && r->strict; i++)
			assert_int_equal(p[i], p[1]);
		if (record) {
			r->recorded++;
			reader_record(r, thread, p[1]);
		}
		p += words;
	}
}

static inline void reader_copy(struct reader *r, uint32_t index, uint32_t bytes)
{
	const uint64_t *from = (const uint64_t *)wm_pool_chunk(&r->pool, index);

	for (uint32_t i = WM_CHUNK_HEADER_BYTES / 8; i < bytes / 8; i++)
		r->copy[i] = wm_load_relaxed(from + i);
}

static inline void reader_chunk(struct reader *r, uint32_t index, bool final)
{
	uint64_t state = wm_pool_state(&r->pool, index);
	uint32_t generation = wm_pool_state_generation(state);
	bool overwrite = r->pool.mode == WM_POOL_OVERWRITE;
	bool pinned = wm_pool_pin(&r->pool, index, state);
	/* Open chunks of a flight recorder are copied but not recorded: they may be overwritten. */
	bool record = pinned ? !overwrite || r->consume || final : !overwrite || final;
	uint32_t from = WM_CHUNK_HEADER_BYTES;
	struct wm_commit c;
	int err;

	if (!pinned && wm_pool_state_of(state) != WM_CHUNK_OWNED)
		return;
	err = wm_pool_committed(&r->pool, index, state, &c);
	if (r->strict && (pinned || err != -ESTALE))
		assert_int_equal(err, 0);
	if (err == 0) {
		reader_copy(r, index, c.end_bytes);
		if (record && r->taken_generation[index] == generation)
			from = r->taken_bytes[index];
		if (from > c.end_bytes)
			from = c.end_bytes; /* only hostile memory makes `end` decrease */
		if (pinned || wm_pool_still(&r->pool, index, state))
			reader_walk(r, generation, from, c.end_bytes, record);
		if (record) {
			r->taken_generation[index] = generation;
			r->taken_bytes[index] = c.end_bytes;
		}
	}
	if (pinned)
		wm_pool_release(&r->pool, index, record);
}

static inline void reader_round(struct reader *r, bool final)
{
	uint32_t small, big;

	wm_pool_high(&r->pool, &small, &big);
	for (uint32_t i = 0; i < small; i++)
		reader_chunk(r, i, final);
	for (uint32_t i = 0; i < big; i++)
		reader_chunk(r, r->pool.nr_small + i, final);
}

static inline uint64_t lost_total(const struct wm_pool *p)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < WM_LOST_NR; i++)
		sum += wm_pool_lost_count(p, (enum wm_lost)i);
	return sum;
}

#endif
