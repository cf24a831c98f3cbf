/* SPDX-License-Identifier: MIT */
/* value_text_test.c - tests text with control sequences, and text as JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "view/value_text.h"

#define NR(a) (sizeof(a) / sizeof((a)[0]))

static void test_safe(void **state)
{
	static const struct {
		const char *from, *plain, *quoted;
	} cases[] = {
	    {"", "", ""},
	    {"abc", "abc", "abc"},
	    {"a\"b\\c", "a\"b\\c", "a\\\"b\\\\c"},
	    {"\x1b[2J\a", "\\x1b[2J\\x07", "\\x1b[2J\\x07"},
	    {"a\nb\tc\rd", "a\\nb\\tc\\rd", "a\\nb\\tc\\rd"},
	    {"\x7f", "\\x7f", "\\x7f"},
	    {"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},
	    {"\xf0\x9f\x90\x9e", "\xf0\x9f\x90\x9e", "\xf0\x9f\x90\x9e"},
	    {"\xff\xc3", "\\xff\\xc3", "\\xff\\xc3"},
	    {"\xc0\x80", "\\xc0\\x80", "\\xc0\\x80"},               /* overlong */
	    {"\xed\xa0\x80", "\\xed\\xa0\\x80", "\\xed\\xa0\\x80"}, /* surrogate */
	    {"\xc2\x9b"
	     "2J",
	     "\\u009b2J", "\\u009b2J"}, /* C1: CSI */
	    {"\xe2\x80\xae"
	     "x",
	     "\\u202ex", "\\u202ex"}, /* right to left */
	};
	struct wm_text t;

	wm_text_init(&t);
	for (size_t i = 0; i < NR(cases); i++) {
		wm_text_cut(&t, 0);
		wm_text_char(&t, '|');
		wm_view_safe(&t, cases[i].from, strlen(cases[i].from), false);
		assert_string_equal(t.data + 1, cases[i].plain);
		wm_text_cut(&t, 1);
		wm_view_safe(&t, cases[i].from, strlen(cases[i].from), true);
		assert_string_equal(t.data + 1, cases[i].quoted);
	}
	wm_text_done(&t);
}

/* Arbitrary bytes: the output contains no control bytes, and JSON stays valid. */
static void test_any_bytes(void **state)
{
	uint64_t seed = 42;

	for (int i = 0; i < 3000; i++) {
		unsigned char bytes[24];
		struct wm_text t;
		json_t *j;

		for (size_t n = 0; n < sizeof(bytes); n++) {
			seed = seed * 6364136223846793005ull + 1442695040888963407ull;
			bytes[n] = (unsigned char)(seed >> 56);
		}
		wm_text_init(&t);
		wm_view_safe(&t, bytes, sizeof(bytes), true);
		for (size_t n = 0; n < t.bytes; n++)
			assert_true((unsigned char)t.data[n] >= 0x20 && t.data[n] != 0x7f);
		wm_text_cut(&t, 0);
		wm_view_json_string(&t, bytes, sizeof(bytes));
		j = json_loadb(t.data, t.bytes, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
		assert_non_null(j);
		json_decref(j);
		wm_text_done(&t);
	}
}

static void real(double d, bool is_float, const char *people, const char *json)
{
	struct wm_text t;

	wm_text_init(&t);
	wm_view_real(&t, d, is_float);
	wm_text_char(&t, '|');
	wm_view_json_real(&t, d, is_float);
	wm_text_char(&t, '|');
	assert_memory_equal(t.data, people, strlen(people));
	assert_memory_equal(t.data + strlen(people) + 1, json, strlen(json));
	assert_int_equal(t.bytes, strlen(people) + strlen(json) + 2);
	wm_text_done(&t);
}

static void test_reals(void **state)
{
	real(0.1, false, "0.1", "0.1");
	real((double)0.1f, true, "0.1", "0.1");
	real((double)0.1f, false, "0.10000000149011612", "0.10000000149011612");
	real(1e22, false, "1e+22", "1e+22");
	real(NAN, false, "nan", "\"NaN\"");
	real(-INFINITY, false, "-inf", "\"-Infinity\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_safe),
	    cmocka_unit_test(test_any_bytes),
	    cmocka_unit_test(test_reals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
