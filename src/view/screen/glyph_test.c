/* SPDX-License-Identifier: MIT */
/* glyph_test.c - tests the number of columns of valid and invalid text. */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "view/screen/glyph.h"

static unsigned columns(const char *text, bool utf8)
{
	return wm_glyph_columns(text, strlen(text), utf8);
}

static void wide_characters_take_two_columns(void **state)
{
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		skip();
	assert_int_equal(columns("abc", true), 3);
	assert_int_equal(columns("\xc3\xa9t\xc3\xa9", true), 3);
	assert_int_equal(columns("\xe6\xbc\xa2\xe5\xad\x97", true), 4);
	assert_int_equal(columns("e\xcc\x81", true), 1); /* a combining accent */
}

static void what_is_no_character_takes_one(void **state)
{
	struct wm_glyph g;

	assert_int_equal(columns("\xff\xfe", true), 2);
	assert_int_equal(wm_glyph_read("\xe6\xbc", 2, true, &g), 1); /* truncated */
	assert_int_equal(g.c, '?');
	assert_int_equal(wm_glyph_read("\x1b[m", 3, true, &g), 1);
	assert_int_equal(g.c, '?');
	assert_int_equal(wm_glyph_read("\xed\xa0\x80", 3, true, &g), 1); /* a surrogate */
	assert_int_equal(g.c, '?');
}

static void terminals_without_utf8_get_ascii(void **state)
{
	struct wm_glyph g;

	assert_int_equal(wm_glyph_read("\xc3\xa9", 2, false, &g), 2);
	assert_int_equal(g.c, '?');
	assert_int_equal(columns("\xe6\xbc\xa2", false), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(wide_characters_take_two_columns),
	    cmocka_unit_test(what_is_no_character_takes_one),
	    cmocka_unit_test(terminals_without_utf8_get_ascii),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
