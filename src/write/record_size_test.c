/* SPDX-License-Identifier: MIT */
/* record_size_test.c - sizes of records of every shape, and of all their prefixes. */
#include "write/record_size_int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event/context.h"
#include "event/desc_build.h"

static struct wm_class *parse(const char *schema, const int64_t *values, uint16_t nr_values)
{
	struct wm_class *c = NULL;
	size_t bytes;
	unsigned char *desc = wm_desc_simple("p", "e", schema, values, nr_values, &bytes);

	assert_non_null(desc);
	assert_int_equal(wm_class_parse(desc, bytes, NULL, &c, NULL), 0);
	free(desc);
	return c;
}

static const int64_t values[] = {3, 2};

static const struct {
	const char *schema;
	uint16_t nr_values;
	uint32_t contexts;
	const char *payload; /* contexts and fields */
	uint32_t bytes;
} cases[] = {
    {"", 0, 0, "", 0},
    {"a:i1;b:f8;c:c#;d:a#u4", 2, 0, "0123456789012345678901", 1 + 8 + 3 + 8},
    {"s:s", 0, 0, "abc\0", 4},
    {"s:s;t:s", 0, 0, "\0\0", 2},
    {"q:qu2;n:u1", 0, 0, "\3\0\0\0aabbcc!", 11},
    {"q:qu8", 0, 0, "\0\0\0\0", 4},
    {"z:z;s:s", 0, 0, "\2\0\0\0xyend\0", 10},
    {"n:u4", 0, WM_CONTEXT_CPU, "cpu.1234", 8},
    {"s:s", 0, WM_CONTEXT_CPU | WM_CONTEXT_USTACK, "cpu.\1\0\0\0addr....text\0", 21},
    {"", 0, WM_CONTEXT_USTACK, "\0\0\0\0", 4},
};
#define NR_CASES (sizeof(cases) / sizeof(cases[0]))

static void test_every_beginning(void **state)
{
	size_t i, avail, whole;

	for (i = 0; i < NR_CASES; i++) {
		struct wm_class *c = parse(cases[i].schema, values, cases[i].nr_values);

		whole = 8 + cases[i].bytes;
		for (avail = 0; avail <= whole; avail++) {
			/*
			 * Memory of exactly that size, so that sanitizers detect reads beyond it.
			 */
			unsigned char *record = malloc(avail + 1), *data;

			assert_non_null(record);
			data = record + 1;
			memset(data, 0xee, avail < 8 ? avail : 8);
			if (avail > 8)
				memcpy(data + 8, cases[i].payload, avail - 8);
			assert_int_equal(wm_packed_size(c, cases[i].contexts, data, avail),
					 avail < whole ? -EBADMSG : (int64_t)whole);
			free(record);
		}
		wm_class_destroy(c);
	}
}

static void test_huge_counts(void **state)
{
	struct wm_class *c = parse("q:qu8", NULL, 0);
	unsigned char record[16] = {0};

	memset(record + 8, 0xff, 4);
	assert_int_equal(wm_packed_size(c, 0, record, sizeof(record)), -EBADMSG);
	assert_int_equal(wm_packed_size(c, WM_CONTEXT_USTACK, record, sizeof(record)), -EBADMSG);
	wm_class_destroy(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_every_beginning),
	    cmocka_unit_test(test_huge_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
