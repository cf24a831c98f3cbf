/* SPDX-License-Identifier: MIT */
/*
 * filter_test_kit.h - what filter_test.c and filter_hostile_test.c share: the
 * records and cases of filter_cases.h, written by test/data/filter_cases.py,
 * and the way from text to answer. For tests only.
 */
#ifndef WM_EVENT_FILTER_TEST_KIT_H
#define WM_EVENT_FILTER_TEST_KIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <waymark/abi.h>

#include "event/class.h"
#include "event/desc_build.h"
#include "event/filter.h"

#define NR(a) (sizeof(a) / sizeof((a)[0]))

/* --- what filter_cases.h holds ---------------------------------------- */

struct record {
	const char *name, *schema;
	int64_t values[16];
	uint16_t nr_values;
	const unsigned char *payload;
	size_t bytes;
	struct wm_filter_contexts contexts;
};

struct expected {
	unsigned record;
	const char *expression;
	bool passes;
};

#define VALUES(...)                                                                                \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}
#define BYTES(...) __VA_ARGS__
#define CONTEXTS(p, t, c, ns, name)                                                                \
	{                                                                                          \
		.pid = p, .tid = t, .cpu = c, .time_ns = ns, .comm = name                          \
	}

#define CASE(record, expression, passes)
#define RECORD(number, n, s, v, nr, bytes_, context)                                               \
	[number] = {.name = n,                                                                     \
		    .schema = s,                                                                   \
		    .values = v,                                                                   \
		    .nr_values = nr,                                                               \
		    .payload = (const unsigned char[]){bytes_},                                    \
		    .bytes = sizeof((const unsigned char[]){bytes_}),                              \
		    .contexts = context},
__attribute__((unused)) static const struct record records[] = {
#include "event/filter_cases.h"
};
#undef CASE
#undef RECORD

#define CASE(record, expression, passes) {record, expression, passes},
#define RECORD(...)
__attribute__((unused)) static const struct expected cases[] = {
#include "event/filter_cases.h"
#include "event/filter_cases_1.h"
#include "event/filter_cases_2.h"
};

/* xorshift: the same numbers on every machine. */
__attribute__((unused)) static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

__attribute__((unused)) static void *exact_copy(const void *from, size_t bytes)
{
	void *copy = malloc(bytes ? bytes : 1); /* ASan sees a byte too many */

	memcpy(copy, from, bytes);
	return copy;
}

__attribute__((unused)) static unsigned char *describe(const struct record *r, size_t *ret_bytes)
{
	return wm_desc_simple("test", r->name, r->schema, r->values, r->nr_values, ret_bytes);
}

/* A program in a block of its exact size, moved from where it was linked; the caller frees it. */
__attribute__((unused)) static struct wm_filter *
link_text(const char *text, const unsigned char *desc, size_t desc_bytes)
{
	struct wm_diag diag = {0};
	struct wm_filter *program;
	unsigned char *code;
	void *storage;
	size_t bytes;
	int64_t used;

	if (wm_filter_parse(text, &code, &bytes, &diag))
		fail_msg("%s: %s at column %u", text, diag.sentence, diag.column);
	if (wm_filter_check(code, bytes, desc, desc_bytes, &diag))
		fail_msg("%s: %s at column %u", text, diag.sentence, diag.column);
	storage = malloc(WM_FILTER_STORAGE_MAX);
	used = wm_filter_link(code, bytes, desc, desc_bytes, storage, WM_FILTER_STORAGE_MAX);
	assert_true(used > 0);
	program = exact_copy(storage, (size_t)used);
	memset(storage, 0xa5, WM_FILTER_STORAGE_MAX);
	free(storage);
	free(code);
	return program;
}

__attribute__((unused)) static bool run(const struct wm_filter *f, const struct record *r,
					const unsigned char *payload, size_t bytes)
{
	bool passes = wm_filter_run(f, payload, bytes, wm_filter_needs(f) ? &r->contexts : NULL);

	assert_int_equal(passes, wm_filter_run_float(f, payload, bytes, &r->contexts));
	return passes;
}

#endif
