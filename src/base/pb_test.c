/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/pb.h"

static void is(const struct wm_text *t, const char *bytes, size_t count)
{
	assert_false(t->failed);
	assert_int_equal(t->bytes, count);
	assert_memory_equal(t->data, bytes, count);
}
#define IS(t, literal) is(t, literal, sizeof(literal) - 1)

static void numbers(void **state)
{
	struct wm_text t;

	wm_text_init(&t);
	wm_pb_u64(&t, 1, 150);
	wm_pb_u64(&t, 16, 0);
	wm_pb_i64(&t, 2, -1);
	wm_pb_u64(&t, 1, UINT64_MAX);
	wm_pb_double(&t, 3, 1.0);
	IS(&t, "\x08\x96\x01"
	       "\x80\x01\x00"
	       "\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
	       "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
	       "\x19\0\0\0\0\0\0\xf0\x3f");
	wm_text_done(&t);
}

static void strings(void **state)
{
	struct wm_text t;

	wm_text_init(&t);
	wm_pb_string(&t, 2, "testing", 7);
	wm_pb_string(&t, 2, NULL, 0);
	wm_pb_utf8(&t, 2, "\xc3\xa4", 2);
	IS(&t, "\x12\x07testing\x12\x00\x12\x82\x80\x80\x00\xc3\xa4");
	wm_text_cut(&t, 0);
	/* an invalid byte, NUL, an encoded surrogate */
	wm_pb_utf8(&t, 2, "a\xff\0\xed\xa0\x80", 6);
	IS(&t, "\x12\x90\x80\x80\x00"
	       "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	wm_text_done(&t);
}

static void messages(void **state)
{
	struct wm_text t;
	size_t outer, inner;

	wm_text_init(&t);
	outer = wm_pb_begin(&t, 1);
	inner = wm_pb_begin(&t, 15);
	wm_pb_u64(&t, 1, 1);
	wm_pb_end(&t, inner);
	wm_pb_end(&t, outer);
	IS(&t, "\x0a\x87\x80\x80\x00\x7a\x82\x80\x80\x00\x08\x01");
	wm_text_done(&t);
}

/* A length that needs more than one byte fits in the four bytes. */
static void long_message(void **state)
{
	struct wm_text t;
	size_t at;

	wm_text_init(&t);
	at = wm_pb_begin(&t, 1);
	for (int i = 0; i < 1000; i++)
		wm_pb_u64(&t, 1, 1);
	wm_pb_end(&t, at);
	assert_int_equal(t.bytes, 5 + 2000);
	assert_memory_equal(t.data, "\x0a\xd0\x8f\x80\x00", 5);
	wm_text_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(numbers),
	    cmocka_unit_test(strings),
	    cmocka_unit_test(messages),
	    cmocka_unit_test(long_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
