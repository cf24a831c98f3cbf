/* SPDX-License-Identifier: MIT */
/*
 * snapshot_test.c - flight recorders: tests the contents of a first and a second snapshot, and
 * snapshots taken while threads overwrite the buffers at full speed.
 */
#include "collect/pump_world_test_kit.h"

#include <pthread.h>

static struct wm_producer *give(struct wm_pump_source *s, void *data)
{
	assert_non_null(s);
	return data;
}

static void emit_many(struct program *g, int nr_threads, int n)
{
	for (int i = 0; i < n; i++)
		thread_emit(g, &g->thread[i % nr_threads], 3);
}

static void test_own_writes_once(void **state)
{
	struct wm_producer producer = {0};
	struct wm_pump *pump = pump_make(NULL, NULL);
	struct wm_pump_totals t;
	struct wm_pump_source *s;
	struct program g;

	program_make(&g, WM_POOL_OVERWRITE, 2, 3, 1);
	s = program_join(&g, pump, &producer);
	emit_many(&g, 1, 100);
	assert_int_equal(wm_pump_round(pump, true), 0); /* overwrite mode takes no part in rounds */
	assert_int_equal(wm_pump_snapshot(pump, NULL, NULL), 1);
	assert_int_equal(producer.events, 100);
	assert_int_equal(wm_pump_snapshot(pump, NULL, NULL), 0);
	emit_many(&g, 1, 10);
	assert_int_equal(wm_pump_snapshot(pump, NULL, NULL), 1);
	assert_int_equal(producer.events, 110);
	emit_many(&g, 1, 5000); /* overwrites records that are already written, so none is lost */
	assert_int_equal(wm_pump_finish(pump, s, NULL), 0);
	wm_pump_totals(pump, &t);
	assert_int_equal(t.events, producer.events);
	assert_int_equal(t.events + t.lost[WM_LOST_OVERWRITTEN], 5110);
	assert_true(t.lost[WM_LOST_OVERWRITTEN] > 4000);
	assert_int_equal(lost_sum(t.lost), t.lost[WM_LOST_OVERWRITTEN]);
	wm_pump_destroy(pump);
	program_free(&g);
}

static void test_guest_gets_all(void **state)
{
	struct wm_producer own = {0}, guest = {0}, again = {0};
	struct wm_pump *pump = pump_make(NULL, NULL);
	struct wm_pump_totals t;
	struct wm_pump_source *s;
	struct program g;

	program_make(&g, WM_POOL_OVERWRITE, 2, 3, 2);
	s = program_join(&g, pump, &own);
	emit_many(&g, 2, 3000);
	assert_int_equal(wm_pump_snapshot(pump, give, &guest), 5);
	assert_int_equal(guest.next[0], 1500); /* the snapshot has the newest records */
	assert_int_equal(guest.next[1], 1500);
	assert_int_equal(guest.events + guest.lost[WM_LOST_OVERWRITTEN], 3000);
	assert_int_equal(guest.lost_in_packets, guest.lost[WM_LOST_OVERWRITTEN]);
	/* Nothing is written without a producer. */
	assert_int_equal(wm_pump_snapshot(pump, give, NULL), 0);
	assert_int_equal(wm_pump_snapshot(pump, give, &again), 5);
	assert_int_equal(again.events, guest.events);
	wm_pump_totals(pump, &t);
	assert_int_equal(t.events, 0);
	assert_int_equal(own.events, 0);
	assert_int_equal(wm_pump_finish(pump, s, NULL),
			 0); /* finishing also writes all of it, to the source's producer */
	assert_int_equal(own.events, guest.events);
	assert_int_equal(own.lost[WM_LOST_OVERWRITTEN], guest.lost[WM_LOST_OVERWRITTEN]);
	wm_pump_destroy(pump);
	program_free(&g);
}

static void test_nobody_wanted_it(void **state)
{
	struct wm_pump *pump = pump_make(NULL, NULL);
	struct wm_pump_totals t;
	struct wm_pump_source *s;
	struct wm_pool pool;
	struct program g;

	program_make(&g, WM_POOL_OVERWRITE, 2, 3, 2);
	s = program_join(&g, pump, NULL);
	emit_many(&g, 2, 3000);
	assert_int_equal(wm_pump_snapshot(pump, NULL, NULL), 0);
	assert_int_equal(wm_pump_finish(pump, s, NULL), 0);
	wm_pump_totals(pump, &t);
	assert_int_equal(t.events, 0);
	assert_int_equal(t.lost[WM_LOST_OVERWRITTEN], 3000);
	program_free(&g);

	program_make(&g, WM_POOL_DISCARD, 2, 3, 2);
	assert_int_equal(wm_pool_open(&pool, g.fd), 0);
	assert_int_equal(wm_pump_add(pump, &pool, NULL, 1, &s), -EINVAL);
	wm_pool_close(&pool);
	wm_pump_destroy(pump);
	program_free(&g);
}

/* --- at full speed ---------------------------------------------------------------- */

#define EVENTS 500000u

struct emitter {
	struct program *g;
	struct thread *t;
	uint32_t *running;
};

static void *emit_fast(void *data)
{
	struct emitter *e = data;

	for (uint32_t i = 0; i < EVENTS; i++)
		thread_emit(e->g, e->t, 3 + i % (RECORD_WORDS - 2));
	wm_add_release(e->running, -1);
	return NULL;
}

/*
 * Checks every packet record by record: it comes from one thread and one chunk, and no record in
 * between is missing.
 */
static void at_full_speed(uint32_t nr_big)
{
	struct wm_producer own = {.concurrent = true};
	struct wm_pump *pump = pump_make(NULL, NULL);
	struct wm_pump_totals t;
	struct wm_pump_source *s;
	struct emitter e[2];
	struct program g;
	pthread_t thread[2];
	uint32_t running = 2;

	program_make(&g, WM_POOL_OVERWRITE, 2, nr_big, 2);
	s = program_join(&g, pump, &own);
	for (int i = 0; i < 2; i++) {
		e[i] = (struct emitter){&g, &g.thread[i], &running};
		assert_int_equal(pthread_create(&thread[i], NULL, emit_fast, &e[i]), 0);
	}
	for (uint32_t n = 0; wm_load_acquire(&running); n++) {
		struct wm_producer guest = {.concurrent = true};

		if (n % 2)
			assert_true(wm_pump_snapshot(pump, NULL, NULL) >= 0);
		else
			assert_true(wm_pump_snapshot(pump, give, &guest) >= 0);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(wm_pump_finish(pump, s, NULL), 0);
	wm_pump_totals(pump, &t);
	assert_true(own.next[0] <= EVENTS && own.next[1] <= EVENTS);
	assert_int_equal(t.events, own.events);
	assert_int_equal(t.events + lost_sum(t.lost), 2 * EVENTS);
	assert_int_equal(t.quarantined + t.clamped, 0);
	wm_pump_destroy(pump);
	program_free(&g);
}

static void test_full_speed(void **state)
{
	at_full_speed(2);
	at_full_speed(5);
	at_full_speed(64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_own_writes_once),
	    cmocka_unit_test(test_guest_gets_all),
	    cmocka_unit_test(test_nobody_wanted_it),
	    cmocka_unit_test(test_full_speed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
