/* SPDX-License-Identifier: MIT */
/*
 * Writes records to pages and reads the pages with kdata/page.h: the records must be equal. Covers
 * both widths and byte orders; small, large and negative time steps; records of all sizes; losses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "export/tracedat/tracedat_int.h"

#define NR_RECORDS 3000u

struct given {
	uint64_t time, lost;
	uint32_t bytes;
	unsigned char first;
};

static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 33;
}

/* Returns a random time step: most are small, some need a time extension, some a new page. */
static uint64_t step(uint64_t *seed)
{
	switch (next_random(seed) % 20) {
	case 0:
		return next_random(seed) << 10;
	case 1:
		return (UINT64_C(1) << 27) + next_random(seed) % 3 - 1;
	case 2:
		return UINT64_C(1) << 60;
	default:
		return next_random(seed) % 5000;
	}
}

static void give(struct wm_tdx_spool *s, struct wm_tdx_ring *r, const struct wm_page_layout *l,
		 struct given *list)
{
	unsigned char record[600];
	uint64_t seed = l->long_bytes + l->big_endian, time = 5;

	for (uint32_t i = 0; i < NR_RECORDS; i++) {
		struct given *g = &list[i];

		/* sometimes a negative step */
		time = next_random(&seed) % 500 ? time + step(&seed) : time / 2;
		*g = (struct given){time, 0, 4 + (uint32_t)(next_random(&seed) % 590),
				    (unsigned char)i};
		if (next_random(&seed) % 100 == 0) {
			g->lost = next_random(&seed) % 2 ? WM_PAGE_LOST_UNKNOWN : 1 + i;
			assert_int_equal(wm_tdx_ring_lose(s, r, l, g->lost), 0);
		}
		memset(record, g->first, sizeof(record));
		assert_int_equal(wm_tdx_ring_add(s, r, l, time, record, g->bytes), 0);
	}
	assert_int_equal(wm_tdx_ring_add(s, r, l, time, list, l->page_bytes), -E2BIG);
	assert_int_equal(wm_tdx_ring_finish(s, r, l), 0);
}

/* Returns how many of the list's records, from `at` on, the page contains. */
static uint32_t check_page(const struct wm_page_layout *l, const unsigned char *page,
			   const struct given *list, uint32_t at)
{
	struct wm_page_cursor c;
	uint32_t n = 0;
	int got;

	assert_int_equal(wm_page_open(&c, l, page, l->page_bytes, NULL), 0);
	while ((got = wm_page_next(&c)) == 1) {
		const struct given *g = &list[at + n];

		assert_true(at + n < NR_RECORDS);
		assert_int_equal(c.time, g->time);
		assert_int_equal(c.data[0], g->first);
		assert_int_equal(c.data[g->bytes - 1], g->first);
		assert_true(c.bytes >= g->bytes && c.bytes < g->bytes + 4);
		assert_int_equal(n ? 0 : c.lost, g->lost);
		n++;
	}
	assert_int_equal(got, 0);
	return n;
}

static void pages_hold_what_was_given(unsigned long_bytes, bool big_endian)
{
	struct given *list = calloc(NR_RECORDS, sizeof(*list));
	struct wm_tdx_spool s = {.fd = -1};
	struct wm_tdx_ring r = {.index = 0};
	struct wm_page_layout l;
	unsigned char *page;
	uint32_t at = 0;

	assert_non_null(list);
	wm_page_layout_init(&l, long_bytes, big_endian);
	assert_int_equal(wm_tdx_spool_open(&s, false), 0);
	give(&s, &r, &l, list);
	page = malloc(l.page_bytes);
	assert_non_null(page);
	assert_int_equal(s.bytes % l.page_bytes, 0);
	for (uint64_t place = 0; place < s.bytes; place += l.page_bytes) {
		assert_int_equal(pread(s.fd, page, l.page_bytes, (off_t)place), l.page_bytes);
		at += check_page(&l, page, list, at);
	}
	assert_int_equal(at, NR_RECORDS);
	wm_tdx_spool_done(&s);
	free(page);
	free(list);
}

static void of_64_bits(void **state)
{
	pages_hold_what_was_given(8, false);
	pages_hold_what_was_given(8, true);
}

static void of_32_bits(void **state)
{
	pages_hold_what_was_given(4, false);
	pages_hold_what_was_given(4, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(of_64_bits),
	    cmocka_unit_test(of_32_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
