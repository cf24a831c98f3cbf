/* SPDX-License-Identifier: MIT */
/* scan_test.c - every event is read once, on any number of threads; errors end the scan. */
#include "trace/reader_test_kit.h"
#include "trace/scan.h"

#define PACKETS 500
#define EVENTS  700

struct sum {
	uint64_t events, numbers;
	int err;           /* result of the callback */
	bool inside, both; /* `both`: the callback ran on two threads at once */
};

static int add(void *state, const struct wm_batch *b)
{
	struct sum *s = state;

	s->both |= __atomic_exchange_n(&s->inside, true, __ATOMIC_SEQ_CST);
	for (uint32_t i = 0; i < b->nr_events; i++)
		s->numbers += fake_number_of(&b->events[i]);
	s->events += b->nr_events;
	__atomic_store_n(&s->inside, false, __ATOMIC_SEQ_CST);
	return s->err;
}

static struct wm_trace *make(void)
{
	struct fake *f = fake_create();

	for (int p = 0; p < PACKETS; p++) {
		fake_packet(f, (uint32_t)p / 100);
		for (int i = 0; i < EVENTS; i++)
			fake_event(f, p * EVENTS + i);
	}
	return fake_trace(f);
}

static int scan(struct wm_trace *t, const struct wm_scan_options *o, int err, struct sum *ret)
{
	struct sum sums[8] = {0};
	void *states[8];
	int got;

	for (int i = 0; i < 8; i++) {
		sums[i].err = err;
		states[i] = &sums[i];
	}
	got = wm_scan(t, o, add, states);
	*ret = (struct sum){0};
	for (int i = 0; i < 8; i++) {
		ret->events += sums[i].events;
		ret->numbers += sums[i].numbers;
		assert_false(sums[i].both);
	}
	return got;
}

static void test_threads(void **unused)
{
	const uint64_t n = PACKETS * EVENTS;
	struct wm_trace *t = make();
	struct sum sum;

	for (uint32_t threads = 1; threads <= 8; threads++) {
		struct wm_scan_options o = {INT64_MIN, INT64_MAX, NULL, threads};

		assert_int_equal(scan(t, &o, 0, &sum), 0);
		assert_int_equal(sum.events, n);
		assert_int_equal(sum.numbers, n * (n - 1) / 2);
	}
	wm_trace_close(t);
}

static void test_window(void **unused)
{
	struct wm_trace *t = make();
	struct wm_scan_options o = {10 * EVENTS + 5, 12 * EVENTS, NULL, 3};
	struct sum sum;

	assert_int_equal(scan(t, &o, 0, &sum), 0);
	assert_int_equal(sum.events, 2 * EVENTS); /* packets 10 and 11, in full */
	wm_trace_close(t);
}

static void test_errors(void **unused)
{
	struct wm_trace *t = make();
	struct fake *f = t->own;
	struct wm_scan_options o = {INT64_MIN, INT64_MAX, NULL, 2};
	struct sum sum;

	f->bad = 3;
	f->read_err = -EIO;
	assert_int_equal(scan(t, &o, 0, &sum), -EIO);
	assert_true(sum.events < PACKETS * EVENTS);
	f->read_err = 0;
	f->begin_err = -ENOMEM;
	assert_int_equal(scan(t, &o, 0, &sum), -ENOMEM);
	f->begin_err = 0;
	assert_int_equal(scan(t, &o, -E2BIG, &sum), -E2BIG);
	wm_trace_close(t);
}

static void test_thread_counts(void **unused)
{
	assert_int_equal(wm_scan_threads(5), 5);
	assert_int_equal(wm_scan_threads(1u << 30), 256);
	assert_true(wm_scan_threads(0) >= 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_threads),
	    cmocka_unit_test(test_window),
	    cmocka_unit_test(test_errors),
	    cmocka_unit_test(test_thread_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
