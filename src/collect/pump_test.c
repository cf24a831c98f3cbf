/* SPDX-License-Identifier: MIT */
/*
 * pump_test.c - runs rounds of the pump with programs that run, die and fail: no record is written
 * twice, no records are mixed up, and the totals are exact.
 */
#include "collect/pump_world_test_kit.h"

#include <signal.h>
#include <sys/wait.h>

/* --- thousands of random steps ------------------------------------------------ */

static void random_step(struct program *g, struct wm_pump *pump, uint64_t *seed)
{
	struct thread *t = &g->thread[next_random(seed) % g->nr_threads];
	uint64_t what = next_random(seed) % 100;
	uint64_t n = next_random(seed) % 40;

	if (what < 70) {
		while (n--)
			thread_emit(g, t, 3 + (uint32_t)(next_random(seed) % (RECORD_WORDS - 2)));
	} else if (what < 75) {
		thread_seal(g, t);
	} else if (what < 80) { /* the thread dies, and a new one starts */
		if (t->chunk >= 0 && next_random(seed) % 2)
			assert_true(wm_pool_reclaim(&g->pool, (uint32_t)t->chunk,
						    wm_pool_state(&g->pool, (uint32_t)t->chunk)));
		else
			thread_seal(g, t);
		t->chunk = -1;
		t->had_small = false;
	} else if (what < 90) {
		assert_true(wm_pump_round(pump, false) >= 0);
	} else if (what < 96) {
		assert_true(wm_pump_round(pump, true) >= 0);
	} else {
		assert_true(wm_pump_snapshot(pump, NULL, NULL) >= 0);
	}
	world_clock += next_random(seed) % CLOCK_ADVANCE;
}

static void check_account(const struct program *g, const struct wm_pump *pump,
			  const struct wm_producer *producer)
{
	struct wm_pump_totals t;

	wm_pump_totals(pump, &t);
	assert_int_equal(t.events, producer->events);
	assert_int_equal(t.packets, producer->packets);
	assert_int_equal(t.clamped, 0);
	assert_int_equal(t.quarantined, 0);
	assert_int_equal(program_emitted(g), t.events + lost_sum(t.lost));
	for (int i = 0; i < WM_LOST_NR; i++)
		if (i != WM_LOST_DISK)
			assert_int_equal(producer->lost[i], t.lost[i]);
}

static void random_life(uint32_t mode, uint64_t seed)
{
	struct wm_producer producer = {0};
	struct wm_pump *pump = pump_make(NULL, NULL);
	struct wm_pump_source *s;
	struct program g;

	program_make(&g, mode, 1 + seed % 6, 1 + seed % 9, 1 + seed % 5);
	s = program_join(&g, pump, &producer);
	for (int i = 0; i < 3000; i++)
		random_step(&g, pump, &seed);
	/* The program has ended, so its OWNED chunks are final. */
	assert_int_equal(wm_pump_finish(pump, s, NULL), 0);
	check_account(&g, pump, &producer);
	assert_true(producer.events > 1000);
	wm_pump_destroy(pump);
	program_free(&g);
}

static void test_random(void **state)
{
	for (uint64_t seed = 1; seed <= 12; seed++)
		for (uint32_t mode = 0; mode < WM_POOL_NR_MODES; mode++)
			random_life(mode, seed * 0x9e3779b97f4a7c15ull);
}

/* --- many programs, one pump ---------------------------------------------------- */

static void test_many_programs(void **state)
{
	struct wm_producer producer[20];
	struct wm_pump *pump = pump_make(NULL, NULL);
	struct wm_pump_source *s[20];
	struct program g[20];
	struct wm_pump_totals t;
	uint64_t seed = 77, emitted = 0;

	memset(producer, 0, sizeof(producer));
	for (int i = 0; i < 20; i++) {
		program_make(&g[i], WM_POOL_DISCARD, 2, 2, 3);
		s[i] = program_join(&g[i], pump, &producer[i]);
	}
	for (int step = 0; step < 4000; step++) {
		int i = (int)(next_random(&seed) % 20);

		random_step(&g[i], pump, &seed);
		if (next_random(&seed) % 50)
			continue;
		assert_int_equal(wm_pump_finish(pump, s[i], NULL), 0);
		assert_int_equal(program_emitted(&g[i]),
				 producer[i].events + lost_sum(producer[i].lost));
		emitted += program_emitted(&g[i]);
		program_free(&g[i]);
		memset(&producer[i], 0, sizeof(producer[i]));
		program_make(&g[i], WM_POOL_DISCARD, 2, 2, 3);
		s[i] = program_join(&g[i], pump, &producer[i]);
	}
	for (int i = 0; i < 20; i++) {
		assert_int_equal(wm_pump_finish(pump, s[i], NULL), 0);
		emitted += program_emitted(&g[i]);
		program_free(&g[i]);
	}
	wm_pump_totals(pump, &t);
	assert_int_equal(emitted, t.events + lost_sum(t.lost));
	wm_pump_destroy(pump);
}

/* --- order of the round ------------------------------------------------------------ */

struct order {
	struct wm_pump *pump;
	struct wm_pump_source *source;
	struct wm_producer *producer;
	struct program *late;
	uint64_t packets_then;
	int calls;
};

static void in_between(void *data)
{
	struct order *o = data;

	o->calls++;
	assert_int_equal(o->producer->packets, o->packets_then);
	assert_int_equal(wm_pump_round(o->pump, true), -EBUSY);
	assert_int_equal(wm_pump_finish(o->pump, o->source, NULL), -EBUSY);
	assert_int_equal(wm_pump_snapshot(o->pump, NULL, NULL), -EBUSY);
	if (o->calls == 1) /* a process joins while sockets are drained */
		(void)program_join(o->late, o->pump, o->producer);
}

static void test_order(void **state)
{
	struct wm_producer producer = {0};
	struct order o = {.producer = &producer};
	struct program g, late;

	o.pump = pump_make(in_between, &o);
	program_make(&g, WM_POOL_DISCARD, 2, 2, 2);
	program_make(&late, WM_POOL_DISCARD, 2, 2, 2);
	o.late = &late;
	o.source = program_join(&g, o.pump, &producer);
	assert_int_equal(wm_pump_round(o.pump, true), 0);
	/* There was nothing to write, so before_write was not called. */
	assert_int_equal(o.calls, 0);
	thread_emit(&g, &g.thread[0], 3);
	thread_emit(&g, &g.thread[1], 3);
	assert_int_equal(wm_pump_round(o.pump, false), 0); /* the chunk is not FULL yet */
	assert_int_equal(wm_pump_round(o.pump, true), 2);
	assert_int_equal(o.calls, 1);
	o.packets_then = 2;
	late.thread[0].tid = 103;
	thread_emit(&late, &late.thread[0], 3);
	assert_int_equal(wm_pump_round(o.pump, true), 1);
	assert_int_equal(wm_pump_round(o.pump, true), 0);
	wm_pump_destroy(o.pump);
	assert_int_equal(wm_load_relaxed(&wm_pool_header(&g.pool)->closing), 1);
	program_free(&g);
	program_free(&late);
}

static void test_block_mode_beats(void **state)
{
	struct wm_producer producer = {0};
	struct wm_pump *pump = pump_make(NULL, NULL);
	struct program g;
	struct wm_pump_source *s;

	program_make(&g, WM_POOL_BLOCK, 1, 1, 1);
	s = program_join(&g, pump, &producer);
	for (uint32_t i = 1; i < 4; i++) {
		assert_int_equal(wm_pump_round(pump, false), 0);
		assert_int_equal(wm_load_relaxed(&wm_pool_header(&g.pool)->reader_alive), i);
	}
	assert_int_equal(wm_pump_finish(pump, s, NULL), 0);
	assert_int_equal(wm_load_relaxed(&wm_pool_header(&g.pool)->closing), 1);
	wm_pump_destroy(pump);
	program_free(&g);
}

/* --- losses ---------------------------------------------------------------------- */

static void test_lost_causes(void **state)
{
	struct wm_producer producer = {0};
	struct wm_pump *pump = pump_make(NULL, NULL);
	struct wm_pump_totals t;
	struct program g;
	struct wm_pump_source *s;

	program_make(&g, WM_POOL_DISCARD, 1, 1, 1);
	s = program_join(&g, pump, &producer);
	for (int i = 0; i < WM_LOST_NR; i++)
		wm_pool_lost(&g.pool, (enum wm_lost)i, 10u + (unsigned)i);
	assert_int_equal(wm_pump_round(pump, false), 0);
	for (int i = 0; i < WM_LOST_NR; i++) /* only the pump counts the causes disk and net */
		assert_int_equal(producer.lost[i], i < WM_LOST_DISK ? 10 + i : 0);
	wm_pool_lost(&g.pool, WM_LOST_NESTED, 5);
	thread_emit(&g, &g.thread[0], 3);
	assert_int_equal(wm_pump_round(pump, true), 1);
	assert_int_equal(producer.lost[WM_LOST_NESTED], 10 + WM_LOST_NESTED + 5);
	assert_int_equal(producer.lost_in_packets, 6 * 10 + 15 + 5);
	wm_pool_lost(&g.pool, WM_LOST_TOO_BIG, 1);
	assert_int_equal(wm_pump_finish(pump, s, NULL),
			 0); /* includes losses after the last packet */
	wm_pump_totals(pump, &t);
	assert_int_equal(producer.lost[WM_LOST_TOO_BIG], 10 + WM_LOST_TOO_BIG + 1);
	assert_int_equal(lost_sum(t.lost), 6 * 10 + 15 + 6);
	wm_pump_destroy(pump);
	program_free(&g);
}

static uint32_t chunks_in(const struct program *g, enum wm_chunk_state state)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < wm_pool_nr_chunks(&g->pool); i++)
		n += wm_pool_state_of(wm_pool_state(&g->pool, i)) == state;
	return n;
}

static void failing_writes(int fail, enum wm_lost cause, bool pump_tells)
{
	struct wm_producer producer = {.fail = fail};
	struct wm_pump *pump = pump_make(NULL, NULL);
	struct wm_pump_totals t;
	struct program g;
	struct wm_pump_source *s;

	program_make(&g, WM_POOL_DISCARD, 1, 4, 1);
	s = program_join(&g, pump, &producer);
	for (int i = 0; i < 600; i++) /* a chunk has room for 170 of these */
		thread_emit(&g, &g.thread[0], 3);
	assert_int_equal(chunks_in(&g, WM_CHUNK_FULL), 3);
	producer.nr_fail = 2;
	assert_int_equal(wm_pump_round(pump, false), pump_tells ? 3 : fail);
	/* The chunks were released although the write failed. */
	assert_int_equal(chunks_in(&g, WM_CHUNK_FULL), 0);
	assert_true(producer.failed > 300);
	assert_int_equal(wm_pump_finish(pump, s, NULL), 0);
	wm_pump_totals(pump, &t);
	assert_int_equal(t.error, pump_tells ? 0 : fail);
	assert_int_equal(t.lost[cause], producer.failed);
	assert_int_equal(lost_sum(t.lost), producer.failed);
	assert_int_equal(t.events + producer.failed, 600);
	assert_int_equal(producer.lost[cause], pump_tells ? producer.failed : 0);
	assert_int_equal(producer.lost_in_packets, producer.failed);
	wm_pump_destroy(pump);
	program_free(&g);
}

static void test_failing_writes(void **state)
{
	failing_writes(-ENOSPC, WM_LOST_DISK, false);
	failing_writes(-EIO, WM_LOST_DISK, false);
	failing_writes(-EBADMSG, WM_LOST_TORN, true);
}

/* --- times -------------------------------------------------------------------------- */

static void test_idle_for_days(void **state)
{
	struct wm_producer producer = {0};
	struct wm_pump *pump = pump_make(NULL, NULL);
	struct program g;
	struct wm_pump_source *s;

	program_make(&g, WM_POOL_DISCARD, 1, 1, 1);
	s = program_join(&g, pump, &producer);
	for (int i = 0; i < 5; i++) { /* each event is sealed at once */
		thread_emit(&g, &g.thread[0], 4);
		assert_int_equal(wm_pump_round(pump, true), 1);
		world_clock += ((uint64_t)1 << 48) + 12345;
	}
	/* The pump was stopped: these events make one part but three packets. */
	for (int i = 0; i < 3; i++) {
		thread_emit(&g, &g.thread[0], 3);
		thread_emit(&g, &g.thread[0], 5);
		world_clock += (uint64_t)1 << 46;
	}
	assert_int_equal(wm_pump_round(pump, true), 3);
	assert_int_equal(wm_pump_finish(pump, s, NULL), 0);
	check_account(&g, pump, &producer);
	assert_int_equal(producer.packets, 8);
	wm_pump_destroy(pump);
	program_free(&g);
}

static void test_old_flight_recorder(void **state)
{
	struct wm_producer producer = {0};
	struct wm_pump *pump = pump_make(NULL, NULL);
	struct program g;

	program_make(&g, WM_POOL_OVERWRITE, 1, 1, 1);
	(void)program_join(&g, pump, &producer);
	for (int i = 0; i < 3; i++) {
		thread_emit(&g, &g.thread[0], 3);
		world_clock += (uint64_t)1 << 45;
	}
	world_clock += (uint64_t)1 << 50; /* A snapshot taken days later has the right times. */
	assert_int_equal(wm_pump_snapshot(pump, NULL, NULL), 2);
	assert_int_equal(producer.events, 3);
	wm_pump_destroy(pump);
	program_free(&g);
}

static void test_times_that_cannot_be(void **state)
{
	struct wm_producer producer = {.hostile = true};
	struct wm_pump *pump = pump_make(NULL, NULL);
	struct wm_pump_totals t;
	struct program g;
	uint64_t now = world_clock;

	program_make(&g, WM_POOL_DISCARD, 1, 1, 1);
	(void)program_join(&g, pump, &producer);
	thread_emit_at(&g, &g.thread[0], 3, now);
	assert_int_equal(wm_pump_round(pump, true), 1);
	wm_pump_totals(pump, &t);
	assert_int_equal(t.clamped, 0);
	thread_emit_at(&g, &g.thread[0], 3, now - 100000); /* earlier than the previous record */
	assert_int_equal(wm_pump_round(pump, true), 1);
	thread_emit_at(&g, &g.thread[0], 3,
		       now + 500000000); /* in the future, so it is treated as a time in the past */
	assert_int_equal(wm_pump_round(pump, true), 1);
	wm_pump_totals(pump, &t);
	assert_int_equal(t.clamped, 2);
	assert_int_equal(t.events, 3);
	wm_pump_destroy(pump);
	program_free(&g);
}

/* --- kill -9 ------------------------------------------------------------------------- */

struct tally {
	uint64_t begun, done; /* the child counts here before and after each event */
};

static void emit_until_killed(struct program *g, struct tally *tally)
{
	for (uint64_t n = 0;; n++) {
		struct thread *t = &g->thread[n / 7 % g->nr_threads];

		wm_store_release(&tally->begun, n + 1);
		thread_emit(g, t, 3 + (uint32_t)(n % 9));
		wm_store_release(&tally->done, n + 1);
		if (n % 97 == 0)
			thread_seal(g, t);
	}
}

static void kill_one(uint32_t mode, uint64_t *seed)
{
	struct wm_producer producer = {.concurrent = true};
	struct wm_pump *pump = pump_make(NULL, NULL);
	struct tally *tally =
	    mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct wm_pump_totals t;
	struct wm_pump_source *s;
	struct program g;
	uint64_t known;
	pid_t pid;

	program_make(&g, mode, 2, 3, 3);
	s = program_join(&g, pump, &producer);
	pid = fork();
	if (pid == 0)
		emit_until_killed(&g, tally);
	world_clock += (uint64_t)1 << 40; /* keeps this clock ahead of the child's own clock */
	for (uint64_t n = next_random(seed) % 8; n; n--) {
		assert_true(wm_pump_round(pump, n & 1) >= 0);
		if (n == 3)
			assert_true(wm_pump_snapshot(pump, NULL, NULL) >= 0);
		usleep((useconds_t)(next_random(seed) % 300));
	}
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(wm_pump_finish(pump, s, NULL), 0);
	wm_pump_totals(pump, &t);
	known = t.events + lost_sum(t.lost);
	assert_true(known >= tally->done);
	assert_true(known <= tally->begun);
	assert_int_equal(t.quarantined + t.clamped, 0);
	assert_int_equal(t.events, producer.events);
	wm_pump_destroy(pump);
	program_free(&g);
	munmap(tally, 4096);
}

static void test_kill(void **state)
{
	uint64_t seed = 4711;

	for (int i = 0; i < 150; i++)
		kill_one(i % WM_POOL_NR_MODES, &seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_random),
	    cmocka_unit_test(test_many_programs),
	    cmocka_unit_test(test_order),
	    cmocka_unit_test(test_block_mode_beats),
	    cmocka_unit_test(test_lost_causes),
	    cmocka_unit_test(test_failing_writes),
	    cmocka_unit_test(test_idle_for_days),
	    cmocka_unit_test(test_old_flight_recorder),
	    cmocka_unit_test(test_times_that_cannot_be),
	    cmocka_unit_test(test_kill),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
