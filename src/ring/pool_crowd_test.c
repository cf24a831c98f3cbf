// SPDX-License-Identifier: MIT
/*
 * pool_crowd_test.c - the pool with several threads and a reader in every mode, and with memory
 * that another thread scribbles over. Clean under TSan.
 */
#include "ring/pool_world_test_kit.h"

/* --- threads ------------------------------------------------------------------ */

struct crowd {
	struct writer writer;
	uint64_t seed;
	uint32_t running; /* w: the thread; its last store */
	bool dies;        /* the thread ends with its chunk OWNED and a half-written record */
};

static void *crowd_member(void *data)
{
	struct crowd *c = data;
	struct writer *w = &c->writer;

	writer_take(w, true); /* no small chunk is left: the first event takes a big chunk */
	while (w->sequence < WRITER_EVENTS) {
		uint64_t dice = next_random(&c->seed);
		uint32_t words = 2 + (uint32_t)(dice >> 32) % (RECORD_WORDS - 2);

		if (dice % 97 == 0) { /* the thread ends and another begins */
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
	    /* The seals are sufficient, but the header is empty. */
	    {F_SEAL_SHRINK | F_SEAL_GROW, -EBADMSG},
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

/*
 * Sets each 32-bit word of the header to each of these values. The pool must be refused or keep its
 * geometry.
 */
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
	/* 16 words of the header determine the geometry; most of the values are invalid there */
	assert_true(refused > 14 * 14);
	assert_true(opened > 60 * 18);
	world_drop(&w);
}

/* A commit word with a few flipped bits still describes bytes inside the chunk, or is refused. */
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
	*a.base = 1; /* a commit word with an end but no record */
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

		/* Writes mostly small or plausible values, mostly to words that have a meaning. */
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

/* A reader works while the program overwrites the memory with random values, and vice versa. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_crowd_discard),   cmocka_unit_test(test_crowd_block),
	    cmocka_unit_test(test_crowd_overwrite), cmocka_unit_test(test_seals),
	    cmocka_unit_test(test_hostile_header),  cmocka_unit_test(test_hostile_commit),
	    cmocka_unit_test(test_scribbling),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
