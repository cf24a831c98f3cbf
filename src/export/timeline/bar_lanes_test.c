/* SPDX-License-Identifier: MIT */
/* bar_lanes_test.c - checks that the bars of a lane are nested or disjoint. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>

#include "export/timeline/bar_lanes.h"

#define BARS 4000

struct bar {
	int64_t begin, end;
	int lane;
};

static void nested_bars_share_a_lane(void **state)
{
	struct wm_lanes l = {0};

	assert_int_equal(wm_lanes_place(&l, 10, 20), 0);
	assert_int_equal(wm_lanes_place(&l, 20, 20), 0);
	assert_int_equal(wm_lanes_place(&l, 21, 30), 0);
	assert_int_equal(wm_lanes_place(&l, 5, 40), 0);
	assert_int_equal(wm_lanes_place(&l, 0, 50), 0);
	wm_lanes_done(&l);
}

static void overlapping_bars_do_not(void **state)
{
	struct wm_lanes l = {0};

	assert_int_equal(wm_lanes_place(&l, 10, 20), 0);
	assert_int_equal(wm_lanes_place(&l, 15, 25), 1);
	assert_int_equal(wm_lanes_place(&l, 18, 30), 2);
	assert_int_equal(wm_lanes_place(&l, 25, 31), 0);
	assert_int_equal(wm_lanes_place(&l, 26, 32), 1);
	wm_lanes_done(&l);
}

static void too_many_find_no_place(void **state)
{
	struct wm_lanes l = {0};

	for (int i = 0; i < (int)WM_BAR_LANES_MAX; i++)
		assert_int_equal(wm_lanes_place(&l, i, 1000 + i), i);
	assert_int_equal(wm_lanes_place(&l, 500, 2000), WM_BAR_LANES_MAX);
	wm_lanes_done(&l);
}

static bool can_be_drawn(const struct bar *a, const struct bar *b)
{
	return a->end <= b->begin || b->end <= a->begin ||
	       (a->begin <= b->begin && b->end <= a->end) ||
	       (b->begin <= a->begin && a->end <= b->end);
}

/* Random bars in the order of their ends, some of them slightly late. */
static void any_bars(void **state)
{
	static struct bar bars[BARS];
	struct wm_lanes l = {0};

	srand(7);
	for (int i = 0; i < BARS; i++) {
		bars[i].end = i * 10 - rand() % 15;
		bars[i].begin = bars[i].end - (rand() % 4 ? rand() % 40 : rand() % 3000);
		bars[i].lane = wm_lanes_place(&l, bars[i].begin, bars[i].end);
		assert_true(bars[i].lane >= 0 && bars[i].lane <= (int)WM_BAR_LANES_MAX);
	}
	for (int i = 0; i < BARS; i++)
		for (int k = 0; k < i; k++)
			if (bars[i].lane == bars[k].lane && bars[i].lane < (int)WM_BAR_LANES_MAX)
				assert_true(can_be_drawn(&bars[i], &bars[k]));
	wm_lanes_done(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(nested_bars_share_a_lane),
	    cmocka_unit_test(overlapping_bars_do_not),
	    cmocka_unit_test(too_many_find_no_place),
	    cmocka_unit_test(any_bars),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
