// SPDX-License-Identifier: MIT
/*
 * pool_test.c - the pool in shrunk worlds (chunks of 4 KiB, a handful of them):
 * geometry, every transition, exhaustion, reuse in order, takes cut short by
 * death, threads against a reader in every mode, hostile memory.
 *
 * A record here is {magic, thread, generation of its chunk | sequence number |
 * words that repeat the number}, so a reader can tell a torn, mixed or repeated
 * one from its bytes alone.
 */
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

#define RECORD_MAGIC  0xa5u
#define RECORD_WORDS  64u /* at most */
#define NR_WRITERS    4u
#define WRITER_EVENTS 60000u

static uint64_t next_random(uint64_t *seed)
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

static void world_make(struct world *w, uint32_t nr_small, uint32_t nr_big, uint32_t mode)
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

static void world_drop(struct world *w)
{
	wm_pool_close(&w->pool);
	close(w->fd);
}

static void check(const struct wm_pool *p)
{
	uint32_t index;
	const char *wrong = wm_pool_check(p, &index);

	if (wrong)
		fail_msg("chunk %u: %s", index, wrong);
}

/* --- a writer, as the emit path is ------------------------------------- */

struct writer {
	struct wm_pool *pool;
	uint64_t *base, *pos, *end;
	uint64_t tally;
	uint32_t thread, index, generation;
	uint64_t sequence; /* of the next record; also what was emitted */
};

static bool writer_take(struct writer *w, bool small)
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
	w->generation = wm_state_generation(wm_pool_state(w->pool, w->index));
	return true;
}

static void writer_seal(struct writer *w)
{
	if (w->base)
		wm_pool_seal(w->pool, w->index);
	w->base = NULL;
}

/* The bytes of one record, without committing it. */
static void writer_put(struct writer *w, uint32_t words)
{
	wm_store_relaxed(w->pos, (uint64_t)RECORD_MAGIC << 56 | (uint64_t)words << 48 |
				     (uint64_t)w->thread << 32 | w->generation);
	for (uint32_t i = 1; i < words; i++)
		wm_store_relaxed(w->pos + i, w->sequence);
}

static void writer_commit(struct writer *w, uint32_t words)
{
	uint64_t *p = w->pos;

	w->tally += WAYMARK_COMMIT_COUNT_ONE;
	w->pos = p + words;
	wm_store_release(w->base, w->tally | (uint64_t)(p - w->base) << WAYMARK_COMMIT_END_BITS |
				      (uint64_t)(w->pos - w->base));
}

/* False: no chunk, the event is counted as lost. */
static bool writer_emit(struct writer *w, uint32_t words)
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

static void writer_fill(struct writer *w)
{
	while (w->pos + RECORD_WORDS <= w->end)
		assert_true(writer_emit(w, RECORD_WORDS));
}

/* --- a reader, as the pump is ------------------------------------------- */

struct reader {
	struct wm_pool pool;
	uint64_t recorded;
	bool strict;                   /* the memory is honest: anything odd is a failure */
	bool consume;                  /* overwrite mode: take FULL chunks away, or only look */
	const volatile uint32_t *stop; /* scribbling: end the drain */
	uint8_t *seen[NR_WRITERS];     /* by sequence number */
	uint32_t taken_generation[64]; /* chunk by chunk: whose committed part is recorded */
	uint32_t taken_bytes[64];
	uint64_t copy[WM_POOL_PAGE / 8];
};

static void reader_record(struct reader *r, uint32_t thread, uint64_t sequence)
{
	if (!r->seen[0])
		return;
	if (thread >= NR_WRITERS || sequence >= WRITER_EVENTS)
		fail_msg("a record nobody wrote: thread %u number %lu", thread, sequence);
	if (r->seen[thread][sequence]++)
		fail_msg("recorded twice: thread %u number %lu", thread, sequence);
}

/* Walks the copy from `from` to `to` bytes; counts its records when `record`. */
static void reader_walk(struct reader *r, uint32_t generation, uint32_t from, uint32_t to,
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

static void reader_copy(struct reader *r, uint32_t index, uint32_t bytes)
{
	const uint64_t *from = (const uint64_t *)wm_pool_chunk(&r->pool, index);

	for (uint32_t i = WM_CHUNK_HEADER_BYTES / 8; i < bytes / 8; i++)
		r->copy[i] = wm_load_relaxed(from + i);
}

static void reader_chunk(struct reader *r, uint32_t index, bool final)
{
	uint64_t state = wm_pool_state(&r->pool, index);
	uint32_t generation = wm_state_generation(state);
	bool overwrite = r->pool.mode == WM_POOL_OVERWRITE;
	bool pinned = wm_pool_pin(&r->pool, index, state);
	/* A flight recorder's open chunks are copied for a look only: they may go away. */
	bool record = pinned ? !overwrite || r->consume || final : !overwrite || final;
	uint32_t from = WM_CHUNK_HEADER_BYTES;
	struct wm_commit c;
	int err;

	if (!pinned && wm_state_of(state) != WM_CHUNK_OWNED)
		return;
	err = wm_pool_committed(&r->pool, index, state, &c);
	if (r->strict && (pinned || err != -ESTALE))
		assert_int_equal(err, 0);
	if (err == 0) {
		reader_copy(r, index, c.end_bytes);
		if (record && r->taken_generation[index] == generation)
			from = r->taken_bytes[index];
		if (from > c.end_bytes)
			from = c.end_bytes; /* only hostile memory goes backwards */
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

static void reader_round(struct reader *r, bool final)
{
	uint32_t small, big;

	wm_pool_high(&r->pool, &small, &big);
	for (uint32_t i = 0; i < small; i++)
		reader_chunk(r, i, final);
	for (uint32_t i = 0; i < big; i++)
		reader_chunk(r, r->pool.nr_small + i, final);
}

static uint64_t lost_total(const struct wm_pool *p)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < WM_LOST_NR; i++)
		sum += wm_pool_lost_count(p, (enum wm_lost)i);
	return sum;
}

/* --- geometry ----------------------------------------------------------- */

static void test_geometry(void **unused)
{
	static const struct {
		struct wm_pool_options o;
		uint64_t bytes;
	} table[] = {
	    {{.buffer_bytes = 1, .big_bytes = 4096, .nr_small = 1}, 4096 * 4},
	    {{.buffer_bytes = 4097, .big_bytes = 4096, .nr_small = 1}, 4096 * 5},
	    /* One page holds 409 states and queue entries; one more needs another page. */
	    {{.buffer_bytes = 4096 * 200, .big_bytes = 4096, .nr_small = 209}, 4096 * 411},
	    {{.buffer_bytes = 4096 * 201, .big_bytes = 4096, .nr_small = 209}, 4096 * 413},
	    {{.buffer_bytes = 1}, 4096 + 65536 * 10 + 4096 + 65536ull * 4096 + 65536},
	    {{.buffer_bytes = 1, .big_bytes = 1 << 22, .nr_small = 1}, 4096 * 3 + (1 << 22)},
	    {{.buffer_bytes = 1, .big_bytes = 1 << 23, .nr_small = 1}, 0},
	    {{.buffer_bytes = 1, .big_bytes = 2048, .nr_small = 1}, 0},
	    {{.buffer_bytes = 1, .big_bytes = 12288, .nr_small = 1}, 0},
	    {{.buffer_bytes = 0, .big_bytes = 4096, .nr_small = 1}, 0},
	    {{.buffer_bytes = 1, .nr_small = WM_POOL_SMALL_MAX + 1}, 0},
	    {{.buffer_bytes = 1, .mode = WM_POOL_NR_MODES}, 0},
	    {{.buffer_bytes = (65536ull << 12) + 1, .big_bytes = 4096, .nr_small = 1}, 0},
	    {{.buffer_bytes = WM_POOL_BYTES_MAX, .big_bytes = 1 << 20, .nr_small = 1}, 0},
	    {{.buffer_bytes = WM_POOL_BYTES_MAX + 1, .big_bytes = 1 << 22, .nr_small = 1}, 0},
	    {{.buffer_bytes = UINT64_MAX, .big_bytes = 1 << 22, .nr_small = 1}, 0},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (wm_pool_size(&table[i].o) != table[i].bytes)
			fail_msg("row %zu: %lu bytes", i, wm_pool_size(&table[i].o));
}

static void test_init_refuses(void **unused)
{
	struct wm_pool_options good = {.buffer_bytes = 1, .big_bytes = 4096, .nr_small = 1};
	struct wm_pool_options bad = {.buffer_bytes = 0};
	unsigned char *page = aligned_alloc(4096, 4096 * 4);
	struct wm_pool p;

	assert_int_equal(wm_pool_init(&p, page + 8, &good), -EINVAL);
	assert_int_equal(wm_pool_init(&p, page, &bad), -EINVAL);
	free(page);
}

/* --- transitions, one thread --------------------------------------------- */

static void test_walk(void **unused)
{
	struct world w;
	struct writer a = {.pool = &w.pool};
	struct reader r = {.strict = true};
	uint64_t state;

	world_make(&w, 2, 2, WM_POOL_DISCARD);
	r.pool = w.pool;
	assert_true(writer_take(&a, true));
	assert_int_equal(a.index, 0);
	assert_int_equal(wm_pool_state(&w.pool, 0), wm_state_make(WM_CHUNK_OWNED, 1, 0));
	check(&w.pool);

	assert_true(writer_emit(&a, 3));
	check(&w.pool);
	reader_round(&r, false); /* the open chunk, in discard mode */
	assert_int_equal(r.recorded, 1);
	assert_true(writer_emit(&a, 5));
	writer_put(&a, 9); /* written, not committed */
	writer_seal(&a);
	check(&w.pool);
	state = wm_pool_state(&w.pool, 0);
	assert_int_equal(state, wm_state_make(WM_CHUNK_FULL, 1, 0));

	assert_false(wm_pool_pin(&w.pool, 0, wm_state_make(WM_CHUNK_FULL, 2, 0)));
	assert_false(wm_pool_pin(&w.pool, 0, wm_state_make(WM_CHUNK_OWNED, 1, 0)));
	assert_true(wm_pool_pin(&w.pool, 0, state));
	assert_false(wm_pool_pin(&w.pool, 0, state));
	check(&w.pool);
	wm_pool_release(&w.pool, 0, false);
	assert_int_equal(wm_pool_state(&w.pool, 0), state);

	reader_round(&r, false); /* the rest of it, once */
	assert_int_equal(r.recorded, 2);
	assert_int_equal(wm_pool_state(&w.pool, 0), wm_state_make(WM_CHUNK_FREE, 1, 0));
	wm_pool_release(&w.pool, 0, true); /* not READING: nothing happens */
	wm_pool_seal(&w.pool, 0);          /* not OWNED: nothing happens */
	wm_pool_seal(&w.pool, 99);
	assert_int_equal(wm_pool_state(&w.pool, 0), wm_state_make(WM_CHUNK_FREE, 1, 0));

	assert_true(writer_take(&a, true)); /* used again before chunk 1 is touched */
	assert_int_equal(a.index, 0);
	assert_int_equal(a.generation, 2);
	writer_seal(&a); /* empty: FREE at once */
	assert_int_equal(wm_pool_state(&w.pool, 0), wm_state_make(WM_CHUNK_FREE, 2, 0));
	check(&w.pool);
	world_drop(&w);
}

static void test_small_before_high(void **unused)
{
	struct world w;
	struct writer a[3];
	uint32_t small, big;

	world_make(&w, 8, 2, WM_POOL_DISCARD);
	for (unsigned i = 0; i < 3; i++) {
		a[i] = (struct writer){.pool = &w.pool, .thread = i};
		assert_true(writer_take(&a[i], true));
		assert_int_equal(a[i].index, i);
	}
	writer_seal(&a[1]);
	assert_true(writer_take(&a[1], true));
	assert_int_equal(a[1].index, 1);
	wm_pool_high(&w.pool, &small, &big);
	assert_int_equal(small, 3);
	assert_int_equal(big, 0);
	check(&w.pool);
	world_drop(&w);
}

static void test_exhaustion(void **unused)
{
	struct world w;
	struct writer a[5];
	struct reader r = {.strict = true};
	struct wm_pool_shelf *shelf;

	world_make(&w, 1, 4, WM_POOL_DISCARD);
	r.pool = w.pool;
	shelf = &wm_pool_header(&w.pool)->shelf[WM_SHELF_BIG];
	for (unsigned i = 0; i < 5; i++) {
		a[i] = (struct writer){.pool = &w.pool, .thread = i};
		assert_true(writer_emit(&a[i], 4) == (i < 4));
	}
	assert_int_equal(wm_pool_lost_count(&w.pool, WM_LOST_FULL), 1);
	/* From now on a search ends at the hint: it does not even see this chunk. */
	assert_int_equal(shelf->none_free, shelf->freed + 1);
	wm_pool_states(&w.pool)[1] ^= WM_CHUNK_OWNED;
	assert_false(writer_emit(&a[4], 4));
	wm_pool_states(&w.pool)[1] ^= WM_CHUNK_OWNED;
	check(&w.pool);

	writer_seal(&a[2]);
	assert_false(writer_emit(&a[4], 4)); /* FULL is not FREE in discard mode */
	reader_round(&r, false);
	assert_true(writer_emit(&a[4], 4));
	assert_int_equal(a[4].index, a[2].index);
	assert_false(writer_emit(&a[2], 4));
	check(&w.pool);
	reader_round(&r, true);
	assert_int_equal(r.recorded, 5);
	assert_int_equal(lost_total(&w.pool), 4);
	world_drop(&w);
}

static void test_generation_wraps(void **unused)
{
	struct world w;
	struct writer a = {.pool = &w.pool};

	world_make(&w, 1, 1, WM_POOL_DISCARD);
	assert_true(writer_take(&a, true));
	writer_seal(&a);
	wm_pool_states(&w.pool)[0] = wm_state_make(WM_CHUNK_FREE, 0xffffff, 0);
	wm_pool_chunk(&w.pool, 0)->generation = 0xffffff;
	assert_true(writer_take(&a, true));
	assert_int_equal(a.generation, 0);
	assert_true(writer_emit(&a, 3));
	writer_seal(&a);
	check(&w.pool);
	world_drop(&w);
}

/* --- overwrite mode ------------------------------------------------------- */

/* `order0`: where the pool-wide count starts, to see it wrap. */
static void overwrite_in_order(uint64_t order0)
{
	struct world w;
	struct writer a = {.pool = &w.pool};
	struct reader r = {.strict = true};
	uint32_t sealed[64], nr = 0;
	uint64_t seed = 7;

	world_make(&w, 1, 5, WM_POOL_OVERWRITE);
	r.pool = w.pool;
	wm_pool_header(&w.pool)->shelf[WM_SHELF_BIG].order = order0;
	for (unsigned i = 0; i < 40; i++) {
		assert_true(writer_take(&a, false));
		check(&w.pool);
		/* Of five, the one sealed five seals ago is the oldest. */
		if (nr >= 5)
			assert_int_equal(a.index, sealed[nr - 5]);
		for (unsigned n = 1 + next_random(&seed) % 20; n; n--)
			assert_true(writer_emit(&a, 3 + next_random(&seed) % 5));
		sealed[nr++] = a.index;
		writer_seal(&a);
		check(&w.pool);
		reader_round(&r, false); /* looking on changes nothing */
		assert_int_equal(r.recorded, 0);
	}
	reader_round(&r, true);
	assert_int_equal(a.sequence, r.recorded + lost_total(&w.pool));
	assert_true(r.recorded >= 5);
	assert_int_equal(lost_total(&w.pool), wm_pool_lost_count(&w.pool, WM_LOST_OVERWRITTEN));
	world_drop(&w);
}

static void test_overwrite_order(void **unused)
{
	overwrite_in_order(0);
	overwrite_in_order(0x7ffffff0);
	overwrite_in_order(0xfffffff0);
}

/* Takes, fills a little and seals; returns which big chunk it was. */
static uint32_t fill_one(struct writer *a)
{
	uint32_t index;

	assert_true(writer_take(a, false));
	assert_true(writer_emit(a, 3));
	index = a->index - a->pool->nr_small;
	writer_seal(a);
	return index;
}

/* A chunk that fills while a search is on its way is not taken for an ancient one. */
static void test_overwrite_newer(void **unused)
{
	struct world w;
	struct writer a = {.pool = &w.pool};

	world_make(&w, 1, 5, WM_POOL_OVERWRITE);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(fill_one(&a), i);
	wm_pool_header(&w.pool)->shelf[WM_SHELF_BIG].order = 2; /* as the search had seen it */
	assert_int_equal(fill_one(&a), 0);
	world_drop(&w);
}

/* What left its place in the queue is found again within one turn. */
static void test_overwrite_out_of_turn(void **unused)
{
	struct world w;
	struct writer a = {.pool = &w.pool};
	bool reused = false;

	world_make(&w, 1, 5, WM_POOL_OVERWRITE);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(fill_one(&a), i % 5);
	assert_true(wm_pool_pin(&w.pool, 1 + 3, wm_pool_state(&w.pool, 1 + 3)));
	assert_int_equal(fill_one(&a), 4);
	wm_pool_release(&w.pool, 1 + 3, false);
	for (unsigned i = 0; i < 5; i++)
		reused |= fill_one(&a) == 3;
	assert_true(reused);
	/* A queue full of nonsense costs a search, nothing else. */
	for (unsigned i = 0; i < 6; i++)
		wm_pool_queue(&w.pool)[i] = (uint16_t)(i * 13001);
	for (unsigned i = 0; i < 20; i++)
		fill_one(&a);
	check(&w.pool);
	assert_int_equal(wm_pool_lost_count(&w.pool, WM_LOST_OVERWRITTEN), a.sequence - 5);
	world_drop(&w);
}

static void test_overwrite_all_owned(void **unused)
{
	struct world w;
	struct writer a[3];
	struct wm_pool_shelf *shelf;

	world_make(&w, 1, 2, WM_POOL_OVERWRITE);
	shelf = &wm_pool_header(&w.pool)->shelf[WM_SHELF_BIG];
	for (unsigned i = 0; i < 3; i++) {
		a[i] = (struct writer){.pool = &w.pool, .thread = i};
		assert_true(writer_emit(&a[i], 4) == (i < 2));
	}
	assert_int_equal(shelf->none_full, shelf->filled + 1);
	writer_seal(&a[0]);
	assert_true(writer_emit(&a[2], 4)); /* a seal lets the search look again */
	assert_int_equal(a[2].index, a[0].index);
	assert_false(writer_emit(&a[0], 4));
	writer_seal(&a[2]);
	assert_true(wm_pool_pin(&w.pool, a[2].index, wm_pool_state(&w.pool, a[2].index)));
	assert_false(writer_emit(&a[0], 4));
	wm_pool_release(&w.pool, a[2].index, false); /* FULL again: to be had again */
	assert_true(writer_emit(&a[0], 4));
	assert_int_equal(a[0].index, a[2].index);
	assert_int_equal(wm_pool_lost_count(&w.pool, WM_LOST_OVERWRITTEN), 2);
	check(&w.pool);
	world_drop(&w);
}

/* Short-lived threads leave small FULL chunks: kept up to a quarter of the pool, then reused. */
static void test_overwrite_small(void **unused)
{
	struct world w;
	struct writer a = {.pool = &w.pool}, held[6];
	uint32_t small, big;

	world_make(&w, 12, 16, WM_POOL_OVERWRITE);
	for (unsigned i = 0; i < 10; i++) {
		assert_true(writer_take(&a, true));
		assert_int_equal(a.index, i % 4);
		assert_true(writer_emit(&a, 3));
		writer_seal(&a);
		check(&w.pool);
	}
	assert_int_equal(wm_pool_lost_count(&w.pool, WM_LOST_OVERWRITTEN), 6);
	/* Live threads get theirs beyond the quarter. */
	for (unsigned i = 0; i < 6; i++) {
		held[i] = (struct writer){.pool = &w.pool};
		assert_true(writer_take(&held[i], true));
	}
	wm_pool_high(&w.pool, &small, &big);
	assert_int_equal(small, 6);
	assert_int_equal(wm_pool_lost_count(&w.pool, WM_LOST_OVERWRITTEN), 10);
	check(&w.pool);
	world_drop(&w);
}

/* --- death ------------------------------------------------------------------ */

static void test_reclaim(void **unused)
{
	struct world w;
	struct writer a = {.pool = &w.pool}, b = {.pool = &w.pool, .thread = 1};
	struct reader r = {.strict = true};
	uint64_t state;

	world_make(&w, 2, 2, WM_POOL_DISCARD);
	r.pool = w.pool;
	assert_true(writer_take(&a, false));
	assert_true(writer_emit(&a, 4));
	writer_put(&a, 7); /* dies here */
	state = wm_pool_state(&w.pool, a.index);
	assert_true(wm_pool_reclaim(&w.pool, a.index, state));
	assert_false(wm_pool_reclaim(&w.pool, a.index, state));
	check(&w.pool);
	reader_round(&r, false);
	assert_int_equal(r.recorded, 1);

	/* Taken by another meanwhile: what was seen before does not touch it. */
	assert_true(writer_take(&b, false));
	assert_int_equal(b.index, a.index);
	assert_false(wm_pool_reclaim(&w.pool, a.index, state));
	state = wm_pool_state(&w.pool, b.index);
	assert_true(wm_pool_reclaim(&w.pool, b.index, state)); /* without records */
	assert_int_equal(wm_state_of(wm_pool_state(&w.pool, b.index)), WM_CHUNK_FREE);
	assert_false(wm_pool_reclaim(&w.pool, 99, state));
	check(&w.pool);
	world_drop(&w);
}

/*
 * A take of a FULL chunk that dies after its state changed: `stage` of the
 * stores that follow were done. Whoever looks or cleans up, the two records it
 * held are lost once, and nothing is read out of it.
 */
static void take_cut_short(unsigned stage, bool reclaim)
{
	struct world w;
	struct writer a = {.pool = &w.pool};
	struct reader r = {.strict = true};
	struct wm_commit commit;
	struct wm_chunk *c;
	uint64_t state;

	world_make(&w, 1, 1, WM_POOL_OVERWRITE);
	r.pool = w.pool;
	assert_true(writer_emit(&a, 4));
	assert_true(writer_emit(&a, 4));
	writer_seal(&a);
	c = wm_pool_chunk(&w.pool, 1);
	state = WM_STATE_REUSED | wm_state_make(WM_CHUNK_OWNED, 2, 0);
	wm_pool_states(&w.pool)[1] = state;
	if (stage > 0)
		c->overwritten = 2ull << 40 | 2;
	if (stage > 1)
		c->committed = 0;
	if (stage > 2)
		c->generation = 2;

	assert_int_equal(wm_pool_committed(&w.pool, 1, state, &commit), 0);
	assert_int_equal(commit.count, 0);
	assert_int_equal(wm_pool_lost_count(&w.pool, WM_LOST_OVERWRITTEN), 2);
	check(&w.pool);
	if (reclaim) {
		assert_true(wm_pool_reclaim(&w.pool, 1, state));
		assert_int_equal(wm_state_of(wm_pool_state(&w.pool, 1)), WM_CHUNK_FREE);
		assert_true(writer_emit(&a, 4));
		writer_seal(&a);
	}
	reader_round(&r, true);
	assert_int_equal(r.recorded, reclaim);
	assert_int_equal(wm_pool_lost_count(&w.pool, WM_LOST_OVERWRITTEN), 2);
	check(&w.pool);
	world_drop(&w);
}

static void test_take_cut_short(void **unused)
{
	for (unsigned stage = 0; stage < 4; stage++) {
		take_cut_short(stage, false);
		take_cut_short(stage, true);
	}
}

/* A reader that holds an old look at a chunk never takes the new owner's records for it. */
static void test_stale(void **unused)
{
	struct world w;
	struct writer a = {.pool = &w.pool};
	struct wm_commit commit;
	uint64_t state;

	world_make(&w, 1, 1, WM_POOL_OVERWRITE);
	assert_true(writer_emit(&a, 4));
	state = wm_pool_state(&w.pool, 1);
	assert_int_equal(wm_pool_committed(&w.pool, 1, state, &commit), 0);
	assert_int_equal(commit.count, 1);
	assert_int_equal(commit.last_bytes, WM_CHUNK_HEADER_BYTES);
	assert_int_equal(commit.end_bytes, WM_CHUNK_HEADER_BYTES + 32);
	assert_true(wm_pool_still(&w.pool, 1, state));
	writer_seal(&a);
	assert_true(wm_pool_still(&w.pool, 1, state));
	assert_true(writer_emit(&a, 4));
	assert_false(wm_pool_still(&w.pool, 1, state));
	assert_int_equal(wm_pool_committed(&w.pool, 1, state, &commit), -ESTALE);
	world_drop(&w);
}

/* --- threads ------------------------------------------------------------------ */

struct crowd {
	struct writer writer;
	uint64_t seed;
	uint32_t running; /* w: the thread; the last thing it does */
	bool dies;        /* leaves its chunk OWNED and a record half written */
};

static void *crowd_member(void *data)
{
	struct crowd *c = data;
	struct writer *w = &c->writer;

	writer_take(w, true); /* none: the first event asks for a big one */
	while (w->sequence < WRITER_EVENTS) {
		uint64_t dice = next_random(&c->seed);
		uint32_t words = 2 + (uint32_t)(dice >> 32) % (RECORD_WORDS - 2);

		if (dice % 97 == 0) { /* ends, and another thread begins */
			writer_seal(w);
			writer_take(w, true);
		}
		if (w->pool->mode == WM_POOL_BLOCK && w->base && w->pos + words > w->end) {
			writer_seal(w);
			for (unsigned n = 0; n < 100 && !writer_take(w, false); n++)
				sched_yield();
		}
		writer_emit(w, words);
		if (dice % 61 == 0)
			sched_yield();
	}
	if (!c->dies)
		writer_seal(w);
	else if (w->base && w->pos + 5 <= w->end)
		writer_put(w, 5);
	wm_store_release(&c->running, 0);
	return NULL;
}

static void reclaim_all(struct wm_pool *p)
{
	for (uint32_t i = 0; i < wm_pool_nr_chunks(p); i++)
		wm_pool_reclaim(p, i, wm_pool_state(p, i));
}

static void run_crowd(uint32_t mode, bool consume, uint32_t nr_small, uint32_t nr_big)
{
	struct world w;
	struct reader r = {.strict = true, .consume = consume};
	struct crowd crowd[NR_WRITERS] = {0};
	pthread_t thread[NR_WRITERS];
	uint64_t emitted = 0, running;

	world_make(&w, nr_small, nr_big, mode);
	assert_int_equal(wm_pool_open(&r.pool, w.fd), 0);
	for (unsigned i = 0; i < NR_WRITERS; i++) {
		r.seen[i] = calloc(WRITER_EVENTS, 1);
		crowd[i] = (struct crowd){.writer = {.pool = &w.pool, .thread = i},
					  .seed = i * 77 + 13 + mode,
					  .running = 1,
					  .dies = i % 2};
		assert_int_equal(pthread_create(&thread[i], NULL, crowd_member, &crowd[i]), 0);
	}
	do {
		running = 0;
		for (unsigned i = 0; i < NR_WRITERS; i++)
			running += wm_load_acquire(&crowd[i].running);
		reader_round(&r, false);
		sched_yield();
	} while (running);
	for (unsigned i = 0; i < NR_WRITERS; i++)
		pthread_join(thread[i], NULL);
	check(&w.pool);
	reclaim_all(&w.pool);
	check(&w.pool);
	reader_round(&r, true);
	for (unsigned i = 0; i < NR_WRITERS; i++) {
		emitted += crowd[i].writer.sequence;
		free(r.seen[i]);
	}
	assert_int_equal(emitted, (uint64_t)NR_WRITERS * WRITER_EVENTS);
	assert_true(r.recorded > 0);
	if (emitted != r.recorded + lost_total(&w.pool))
		fail_msg("mode %u: %lu emitted, %lu recorded, %lu lost", mode, emitted, r.recorded,
			 lost_total(&w.pool));
	wm_pool_close(&r.pool);
	world_drop(&w);
}

static void test_crowd_discard(void **unused)
{
	run_crowd(WM_POOL_DISCARD, true, 4, 6);
	run_crowd(WM_POOL_DISCARD, true, 1, 1);
}

static void test_crowd_block(void **unused)
{
	run_crowd(WM_POOL_BLOCK, true, 4, 8);
}

static void test_crowd_overwrite(void **unused)
{
	run_crowd(WM_POOL_OVERWRITE, false, 8, 6);
	run_crowd(WM_POOL_OVERWRITE, true, 8, 6);
	run_crowd(WM_POOL_OVERWRITE, true, 1, 2);
}

/* --- hostile memory ------------------------------------------------------------- */

static void test_seals(void **unused)
{
	static const struct {
		int seals, expected;
	} table[] = {
	    {0, -EPERM},
	    {F_SEAL_SHRINK, -EPERM},
	    {F_SEAL_GROW, -EPERM},
	    {F_SEAL_SHRINK | F_SEAL_GROW, -EBADMSG}, /* empty header */
	    {F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE, -EPERM},
	};
	struct wm_pool p;
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	assert_int_equal(wm_pool_open(&p, fd), -EPERM);
	close(fd);
	assert_int_equal(wm_pool_open(&p, -1), -EBADF);
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		fd = memfd_create("pool_test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
		assert_int_equal(ftruncate(fd, 4096 * 4), 0);
		assert_int_equal(fcntl(fd, F_ADD_SEALS, table[i].seals), 0);
		assert_int_equal(wm_pool_open(&p, fd), table[i].expected);
		close(fd);
	}
	for (off_t bytes = 0; bytes <= 4095; bytes += 4095) {
		fd = memfd_create("pool_test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
		assert_int_equal(ftruncate(fd, bytes), 0);
		assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
		assert_int_equal(wm_pool_open(&p, fd), -EBADMSG);
		close(fd);
	}
}

/* Each 32-bit word of the header in turn, set to each of these: refused, or the same geometry. */
static void test_hostile_header(void **unused)
{
	static const uint32_t values[] = {
	    0,        1,        2,     3,     5,          64,         4095,       4096,    8192,
	    1u << 22, 1u << 23, 65536, 65537, 0x7fffffff, 0x80000000, 0xfffff000, ~0u - 1, ~0u};
	struct world w;
	struct writer a = {.pool = &w.pool};
	unsigned opened = 0, refused = 0;
	uint32_t *words;

	world_make(&w, 3, 5, WM_POOL_DISCARD);
	writer_take(&a, true);
	assert_true(writer_emit(&a, 5));
	words = (uint32_t *)w.pool.map;
	for (unsigned i = 0; i < sizeof(struct wm_pool_header) / 4; i++) {
		uint32_t good = words[i];

		for (unsigned v = 0; v < sizeof(values) / sizeof(values[0]); v++) {
			struct reader r = {0};

			words[i] = values[v];
			if (wm_pool_open(&r.pool, w.fd) == 0) {
				assert_int_equal(r.pool.nr_small, 3);
				assert_int_equal(r.pool.nr_big, 5);
				assert_int_equal(r.pool.bytes, w.pool.bytes);
				reader_round(&r, false);
				(void)lost_total(&r.pool);
				wm_pool_close(&r.pool);
				opened++;
			} else {
				refused++;
			}
		}
		words[i] = good;
	}
	/* 16 words of the header decide about the geometry; most values are wrong there. */
	assert_true(refused > 14 * 14);
	assert_true(opened > 60 * 18);
	world_drop(&w);
}

/* Every commit word in reach of a few flipped bits stays inside the chunk. */
static void test_hostile_commit(void **unused)
{
	struct world w;
	struct writer a = {.pool = &w.pool};
	uint64_t seed = 99, good;
	struct wm_commit c;

	world_make(&w, 1, 1, WM_POOL_DISCARD);
	writer_take(&a, false);
	writer_fill(&a);
	good = *a.base;
	for (unsigned n = 0; n < 100000; n++) {
		*a.base =
		    n < 64 ? good ^ 1ull << n : good ^ (next_random(&seed) & next_random(&seed));
		if (wm_pool_committed(&w.pool, 1, wm_pool_state(&w.pool, 1), &c) < 0)
			continue;
		assert_in_range(c.end_bytes, WM_CHUNK_HEADER_BYTES, WM_POOL_PAGE);
		assert_in_range(c.last_bytes, WM_CHUNK_HEADER_BYTES, c.end_bytes);
		assert_in_range(c.count, 0, (c.end_bytes - WM_CHUNK_HEADER_BYTES) / 8);
	}
	*a.base = 1; /* an end without a record */
	assert_int_equal(wm_pool_committed(&w.pool, 1, wm_pool_state(&w.pool, 1), &c), -EBADMSG);
	world_drop(&w);
}

struct scribbler {
	struct wm_pool pool;
	uint32_t stop;
};

static void *scribble(void *data)
{
	struct scribbler *s = data;
	uint64_t seed = 4711, *words = (uint64_t *)s->pool.map;

	while (!wm_load_relaxed(&s->stop)) {
		uint64_t dice = next_random(&seed), value = next_random(&seed);
		uint64_t at = dice % (s->pool.bytes / 8);

		/* Mostly small or plausible values, mostly where words decide. */
		if (dice >> 62)
			at = dice >> 40 & 1
				 ? WM_POOL_PAGE / 8 + dice % 8
				 : (s->pool.small_offset + (dice % 8) * WM_POOL_PAGE) / 8 +
				       (dice >> 32) % 8;
		if (dice >> 60 & 1)
			value &= 0xffff000001ff;
		wm_store_relaxed(&words[at], value);
	}
	return NULL;
}

/* A program gone mad under a reader, and a reader gone mad under a program. */
static void test_scribbling(void **unused)
{
	struct world w;
	struct scribbler s = {0};
	struct reader r = {.consume = true};
	struct writer a;
	pthread_t thread;

	for (uint32_t mode = 0; mode < WM_POOL_NR_MODES; mode++) {
		world_make(&w, 4, 4, mode);
		assert_int_equal(wm_pool_open(&r.pool, w.fd), 0);
		s = (struct scribbler){.pool = w.pool};
		assert_int_equal(pthread_create(&thread, NULL, scribble, &s), 0);
		for (unsigned n = 0; n < 4000; n++) {
			reader_round(&r, n % 8 == 0);
			(void)lost_total(&r.pool);
			a = (struct writer){.pool = &w.pool};
			if (writer_take(&a, n % 2)) {
				writer_put(&a, 5);
				writer_commit(&a, 5);
				writer_seal(&a);
			}
			reclaim_all(&w.pool);
		}
		wm_store_relaxed(&s.stop, 1);
		pthread_join(thread, NULL);
		wm_pool_close(&r.pool);
		world_drop(&w);
	}
}

static void test_names(void **unused)
{
	for (unsigned i = 0; i < WM_LOST_NR; i++) {
		assert_string_not_equal(wm_lost_name((enum wm_lost)i), "unknown");
		for (unsigned j = 0; j < i; j++)
			assert_string_not_equal(wm_lost_name((enum wm_lost)i),
						wm_lost_name((enum wm_lost)j));
	}
	assert_string_equal(wm_lost_name(WM_LOST_NR), "unknown");
}

/* The checker itself must be able to fail. */
static void test_check_fails(void **unused)
{
	struct world w;
	struct writer a = {.pool = &w.pool};
	uint64_t *state, good, word;
	uint32_t index;

	world_make(&w, 2, 2, WM_POOL_DISCARD);
	assert_true(writer_emit(&a, 5));
	writer_seal(&a);
	check(&w.pool);
	state = &wm_pool_states(&w.pool)[2];
	good = *state;
	const uint64_t wrong[] = {
	    good | 7,          good | 0x10,      good | WM_STATE_REUSED,
	    good | 5ull << 32, good ^ 1ull << 8, wm_state_make(WM_CHUNK_OWNED, 1, 1),
	};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		*state = wrong[i];
		assert_non_null(wm_pool_check(&w.pool, &index));
		assert_int_equal(index, 2);
	}
	*state = good;
	word = a.pool->map[w.pool.big_offset];
	w.pool.map[w.pool.big_offset] = 1; /* end before the first record */
	assert_non_null(wm_pool_check(&w.pool, &index));
	w.pool.map[w.pool.big_offset] = (unsigned char)word;
	wm_pool_states(&w.pool)[1] = wm_state_make(WM_CHUNK_OWNED, 1, 0);
	assert_non_null(wm_pool_check(&w.pool, &index));
	wm_pool_states(&w.pool)[1] = 0;
	check(&w.pool);
	wm_pool_header(&w.pool)->nr_big = 1;
	assert_non_null(wm_pool_check(&w.pool, &index));
	world_drop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_geometry),
	    cmocka_unit_test(test_init_refuses),
	    cmocka_unit_test(test_walk),
	    cmocka_unit_test(test_small_before_high),
	    cmocka_unit_test(test_exhaustion),
	    cmocka_unit_test(test_generation_wraps),
	    cmocka_unit_test(test_overwrite_order),
	    cmocka_unit_test(test_overwrite_newer),
	    cmocka_unit_test(test_overwrite_out_of_turn),
	    cmocka_unit_test(test_overwrite_all_owned),
	    cmocka_unit_test(test_overwrite_small),
	    cmocka_unit_test(test_reclaim),
	    cmocka_unit_test(test_take_cut_short),
	    cmocka_unit_test(test_stale),
	    cmocka_unit_test(test_crowd_discard),
	    cmocka_unit_test(test_crowd_block),
	    cmocka_unit_test(test_crowd_overwrite),
	    cmocka_unit_test(test_seals),
	    cmocka_unit_test(test_hostile_header),
	    cmocka_unit_test(test_hostile_commit),
	    cmocka_unit_test(test_scribbling),
	    cmocka_unit_test(test_names),
	    cmocka_unit_test(test_check_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
