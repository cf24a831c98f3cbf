/* SPDX-License-Identifier: MIT */
/* utf8_test.c - lengths and values of characters, well-formed or not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/utf8.h"

static void characters_are_read(void **state)
{
	static const struct {
		const char *s;
		uint32_t length, value;
	} cases[] = {
	    {"a", 1, 'a'},
	    {"\xc3\xa9", 2, 0xe9},
	    {"\xe2\x82\xac", 3, 0x20ac},
	    {"\xf0\x9f\x98\x80", 4, 0x1f600},
	    {"\x80", 0, 0},
	    {"\xc0\x80", 0, 0},
	    {"\xc3", 0, 0},
	    {"\xe2\x82", 0, 0},
	    {"\xf0\x9f\x98", 0, 0},
	    {"\xe0\x80\x80", 0, 0},     /* overlong */
	    {"\xed\xa0\x80", 0, 0},     /* a surrogate */
	    {"\xf4\x90\x80\x80", 0, 0}, /* beyond the last code point */
	    {"\xff", 0, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const unsigned char *s = (const unsigned char *)cases[i].s;
		uint32_t value = 0;

		assert_int_equal(wm_utf8_read(s, strlen(cases[i].s), &value), cases[i].length);
		assert_int_equal(value, cases[i].value);
		/* The NUL ends an incomplete character. */
		assert_int_equal(wm_utf8_read(s, strlen(cases[i].s) + 1, &value), cases[i].length);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(characters_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
