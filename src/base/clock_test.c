/* SPDX-License-Identifier: MIT */
/* clock_test.c - every clock moves forward, and the best one follows real time. */
#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>

#include <cmocka.h>

static void test_forward(void **state)
{
	for (enum wm_clock_kind k = WM_CLOCK_MONOTONIC; k <= WM_CLOCK_CYCLES; k++) {
		uint64_t first = wm_clock_read(k), last = first;

		for (int i = 0; i < 1000; i++) {
			uint64_t now = wm_clock_read(k);

			assert_true(now >= last);
			last = now;
		}
		assert_true(last > first);
	}
}

static void test_best(void **state)
{
	enum wm_clock_kind best = wm_clock_best();
	struct timespec nap = {.tv_nsec = 2000000};
	uint64_t before = wm_clock_read(best);

	assert_true(best == WM_CLOCK_MONOTONIC || best == WM_CLOCK_CYCLES);
	assert_int_equal(wm_clock_best(), best);
	nanosleep(&nap, NULL);
	/* No usable counter is slower than 1 MHz, so 2 ms are at least 2000 ticks. */
	assert_true(wm_clock_read(best) - before >= 2000);
}

static void test_host_clocks(void **state)
{
	uint64_t a = wm_clock_monotonic_ns(), r = wm_clock_monotonic_raw_ns();
	uint64_t wall = wm_clock_realtime_ns();

	assert_true(wm_clock_monotonic_ns() >= a);
	assert_true(wm_clock_monotonic_raw_ns() >= r);
	assert_true(wall / 1000000000u > 1577836800u); /* after 2020 */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_forward),
	    cmocka_unit_test(test_best),
	    cmocka_unit_test(test_host_clocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
