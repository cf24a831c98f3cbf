/* SPDX-License-Identifier: MIT */
/* json_test.c - compares the output byte by byte, and reads it back with jansson. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

static char *text;
static size_t text_bytes;

static void begin(struct wm_json *j, unsigned lines)
{
	FILE *out = open_memstream(&text, &text_bytes);

	assert_non_null(out);
	wm_json_init(j, out, lines);
}

static void expect(struct wm_json *j, const char *wanted)
{
	assert_int_equal(j->depth, 0);
	fclose(j->out);
	assert_string_equal(text, wanted);
	free(text);
}

static void test_nesting(void **state)
{
	struct wm_json j;

	begin(&j, 0);
	wm_json_array(&j, NULL);
	wm_json_end(&j);
	expect(&j, "[]\n");

	begin(&j, 0);
	wm_json_object(&j, NULL);
	wm_json_string(&j, "a", "x");
	wm_json_array(&j, "b");
	wm_json_i64(&j, NULL, INT64_MIN);
	wm_json_u64(&j, NULL, UINT64_MAX);
	wm_json_object(&j, NULL);
	wm_json_end(&j);
	wm_json_object(&j, NULL);
	wm_json_bool(&j, "t", true);
	wm_json_end(&j);
	wm_json_end(&j);
	wm_json_null(&j, "c");
	wm_json_string(&j, "d", NULL);
	wm_json_end(&j);
	expect(&j, "{\"a\":\"x\",\"b\":[-9223372036854775808,18446744073709551615,{},{\"t\":true}],"
		   "\"c\":null,\"d\":null}\n");

	begin(&j, 1);
	wm_json_array(&j, NULL);
	for (unsigned i = 0; i < 2; i++) {
		wm_json_object(&j, NULL);
		wm_json_u64(&j, "i", i);
		wm_json_bool(&j, "f", false);
		wm_json_end(&j);
	}
	wm_json_end(&j);
	expect(&j, "[\n{\"i\":0,\"f\":false},\n{\"i\":1,\"f\":false}]\n");
}

static void test_text(void **state)
{
	struct wm_json j;

	begin(&j, 0);
	wm_json_array(&j, NULL);
	wm_json_string(&j, NULL, "a\"b\\c\n\t\r\b\f\x01\x7f/");
	wm_json_string(&j, NULL, "h\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
	/* a lone byte, an overlong slash, a surrogate, beyond U+10FFFF, truncated */
	wm_json_string(&j, NULL,
		       "x\xff"
		       "x\xc0\xafx\xed\xa0\x80x\xf4\x90\x80\x80x\xe2\x82");
	wm_json_bytes(&j, NULL, "a\0b", 3);
	wm_json_string(&j, NULL, "");
	wm_json_end(&j);
	expect(&j, "[\"a\\\"b\\\\c\\n\\t\\r\\b\\f\\u0001\\u007f/\","
		   "\"h\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\","
		   "\"x\\ufffdx\\ufffd\\ufffdx\\ufffd\\ufffd\\ufffdx\\ufffd\\ufffd\\ufffd\\ufffdx\\"
		   "ufffd\\ufffd\","
		   "\"a\\u0000b\",\"\"]\n");
}

static void test_floats(void **state)
{
	static const double values[] = {0.0,     0.1,     1.0 / 3, -2.5,          1e300,
					DBL_MIN, DBL_MAX, 5e-324,  123456789.125, 1e15};
	struct wm_json j;
	json_t *array;

	begin(&j, 0);
	wm_json_array(&j, NULL);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		wm_json_f64(&j, NULL, values[i]);
	wm_json_f64(&j, NULL, NAN);
	wm_json_f64(&j, NULL, INFINITY);
	wm_json_end(&j);
	fclose(j.out);
	array = json_loads(text, 0, NULL);
	assert_non_null(array);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		assert_true(json_number_value(json_array_get(array, i)) == values[i]);
	assert_true(json_is_null(json_array_get(array, sizeof(values) / sizeof(values[0]))));
	json_decref(array);
	assert_non_null(strstr(text, ",0.1,"));
	free(text);
}

/* A reader that checks UTF-8 accepts the output for arbitrary bytes. */
static void test_random_bytes(void **state)
{
	uint64_t word = 1;
	struct wm_json j;
	json_t *array;

	begin(&j, 0);
	wm_json_array(&j, NULL);
	for (unsigned i = 0; i < 2000; i++) {
		char bytes[24];

		for (unsigned b = 0; b < sizeof(bytes); b++) {
			word = word * 6364136223846793005u + 1442695040888963407u;
			bytes[b] = (char)(word >> 56);
		}
		wm_json_bytes(&j, NULL, bytes, i % sizeof(bytes));
	}
	wm_json_end(&j);
	fclose(j.out);
	array = json_loads(text, JSON_ALLOW_NUL, NULL);
	assert_non_null(array);
	assert_int_equal(json_array_size(array), 2000);
	json_decref(array);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_nesting),
	    cmocka_unit_test(test_text),
	    cmocka_unit_test(test_floats),
	    cmocka_unit_test(test_random_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
