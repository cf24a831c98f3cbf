/* SPDX-License-Identifier: MIT */
/*
 * merge_test.c - order, windows, laziness and damage in merges of traces made by reader_test_kit.h;
 * the reference is a stable sort.
 */
#include "base/array.h"
#include "trace/merge.h"
#include "trace/reader_test_kit.h"

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Reads all events; returns their numbers in order of arrival, followed by ~0. */
static uint64_t *merged(struct wm_trace *const *traces, uint32_t nr,
			const struct wm_merge_options *o, uint64_t *ret_nr)
{
	struct wm_merge *m = wm_merge_create(traces, nr, o);
	const struct wm_event *e;
	uint64_t *numbers = NULL, n = 0, room = 0;
	int64_t last = INT64_MIN;
	int got;

	assert_non_null(m);
	while ((got = wm_merge_next(m, &e)) == 1) {
		assert_true(e->ns >= last);
		last = e->ns;
		assert_int_equal(WM_ARRAY_GROW(numbers, room, n + 1), 0);
		numbers[n++] = fake_number_of(e) + 1000000ull * wm_merge_trace(m);
	}
	assert_int_equal(got, 0);
	assert_int_equal(wm_merge_next(m, &e), 0);
	wm_merge_destroy(m);
	*ret_nr = n;
	return numbers;
}

static void expect(struct wm_trace *t, const struct wm_merge_options *o, const char *numbers)
{
	uint64_t n, *got = merged(&t, 1, o, &n);
	char text[512];
	size_t at = 0;

	text[0] = 0;
	for (uint64_t i = 0; i < n; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, i ? " %lu" : "%lu", got[i]);
	assert_string_equal(text, numbers);
	free(got);
}

static void add(struct fake *f, uint32_t stream, int nr, const int64_t *times)
{
	fake_packet(f, stream);
	for (int i = 0; i < nr; i++)
		fake_event(f, times[i]);
}

#define ADD(f, stream, ...)                                                                        \
	add(f, stream, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (int64_t[]){__VA_ARGS__})

static void test_nothing(void **unused)
{
	struct fake *f = fake_create();
	struct wm_trace *t = fake_trace(f);

	expect(t, NULL, "");
	wm_trace_close(t);

	f = fake_create();
	fake_packet(f, 0)->begin_ns = 5;
	fake_packet(f, 1);
	t = fake_trace(f);
	expect(t, NULL, "");
	wm_trace_close(t);
}

static void test_equal_times(void **unused)
{
	struct fake *f = fake_create();
	struct wm_trace *t;

	ADD(f, 0, 10, 20, 20, 30); /* events 0 to 3 */
	ADD(f, 0, 30, 30, 40);     /* events 4 to 6 */
	ADD(f, 1, 20, 30);         /* events 7 and 8 */
	ADD(f, 1, 30);             /* event 9 */
	ADD(f, 2, 20, 40);         /* events 10 and 11 */
	f->batch = 1;
	t = fake_trace(f);
	expect(t, NULL, "0 1 2 7 10 3 4 5 8 9 6 11");
	wm_trace_close(t);
}

/* Overlapping packets of one stream, in any order. */
static void test_packets_out_of_order(void **unused)
{
	struct fake *f = fake_create();
	struct wm_trace *t;

	ADD(f, 0, 50, 60); /* events 0 and 1 */
	ADD(f, 0, 10, 55); /* events 2 and 3 */
	ADD(f, 0, 20, 30); /* events 4 and 5 */
	ADD(f, 1, 25);     /* event 6 */
	t = fake_trace(f);
	expect(t, NULL, "2 4 6 5 0 3 1");
	wm_trace_close(t);
}

/* Packets without start times are read in file order, and so are those without a clock. */
static void test_unknown_begins(void **unused)
{
	struct fake *f = fake_create();
	struct wm_trace *t;

	ADD(f, 0, 10, 20);
	ADD(f, 0, 30, 40);
	ADD(f, 1, WM_TIME_NONE, WM_TIME_NONE);
	ADD(f, 1, WM_TIME_NONE);
	ADD(f, 2, 15, 35);
	for (int i = 0; i < 4; i++) {
		f->packets[i].begin_ns = INT64_MIN;
		f->packets[i].end_ns = INT64_MAX;
	}
	t = fake_trace(f);
	expect(t, NULL, "4 5 6 0 7 1 2 8 3");
	expect(t, &(struct wm_merge_options){15, 35}, "7 1 2");
	assert_int_equal(f->max_open, 2); /* in sequence */
	wm_trace_close(t);
}

/* wm_merge_done_bytes() grows from 0 to the size of all packets. */
static void test_done_bytes(void **unused)
{
	struct fake *f = fake_create();
	uint64_t last = 0, all = 0, middle = 0;
	const struct wm_event *e;
	struct wm_merge *m;
	struct wm_trace *t;

	ADD(f, 0, 0, 25, 50, 75, 100);
	ADD(f, 0, 110, 120);
	ADD(f, 1, 10, 90);
	for (int i = 0; i < 3; i++) {
		f->packets[i].bytes = 1000;
		all += 1000;
	}
	f->batch = 1;
	t = fake_trace(f);
	m = wm_merge_create(&t, 1, NULL);
	assert_int_equal(wm_merge_done_bytes(m), 0);
	while (wm_merge_next(m, &e) == 1) {
		assert_true(wm_merge_done_bytes(m) >= last);
		last = wm_merge_done_bytes(m);
		assert_true(last <= all);
		middle = e->ns == 50 ? last : middle;
	}
	assert_true(middle > 500 && middle < 2000);
	assert_int_equal(wm_merge_done_bytes(m), all);
	wm_merge_destroy(m);
	wm_trace_close(t);
}

static void test_window(void **unused)
{
	struct fake *f = fake_create();
	struct wm_trace *t;

	ADD(f, 0, 10, 20);
	ADD(f, 0, 30, 40);
	ADD(f, 0, 50, 60);
	ADD(f, 1, 10, 60);
	t = fake_trace(f);
	expect(t, &(struct wm_merge_options){30, 41}, "2 3");
	assert_int_equal(f->nr_begun, 2); /* packets outside the window were not opened */
	expect(t, &(struct wm_merge_options){30, 40}, "2");
	expect(t, &(struct wm_merge_options){40, 40}, "");
	expect(t, &(struct wm_merge_options){INT64_MIN, 30}, "0 6 1");
	expect(t, &(struct wm_merge_options){60, INT64_MAX}, "5 7");
	expect(t, &(struct wm_merge_options){61, INT64_MAX}, "");
	wm_trace_close(t);
}

/* Returns the number of events, and the time of the first one. */
static int count(struct wm_merge *m, int64_t *ret_first)
{
	const struct wm_event *e;
	int n = 0;

	*ret_first = INT64_MAX;
	for (; wm_merge_next(m, &e) == 1; n++)
		if (n == 0)
			*ret_first = e->ns;
	return n;
}

static void test_another_window(void **unused)
{
	struct fake *f = fake_create();
	const struct wm_event *e;
	struct wm_trace *t;
	struct wm_merge *m;
	int64_t first;

	ADD(f, 0, 10, 20);
	ADD(f, 0, 30, 40);
	ADD(f, 1, 10, 60);
	t = fake_trace(f);
	m = wm_merge_create(&t, 1, &(struct wm_merge_options){INT64_MIN, INT64_MAX});
	assert_int_equal(wm_merge_next(m, &e), 1); /* stopped in the middle */
	assert_int_equal(wm_merge_window(m, 20, 41), 0);
	assert_int_equal(count(m, &first), 3);
	assert_int_equal(first, 20);
	assert_int_equal(wm_merge_window(m, 100, 200), 0);
	assert_int_equal(count(m, &first), 0);
	assert_int_equal(wm_merge_window(m, INT64_MIN, INT64_MAX), 0);
	assert_int_equal(count(m, &first), 6);
	assert_int_equal(first, 10);
	wm_merge_destroy(m);
	wm_trace_close(t);
}

static void test_latest_time(void **unused)
{
	struct fake *f = fake_create();
	struct wm_trace *t;

	ADD(f, 0, 1, INT64_MAX, INT64_MAX);
	ADD(f, 1, INT64_MIN, INT64_MAX);
	t = fake_trace(f);
	expect(t, NULL, "3 0 1 2 4");
	wm_trace_close(t);
}

/* Decreasing time is reported once per packet, and the event is returned in file order. */
static void test_time_runs_back(void **unused)
{
	struct fake *f = fake_create();
	struct wm_trace *t;
	struct wm_merge *m;
	const struct wm_event *e;

	ADD(f, 0, 10, 5, 4, 20);
	ADD(f, 1, 15, 25);
	f->packets[0].begin_ns = 10;
	t = fake_trace(f);
	m = wm_merge_create(&t, 1, NULL);
	for (int i = 0; i < 6; i++) {
		static const int64_t wanted[] = {10, 5, 4, 15, 20, 25};

		assert_int_equal(wm_merge_next(m, &e), 1);
		assert_int_equal(e->ns, wanted[i]);
	}
	assert_int_equal(wm_merge_next(m, &e), 0);
	wm_merge_destroy(m);
	assert_int_equal(t->nr_faults, 1);
	assert_string_equal(t->faults[0].reason, "time decreases by 5 ns in this packet");
	assert_string_equal(t->faults[0].file, "stream");
	assert_int_equal(t->faults[0].offset, 1000);
	wm_trace_close(t);
}

static int until_error(struct wm_trace *t, int *ret_nr)
{
	struct wm_merge *m = wm_merge_create(&t, 1, NULL);
	const struct wm_event *e;
	int got;

	*ret_nr = 0;
	while ((got = wm_merge_next(m, &e)) == 1)
		++*ret_nr;
	assert_int_equal(wm_merge_next(m, &e), got); /* the result does not change */
	wm_merge_destroy(m);
	return got;
}

static void test_errors(void **unused)
{
	struct fake *f = fake_create();
	struct wm_trace *t;
	int nr;

	ADD(f, 0, 10, 20);
	ADD(f, 0, 30, 40);
	ADD(f, 1, 15, 50);
	f->bad = 1;
	f->read_err = -EIO;
	t = fake_trace(f);
	assert_int_equal(until_error(t, &nr), -EIO);
	assert_int_equal(nr, 5);
	f->read_err = 0;
	f->begin_err = -ENOMEM;
	assert_int_equal(until_error(t, &nr), -ENOMEM);
	assert_int_equal(nr, 3);
	wm_trace_close(t);
}

/* Packets are opened when time reaches them, and readers are reused. */
static void test_thousands_of_packets(void **unused)
{
	struct fake *f = fake_create();
	struct wm_trace *t;
	uint64_t n, *got, random = 42;
	int64_t ns;

	for (uint32_t stream = 0; stream < 8; stream++) {
		ns = 0;
		for (int p = 0; p < 1000; p++) {
			fake_packet(f, stream);
			for (int i = 0; i < 20; i++)
				fake_event(f, ns += (int64_t)(next_random(&random) % 5));
			ns++;
		}
	}
	t = fake_trace(f);
	got = merged(&t, 1, NULL, &n);
	assert_int_equal(n, 8 * 1000 * 20);
	assert_true(f->max_open <= 9);
	assert_int_equal(f->nr_create, f->max_open);
	for (uint64_t i = 1; i < n; i++) /* equal times: ordered by stream and event */
		if (f->times[got[i]] == f->times[got[i - 1]])
			assert_true(got[i] > got[i - 1]);
	free(got);
	wm_trace_close(t);
}

/* Random packets in random streams, compared with a sort of all events by time, then position. */
static int by_time(const void *a, const void *b, void *data)
{
	const uint64_t *x = a, *y = b;
	const int64_t *times = data;

	if (times[*x] != times[*y])
		return times[*x] < times[*y] ? -1 : 1;
	return *x < *y ? -1 : *x > *y;
}

static struct wm_trace *random_trace(uint64_t *random)
{
	struct fake *f = fake_create();
	uint32_t streams = 1 + next_random(random) % 6;

	for (uint32_t s = 0; s < streams; s++)
		for (int p = (int)(next_random(random) % 8); p > 0; p--) {
			int64_t ns = (int64_t)(next_random(random) % 60);

			fake_packet(f, s);
			for (int i = (int)(next_random(random) % 12); i > 0; i--)
				fake_event(f, ns += (int64_t)(next_random(random) % 4));
		}
	f->batch = 1 + next_random(random) % 4;
	return fake_trace(f);
}

static void test_against_a_sort(void **unused)
{
	uint64_t random = 4711;

	for (int round = 0; round < 2000; round++) {
		struct wm_trace *t = random_trace(&random);
		struct fake *f = t->own;
		int64_t begin = (int64_t)(next_random(&random) % 80) - 10;
		struct wm_merge_options o = {begin, begin + (int64_t)(next_random(&random) % 80)};
		uint64_t *all = calloc(f->nr_events + 1, sizeof(*all)), nr = 0, n, *got;

		for (uint64_t i = 0; i < f->nr_events; i++)
			if (f->times[i] >= o.begin_ns && f->times[i] < o.end_ns)
				all[nr++] = i;
		qsort_r(all, nr, sizeof(*all), by_time, f->times);
		got = merged(&t, 1, &o, &n);
		assert_int_equal(n, nr);
		if (n)
			assert_memory_equal(got, all, n * sizeof(*all));
		free(all);
		free(got);
		wm_trace_close(t);
	}
}

static void test_several_traces(void **unused)
{
	struct fake *f = fake_create(), *g = fake_create();
	struct wm_trace *t[2];
	uint64_t n, *got;
	static const uint64_t wanted[] = {0, 1000000, 1, 1000001, 1000002, 2};

	ADD(f, 0, 10, 20);
	ADD(f, 1, 40);
	ADD(g, 0, 10, 20, 30);
	t[0] = fake_trace(f);
	t[1] = fake_trace(g);
	got = merged(t, 2, NULL, &n);
	assert_int_equal(n, 6);
	assert_memory_equal(got, wanted, sizeof(wanted));
	free(got);
	wm_trace_close(t[0]);
	wm_trace_close(t[1]);
}

/* The slices of a timeline, read in sequence, make up the whole trace. */
static void test_slices(void **unused)
{
	uint64_t random = 99;

	for (int round = 0; round < 300; round++) {
		struct wm_trace *t = random_trace(&random);
		uint64_t n, *whole = merged(&t, 1, NULL, &n), at = 0;
		struct wm_timeline *tl;
		int64_t *cuts, nr;

		assert_int_equal(wm_timeline_create(&t, 1, &tl), 0);
		nr = wm_timeline_cut(tl, INT64_MIN, INT64_MAX, next_random(&random) % 400, &cuts);
		assert_true(nr >= 1);
		for (int64_t i = 0; i < nr; i++) {
			struct wm_merge_options o = {cuts[i], cuts[i + 1]};
			struct wm_merge *m = wm_merge_create_on(tl, &o);
			const struct wm_event *e;

			while (wm_merge_next(m, &e) == 1)
				assert_int_equal(fake_number_of(e), whole[at++]);
			wm_merge_destroy(m);
		}
		assert_int_equal(at, n);
		free(cuts);
		free(whole);
		wm_timeline_destroy(tl);
		wm_trace_close(t);
	}
}

/* With many open packets each reader has to use less memory. */
static void test_a_crowd(void **unused)
{
	struct fake *f = fake_create();
	struct wm_trace *t;
	uint64_t n;

	for (uint32_t s = 0; s < 3000; s++) {
		fake_packet(f, s);
		for (int i = 0; i < 10; i++)
			fake_event(f, i * 3000 + s);
	}
	t = fake_trace(f);
	free(merged(&t, 1, NULL, &n));
	assert_int_equal(n, 30000);
	assert_int_equal(f->max_open, 3000);
	assert_int_equal(wm_want_events(&(struct wm_want){.nr_open = 3000}), 8);
	assert_int_equal(wm_want_window(&(struct wm_want){.nr_open = 3000}), 8192);
	wm_trace_close(t);
}

/* A merge that is destroyed before its end closes all readers; wm_trace_close() asserts this. */
static void test_given_up(void **unused)
{
	struct fake *f = fake_create();
	struct wm_trace *t;
	struct wm_merge *m;
	const struct wm_event *e;

	ADD(f, 0, 10, 20);
	ADD(f, 1, 15, 25);
	t = fake_trace(f);
	m = wm_merge_create(&t, 1, NULL);
	assert_int_equal(wm_merge_next(m, &e), 1);
	assert_int_equal(wm_merge_next(m, &e), 1);
	wm_merge_destroy(m);
	wm_trace_close(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_nothing),
	    cmocka_unit_test(test_equal_times),
	    cmocka_unit_test(test_packets_out_of_order),
	    cmocka_unit_test(test_unknown_begins),
	    cmocka_unit_test(test_done_bytes),
	    cmocka_unit_test(test_window),
	    cmocka_unit_test(test_another_window),
	    cmocka_unit_test(test_latest_time),
	    cmocka_unit_test(test_time_runs_back),
	    cmocka_unit_test(test_errors),
	    cmocka_unit_test(test_thousands_of_packets),
	    cmocka_unit_test(test_against_a_sort),
	    cmocka_unit_test(test_several_traces),
	    cmocka_unit_test(test_slices),
	    cmocka_unit_test(test_a_crowd),
	    cmocka_unit_test(test_given_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
