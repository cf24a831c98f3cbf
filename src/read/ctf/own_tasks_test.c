/* SPDX-License-Identifier: MIT */
/* The names of threads: as recorded by the kernel at the time, and as queried later. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "read/ctf/trace.h"

struct world {
	struct wm_trace trace;
	struct wm_ctf_trace own;
	struct wm_ctf_stream_plan plan;
	struct wm_ctf_file file;
};

/* wm_ctf_own_sort() reorders the array, so use a copy. */
static void begin(struct world *w, const struct wm_ctf_thread *threads, uint32_t nr)
{
	*w = (struct world){.trace = {.is_own = true}, .plan = {.is_of_cpu = true}};
	w->trace.own = &w->own;
	w->file.plan = &w->plan;
	wm_arena_init(&w->trace.arena, 1 << 20);
	w->own.threads = wm_arena_copy(&w->trace.arena, threads, nr * sizeof(*threads));
	w->own.nr_threads = nr;
	assert_non_null(w->own.threads);
	assert_int_equal(wm_ctf_own_sort(&w->trace), 0);
}

static const char *comm(struct world *w, int32_t tid, int64_t ns)
{
	const struct wm_event e = {.ns = ns, .pid = tid, .tid = tid, .stream = &w->file.stream};

	return wm_ctf_own_comm(&w->trace, &e);
}

/*
 * Thread 7 is "sh" and is renamed "work" at 20. The recorder queried it at 15, and later from a
 * list that had the old name. Thread 8 has only a queried record; thread 9 is a fork of 7.
 */
static const struct wm_ctf_thread threads[] = {
    {.ns = 25, .tid = 7, .pid = 7, .comm = "sh", .asked = true},
    {.ns = 20, .tid = 7, .pid = 7, .comm = "work"},
    {.ns = 15, .tid = 7, .pid = 7, .comm = "work", .asked = true},
    {.ns = 10, .tid = 7, .pid = 7, .comm = "sh"},
    {.ns = 30, .tid = 8, .pid = 6, .comm = "heard", .asked = true},
    {.ns = 40, .tid = 8, .pid = 6, .comm = "heard later", .asked = true},
    {.ns = 26, .tid = 9, .pid = 7, .parent = 7, .comm = NULL},
    {.ns = 27, .tid = 9, .pid = 7, .comm = "worker's child", .asked = true},
};

static void test_told_counts_more_than_asked(void **state)
{
	struct world w;

	begin(&w, threads, sizeof(threads) / sizeof(threads[0]));
	assert_string_equal(comm(&w, 7, 5), "sh"); /* before the first record */
	assert_string_equal(comm(&w, 7, 16), "sh");
	assert_string_equal(comm(&w, 7, 20), "work");
	assert_string_equal(comm(&w, 7, 99), "work");
	assert_string_equal(comm(&w, 8, 35), "heard");
	assert_string_equal(comm(&w, 8, 40), "heard later");
	assert_string_equal(comm(&w, 9, 28), "work");
	assert_int_equal(wm_ctf_own_pid(&w.trace, 8, 35), 6);
	wm_arena_done(&w.trace.arena);
}

/* A thread without a name when it forked gets the name queried later. */
static void test_a_fork_of_nobody(void **state)
{
	static const struct wm_ctf_thread list[] = {
	    {.ns = 10, .tid = 7, .pid = 7, .comm = "long ago"},
	    {.ns = 20, .tid = 7, .pid = 7, .parent = 3, .comm = NULL},
	    {.ns = 25, .tid = 7, .pid = 7, .comm = "heard", .asked = true},
	};
	struct world w;

	begin(&w, list, 3);
	assert_string_equal(comm(&w, 7, 19), "long ago");
	assert_string_equal(comm(&w, 7, 20), "");
	assert_string_equal(comm(&w, 7, 25), "heard");
	wm_arena_done(&w.trace.arena);
}

/* An opening that begins at a given time inherits the records before it. */
static void test_inherited(void **state)
{
	struct world w, later;

	begin(&w, threads, sizeof(threads) / sizeof(threads[0]));
	begin(&later, threads, 0);
	assert_int_equal(wm_ctf_own_inherit(&later.trace, &w.trace, 50), 0);
	assert_int_equal(wm_ctf_own_sort(&later.trace), 0);
	assert_int_equal(later.own.nr_threads, 5); /* two for thread 7, one for 8, two for 9 */
	assert_string_equal(comm(&later, 7, 60), "work");
	assert_string_equal(comm(&later, 8, 60), "heard later");
	assert_string_equal(comm(&later, 9, 60), "work");
	wm_arena_done(&later.trace.arena);
	wm_arena_done(&w.trace.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_told_counts_more_than_asked),
	    cmocka_unit_test(test_a_fork_of_nobody),
	    cmocka_unit_test(test_inherited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
