/* SPDX-License-Identifier: MIT */
/*
 * program_counts_test.c - tests counting with a fake process that writes counters: the sums while
 * the process runs, over several chunks, and after its end; also ids that it did not announce, a
 * runtime that is too old, and corrupt shared memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/atomic.h"
#include "base/process.h"
#include "control/control_test_kit.h"
#include "control/counting/program_counts.h"
#include "ring/counts.h"

#define TID 4711u

struct world {
	struct wm_loop *loop;
	struct wm_tally *tally;
	struct fake fake;
	char refused[200];
	unsigned nr_joined;
};

static void on_joined(pid_t pid, void *data)
{
	struct world *w = data;

	assert_int_equal(pid, getpid());
	w->nr_joined++;
}

static void on_refused(pid_t pid, const char *why, void *data)
{
	struct world *w = data;

	(void)pid;
	(void)snprintf(w->refused, sizeof(w->refused), "%s", why);
}

static void begin(struct world *w, uint32_t hello_flags)
{
	const struct wm_rules_options rules = wm_tally_rules_options();
	const struct wm_tally_options o = {.joined = on_joined, .refused = on_refused, .data = w};
	struct wm_msg_hello h = fake_hello_message(0);
	struct wm_diag diag = {.offset = -1};

	*w = (struct world){.fake = {.pool_fd = -1}};
	assert_int_equal(setenv("XDG_RUNTIME_DIR", kit.folder, 1), 0);
	assert_int_equal(wm_rules_create(&rules, &kit.rules), 0);
	assert_int_equal(wm_rules_add(kit.rules, "fake:*", NULL, 0, WM_RULES_ALL_LEVELS, NULL), 0);
	assert_int_equal(wm_loop_create(&w->loop), 0);
	assert_int_equal(wm_tally_create(kit.rules, kit.folder, &w->tally, &diag), 0);
	assert_int_equal(wm_tally_serve(w->tally, &o, w->loop), 0);
	w->fake.sock = wm_session_connect(wm_tally_session(w->tally)->path);
	assert_true(w->fake.sock >= 0);
	fake_pool(&w->fake, WM_POOL_DISCARD, KIT_BUFFER);
	h.flags = hello_flags;
	assert_int_equal(fake_send_fds(&w->fake, &h, sizeof(h), w->fake.pool_fd, 1), sizeof(h));
	while (wm_loop_step(w->loop, 20) > 0)
		;
}

static void end(struct world *w)
{
	wm_tally_destroy(w->tally);
	wm_loop_destroy(w->loop);
	fake_close(&w->fake);
}

/* Takes a chunk as the runtime does. */
static uint32_t take_chunk(struct world *w, bool small)
{
	struct wm_pool *p = &w->fake.pool;
	int64_t index = wm_pool_take(p, small, TID, 0, 1);
	uint64_t words = wm_pool_chunk_bytes(p, (uint32_t)index) / 8;

	assert_true(index >= 0);
	wm_store_release(&wm_pool_chunk(p, (uint32_t)index)->committed,
			 WAYMARK_COMMIT_COUNT_ONE | words |
			     (uint64_t)(WM_CHUNK_HEADER_BYTES / 8) << WAYMARK_COMMIT_END_BITS);
	return (uint32_t)index;
}

static void count(struct world *w, uint32_t chunk, uint32_t id, uint64_t n)
{
	*(uint64_t *)(void *)((unsigned char *)wm_pool_chunk(&w->fake.pool, chunk) +
			      wm_counts_at(id)) += n;
}

static uint64_t total(struct world *w)
{
	while (wm_loop_step(w->loop, 0) > 0)
		;
	wm_tally_read(w->tally);
	assert_int_equal(wm_tally_nr(w->tally), 1);
	assert_string_equal(wm_tally_name(w->tally, 0), "fake:tick");
	return wm_tally_count(w->tally, 0, WM_TALLY_ALL);
}

static void sums(void **state)
{
	struct wm_tally_totals t;
	struct world w;
	uint32_t small, big;

	(void)state;
	begin(&w, WM_HELLO_COUNTS);
	assert_int_equal(w.nr_joined, 0); /* processes are reported between the loop's events */
	fake_event(&w.fake, 3, "tick");
	small = take_chunk(&w, true);
	count(&w, small, 3, 5);
	count(&w, small, 4, 100); /* never announced */
	assert_int_equal(total(&w), 5);
	assert_int_equal(w.nr_joined, 1);
	count(&w, small, 3, 2);
	assert_int_equal(total(&w), 7);
	assert_int_equal(wm_tally_since(w.tally, 0, WM_TALLY_ALL), 7);
	wm_pool_seal(&w.fake.pool, small);
	big = take_chunk(&w, false);
	count(&w, big, 3, 10);
	assert_int_equal(total(&w), 17);
	/* The chunk was emptied and can be taken again. */
	assert_int_equal(wm_pool_state_of(wm_pool_state(&w.fake.pool, small)), WM_CHUNK_FREE);
	assert_int_equal(take_chunk(&w, true), small);
	assert_int_equal(total(&w), 17);
	count(&w, small, 3, 1);
	wm_pool_lost(&w.fake.pool, WM_LOST_EARLY, 3);
	fake_bye(&w.fake);
	assert_int_equal(total(&w), 18);
	assert_int_equal(total(&w), 18);
	assert_int_equal(wm_tally_since(w.tally, 0, WM_TALLY_ALL), 11);
	wm_tally_end(w.tally);
	assert_int_equal(wm_tally_count(w.tally, 0, WM_TALLY_ALL), 18);
	wm_tally_totals(w.tally, &t);
	assert_int_equal(t.lost, 3);
	assert_int_equal(t.nr_processes, 1);
	assert_string_equal(w.refused, "");
	end(&w);
}

/* Events before wm_tally_begin() are in no sum, whether their chunks are in use or emptied. */
static void held(void **state)
{
	struct wm_tally_totals t;
	struct world w;
	uint32_t sealed, live;

	(void)state;
	begin(&w, WM_HELLO_COUNTS);
	wm_tally_hold(w.tally);
	fake_event(&w.fake, 3, "tick");
	sealed = take_chunk(&w, true);
	count(&w, sealed, 3, 5);
	assert_int_equal(total(&w), 0);
	wm_pool_seal(&w.fake.pool, sealed);
	live = take_chunk(&w, false);
	count(&w, live, 3, 2);
	wm_pool_lost(&w.fake.pool, WM_LOST_EARLY, 3);
	assert_int_equal(total(&w), 0);
	wm_tally_totals(w.tally, &t);
	assert_int_equal(t.lost, 0);
	wm_tally_begin(w.tally);
	assert_int_equal(total(&w), 0);
	count(&w, live, 3, 4);
	wm_pool_lost(&w.fake.pool, WM_LOST_EARLY, 1);
	assert_int_equal(total(&w), 4);
	assert_int_equal(wm_tally_since(w.tally, 0, WM_TALLY_ALL), 4);
	wm_tally_totals(w.tally, &t);
	assert_int_equal(t.lost, 1);
	end(&w);
}

static void an_older_runtime(void **state)
{
	struct world w;

	(void)state;
	begin(&w, 0);
	wm_tally_read(w.tally);
	assert_non_null(strstr(w.refused, "too old to count"));
	end(&w);
}

/* States and words that no correct process writes: nothing is counted and nothing fails. */
static void lies(void **state)
{
	struct world w;
	uint32_t chunk;
	uint64_t *states;

	(void)state;
	begin(&w, WM_HELLO_COUNTS);
	fake_event(&w.fake, 65535, "tick");
	chunk = take_chunk(&w, true);
	wm_store_relaxed(&wm_pool_chunk(&w.fake.pool, chunk)->committed, UINT64_MAX);
	assert_int_equal(total(&w), 0);
	states = wm_pool_states(&w.fake.pool);
	wm_store_relaxed(&states[chunk], UINT64_MAX);
	assert_int_equal(total(&w), 0);
	wm_store_relaxed(&states[chunk], WM_CHUNK_READING);
	assert_int_equal(total(&w), 0);
	wm_store_relaxed(&wm_pool_header(&w.fake.pool)->shelf[0].high, UINT32_MAX);
	wm_store_relaxed(&wm_pool_header(&w.fake.pool)->shelf[1].high, UINT32_MAX);
	assert_int_equal(total(&w), 0);
	end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(sums, kit_setup, kit_teardown),
	    cmocka_unit_test_setup_teardown(held, kit_setup, kit_teardown),
	    cmocka_unit_test_setup_teardown(an_older_runtime, kit_setup, kit_teardown),
	    cmocka_unit_test_setup_teardown(lies, kit_setup, kit_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
