/* SPDX-License-Identifier: MIT */
/*
 * count_by_test.c - counts this process's system calls separately in the kernel: exact numbers,
 * children followed or not, other processes left out, and keys that do not fit counted as left
 * over. Skipped where BPF or tracefs is not permitted.
 */
#include "kernel/count_by.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "kernel/event_name.h"

struct world {
	struct wm_event_space space;
	struct wm_event_defs defs;
	struct wm_by_threads *threads;
	struct wm_count_by *by;
};

static int set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	*state = w;
	wm_event_defs_init(&w->defs);
	return wm_event_space_open(&w->space, NULL);
}

static int tear_down(void **state)
{
	struct world *w = *state;

	wm_count_by_destroy(w->by);
	wm_by_threads_destroy(w->threads);
	wm_event_space_close(&w->space);
	wm_event_defs_done(&w->defs);
	free(w);
	return 0;
}

/*
 * Counts this thread's getpgid(2) calls; skips the test, with the reason, if that is not possible.
 */
static void start(struct world *w, const char *fields, bool inherit)
{
	const pid_t self = (pid_t)syscall(SYS_gettid);
	struct wm_diag diag = {.offset = -1};
	int err = wm_event_name_resolve(&w->space, "syscall:getpgid:enter", &w->defs, &diag);

	if (err > 0)
		err = wm_by_threads_create(w->space.tracefs, &self, 1, false, inherit, &w->threads,
					   &diag);
	if (err >= 0)
		err = wm_count_by_create(w->space.tracefs, &w->defs.defs[0], fields, w->threads,
					 &w->by, &diag);
	if (err < 0) {
		assert_true(diag.sentence[0] != '\0');
		print_message("skipped: %s\n", diag.sentence);
		skip();
	}
	assert_int_equal(wm_count_by_start(w->by, &diag), 0);
	assert_int_equal(wm_by_threads_begin(w->threads, w->space.tracefs, &diag), 0);
}

static void call(pid_t first, unsigned nr)
{
	for (unsigned i = 0; i < nr; i++)
		(void)syscall(SYS_getpgid, first + (pid_t)i);
}

static void test_exact_numbers(void **state)
{
	struct world *w = *state;
	struct wm_by_row *rows;
	size_t nr;
	int outside;

	start(w, "pid,$tid,comm", false);
	call(-3, 1);
	for (int i = 0; i < 500; i++)
		call(1, 2);
	outside = fork();
	if (outside == 0) {
		call(1, 77);
		_exit(0);
	}
	assert_int_equal(waitpid(outside, NULL, 0), outside);
	wm_count_by_stop(w->by);
	call(1, 9);
	assert_int_equal(wm_count_by_read(w->by, &rows, &nr), 0);
	assert_int_equal(nr, 3);
	assert_int_equal(wm_count_by_parts(w->by), 3);
	assert_int_equal(rows[0].count, 500);
	assert_int_equal(rows[1].count, 500);
	assert_int_equal(rows[2].count, 1);
	assert_true(rows[2].values[0].is_signed && rows[2].values[0].number == -3);
	assert_int_equal(rows[2].values[1].number, getpid());
	assert_true(rows[2].values[2].is_text);
	assert_non_null(strstr("kernel-counting-count_by_test", rows[2].values[2].text));
	assert_int_equal(wm_count_by_left_over(w->by), 0);
	free(rows);
}

static void test_children_are_followed(void **state)
{
	struct world *w = *state;
	struct wm_by_row *rows;
	size_t nr;
	int child;

	start(w, "$pid", true);
	child = fork();
	if (child == 0) {
		int grandchild = fork();

		call(1, 20);
		if (grandchild > 0)
			(void)waitpid(grandchild, NULL, 0);
		_exit(0);
	}
	assert_int_equal(waitpid(child, NULL, 0), child);
	call(1, 5);
	wm_count_by_stop(w->by);
	assert_int_equal(wm_count_by_read(w->by, &rows, &nr), 0);
	assert_int_equal(nr, 3);
	assert_int_equal(rows[0].count, 20);
	assert_int_equal(rows[1].count, 20);
	assert_int_equal(rows[2].count, 5);
	assert_int_equal(rows[2].values[0].number, getpid());
	free(rows);
}

static void test_what_does_not_fit_is_counted(void **state)
{
	struct world *w = *state;
	struct wm_by_row *rows;
	size_t nr;

	start(w, "pid", false);
	call(1, WM_BY_KEYS_MAX + 600);
	wm_count_by_stop(w->by);
	assert_int_equal(wm_count_by_read(w->by, &rows, &nr), 0);
	assert_int_equal(nr, WM_BY_KEYS_MAX);
	assert_int_equal(wm_count_by_left_over(w->by), 600);
	free(rows);
}

static void test_fields_that_cannot_be(void **state)
{
	static const struct {
		const char *fields;
		int err;
		const char *part;
	} rows[] = {
	    {"nothing", -ENOENT, "no field 'nothing'"},
	    {"$nothing", -ENOENT, "no field"},
	    {"", -EINVAL, "no field to count by"},
	    {"pid,pid,pid,pid,pid,pid,pid,pid,pid", -EINVAL, "more than 8"},
	};
	struct world *w = *state;
	struct wm_diag diag = {.offset = -1};

	if (wm_event_name_resolve(&w->space, "syscall:getpgid:enter", &w->defs, &diag) < 0) {
		print_message("skipped: %s\n", diag.sentence);
		skip();
	}
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int err = wm_count_by_create(w->space.tracefs, &w->defs.defs[0], rows[i].fields,
					     NULL, &w->by, &diag);

		assert_int_equal(err, rows[i].err);
		assert_non_null(strstr(diag.sentence, rows[i].part));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_exact_numbers, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_children_are_followed, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_what_does_not_fit_is_counted, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_fields_that_cannot_be, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
