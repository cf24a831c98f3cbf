/* SPDX-License-Identifier: MIT */
/*
 * Corrections of a guest's time, compared with trace-cmd 3.1.6's output for files that have them
 * (test/tracedat_clock.bats runs it); and truncated options.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "read/tracedat/tracedat_int.h"

#define HALF 1u << 20, 21
#define SAME 1, 0

/* An entry in the corrections of one CPU. */
struct entry {
	uint64_t time, offset, scale, fraction;
};

static uint64_t apply(bool interpolate, uint32_t nr, const struct entry *e, uint64_t ticks)
{
	uint64_t words[4][3];
	struct wm_td_sync s = {.interpolate = interpolate,
			       .nr = nr,
			       .times = words[0],
			       .offsets = words[1],
			       .scales = words[2],
			       .fractions = words[3]};

	for (uint32_t i = 0; i < nr; i++) {
		words[0][i] = e[i].time;
		words[1][i] = e[i].offset;
		words[2][i] = e[i].scale;
		words[3][i] = e[i].fraction;
	}
	return wm_td_sync_apply(&s, ticks);
}

static void test_one(void **state)
{
	static const struct entry back = {0, (uint64_t)-50, HALF};

	assert_int_equal(apply(false, 0, &back, 1000000), 1000000);
	assert_int_equal(apply(false, 1, &back, 1000000), 999950);
	assert_int_equal(apply(true, 1, &back, 1000000), 999950);
}

static void test_segments(void **state)
{
	static const struct entry three[] = {
	    {0, 100000, HALF}, {1150000, 200000, 3u << 20, 21}, {3000000, 300000, 1u << 20, 18}};

	assert_int_equal(apply(false, 3, three, 1000000), 600000);
	assert_int_equal(apply(false, 3, three, 1101000), 650500);
	assert_int_equal(apply(false, 3, three, 1200000), 2000000);
	/* after the last entry, the one before it applies */
	assert_int_equal(apply(false, 3, three, 9000000), 13700000);
}

static void test_lines(void **state)
{
	static const struct entry two[] = {{0, 100000, SAME}, {2000000, 300000, SAME}};
	static const struct entry steep[] = {{1100000, 100000, SAME}, {1150000, 300000, SAME}};
	static const struct entry equal[] = {{5, 7, SAME}, {5, 9, SAME}};

	assert_int_equal(apply(true, 2, two, 1000000), 1200000);
	assert_int_equal(apply(true, 2, two, 1001000), 1201100);
	assert_int_equal(apply(true, 2, steep, 1000000), 700001);
	assert_int_equal(apply(true, 2, steep, 1200000), 1700000);
	assert_int_equal(apply(false, 2, steep, 1200000), 1300000);
	assert_int_equal(apply(true, 2, equal, 100), 107);
}

static int read_option(const unsigned char *data, size_t bytes, struct wm_td *td)
{
	struct wm_diag diag = {.offset = -1};
	struct wm_td_in in;
	int err;

	wm_td_in_memory(&in, td, data, bytes, 0);
	err = wm_td_read_sync(td, &in, &diag);
	if (err)
		assert_true(diag.sentence[0]);
	return err;
}

/* A truncated option is refused, unless it ends before the fractions, which are optional. */
static void test_option(void **state)
{
	uint64_t words[2 + 1 + 3 * 2 + 2] = {77, 1 | 1ull << 32, 2};
	unsigned char data[16 + 4 + 8 * 8];
	struct wm_td td = {.trace = wm_trace_create("test"), .file_bytes = 1000};

	assert_non_null(td.trace);
	memcpy(data, words, 20);
	for (int i = 0; i < 8; i++)
		memcpy(data + 20 + 8 * i, &(uint64_t){(uint64_t)i + 1}, 8);
	for (size_t bytes = 0; bytes < sizeof(data); bytes++)
		assert_int_equal(read_option(data, bytes, &td), bytes == 68 ? 0 : -EBADMSG);
	assert_int_equal(read_option(data, sizeof(data), &td), 0);
	assert_int_equal(td.nr_syncs, 1);
	assert_true(td.syncs[0].interpolate);
	assert_int_equal(td.syncs[0].nr, 2);
	assert_int_equal(td.syncs[0].offsets[1], 4);
	assert_int_equal(td.syncs[0].fractions[1], 8);
	memset(data + 12, 0xff, 4); /* more CPUs than possible */
	assert_int_equal(read_option(data, sizeof(data), &td), -EBADMSG);
	wm_trace_close(td.trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_one),
	    cmocka_unit_test(test_segments),
	    cmocka_unit_test(test_lines),
	    cmocka_unit_test(test_option),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
