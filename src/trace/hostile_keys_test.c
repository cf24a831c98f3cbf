/* SPDX-License-Identifier: MIT */
/*
 * hostile_keys_test.c - thread ids and paths from a hostile file, chosen to collide in one slot of
 * a table without a seed, do not collide. Counts probes, not time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/table_test_kit.h"
#include "trace/name_table.h"
#include "trace/reader.h"
#include "trace/tasks.h"

#define KEYS 2048u

static uint64_t fnv(const char *text)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 0x100000001b3u;
	return h;
}

/* The same multiplication as in the table, without a seed. */
static void test_tasks(void **unused)
{
	struct wm_tasks t;

	assert_int_equal(wm_tasks_init(&t), 0);
	for (int32_t tid = 0; t.nr < KEYS; tid++)
		if (wm_mix((uint32_t)tid, 0) % KEYS == 0)
			assert_non_null(wm_tasks_get(&t, tid));
	KIT_ASSERT_LINEAR(&t.by_tid);
	wm_tasks_done(&t);
}

static void test_binaries(void **unused)
{
	struct wm_trace *t = wm_trace_create("t");
	char path[16];

	assert_non_null(t);
	for (unsigned i = 0; t->nr_binaries < KEYS; i++) {
		(void)snprintf(path, sizeof(path), "/%u", i);
		if (fnv(path) % KEYS == 0)
			assert_int_equal(wm_trace_add_binary(t, path, 16, "id", 2, false), 0);
	}
	KIT_ASSERT_LINEAR(&t->binary_table);
	wm_trace_close(t);
}

static void test_names(void **unused)
{
	struct wm_names n;
	char name[16];

	assert_int_equal(wm_names_init(&n), 0);
	for (unsigned i = 0; n.nr < KEYS; i++) {
		(void)snprintf(name, sizeof(name), "%u", i);
		if (fnv(name) % KEYS == 0)
			assert_int_not_equal(wm_names_id(&n, name, strlen(name)), WM_NAMES_NONE);
	}
	KIT_ASSERT_LINEAR(&n.table);
	wm_names_done(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_tasks),
	    cmocka_unit_test(test_binaries),
	    cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
