/* SPDX-License-Identifier: MIT */
/* program_test.c - tests names with and without slashes, and folders that are missing or empty. */
#include "base/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static void test_found(void **state)
{
	static const char *const rows[][3] = {
	    {"sh", "/nonexistent:/bin", "/bin/sh"},
	    {"sh", NULL, "/bin/sh"},
	    {"/bin/sh", "/nonexistent", "/bin/sh"},
	    {"sh", ":/nonexistent", "./sh"},
	    {"bin/sh", "/nonexistent", NULL},
	    {"sh", "/nonexistent", NULL},
	    {"sh", "", NULL},
	};

	(void)state;
	assert_int_equal(chdir("/bin"), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *path = wm_program_find(rows[i][0], rows[i][1]);

		if (rows[i][2])
			assert_string_equal(path, rows[i][2]);
		else
			assert_null(path);
		free(path);
	}
}

static void test_library(void **state)
{
	char *path = wm_program_find_library("passwd", "/nonexistent:/etc");

	(void)state;
	assert_string_equal(path, "/etc/passwd");
	free(path);
	assert_null(wm_program_find("passwd", "/etc"));
	assert_null(wm_program_find_library("passwd", "/nonexistent"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_found),
					   cmocka_unit_test(test_library)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
