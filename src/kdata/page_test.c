/* SPDX-License-Identifier: MIT */
/*
 * page_test.c - reads pages of every width and byte order with every kind of record. With
 * truncated, inconsistent and random pages, nothing outside them is accessed (each ends at the end
 * of a malloc'ed block) and every walk ends.
 */
#include "kdata/page.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

struct image {
	unsigned char data[4096];
	size_t bytes;
	struct wm_page_layout layout;
};

static void put(struct image *m, uint64_t value, unsigned bytes)
{
	bool big = m->layout.big_endian;

	for (unsigned i = 0; i < bytes; i++)
		m->data[m->bytes + (big ? bytes - 1 - i : i)] = (unsigned char)(value >> 8 * i);
	m->bytes += bytes;
}

static void put_head(struct image *m, unsigned type, uint32_t delta)
{
	put(m, m->layout.big_endian ? type << 27 | delta : delta << 5 | type, 4);
}

static struct image begin(unsigned long_bytes, bool big, uint64_t time)
{
	struct image m = {.bytes = 0};

	wm_page_layout_init(&m.layout, long_bytes, big);
	put(&m, time, 8);
	put(&m, 0, long_bytes);
	return m;
}

static void commit(struct image *m, uint64_t flags)
{
	size_t bytes = m->bytes;

	m->bytes = 8;
	put(m, (bytes - m->layout.data_offset) | flags, m->layout.long_bytes);
	m->bytes = bytes;
}

static void expect(struct wm_page_cursor *c, uint64_t time, uint32_t bytes, unsigned char first)
{
	assert_int_equal(wm_page_next(c), 1);
	assert_true(c->time == time);
	assert_int_equal(c->bytes, bytes);
	assert_int_equal(c->data[0], first);
}

static struct image all_kinds(unsigned long_bytes, bool big)
{
	struct image m = begin(long_bytes, big, 5ull << 59 | 1000);

	put_head(&m, 1, 7);
	put(&m, 0x11111111, 4);
	put_head(&m, 28, (1u << 27) - 1);
	for (int i = 0; i < 28; i++)
		put(&m, 0x22222222, 4);
	put_head(&m, WM_PAGE_LONG, 3);
	put(&m, 4 + 120, 4);
	for (int i = 0; i < 30; i++)
		put(&m, 0x33333333, 4);
	put_head(&m, WM_PAGE_TIME_EXTEND, 5);
	put(&m, 2, 4);
	put_head(&m, 2, 0);
	put(&m, 0x4444444444444444, 8);
	put_head(&m, WM_PAGE_PADDING, 1); /* a record that the kernel discarded */
	put(&m, 12, 4);
	put(&m, 0, 8);
	/* Below the previous time, so the upper bits grow by 1. */
	put_head(&m, WM_PAGE_TIME_STAMP, 100);
	put(&m, 0, 4);
	put_head(&m, 1, 1);
	put(&m, 0x55555555, 4);
	put_head(&m, WM_PAGE_PADDING, 0);
	put(&m, 0x12345678, 4);
	return m;
}

static void test_all_kinds(void **state)
{
	for (int i = 0; i < 4; i++) {
		struct image m = all_kinds(i & 1 ? 8 : 4, i & 2);
		struct wm_page_cursor c;
		uint64_t t = 5ull << 59 | 1000;

		commit(&m, 0);
		assert_int_equal(wm_page_open(&c, &m.layout, m.data, m.bytes, NULL), 0);
		assert_true(c.begin == t);
		assert_int_equal(c.lost, 0);
		expect(&c, t += 7, 4, 0x11);
		expect(&c, t += (1u << 27) - 1, 112, 0x22);
		expect(&c, t += 3, 120, 0x33);
		expect(&c, t += 5 + (2ull << 27), 8, 0x44);
		expect(&c, (6ull << 59) + 101, 4, 0x55);
		assert_int_equal(wm_page_next(&c), 0);
		assert_int_equal(wm_page_next(&c), 0);
		assert_int_equal(wm_page_offset(&c), m.bytes);
	}
}

static void test_loss(void **state)
{
	for (int i = 0; i < 4; i++) {
		struct image m = begin(i & 1 ? 8 : 4, i & 2, 1);
		struct wm_page_cursor c;
		size_t bytes;

		put_head(&m, 1, 0);
		put(&m, 1, 4);
		commit(&m, 1u << 31);
		assert_int_equal(wm_page_open(&c, &m.layout, m.data, m.bytes, NULL), 0);
		assert_true(c.lost == WM_PAGE_LOST_UNKNOWN);
		/* As a 64-bit kernel writes it: the word is sign-extended. */
		commit(&m, 0xffffffffc0000000);
		bytes = m.bytes;
		put(&m, 2692, m.layout.long_bytes);
		assert_int_equal(wm_page_open(&c, &m.layout, m.data, m.bytes, NULL), 0);
		assert_int_equal(c.lost, 2692);
		assert_int_equal(c.committed, 8);
		assert_int_equal(wm_page_next(&c), 1);
		assert_int_equal(wm_page_next(&c), 0);
		assert_int_equal(wm_page_open(&c, &m.layout, m.data, bytes, NULL), 0);
		assert_true(c.lost == WM_PAGE_LOST_UNKNOWN);
	}
}

static void test_damage(void **state)
{
	struct image m = begin(8, false, 1);
	struct wm_page_cursor c;
	struct wm_diag d;

	assert_int_equal(wm_page_open(&c, &m.layout, m.data, 15, &d), -EBADMSG);
	put_head(&m, 1, 0);
	put(&m, 1, 4);
	put_head(&m, 3, 0);
	put(&m, 1, 8);
	commit(&m, 0);
	assert_int_equal(wm_page_open(&c, &m.layout, m.data, m.bytes - 1, &d), -EBADMSG);
	assert_int_equal(d.offset, 8);
	assert_int_equal(wm_page_open(&c, &m.layout, m.data, m.bytes, NULL), 0);
	assert_int_equal(wm_page_next(&c), 1);
	/* The record claims 12 bytes, but 8 are present. */
	assert_int_equal(wm_page_next(&c), -EBADMSG);
	assert_int_equal(wm_page_next(&c), -EBADMSG);
	assert_int_equal(wm_page_offset(&c), 24);
}

static size_t walk(const struct wm_page_layout *l, const unsigned char *data, size_t bytes)
{
	struct wm_page_cursor c;
	size_t nr = 0, sum = 0;

	if (wm_page_open(&c, l, data, bytes, NULL))
		return 0;
	while (wm_page_next(&c) > 0) {
		for (uint32_t i = 0; i < c.bytes; i++)
			sum += c.data[i];
		nr++;
		assert_true(nr <= bytes / 4);
	}
	assert_true(wm_page_offset(&c) <= bytes);
	return nr + (sum == 1);
}

static void test_hostile(void **state)
{
	uint64_t seed = 1;

	for (int i = 0; i < 4000; i++) {
		struct image m = all_kinds(i & 1 ? 8 : 4, i & 2);
		size_t cut;
		unsigned char *copy;

		commit(&m, 0);
		for (int j = 0; j < 3; j++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			m.data[seed >> 33 & 511] ^= 1u << (seed >> 60);
		}
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		cut = i & 4 ? (seed >> 33) % (m.bytes + 1) : m.bytes;
		copy = malloc(cut ? cut : 1);
		memcpy(copy, m.data, cut);
		(void)walk(&m.layout, copy, cut);
		free(copy);
	}
}

static const char text64[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
			     "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
			     "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
			     "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";

static void test_layout(void **state)
{
	static const char *const bad[] = {
	    "",
	    "\tfield: u64 timestamp;\toffset:0;\tsize:8;\n\tfield: local_t commit;\toffset:8;\n",
	    "\tfield: u64 timestamp;\toffset:0;\tsize:8;\n\tfield: local_t commit;\toffset:8;"
	    "\tsize:8;\n\tfield: char data;\toffset:12;\tsize:4080;\n",
	    "\tfield: u64 timestamp;\toffset:0;\tsize:8;\n\tfield: local_t commit;\toffset:8;"
	    "\tsize:2;\n\tfield: char data;\toffset:16;\tsize:4080;\n",
	    "\tfield: u64 timestamp;\toffset:0;\tsize:8;\n\tfield: local_t commit;\toffset:8;"
	    "\tsize:8;\n\tfield: char data;\toffset:99999999999;\tsize:4080;\n",
	};
	struct wm_page_layout l;
	struct wm_diag d;

	assert_int_equal(wm_page_layout_parse(text64, sizeof(text64) - 1, false, &l, NULL), 0);
	assert_int_equal(l.commit_offset, 8);
	assert_int_equal(l.long_bytes, 8);
	assert_int_equal(l.data_offset, 16);
	assert_int_equal(l.page_bytes, 4096);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		d.sentence[0] = 0;
		assert_int_equal(wm_page_layout_parse(bad[i], strlen(bad[i]), false, &l, &d),
				 -EBADMSG);
		assert_true(d.sentence[0]);
	}
	/* Text truncated anywhere is refused unless it contains the size of the data. */
	for (size_t i = 0; i + 20 < sizeof(text64); i++)
		assert_int_equal(wm_page_layout_parse(text64, i, false, &l, NULL), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_all_kinds), cmocka_unit_test(test_loss),
	    cmocka_unit_test(test_damage),    cmocka_unit_test(test_hostile),
	    cmocka_unit_test(test_layout),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
