/* SPDX-License-Identifier: MIT */
/*
 * value_hash_test.c - the hash of doc/format/hash.md, compared with numbers that
 * test/data/value_hash.py computed from the same values as text; and whole traces, with different
 * numbers of threads. info_any.bats compares real traces.
 */
#include "trace/reader_test_kit.h"
#include "trace/value_hash.h"

#include <math.h>

static void test_text(void **unused)
{
	assert_int_equal(wm_value_hash_text("", 0), 0);
	assert_int_not_equal(wm_value_hash_text("\0", 1), wm_value_hash_text("\0\0", 2));
	assert_int_equal(wm_value_hash_text("hello, world", 12), 0x484d1acef2f69ab7u);
}

#define TYPE(kind_, bits_, look_)                                                                  \
	&(const struct wm_type)                                                                    \
	{                                                                                          \
		.kind = kind_, .bits = bits_, .look = look_                                        \
	}

/* { n = -12, x = 0xFF, f = 1.5, d = 1000, s = "it's", l = [ [0] = 1, [1] = 2 ], e = { } } */
static void test_event(void **unused)
{
	const struct wm_type *byte = TYPE(WM_TYPE_UNSIGNED, 8, 0);
	const struct wm_type list = {.kind = WM_TYPE_LIST, .element = {NULL, byte}};
	const struct wm_member m[] = {
	    {"n", TYPE(WM_TYPE_SIGNED, 32, 0)}, {"x", TYPE(WM_TYPE_SIGNED, 8, WM_LOOK_HEX)},
	    {"f", TYPE(WM_TYPE_FLOAT, 64, 0)},  {"d", TYPE(WM_TYPE_FLOAT, 64, 0)},
	    {"s", TYPE(WM_TYPE_STRING, 0, 0)},  {"l", &list},
	    {"e", TYPE(WM_TYPE_STRUCT, 0, 0)},
	};
	struct wm_item items[9] = {
	    {.member = &m[0], .s = -12},
	    {.member = &m[1], .s = -1},
	    {.member = &m[2], .f = 1.5},
	    {.member = &m[3], .f = 1000},
	    {.member = &m[4], .text = "it's", .count = 4},
	    {.member = &m[5], .count = 2},
	    {.member = &list.element, .u = 1},
	    {.member = &list.element, .u = 2},
	    {.member = &m[6]},
	};
	struct wm_event e = {.items = items, .parts = {[WM_PART_FIELDS] = {0, 9}}};
	uint64_t before = wm_value_hash(&e);

	assert_int_equal(before, 0x7762c013f7858f50u);
	for (uint32_t i = 0; i < 8; i++) { /* each value counts */
		struct wm_item was = items[i];

		if (i == 4 || i == 5)
			items[i].count--;
		else
			items[i].u ^= i == 2 || i == 3 ? 1ull << 52 : 1;
		assert_int_not_equal(wm_value_hash(&e), before);
		items[i] = was;
	}
	items[3].f = 1234567; /* 1.23457e+06 */
	assert_int_not_equal(wm_value_hash(&e), before);
	items[3].f = 1000.00001; /* 1000 */
	assert_int_equal(wm_value_hash(&e), before);
	items[3].f = NAN;
	(void)wm_value_hash(&e);
}

/* { f = -0.000123457, ..., m = -123456 }, in %g form. */
static void test_reals(void **unused)
{
	static const double reals[] = {-0.0001234565, 1234567, -1e-7,  INFINITY,
				       -(double)NAN,  1e20,    999999, -123456};
	const struct wm_member m = {"f", TYPE(WM_TYPE_FLOAT, 64, 0)};
	struct wm_item items[8];
	struct wm_event e = {.items = items, .parts = {[WM_PART_FIELDS] = {0, 8}}};

	for (uint32_t i = 0; i < 8; i++)
		items[i] = (struct wm_item){.member = &m, .f = reals[i]};
	assert_int_equal(wm_value_hash(&e), 0x8da27fceab970447u);
	items[0].f = 123456.5; /* a tie is rounded to even: 123456 */
	items[7].f = 123456;
	assert_int_equal(wm_value_real(items[0].f), 123456);
	assert_int_equal(wm_value_real(-1e300), 0 - ((1324ull << 20) + 100000));
	assert_int_equal(wm_value_real(0.0001234565), (1020ull << 20) + 123457);
}

static void test_trace(void **unused)
{
	struct fake *f = fake_create();
	struct wm_trace *t;
	uint64_t events, hash, first = 0;

	for (int p = 0; p < 40; p++) {
		fake_packet(f, 0);
		for (int i = 0; i < 100; i++)
			fake_event(f, p * 100 + i);
	}
	t = fake_trace(f);
	for (uint32_t threads = 1; threads < 6; threads++) {
		assert_int_equal(wm_value_hash_trace(t, threads, &events, &hash), 0);
		assert_int_equal(events, 4000);
		if (first)
			assert_int_equal(hash, first);
		first = hash;
	}
	f->bad = 3;
	f->read_err = -EIO;
	assert_int_equal(wm_value_hash_trace(t, 2, &events, &hash), -EIO);
	wm_trace_close(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_text),
	    cmocka_unit_test(test_event),
	    cmocka_unit_test(test_reals),
	    cmocka_unit_test(test_trace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
