// SPDX-License-Identifier: MIT
/*
 * pool_explore_test.c - runs the real code of pool.c and pool_reader.c under every schedule of two
 * writers and a reader with at most a few preemptions, and kills at every step:
 *
 *   - the process dies: after every single store, a reader of the dead process
 *     is run on a copy of the pool, and its counts must add up
 *   - one writer dies at one step: the others continue, its chunks are reclaimed,
 *     and at the end the counts must add up and every chunk must be free again
 *
 * Every atomic operation is a step: base/atomic.h is replaced by macros that call step() first. The
 * schedule is replayed from a list of choices; the last one that has alternatives left is advanced
 * (depth first). Each writer is one flow of control, using ucontext; no threads, so every run is
 * the same.
 */
#define WM_BASE_ATOMIC_H
static void step(void);
static void stored(void);
/* clang-format off */
#define wm_load_relaxed(ptr) (step(), *(volatile __typeof__(*(ptr)) *)(ptr))
#define wm_load_acquire(ptr) wm_load_relaxed(ptr)
#define wm_store_relaxed(ptr, v) (step(), (void)(*(volatile __typeof__(*(ptr)) *)(ptr) = (v)), stored())
#define wm_store_release(ptr, v) wm_store_relaxed(ptr, v)
#define wm_add_relaxed(ptr, v) (step(), stored(), __atomic_fetch_add((ptr), (v), __ATOMIC_SEQ_CST))
#define wm_add_release(ptr, v) wm_add_relaxed(ptr, v)
#define wm_cas_acq_rel(ptr, expected, v) (step(), stored(), __atomic_compare_exchange_n((ptr), (expected), (v), 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
#define wm_fence_acquire() ((void)0)
#define wm_fence_release() ((void)0)
/* clang-format on */

#include "ring/pool.c"
#include "ring/pool_reader.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#include <cmocka.h>

#include "base/suite_test_kit.h"
#include "ring/pool_check_test_kit.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define __asan_unpoison_memory_region(at, bytes) ((void)0)
#endif

#define NR_FLOWS     3 /* two writers and a reader */
#define READER       2
#define NR_EVENTS    2
#define RECORD_BYTES 2400u /* chosen so that a 4 KiB chunk holds one record */
#define POOL_BYTES   (5 * 4096u)
#define STACK_BYTES  (256u << 10)
#define DEPTH        4096

struct flow {
	ucontext_t context;
	unsigned char *stack;
	bool over, dead;
	int64_t chunk; /* a writer's chunk; -1: none */
};

static struct {
	unsigned char *memory, *copy;
	struct wm_pool pool;
	struct flow flow[NR_FLOWS];
	ucontext_t main;
	int now;
	bool quiet; /* set during checks: operations are not steps */
	bool wrote, reading;
	uint64_t emitted, recorded;
	uint32_t seen; /* the records taken so far, one bit each */
	/* The schedule: the choice at each step, and the number of options. */
	uint8_t choice[DEPTH], options[DEPTH];
	unsigned depth, length;
	int preemptions, kills; /* number of preemptions and kills that this run may still make */
	uint64_t runs, steps, deaths;
} x;

/* --- the reader's result ------------------------------------------------- */

/* Takes a chunk's record; here each chunk has at most one. */
static uint32_t take_record(const struct wm_pool *p, uint32_t index, uint64_t state)
{
	struct wm_commit c;
	uint64_t *record =
	    (uint64_t *)((unsigned char *)wm_pool_chunk(p, index) + WM_CHUNK_HEADER_BYTES);

	assert_int_equal(wm_pool_committed(p, index, state, &c), 0);
	if (!c.count)
		return 0;
	assert_int_equal(c.count, 1);
	assert_int_equal(c.end_bytes, WM_CHUNK_HEADER_BYTES + RECORD_BYTES);
	assert_int_equal(record[0] >> 32, wm_pool_state_generation(state));
	assert_int_equal(record[RECORD_BYTES / 8 - 1], record[0]);
	return 1u << (uint32_t)record[0];
}

/* Checks a whole pool that is not changing: everything must add up. */
static void add_up(const struct wm_pool *p)
{
	uint32_t seen = x.seen, index;
	uint64_t recorded = x.recorded;
	const char *wrong = pool_check(p, &index);

	if (wrong)
		fail_msg("chunk %u: %s", index, wrong);
	for (uint32_t i = 0; i < wm_pool_nr_chunks(p); i++) {
		uint64_t state = wm_pool_state(p, i);
		uint32_t bit;

		if (wm_pool_state_of(state) != WM_CHUNK_FULL &&
		    wm_pool_state_of(state) != WM_CHUNK_OWNED)
			continue;
		bit = take_record(p, i, state);
		assert_false(seen & bit);
		seen |= bit;
		recorded += bit != 0;
	}
	assert_int_equal(x.emitted, recorded + wm_pool_lost_count(p, WM_LOST_FULL) +
					wm_pool_lost_count(p, WM_LOST_OVERWRITTEN));
}

/* Simulates the process being killed at this point. */
static void die_here(void)
{
	struct wm_pool p = x.pool;

	x.quiet = true;
	memcpy(x.copy, x.memory, POOL_BYTES);
	p.map = x.copy;
	add_up(&p);
	x.deaths++;
	x.quiet = false;
}

/* --- the scheduler --------------------------------------------------------- */

static unsigned choose(unsigned options)
{
	assert_true(x.depth < DEPTH);
	if (x.depth == x.length) {
		x.choice[x.length] = 0;
		x.options[x.length++] = (uint8_t)options;
	}
	assert_int_equal(x.options[x.depth], options); /* otherwise runs would not be repeatable */
	return x.choice[x.depth++];
}

static unsigned others(int *ret_other)
{
	unsigned n = 0;

	for (int i = 0; i < NR_FLOWS; i++)
		if (i != x.now && !x.flow[i].over)
			ret_other[n++] = i;
	return n;
}

static void switch_to(int flow)
{
	ucontext_t *from = &x.flow[x.now].context;

	x.now = flow;
	swapcontext(from, &x.flow[flow].context);
}

static void finish_flow(void)
{
	int other[NR_FLOWS];
	unsigned n;

	x.flow[x.now].over = true;
	n = others(other);
	if (n) {
		x.now = other[choose(n)];
		setcontext(&x.flow[x.now].context);
	}
	setcontext(&x.main);
}

static void stored(void)
{
	x.wrote = true;
}

static void step(void)
{
	int other[NR_FLOWS];
	unsigned n, kill, pick;

	if (x.quiet)
		return;
	x.steps++;
	if (x.wrote && !x.reading)
		die_here();
	x.wrote = false;
	n = x.preemptions ? others(other) : 0;
	kill = x.kills && x.now != READER;
	if (!n && !kill)
		return;
	pick = choose(1 + n + kill);
	if (pick == 0)
		return;
	if (pick <= n) {
		x.preemptions--;
		switch_to(other[pick - 1]);
		return;
	}
	x.kills--;
	x.flow[x.now].dead = true;
	finish_flow();
}

/* --- the flows --------------------------------------------------------------- */

static void emit(struct flow *f, uint32_t number)
{
	uint64_t *base, *record;

	if (f->chunk >= 0)
		wm_pool_seal(&x.pool, (uint32_t)f->chunk);
	f->chunk = wm_pool_take(&x.pool, false, (uint32_t)(f - x.flow) + 1, 0, 0);
	if (f->chunk < 0) {
		wm_pool_lost(&x.pool, WM_LOST_FULL, 1);
		x.emitted++;
		return;
	}
	base = (uint64_t *)wm_pool_chunk(&x.pool, (uint32_t)f->chunk);
	record = base + WM_CHUNK_HEADER_BYTES / 8;
	wm_store_relaxed(
	    record,
	    (uint64_t)wm_pool_state_generation(wm_pool_states(&x.pool)[f->chunk]) << 32 | number);
	wm_store_relaxed(record + RECORD_BYTES / 8 - 1, record[0]);
	wm_store_release(base, WAYMARK_COMMIT_COUNT_ONE |
				   (uint64_t)WM_CHUNK_HEADER_BYTES / 8 << WAYMARK_COMMIT_END_BITS |
				   (WM_CHUNK_HEADER_BYTES + RECORD_BYTES) / 8);
	x.emitted++;
}

static void run_writer(void)
{
	struct flow *f = &x.flow[x.now];
	uint32_t first = (uint32_t)x.now * NR_EVENTS;

	for (uint32_t i = 0; i < NR_EVENTS; i++)
		emit(f, first + i);
	finish_flow();
}

/* One reader round: takes the FULL chunks and reads the open ones. */
static void run_reader(void)
{
	struct wm_commit c;

	for (uint32_t i = x.pool.nr_small; i < wm_pool_nr_chunks(&x.pool); i++) {
		uint64_t state = wm_pool_state(&x.pool, i);

		if (wm_pool_state_of(state) == WM_CHUNK_OWNED) {
			int err = wm_pool_committed(&x.pool, i, state, &c);
			uint64_t word = wm_load_relaxed((uint64_t *)wm_pool_chunk(&x.pool, i) +
							WM_CHUNK_HEADER_BYTES / 8);

			if (!err && c.count && wm_pool_still(&x.pool, i, state))
				assert_int_equal(word >> 32, wm_pool_state_generation(state));
		} else if (wm_pool_pin(&x.pool, i, state)) {
			uint32_t bit;

			/*
			 * The reader outlives the program, so nothing is checked during its own
			 * stores.
			 */
			x.reading = true;
			bit = take_record(&x.pool, i, state);
			assert_true(bit && !(x.seen & bit));
			wm_pool_release(&x.pool, i, true);
			x.seen |= bit;
			x.recorded++;
			x.reading = false;
		}
	}
	finish_flow();
}

/* --- runs ---------------------------------------------------------------------- */

static void start(int flow, void (*entry)(void))
{
	struct flow *f = &x.flow[flow];

	f->over = f->dead = false;
	f->chunk = -1;
	/* The functions of a killed flow never returned, so their stack is still poisoned. */
	__asan_unpoison_memory_region(f->stack, STACK_BYTES);
	getcontext(&f->context);
	f->context.uc_stack.ss_sp = f->stack;
	f->context.uc_stack.ss_size = STACK_BYTES;
	makecontext(&f->context, entry, 0);
}

/* Ends a run: reclaims the chunks of dead writers and checks that all chunks can be taken again. */
static void clean_up(void)
{
	uint32_t nr = 0;

	x.quiet = true;
	add_up(&x.pool);
	for (int i = 0; i < READER; i++)
		wm_pool_reclaim_thread(&x.pool, (uint32_t)i + 1, WM_POOL_ALL_LEVELS);
	add_up(&x.pool);
	for (uint32_t i = 0; i < wm_pool_nr_chunks(&x.pool); i++) {
		uint64_t state = wm_pool_state(&x.pool, i);
		assert_int_not_equal(wm_pool_state_of(state), WM_CHUNK_OWNED);
		if (wm_pool_pin(&x.pool, i, state)) {
			x.seen |= take_record(&x.pool, i, state);
			x.recorded++;
			wm_pool_release(&x.pool, i, true);
		}
	}
	add_up(&x.pool);
	while (wm_pool_take(&x.pool, false, 9, 0, 0) >= 0)
		nr++;
	assert_int_equal(nr, x.pool.nr_big);
	x.quiet = false;
}

static void run_once(uint32_t mode)
{
	struct wm_pool_options o = {
	    .buffer_bytes = 2 * 4096, .big_bytes = 4096, .nr_small = 1, .mode = mode};
	/* volatile, because setcontext() returns to getcontext() a second time. */
	volatile bool first = true;

	memset(x.memory, 0, POOL_BYTES);
	x.quiet = true;
	assert_int_equal(wm_pool_size(&o), POOL_BYTES);
	assert_int_equal(wm_pool_init(&x.pool, x.memory, &o), 0);
	x.quiet = x.wrote = x.reading = false;
	x.emitted = x.recorded = x.seen = 0;
	x.depth = 0;
	for (int i = 0; i < NR_FLOWS; i++)
		start(i, i == READER ? run_reader : run_writer);
	x.now = 0;
	getcontext(&x.main);
	if (first) {
		first = false;
		x.now = (int)choose(NR_FLOWS);
		setcontext(&x.flow[x.now].context);
	}
	clean_up();
	x.runs++;
}

static bool advance(void)
{
	while (x.length && x.choice[x.length - 1] + 1 == x.options[x.length - 1])
		x.length--;
	if (!x.length)
		return false;
	x.choice[x.length - 1]++;
	return true;
}

static void explore(uint32_t mode, int preemptions, int kills)
{
#ifdef __SANITIZE_THREAD__
	skip(); /* TSan does not support ucontext, and the test has no threads */
#endif
	x.runs = x.steps = x.deaths = 0;
	x.length = 0;
	do {
		x.preemptions = preemptions;
		x.kills = kills;
		run_once(mode);
	} while (advance());
	print_message("mode %u, %d preemptions, %d killed: %lu schedules, %lu steps, %lu deaths\n",
		      mode, preemptions, kills, x.runs, x.steps, x.deaths);
	assert_true(x.runs > 300 && x.deaths > 10000);
}

/*
 * AddressSanitizer checks memory, not schedules: those with one preemption fewer reach the same
 * code in a tenth of the time.
 */
static int preemptions_max(void)
{
#ifdef __SANITIZE_ADDRESS__
	return (int)kit_rounds(1, 2);
#endif
	return 2;
}

static void test_discard(void **unused)
{
	explore(WM_POOL_DISCARD, preemptions_max(), 0);
	explore(WM_POOL_DISCARD, preemptions_max() - 1, 1);
}

static void test_overwrite(void **unused)
{
	explore(WM_POOL_OVERWRITE, preemptions_max(), 0);
	explore(WM_POOL_OVERWRITE, preemptions_max() - 1, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_discard),
	    cmocka_unit_test(test_overwrite),
	};
	int failed;

	x.memory = aligned_alloc(4096, POOL_BYTES);
	x.copy = aligned_alloc(4096, POOL_BYTES);
	for (int i = 0; i < NR_FLOWS; i++)
		x.flow[i].stack = malloc(STACK_BYTES);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	for (int i = 0; i < NR_FLOWS; i++)
		free(x.flow[i].stack);
	free(x.copy);
	free(x.memory);
	return failed;
}
