/* SPDX-License-Identifier: MIT */
/*
 * glob_test.c - compares the matcher with a table, with fnmatch(3) on random patterns, and tests a
 * pattern for which a naive matcher needs exponential time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/glob.h"

static bool match(const char *pattern, const char *text)
{
	return wm_glob_match(pattern, strlen(pattern), text, strlen(text));
}

static void table(void **state)
{
	static const struct {
		const char *pattern, *text;
		bool want;
	} cases[] = {
	    {"", "", true},
	    {"", "a", false},
	    {"*", "", true},
	    {"*", "app:query", true},
	    {"app:query", "app:query", true},
	    {"app:query", "app:quer", false},
	    {"app:quer", "app:query", false},
	    {"app:*", "app:query", true},
	    {"app:*", "apq:query", false},
	    {"*:query", "app:query", true},
	    {"*:query", "a:b:query", true},
	    {"*:q*y", "app:query", true},
	    {"*:q*z", "app:query", false},
	    {"a?c", "abc", true},
	    {"a?c", "ac", false},
	    {"a[bc]d", "abd", true},
	    {"a[bc]d", "aed", false},
	    {"a[!bc]d", "aed", true},
	    {"a[^bc]d", "abd", false},
	    {"a[b-d]e", "ace", true},
	    {"a[b-d]e", "aee", false},
	    {"a[]]b", "a]b", true},
	    {"a[!]]b", "a]b", false},
	    {"a[-z]b", "a-b", true},
	    {"a[z-]b", "a-b", true},
	    {"a[bc", "a[bc", true},
	    {"a[bc", "ab", false},
	    {"a[", "a[", true},
	    {"a\\*b", "a*b", true},
	    {"a\\*b", "axb", false},
	    {"a\\", "a\\", true},
	    {"**", "x", true},
	    {"*?*", "", false},
	    {"*a*b*c*", "xxaxxbxxcxx", true},
	    {"*a*b*c*", "xxaxxcxxbxx", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (match(cases[i].pattern, cases[i].text) != cases[i].want)
			fail_msg("'%s' on '%s': not %d", cases[i].pattern, cases[i].text,
				 cases[i].want);
}

/*
 * fnmatch(3) agrees on all patterns of these bytes, except those with an unclosed set or a final
 * backslash.
 */
static void random_against_fnmatch(void **state)
{
	static const char pattern_bytes[] = "ab*?[]!-\\";
	static const char text_bytes[] = "ab]-";
	uint32_t seed = 12345;
	unsigned matched = 0;

	(void)state;
	for (int round = 0; round < 200000; round++) {
		char pattern[9] = "", text[7] = "";

		for (int i = 0; i < 8; i++) {
			seed = seed * 1664525u + 1013904223u;
			pattern[i] = pattern_bytes[(seed >> 16) % (sizeof(pattern_bytes) - 1)];
		}
		pattern[(seed >> 8) % 9] = '\0';
		for (int i = 0; i < 6; i++) {
			seed = seed * 1664525u + 1013904223u;
			text[i] = text_bytes[(seed >> 16) % (sizeof(text_bytes) - 1)];
		}
		text[(seed >> 8) % 7] = '\0';
		if (strpbrk(pattern, "[\\")) /* the table covers these patterns */
			continue;
		bool want = fnmatch(pattern, text, 0) == 0;

		matched += want;
		if (match(pattern, text) != want)
			fail_msg("'%s' on '%s': fnmatch says %d", pattern, text, want);
	}
	assert_true(matched > 1000);
}

static void bounded_time(void **state)
{
	char pattern[256], text[4096];
	clock_t start = clock();

	(void)state;
	for (size_t i = 0; i < sizeof(pattern); i += 2) {
		pattern[i] = '*';
		pattern[i + 1] = 'a';
	}
	pattern[sizeof(pattern) - 1] = 'b';
	memset(text, 'a', sizeof(text));
	assert_false(wm_glob_match(pattern, sizeof(pattern), text, sizeof(text)));
	assert_true(clock() - start < CLOCKS_PER_SEC);
}

static void is_pattern(void **state)
{
	(void)state;
	assert_false(wm_glob_is_pattern("app:query", 9));
	assert_true(wm_glob_is_pattern("app:*", 5));
	assert_true(wm_glob_is_pattern("app:[ab]", 8));
	assert_false(wm_glob_is_pattern("app:[ab", 7));
	assert_false(wm_glob_is_pattern("", 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(table),
	    cmocka_unit_test(random_against_fnmatch),
	    cmocka_unit_test(bounded_time),
	    cmocka_unit_test(is_pattern),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
