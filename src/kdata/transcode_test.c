/* SPDX-License-Identifier: MIT */
/*
 * transcode_test.c - converts records with every kind of field, from machines of either width and
 * byte order, and reads them back through the class; tests records that are too short.
 */
#include "kdata/transcode.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "event/payload_test_kit.h"
#include "kdata/format_test_kit.h"

struct world {
	struct wm_arena arena;
	struct wm_kmachine machine;
	struct wm_kplan *plan;
	unsigned char record[256], out[4096];
	size_t at;
};

static void begin(struct world *w, const char *text, unsigned long_bytes, bool big, bool common)
{
	const struct wm_kformat *f;
	const struct wm_kprint *print;

	memset(w, 0, sizeof(*w));
	wm_arena_init(&w->arena, 1 << 24);
	wm_kmachine_init(&w->machine, long_bytes, big);
	assert_int_equal(
	    wm_kformat_parse(&w->arena, &w->machine, "sys", text, strlen(text), &f, NULL), 0);
	assert_int_equal(wm_kprint_compile(&w->arena, &w->machine, f, &print, NULL), 0);
	assert_int_equal(wm_kplan_create(f, &w->machine, print, common, &w->plan, NULL), 0);
}

static void done(struct world *w)
{
	wm_kplan_destroy(w->plan);
	wm_arena_done(&w->arena);
}

static void put(struct world *w, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		w->record[w->at + (w->machine.big_endian ? bytes - 1 - i : i)] =
		    (unsigned char)(value >> 8 * i);
	w->at += bytes;
}

static void put_bytes(struct world *w, const void *data, size_t bytes)
{
	memcpy(w->record + w->at, data, bytes);
	w->at += bytes;
}

/* Fills a record that has the fields of kit_all. */
static void fill(struct world *w)
{
	put(w, 9, 2);
	put(w, 1, 1);
	put(w, 2, 1);
	put(w, 77, 4);
	put(w, 200, 1);
	put(w, (uint8_t)-3, 1);
	put(w, (uint16_t)-300, 2);
	put(w, 1, 1);
	w->at = 16;
	put(w, 0xfeedbeef, 8);
	put_bytes(w, "\1\2\3\4\5\6", 6);
	w->at = 32;
	put(w, 0x0a010203, 4);
	put_bytes(w, "abcdefghijkl", 12);
	put(w, 8u << 16 | 80, 4);
	put(w, 8u << 16 | 32, 4);
	put(w, 8u << 16 | 96, 4);
	w->at = 64;
	put(w, 1ull << 40, 8);
	put(w, (uint64_t)-5, 8);
	put(w, 7, 4);
	put(w, 0xdeadbeef, 4);
	put_bytes(w, "hello\0xx", 8);
	put(w, 1ull << 63 | 3, 8);
}

static struct wm_value value_of(const struct world *w, int64_t bytes, const char *name)
{
	struct wm_payload_cursor c = {wm_kplan_class(w->plan), w->out, (size_t)bytes, 0, 0};
	struct wm_value v;

	while (wm_payload_next(&c, &v) > 0) {
		if (strcmp(v.field->name, name) == 0)
			return v;
	}
	fail_msg("no field %s", name);
	return v;
}

static void expect_number(const struct world *w, int64_t bytes, const char *name, uint32_t i,
			  int64_t want)
{
	struct wm_value v = value_of(w, bytes, name);

	assert_true(i < v.count);
	assert_true(wm_value_integer(&v, i) == want);
}

static void expect_bytes(const struct world *w, int64_t bytes, const char *name, const char *want,
			 size_t nr)
{
	struct wm_value v = value_of(w, bytes, name);

	assert_int_equal(v.count, nr);
	assert_memory_equal(v.data, want, nr);
}

static void check_all(bool big)
{
	struct world w;
	int64_t n;
	struct wm_value v;

	begin(&w, kit_all, 8, big, true);
	fill(&w);
	n = wm_kplan_run(w.plan, w.record, (uint32_t)w.at, w.out, sizeof(w.out));
	assert_true(n > 0);
	assert_string_equal(wm_kplan_class(w.plan)->provider, "sys");
	assert_string_equal(wm_kplan_class(w.plan)->name, "all_kinds");
	assert_int_equal(wm_kplan_class(w.plan)->nr_fields, 16);
	expect_number(&w, n, "common_flags", 0, 1);
	expect_number(&w, n, "common_pid", 0, 77);
	expect_number(&w, n, "a", 0, 200);
	expect_number(&w, n, "b", 0, -3);
	expect_number(&w, n, "c", 0, -300);
	expect_number(&w, n, "d", 0, 1);
	expect_number(&w, n, "text", 0, 0xfeedbeef);
	expect_number(&w, n, "mac", 5, 6);
	expect_number(&w, n, "ip", 0, 0x0a010203);
	expect_number(&w, n, "odd", 11, 'l');
	expect_number(&w, n, "words", 1, 0xdeadbeef);
	expect_bytes(&w, n, "name", "hello", 5);
	expect_number(&w, n, "cpus", 0, (int64_t)(1ull << 63 | 3));
	expect_number(&w, n, "e", 0, 1ll << 40);
	expect_number(&w, n, "f", 0, -5);
	v = value_of(&w, n, "text");
	assert_int_equal(v.field->scalar, WM_SCALAR_POINTER);
	v = value_of(&w, n, "name");
	assert_int_equal(v.field->shape, WM_SHAPE_STRING);
	done(&w);
}

static void test_all(void **state)
{
	check_all(false);
	check_all(true);
}

/* On a 32-bit machine pointers and the longs of masks have 4 bytes. */
static void test_narrow(void **state)
{
	static const char text[] =
	    KIT_EVENT("narrow", 3,
		      KIT_FIELD("void * p", 8, 4, 0) KIT_FIELD("long l", 12, 4, 1)
			  KIT_FIELD("__data_loc unsigned long[] v", 16, 4, 0)
			      KIT_FIELD("__data_loc cpumask_t m", 20, 4, 0),
		      "\"%lx\", REC->l");

	for (int big = 0; big < 2; big++) {
		struct world w;
		int64_t n;
		struct wm_value v;

		begin(&w, text, 4, big, false);
		w.at = 8;
		put(&w, 0xc0000000, 4);
		put(&w, (uint32_t)-9, 4);
		put(&w, 8u << 16 | 24, 4);
		put(&w, 12u << 16 | 32, 4);
		put(&w, 1, 4);
		put(&w, 0x80000000, 4);
		put(&w, 1, 4);
		put(&w, 2, 4);
		put(&w, 4, 4);
		n = wm_kplan_run(w.plan, w.record, (uint32_t)w.at, w.out, sizeof(w.out));
		assert_int_equal(n, 8 + 4 + 4 + 8 + 4 + 16);
		expect_number(&w, n, "p", 0, 0xc0000000);
		v = value_of(&w, n, "l");
		/* Because its print form shows hexadecimal. */
		assert_int_equal(v.field->scalar, WM_SCALAR_HEX);
		expect_number(&w, n, "v", 1, 0x80000000);
		expect_number(&w, n, "m", 0, 2ll << 32 | 1);
		expect_number(&w, n, "m", 1, 4);
		done(&w);
	}
}

static void test_tails(void **state)
{
	static const char print[] =
	    "name: print\nID: 5\n" KIT_COMMON KIT_FIELD("unsigned long ip", 8, 8, 0)
		KIT_FIELD("char buf[]", 16, 0, 0) "\nprint fmt: \"%s\", REC->buf\n";
	struct world w;
	int64_t n;

	begin(&w, print, 8, false, false);
	memcpy(w.record + 16, "a line\n\0\0", 9);
	n = wm_kplan_run(w.plan, w.record, 25, w.out, sizeof(w.out));
	expect_bytes(&w, n, "buf", "a line\n", 7);
	n = wm_kplan_run(w.plan, w.record, 20, w.out, sizeof(w.out));
	expect_bytes(&w, n, "buf", "a li", 4);
	n = wm_kplan_run(w.plan, w.record, 16, w.out, sizeof(w.out));
	expect_bytes(&w, n, "buf", "", 0);
	assert_int_equal(wm_kplan_run(w.plan, w.record, 15, w.out, sizeof(w.out)), -EBADMSG);
	done(&w);
}

/* Adjacent fields are copied at once, and the bound holds for any record. */
static void test_bounds(void **state)
{
	struct world w;

	begin(&w, kit_switch, 8, false, false);
	assert_int_equal(wm_kplan_bound(w.plan, 64), 56);
	assert_int_equal(wm_kplan_run(w.plan, w.record, 64, w.out, 56), 56);
	assert_int_equal(wm_kplan_run(w.plan, w.record, 64, w.out, 55), -ENOSPC);
	assert_int_equal(wm_kplan_class(w.plan)->payload_bytes, 56);
	done(&w);

	begin(&w, kit_all, 8, false, false);
	fill(&w);
	for (uint32_t cut = 0; cut <= w.at; cut++) {
		size_t room = wm_kplan_bound(w.plan, cut);
		unsigned char *in = malloc(cut ? cut : 1), *out = malloc(room);
		int64_t n;

		memcpy(in, w.record, cut);
		n = wm_kplan_run(w.plan, in, cut, out, room);
		assert_true(cut == w.at ? n > 0 : n == -EBADMSG);
		for (int i = 0; cut == w.at && i < 2000; i++) {
			in[8 + i % (w.at - 8)] = (unsigned char)(i * 31);
			n = wm_kplan_run(w.plan, in, cut, out, room);
			assert_true(n == -EBADMSG || (n > 0 && (size_t)n <= room));
		}
		free(in);
		free(out);
	}
	done(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_all),
	    cmocka_unit_test(test_narrow),
	    cmocka_unit_test(test_tails),
	    cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
