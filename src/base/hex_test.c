/* SPDX-License-Identifier: MIT */
/* hex_test.c - reads all characters at all places, and numbers of all lengths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hex.h"

static void test_characters(void **state)
{
	for (int place = 0; place < 8; place++) {
		for (int c = 0; c < 256; c++) {
			char text[] = "1a2B3c4F";
			uint64_t got = 0;
			bool is = wm_hex_eight((text[place] = (char)c, text), &got);

			assert_int_equal(is, isxdigit(c) != 0);
			if (is)
				assert_true(got == strtoull(text, NULL, 16));
			assert_int_equal(wm_hex_read(text, text + 8, &got),
					 isxdigit(c) ? 8 : place);
		}
	}
}

static void test_lengths(void **state)
{
	static const char digits[] = "fedcba9876543210AB";

	for (size_t n = 0; n <= sizeof(digits) - 1; n++) {
		char text[32];
		uint64_t got = 1;

		(void)snprintf(text, sizeof(text), "%.*s T a", (int)n, digits);
		assert_int_equal(wm_hex_read(text, text + strlen(text), &got), n);
		text[n] = 0;
		assert_true(got == strtoull(n > 16 ? text + n - 16 : text, NULL, 16));
		assert_int_equal(wm_hex_read(text, text + n / 2, &got), n / 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_characters),
	    cmocka_unit_test(test_lengths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
