/* SPDX-License-Identifier: MIT */
/*
 * tracefs_test.c - tests this machine's tracefs, if it can be read: compares the list of events
 * with the folders, reads ids and formats, and tries names that must not become paths. Without
 * permission, the message must have a hint.
 */
#include "kernel/tracefs.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Opens tracefs; prints the reason and returns NULL if that is not possible. */
static struct wm_tracefs *open_or_skip(void)
{
	struct wm_tracefs *t = NULL;
	struct wm_diag diag = {.offset = -1};
	int err = wm_tracefs_open(&t, &diag);

	if (err < 0) {
		assert_true(diag.sentence[0] != '\0');
		print_message("skipped: %s\n", diag.sentence);
		skip();
	}
	return t;
}

static void test_every_event_has_a_folder(void **state)
{
	struct wm_tracefs *t = open_or_skip();
	char path[3 * WM_TRACEFS_NAME_MAX];

	(void)state;
	assert_int_equal(wm_tracefs_load(t, NULL), 0);
	assert_int_equal(wm_tracefs_load(t, NULL), 0);
	assert_true(t->nr_events > 50);
	for (size_t i = 0; i < t->nr_events; i += 37) {
		(void)snprintf(path, sizeof(path), "events/%s/%s/format", t->events[i].system,
			       t->events[i].name);
		assert_int_equal(faccessat(t->dirfd, path, F_OK, 0), 0);
	}
	wm_tracefs_close(t);
}

static void test_id_is_in_the_format(void **state)
{
	struct wm_tracefs *t = open_or_skip();
	char *text, wanted[64];
	uint64_t id = 0;
	size_t bytes;

	(void)state;
	assert_int_equal(wm_tracefs_event_id(t, "sched", "sched_switch", &id, NULL), 0);
	assert_int_equal(wm_tracefs_event_format(t, "sched", "sched_switch", &text, &bytes, NULL),
			 0);
	(void)snprintf(wanted, sizeof(wanted), "\nID: %llu\n", (unsigned long long)id);
	assert_non_null(strstr(text, wanted));
	assert_int_equal(strlen(text), bytes);
	free(text);
	wm_tracefs_close(t);
}

static void test_names_are_not_paths(void **state)
{
	static const char *const bad[][2] = {
	    {"..", "sched_switch"}, {"sched", "../sched"}, {"sched/sched_switch", "x"},
	    {"", "sched_switch"},   {"sched", ""},         {"sched", "."},
	    {"nosuch", "event"}};
	struct wm_tracefs *t = open_or_skip();
	uint64_t id = 7;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct wm_diag diag = {.offset = -1};

		assert_int_equal(wm_tracefs_event_id(t, bad[i][0], bad[i][1], &id, &diag), -ENOENT);
		assert_non_null(strstr(diag.sentence, "no event"));
		assert_int_equal(id, 7);
	}
	wm_tracefs_close(t);
}

/* A child running as user nobody: the message must have the hint. */
static void test_nobody_is_told_the_hint(void **state)
{
	struct wm_tracefs *t = NULL;
	struct wm_diag diag = {.offset = -1};
	int err;

	(void)state;
	if (geteuid() == 0 && seteuid(65534) < 0)
		skip();
	err = wm_tracefs_open(&t, &diag);
	if (getuid() == 0)
		assert_int_equal(seteuid(0), 0);
	if (err == 0) {
		wm_tracefs_close(t);
		print_message("skipped: every user may read tracefs here\n");
		skip();
	}
	assert_true(err == -EACCES || err == -ENOENT || err == -EOPNOTSUPP);
	assert_true(strstr(diag.sentence, "mount") || strstr(diag.sentence, "CONFIG_TRACING"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_every_event_has_a_folder),
	    cmocka_unit_test(test_id_is_in_the_format),
	    cmocka_unit_test(test_names_are_not_paths),
	    cmocka_unit_test(test_nobody_is_told_the_hint),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
