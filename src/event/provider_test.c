/* SPDX-License-Identifier: MIT */
/* provider_test.c - tests that the right provider is derived from a file name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "event/provider.h"

static void names(void **state)
{
	static const char *const cases[][2] = {
	    {"/usr/lib/libfoo-1.so.2", "foo_1"},
	    {"libfoo.so", "foo"},
	    {"/opt/x.y/my-app", "my_app"},
	    {"/usr/bin/python3.11", "python3"},
	    /* A program whose name begins with "lib", not a library. */
	    {"/usr/bin/libreoffice", "libreoffice"},
	    {"libtool.source", "libtool"},
	    {"/lib/lib.so", "lib"},
	    {"plugin.so", "plugin"},
	    {".hidden", "_hidden"},
	    {"/a/", "_"},
	    {"", "_"},
	    {"a b\303\244", "a_b__"},
	};
	char buf[WM_PROVIDER_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		wm_provider_of_path(cases[i][0], buf, sizeof(buf));
		assert_string_equal(buf, cases[i][1]);
	}
}

static void room(void **state)
{
	char longest[2 * WM_PROVIDER_MAX], buf[WM_PROVIDER_MAX] = "unchanged";

	(void)state;
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	wm_provider_of_path(longest, buf, 0);
	assert_string_equal(buf, "unchanged");
	wm_provider_of_path(longest, buf, 1);
	assert_string_equal(buf, "");
	wm_provider_of_path("", buf, 1);
	assert_string_equal(buf, "");
	wm_provider_of_path(longest, buf, sizeof(buf));
	assert_int_equal(strlen(buf), sizeof(buf) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(names),
	    cmocka_unit_test(room),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
