/* SPDX-License-Identifier: MIT */
/*
 * diag_test.c - sentences are kept, truncated, and given a hint when they end with an errno's text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "base/diag.h"

static void hints(void **state)
{
	static const int hints[] = {EACCES, EPERM, EMFILE, ENFILE, ENOSPC,
				    EDQUOT, EROFS, EFBIG,  ENOMEM};
	struct wm_diag d;

	(void)state;
	for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++) {
		const char *bare = strerror(hints[i]), *words = wm_diag_errno(-hints[i]);

		/* The C library's text for the errno, then the hint. */
		assert_int_equal(strncmp(words, bare, strlen(bare)), 0);
		assert_int_equal(strncmp(words + strlen(bare), "; ", 2), 0);
		assert_int_equal(wm_diag_set(&d, -hints[i], NULL, -1, "cannot open it: %s", bare),
				 -hints[i]);
		assert_int_equal(strncmp(d.sentence, "cannot open it: ", 16), 0);
		assert_string_equal(d.sentence + 16, words);
		/* Another errno's text, or text in the middle of a sentence, is left unchanged. */
		(void)wm_diag_set(&d, -EINVAL, NULL, -1, "cannot open it: %s", bare);
		assert_string_equal(d.sentence + 16, bare);
		(void)wm_diag_set(&d, -hints[i], NULL, -1, "(%s)", bare);
		assert_int_equal(strlen(d.sentence), strlen(bare) + 2);
		(void)wm_diag_set(&d, -hints[i], NULL, -1, "x: %s", words);
		assert_string_equal(d.sentence + 3, words);
	}
	assert_string_equal(wm_diag_errno(-ENOENT), strerror(ENOENT));
}

static void long_sentences(void **state)
{
	char text[2 * WM_DIAG_SENTENCE];
	struct wm_diag d;

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	(void)wm_diag_set(&d, -EACCES, NULL, -1, "%s", text);
	assert_int_equal(strlen(d.sentence), WM_DIAG_SENTENCE - 1);
	/* The hint, which follows the error, is truncated at the end of the buffer. */
	text[WM_DIAG_SENTENCE - 1 - strlen(strerror(EACCES))] = '\0';
	(void)wm_diag_set(&d, -EACCES, NULL, -1, "%s%s", text, strerror(EACCES));
	assert_int_equal(strlen(d.sentence), WM_DIAG_SENTENCE - 1);
	assert_int_equal(wm_diag_set(NULL, -EACCES, NULL, -1, "no diag to fill"), -EACCES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(hints),
	    cmocka_unit_test(long_sentences),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
