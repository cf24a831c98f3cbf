/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "control/recorder/repeats.h"

static char said[2048];

static void hear(const char *sentence, void *data)
{
	size_t at = strlen(said);

	(void)data;
	(void)snprintf(said + at, sizeof(said) - at, "%s\n", sentence);
}

static const struct wm_words words = {hear, NULL};

static void one_of_each_kind(void **state)
{
	struct wm_repeats r = {.words = &words};

	(void)state;
	said[0] = '\0';
	for (int pid = 1; pid <= 200; pid++)
		wm_repeats_add(&r, pid == 7 ? -EPERM : -ENOENT, "process %d is odd", pid);
	wm_repeats_add(&r, 0, "process %d is even", 8);
	wm_repeats_add(&r, 0, "process %d is even", 10);
	wm_repeats_flush(&r);
	assert_string_equal(said, "process 1 is odd; the same holds for 198 more processes\n"
				  "process 7 is odd\n"
				  "process 8 is even; the same holds for 1 more process\n");
	wm_repeats_flush(&r);
	assert_int_equal(r.nr, 0);
}

static void first_is_taken(void **state)
{
	struct wm_repeats r = {.words = &words};
	struct wm_diag diag = {.offset = -1};

	(void)state;
	said[0] = '\0';
	assert_int_equal(wm_repeats_take(&r, NULL, &diag), 0);
	for (int pid = 1; pid <= 3; pid++)
		wm_repeats_add(&r, -pid, "process %d", pid);
	wm_repeats_add(&r, -1, "process %d", 4);
	assert_int_equal(wm_repeats_take(&r, "here", &diag), -1);
	assert_string_equal(diag.sentence, "process 1; the same holds for 1 more process");
	assert_string_equal(diag.where, "here");
	wm_repeats_flush(&r);
	assert_string_equal(said, "process 2\nprocess 3\n");
}

/* Nothing is lost when there are more kinds than room. */
static void too_many_kinds(void **state)
{
	struct wm_repeats r = {.words = &words};
	unsigned lines = 0;

	(void)state;
	said[0] = '\0';
	for (int err = 1; err <= WM_REPEATS_KINDS + 3; err++)
		wm_repeats_add(&r, -err, "process %d", err);
	wm_repeats_flush(&r);
	for (const char *at = said; *at; at++)
		lines += *at == '\n';
	assert_int_equal(lines, WM_REPEATS_KINDS + 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(one_of_each_kind),
	    cmocka_unit_test(first_is_taken),
	    cmocka_unit_test(too_many_kinds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
