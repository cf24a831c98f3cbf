/* SPDX-License-Identifier: MIT */
/*
 * pump_trace_test.c - writes records from pools to a trace directory and reads them back: the
 * reader finds every record that was emitted and not lost.
 */
#include "collect/pump_program_test_kit.h"
#include "read/ctf/own_read_test_kit.h"

#define NR_PROGRAMS 3
#define NR_THREADS  4
#define STEPS       1500

struct scene {
	struct wm_trace_writer *writer;
	struct wm_pump *pump;
	struct program g[NR_PROGRAMS];
	struct wm_producer *producer[NR_PROGRAMS];
	struct wm_pump_source *source[NR_PROGRAMS];
	uint64_t seed;
};

static void scene_begin(struct scene *s, uint32_t mode)
{
	const struct wm_pump_options o = {.clock_kind = WM_CLOCK_MONOTONIC};

	memset(s, 0, sizeof(*s));
	s->seed = 20261120 + mode;
	s->writer = kit_create(WM_TRACE_CTF1);
	assert_int_equal(wm_pump_create(&o, &s->pump), 0);
	for (uint32_t i = 0; i < NR_PROGRAMS; i++) {
		struct wm_pool pool;

		program_make(&s->g[i], mode, NR_THREADS, 4, NR_THREADS);
		s->g[i].clock = WM_CLOCK_MONOTONIC;
		s->producer[i] = kit_producer(s->writer, 500 + i);
		assert_int_equal(
		    kit_event(s->producer[i], EVENT_ID, 0, "step", "words:u4;tid:u4;seq:u8"), 0);
		assert_int_equal(wm_pool_open(&pool, s->g[i].fd), 0);
		assert_int_equal(
		    wm_pump_add(s->pump, &pool, s->producer[i], 500 + i, &s->source[i]), 0);
	}
}

static void scene_step(struct scene *s)
{
	struct program *g = &s->g[next_random(&s->seed) % NR_PROGRAMS];
	struct thread *t = &g->thread[next_random(&s->seed) % NR_THREADS];
	uint64_t what = next_random(&s->seed) % 100;

	if (what < 80) {
		for (uint64_t n = next_random(&s->seed) % 50; n; n--)
			thread_emit(g, t, 3);
	} else if (what < 82) {
		thread_seal(g, t);
	} else if (what < 97) {
		assert_true(wm_pump_round(s->pump, what & 1) >= 0);
	} else {
		assert_true(wm_pump_snapshot(s->pump, NULL, NULL) >= 0);
	}
}

static void scene_end(struct scene *s, struct wm_pump_totals *ret)
{
	struct wm_trace_totals written;

	for (int i = 0; i < NR_PROGRAMS; i++) {
		assert_int_equal(wm_pump_finish(s->pump, s->source[i], NULL), 0);
		wm_producer_remove(s->producer[i], wm_clock_read(WM_CLOCK_MONOTONIC));
	}
	wm_pump_totals(s->pump, ret);
	wm_writer_totals(s->writer, &written);
	assert_int_equal(written.events, ret->events);
	assert_int_equal(written.packets, ret->packets);
	assert_int_equal(wm_writer_close(s->writer), 0);
	wm_pump_destroy(s->pump);
}

/*
 * Reads the trace: every record occurs once, in time order, and within a thread in order of
 * sequence number.
 */
static uint64_t read_back(void)
{
	uint64_t next[NR_PROGRAMS][NR_THREADS] = {{0}}, n = 0, time = 0;
	const struct wm_event *e;
	struct wm_trace *t = kit_open();
	struct wm_merge *m = kit_merge(t);
	int more;

	while ((more = kit_next(m, &e)) > 0) {
		uint64_t seq = kit_field(e, "seq")->u;
		uint32_t tid = (uint32_t)kit_field(e, "tid")->u;

		assert_int_equal(e->tid, tid);
		assert_true(e->pid >= 500 && e->pid < 500 + NR_PROGRAMS);
		assert_true(tid >= 100 && tid < 100 + NR_THREADS);
		assert_true(seq >= next[e->pid - 500][tid - 100]);
		next[e->pid - 500][tid - 100] = seq + 1;
		assert_true((uint64_t)e->ns >= time);
		time = (uint64_t)e->ns;
		n++;
	}
	assert_int_equal(more, 0);
	assert_int_equal(t->nr_faults, 0);
	wm_merge_destroy(m);
	wm_trace_close(t);
	return n;
}

static void check_lost(const struct wm_pump_totals *totals)
{
	struct wm_trace *t = kit_open();

	for (int i = 0; i < WM_LOST_NR; i++)
		assert_int_equal(kit_lost(t, wm_lost_name((enum wm_lost)i)), totals->lost[i]);
	assert_int_equal(kit_lost(t, WM_CAUSE_UNKNOWN), 0);
	wm_trace_close(t);
}

static void there_and_back(uint32_t mode)
{
	struct wm_pump_totals t;
	uint64_t emitted = 0;
	struct scene s;

	scene_begin(&s, mode);
	for (int i = 0; i < STEPS; i++)
		scene_step(&s);
	scene_end(&s, &t);
	for (int i = 0; i < NR_PROGRAMS; i++) {
		emitted += program_emitted(&s.g[i]);
		program_free(&s.g[i]);
	}
	assert_int_equal(emitted, t.events + lost_sum(t.lost));
	assert_true(t.events > 10000);
	assert_int_equal(read_back(), t.events);
	check_lost(&t);
}

static void test_discard(void **state)
{
	there_and_back(WM_POOL_DISCARD);
}

static void test_overwrite(void **state)
{
	there_and_back(WM_POOL_OVERWRITE);
}

static void test_block(void **state)
{
	there_and_back(WM_POOL_BLOCK);
}

static void test_referee(void **state)
{
	struct wm_pump_totals t;
	struct scene s;
	char *out, *errors = NULL;

	if (!kit_has_babeltrace())
		skip();
	scene_begin(&s, WM_POOL_DISCARD);
	for (int i = 0; i < 200; i++)
		scene_step(&s);
	scene_end(&s, &t);
	for (int i = 0; i < NR_PROGRAMS; i++)
		program_free(&s.g[i]);
	out = kit_babeltrace("", &errors);
	if (!lost_sum(t.lost))
		/* babeltrace2 prints nothing when the trace is valid. */
		assert_string_equal(errors, "");
	free(errors);
	assert_true(kit_lines(out) >= t.events);
	free(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_discard, kit_setup, kit_teardown),
	    cmocka_unit_test_setup_teardown(test_overwrite, kit_setup, kit_teardown),
	    cmocka_unit_test_setup_teardown(test_block, kit_setup, kit_teardown),
	    cmocka_unit_test_setup_teardown(test_referee, kit_setup, kit_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
