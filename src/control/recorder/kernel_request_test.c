/* SPDX-License-Identifier: MIT */
/*
 * kernel_request_test.c - decodes requests for kernel events: complete ones, and ones that are
 * truncated, too long, or of another type.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/recorder/kernel_request.h"

static const char texts[] = "/home/me\0/bin:/usr/bin\0+sched:*\0prev_pid > 0\0-syscall:openat\0";

/* Builds header and strings in memory of exactly their size; the caller frees it. */
static void *make(uint32_t nr, const char *text, size_t bytes)
{
	const struct wm_msg_kernel_change head = {.nr_asks = nr};
	char *message = malloc(sizeof(head) + bytes);

	assert_non_null(message);
	memcpy(message, &head, sizeof(head));
	memcpy(message + sizeof(head), text, bytes);
	return message;
}

static bool reads(uint32_t nr, const char *text, size_t bytes)
{
	struct wm_kernel_question *q = calloc(1, sizeof(*q));
	void *message = make(nr, text, bytes);
	bool fine = wm_request_read(message, sizeof(struct wm_msg_kernel_change) + bytes, q);

	free(message);
	free(q);
	return fine;
}

static void a_whole_one(void **state)
{
	struct wm_kernel_question *q = calloc(1, sizeof(*q));
	void *message = make(2, texts, sizeof(texts));

	assert_true(
	    wm_request_read(message, sizeof(struct wm_msg_kernel_change) + sizeof(texts), q));
	assert_string_equal(q->folder, "/home/me");
	assert_string_equal(q->search, "/bin:/usr/bin");
	assert_int_equal(q->nr, 2);
	assert_string_equal(q->asks[0].name, "sched:*");
	assert_string_equal(q->asks[0].filter, "prev_pid > 0");
	assert_false(q->asks[0].off);
	assert_string_equal(q->asks[1].name, "syscall:openat");
	assert_null(q->asks[1].filter);
	assert_true(q->asks[1].off);
	free(message);
	free(q);
}

static void cut_anywhere_it_makes_no_sense(void **state)
{
	struct wm_kernel_question *q = calloc(1, sizeof(*q));

	for (size_t n = 0; n < sizeof(texts); n++)
		assert_false(reads(2, texts, n));
	assert_true(reads(2, texts, sizeof(texts)));
	for (size_t n = 0; n < sizeof(struct wm_msg_kernel_change); n++)
		assert_false(wm_request_read(texts, n, q));
	free(q);
}

static void numbers_and_words_that_are_none(void **state)
{
	char wrong[sizeof(texts)];

	assert_false(reads(0, texts, sizeof(texts)));
	assert_false(reads(1, texts, sizeof(texts)));
	assert_false(reads(3, texts, sizeof(texts)));
	assert_false(reads(WM_KERNEL_ASKS_MAX + 1, texts, sizeof(texts)));
	assert_false(reads(UINT32_MAX, texts, sizeof(texts)));
	memcpy(wrong, texts, sizeof(texts));
	*strchr(wrong + sizeof("/home/me"), '\0') = ' '; /* makes the $PATH string unterminated */
	assert_false(reads(2, wrong, sizeof(wrong)));
	memcpy(wrong, texts, sizeof(texts));
	*(char *)memchr(wrong, '+', sizeof(wrong)) = '*';
	assert_false(reads(2, wrong, sizeof(wrong)));
}

static void more_than_there_may_be(void **state)
{
	struct wm_diag diag = {.offset = -1};
	struct wm_kernel_asks a;

	wm_request_init(&a);
	for (uint32_t i = 0; i < WM_KERNEL_ASKS_MAX; i++)
		assert_int_equal(wm_request_add(&a, "sched:*", NULL, false, &diag), 0);
	assert_int_equal(wm_request_add(&a, "sched:*", NULL, false, &diag), -E2BIG);
	assert_non_null(strstr(diag.sentence, "split it"));
	wm_request_done(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_whole_one),
	    cmocka_unit_test(cut_anywhere_it_makes_no_sense),
	    cmocka_unit_test(numbers_and_words_that_are_none),
	    cmocka_unit_test(more_than_there_may_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
