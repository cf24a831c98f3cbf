/* SPDX-License-Identifier: MIT */
/*
 * calibrate_test.c - checks that the fit finds known frequencies, bounds its error, and keeps few
 * pairs.
 */
#include "collect/calibrate.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>

#include <cmocka.h>

/* Adds pairs from a clock of `hz` whose readings jitter by up to +-jitter ns. */
static void feed(struct wm_calibrate *c, double hz, uint32_t n, uint64_t jitter)
{
	uint64_t seed = 88172645463325252ull;

	*c = (struct wm_calibrate){.kind = WM_CLOCK_CYCLES, .stride = 1};
	for (uint32_t i = 0; i < n; i++) {
		double ns = 1e9 * i;
		struct wm_clock_pair p = {.error_ns = jitter};

		seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
		p.clock = (uint64_t)1 << 45;
		p.clock += (uint64_t)(ns * hz / 1e9);
		p.ns = 123456789 + (uint64_t)ns + (jitter ? seed % (2 * jitter) : 0);
		wm_calibrate_add(c, &p);
	}
}

static void test_known_frequency(void **state)
{
	static const double hz[] = {24e6, 1e9, 2995200000.0, 3400000123.0, 5.1e9};
	struct wm_calibration r;
	struct wm_calibrate c;

	for (size_t i = 0; i < sizeof(hz) / sizeof(hz[0]); i++) {
		feed(&c, hz[i], 1000, 0);
		assert_int_equal(wm_calibrate_fit(&c, &r), 0);
		assert_true(r.hz_exact > hz[i] * (1 - 1e-10) && r.hz_exact < hz[i] * (1 + 1e-10));
		assert_true(r.error_ns <= 60); /* 24 MHz: a tick is 42 ns */
		assert_int_equal(r.span_ns, 999000000000);
	}
}

static void test_jitter_averages_out(void **state)
{
	struct wm_calibration r;
	struct wm_calibrate c;

	feed(&c, 3e9, 60, 500);
	assert_int_equal(wm_calibrate_fit(&c, &r), 0);
	/* An error of 500 ns in a minute is 8 ppb. */
	assert_true(r.hz_exact > 3e9 * (1 - 8e-9) && r.hz_exact < 3e9 * (1 + 8e-9));
	assert_true(r.error_ns >= 500 && r.error_ns < 1600);
}

static void test_keeps_few_and_the_ends(void **state)
{
	struct wm_calibrate c;

	for (uint32_t n = 1; n < 3000; n += 7) {
		feed(&c, 3e9, n, 0);
		assert_true(c.nr <= WM_CALIBRATE_PAIRS);
		assert_true(n < 64 || c.nr >= WM_CALIBRATE_PAIRS / 2);
		assert_int_equal(c.pair[0].ns, 123456789);
		assert_int_equal(c.pair[c.nr - 1].ns, 123456789 + (n - 1) * 1000000000ull);
	}
}

static void test_between_pairs(void **state)
{
	struct wm_calibration r;
	struct wm_calibrate c;
	uint64_t first = (uint64_t)1 << 45;

	feed(&c, 2995200000.0, 1000, 0);
	assert_int_equal(wm_calibrate_fit(&c, &r), 0);
	for (uint64_t s = 0; s < 1000; s += 37) {
		uint64_t want = first + s * 2995200000ull + 1497600000;
		uint64_t got = wm_calibration_clock(&r, 123456789 + s * 1000000000ull + 500000000);

		assert_true(got >= want - 200 && got <= want + 200); /* 60 ns */
	}
	/* A time before the first pair. */
	assert_true(wm_calibration_clock(&r, 123456789 - 1000) < first);
	wm_calibrate_init(&c, WM_CLOCK_MONOTONIC);
	assert_int_equal(wm_calibrate_fit(&c, &r), 0);
	assert_true(wm_calibration_clock(&r, UINT64_MAX - 1) == UINT64_MAX - 1);
}

static void test_too_little(void **state)
{
	struct wm_calibration r = {.hz = 42};
	struct wm_calibrate c;
	struct wm_clock_pair p;

	feed(&c, 3e9, 1, 0);
	assert_int_equal(wm_calibrate_fit(&c, &r), -EAGAIN);
	p = c.pair[0];
	p.clock += 1000;
	wm_calibrate_add(&c, &p); /* a pair that is not later than the last one is refused */
	assert_int_equal(c.nr, 1);
	p.ns += 500000;
	wm_calibrate_add(&c, &p);
	assert_int_equal(wm_calibrate_fit(&c, &r), -EAGAIN);
	assert_int_equal(r.hz, 42);
	wm_calibrate_init(&c, WM_CLOCK_MONOTONIC);
	assert_int_equal(wm_calibrate_fit(&c, &r), 0);
	assert_int_equal(r.hz, 1000000000);
	assert_int_equal(r.error_ns, 0);
}

static void test_this_machine(void **state)
{
	struct timespec nap = {.tv_nsec = 5000000};
	struct wm_calibration r, again;
	struct wm_calibrate c;

	wm_calibrate_init(&c, WM_CLOCK_CYCLES);
	for (int i = 0; i < 4; i++) {
		nanosleep(&nap, NULL);
		wm_calibrate_tick(&c);
	}
	assert_int_equal(wm_calibrate_fit(&c, &r), 0);
	nanosleep(&nap, NULL);
	wm_calibrate_tick(&c);
	assert_int_equal(wm_calibrate_fit(&c, &again), 0);
	assert_true(r.hz > 1000000); /* every known machine has a faster counter */
	/* Two fits of the same counter agree within their errors. */
	assert_true(again.hz_exact > r.hz_exact * (1 - 1e-3) &&
		    again.hz_exact < r.hz_exact * (1 + 1e-3));
}

static void test_pair(void **state)
{
	struct wm_clock_pair a, b;

	wm_calibrate_pair(WM_CLOCK_CYCLES, wm_clock_realtime_ns, &a);
	wm_calibrate_pair(WM_CLOCK_CYCLES, wm_clock_realtime_ns, &b);
	assert_true(b.clock > a.clock);
	assert_true(a.error_ns > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_known_frequency),
	    cmocka_unit_test(test_jitter_averages_out),
	    cmocka_unit_test(test_keeps_few_and_the_ends),
	    cmocka_unit_test(test_between_pairs),
	    cmocka_unit_test(test_too_little),
	    cmocka_unit_test(test_this_machine),
	    cmocka_unit_test(test_pair),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
