/* SPDX-License-Identifier: MIT */
/*
 * Reads rings that the test fills as the kernel does: records that wrap around the end, and invalid
 * sizes.
 */
#include "kernel/sampling/perf_ring.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define BYTES 4096u

struct made {
	struct perf_event_mmap_page page;
	unsigned char data[BYTES], whole[WM_PERF_RECORD_MAX];
	struct wm_perf_ring ring;
};

static struct made *make(void)
{
	struct made *m = calloc(1, sizeof(*m));

	m->ring = (struct wm_perf_ring){
	    .page = &m->page, .data = m->data, .bytes = BYTES, .whole = m->whole};
	return m;
}

/* Writes a record of the given size whose bytes count up from `seed`. */
static void put(struct made *m, uint16_t size, unsigned char seed)
{
	struct perf_event_header h = {.type = 9, .size = size};
	unsigned char record[BYTES];

	memcpy(record, &h, sizeof(h));
	for (unsigned i = sizeof(h); i < size; i++)
		record[i] = (unsigned char)(seed + i);
	for (unsigned i = 0; i < size; i++)
		m->data[(m->page.data_head + i) % BYTES] = record[i];
	m->page.data_head += size;
}

static void test_around_the_end(void **state)
{
	struct made *m = make();
	unsigned char seed = 0;

	(void)state;
	for (int round = 0; round < 500; round++) {
		uint16_t sizes[] = {8, (uint16_t)(8 + 8 * (round % 100)), 1000, 24};
		uint64_t sum = 0;
		size_t bytes;

		for (int i = 0; i < 4; i++) {
			put(m, sizes[i], (unsigned char)(seed + i));
			sum += sizes[i];
		}
		assert_true(wm_perf_ring_begin(&m->ring) == sum);
		for (int i = 0; i < 4; i++) {
			const unsigned char *p = wm_perf_ring_next(&m->ring, &bytes);

			assert_non_null(p);
			assert_int_equal(bytes, sizes[i]);
			for (unsigned k = sizeof(struct perf_event_header); k < bytes; k++)
				assert_int_equal(p[k], (unsigned char)(seed + i + k));
		}
		assert_null(wm_perf_ring_next(&m->ring, &bytes));
		assert_true(m->page.data_tail != m->page.data_head);
		wm_perf_ring_end(&m->ring);
		assert_true(m->page.data_tail == m->page.data_head);
		seed += 7;
	}
	free(m);
}

static void test_impossible_sizes(void **state)
{
	static const uint16_t sizes[] = {0, 7, 72};
	size_t bytes;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct made *m = make();

		put(m, 64, 1);
		memcpy(m->data + offsetof(struct perf_event_header, size), &sizes[i], 2);
		(void)wm_perf_ring_begin(&m->ring);
		assert_null(wm_perf_ring_next(&m->ring, &bytes));
		wm_perf_ring_end(&m->ring);
		assert_true(m->page.data_tail == 64); /* the next record is read correctly */
		free(m);
	}
}

static void test_refused(void **state)
{
	struct wm_perf_ring r = {0};

	(void)state;
	assert_true(wm_perf_ring_map(0, 3 * (size_t)sysconf(_SC_PAGESIZE), &r) < 0);
	assert_true(wm_perf_ring_map(0, 16, &r) < 0);
	assert_null(r.page);
	wm_perf_ring_unmap(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_around_the_end),
	    cmocka_unit_test(test_impossible_sizes),
	    cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
