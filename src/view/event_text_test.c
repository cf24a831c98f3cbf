/* SPDX-License-Identifier: MIT */
/*
 * event_text_test.c - events as lines and as JSON: print forms, values of all
 * types, and text that wants to take over the terminal.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "event/desc_build.h"
#include "view/event_text.h"
#include "view/print_form.h"
#include "view/value_text.h"

#define NR(a) (sizeof(a) / sizeof((a)[0]))

/* --- text --------------------------------------------------------------------------- */

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

/* Any bytes: no control byte comes out, and JSON stays JSON. */
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

/* --- one event ------------------------------------------------------------------------- */

struct one {
	struct wm_class *class;
	struct wm_text payload;
	struct wm_trace_event event;
};

static void begin(struct one *o, const char *schema, const int64_t *values, uint16_t nr_values,
		  const char *print)
{
	struct wm_desc_spec spec = {.provider = "app",
				    .name = "ev",
				    .schema = schema,
				    .print = print,
				    .values = values,
				    .nr_values = nr_values,
				    .named = true};
	unsigned char *desc = NULL;
	struct wm_diag d = {0};
	size_t bytes;

	*o = (struct one){0};
	assert_int_equal(wm_desc_build(&spec, &desc, &bytes), 0);
	if (wm_class_parse(desc, bytes, NULL, &o->class, &d))
		fail_msg("%s", d.sentence);
	free(desc);
	wm_text_init(&o->payload);
}

static void number(struct one *o, uint64_t value, uint32_t bytes)
{
	wm_text_add(&o->payload, &value, bytes);
}

static void real(struct one *o, double d)
{
	wm_text_add(&o->payload, &d, sizeof(d));
}

static void text(struct one *o, const char *s)
{
	wm_text_add(&o->payload, s, strlen(s) + 1);
}

static const struct wm_trace_event *finish(struct one *o)
{
	o->event = (struct wm_trace_event){.time_ns = 1700000000000000123ull,
					   .pid = 7,
					   .tid = 8,
					   .comm = "co\x1bmm",
					   .class = o->class,
					   .payload = (unsigned char *)o->payload.data,
					   .payload_bytes = (uint32_t)o->payload.bytes};
	return &o->event;
}

static void end(struct one *o)
{
	wm_class_destroy(o->class);
	wm_text_done(&o->payload);
}

/* --- print forms ------------------------------------------------------------------------- */

/* Every form is filled with the same fields, in this order. */
static void fill(struct one *o, const char *form)
{
	static const int64_t values[] = {-1, 2, 4};

	begin(o, "a:i4;b:s;c:x8;d:f8;e:ei4{minus#,two#};f:c#", values, NR(values), form);
	number(o, (uint64_t)-42, 4);
	text(o, "str");
	number(o, 0xdeadbeefcafe, 8);
	real(o, 3.14159);
	number(o, 2, 4);
	wm_text_add(&o->payload, "ab\0\0", 4);
}

static void test_print_forms(void **state)
{
	static const struct {
		const char *form, *want;
	} cases[] = {
	    {"a %d b %s c %lx d %f e %d f %s", "a -42 b str c deadbeefcafe d 3.141590 e 2 f ab"},
	    {"100%% %i", "100% -42"},
	    {"%5d|%-5d|", "  -42|\"str\"|"},
	    {"%05d|", "-0042|"},
	    {"%+d|%10s|%#lx|%8.2f|%s|%-4s|", "-42|       str|0xdeadbeefcafe|    3.14|two|ab  |"},
	    {"%.5d", "-00042"},
	    {"%d %.2s %#018llx %.3e", "-42 st 0x0000deadbeefcafe 3.142e+00"},
	    {"%x", "ffffffd6"},
	    {"%X", "FFFFFFD6"},
	    {"%o", "37777777726"},
	    {"%hhd %s %p", "-42 str 0xdeadbeefcafe"},
	    {"%s", "-42"},            /* not text: shown anyhow */
	    {"%d %d", "-42 \"str\""}, /* not a number */
	    {"%d %s %s %s %s %s %d", "-42 str 0xdeadbeefcafe 3.14159 two ab %d"}, /* one too many */
	    {"%n %m %q %", "%n %m %q %"}, /* no conversions */
	    {"%d\n\n", "-42"},
	    {"x\ny\x1b[31m", "x\\ny\\x1b[31m"},
	    {"", ""},
	    {"%c", "\\xd6"},
	};
	struct wm_text t;
	struct one o;

	for (size_t i = 0; i < NR(cases); i++) {
		fill(&o, cases[i].form);
		finish(&o);
		wm_text_init(&t);
		wm_text_char(&t, '|');
		wm_view_print_form(&t, o.class, o.event.payload, o.event.payload_bytes);
		if (strcmp(t.data + 1, cases[i].want) != 0)
			fail_msg("\"%s\": \"%s\", wanted \"%s\"", cases[i].form, t.data + 1,
				 cases[i].want);
		wm_text_done(&t);
		end(&o);
	}
}

static void check_form(struct one *o, const char *want)
{
	struct wm_text t;

	finish(o);
	wm_text_init(&t);
	wm_view_print_form(&t, o->class, o->event.payload, o->event.payload_bytes);
	assert_string_equal(t.data, want);
	wm_text_done(&t);
	end(o);
}

static void test_form_widths(void **state)
{
	struct wm_text t;
	struct one o;

	begin(&o, "w:i4;v:i4", NULL, 0, "%*d|");
	number(&o, 5, 4);
	number(&o, 7, 4);
	check_form(&o, "    7|");
	begin(&o, "w:i4;v:i4", NULL, 0, "%*d|");
	number(&o, (uint64_t)-3, 4);
	number(&o, 7, 4);
	check_form(&o, "7  |");
	begin(&o, "p:i4;s:s", NULL, 0, "%.*s|");
	number(&o, 2, 4);
	text(&o, "abc");
	check_form(&o, "ab|");
	begin(&o, "w:i4;v:i4", NULL, 0, "%*d|");
	number(&o, 0x80000000u, 4);
	number(&o, 7, 4);
	finish(&o);
	wm_text_init(&t);
	wm_view_print_form(&t, o.class, o.event.payload, o.event.payload_bytes);
	assert_int_equal(t.bytes, WM_PRINT_WIDTH_MAX + 1);
	wm_text_done(&t);
	end(&o);
	begin(&o, "v:i4", NULL, 0, "%99999999d|%99999999.99999999s");
	number(&o, 7, 4);
	finish(&o);
	wm_text_init(&t);
	wm_view_print_form(&t, o.class, o.event.payload, o.event.payload_bytes);
	assert_in_range(t.bytes, WM_PRINT_WIDTH_MAX, WM_PRINT_WIDTH_MAX + 64);
	wm_text_done(&t);
	end(&o);
	begin(&o, "v:f8", NULL, 0, "%.999f");
	real(&o, 1e300);
	finish(&o);
	wm_text_init(&t);
	wm_view_print_form(&t, o.class, o.event.payload, o.event.payload_bytes);
	assert_in_range(t.bytes, 300, 400);
	wm_text_done(&t);
	end(&o);
}

/* --- lines and JSON --------------------------------------------------------------------------- */

static const char all_schema[] =
    "i:i1;u:u8;x:x4;yes:b1;no:b1;f:f4;d:f8;p:p8;s:s;c:c#;a:a#i2;q:qu1;z:z;"
    "e:ei1{bad#,good#}";

static void fill_all(struct one *o)
{
	static const int64_t values[] = {3, 2, -1, 0};
	float f = 0.1f;

	begin(o, all_schema, values, NR(values), NULL);
	number(o, 0x80, 1);
	number(o, UINT64_MAX, 8);
	number(o, 0xbeef, 4);
	number(o, 1, 1);
	number(o, 0, 1);
	wm_text_add(&o->payload, &f, 4);
	real(o, 0.1);
	number(o, 0, 8);
	text(o, "q\"\x1b\xff");
	wm_text_add(&o->payload, "abc", 3);
	number(o, 1, 2);
	number(o, 0xffff, 2);
	number(o, 0, 4);
	number(o, 2, 4);
	number(o, 0x00de, 2);
	number(o, 5, 1);
}

static void test_line(void **state)
{
	static const char want[] =
	    "[22:13:20.000000123] (+?.???????\?\?) co\\x1bmm:7/8 app:ev: { cpu = 3, level = 1 } "
	    "{ i = -128, u = 18446744073709551615, x = 0xbeef, yes = true, no = false, f = 0.1, "
	    "d = 0.1, p = 0x0, s = \"q\\\"\\x1b\\xff\", c = \"abc\", a = [ 1, -1 ], q = [ ], "
	    "z = <de 00>, e = <unknown> (5) }\n"
	    "[22:13:21.500000123] (+1.500000000) co\\x1bmm:7/8 app:ev: { i = ";
	struct wm_view_clock c;
	struct wm_text t;
	struct one o;

	assert_int_equal(setenv("TZ", "UTC", 1), 0);
	tzset();
	fill_all(&o);
	finish(&o);
	wm_text_init(&t);
	wm_view_clock_init(&c);
	o.event.has_cpu = true;
	o.event.cpu = 3;
	o.event.level = 1;
	wm_view_event(&t, &c, &o.event);
	o.event.has_cpu = false;
	o.event.level = 0;
	o.event.time_ns += 1500000000;
	wm_view_event(&t, &c, &o.event);
	t.data[sizeof(want) - 1] = 0;
	assert_string_equal(t.data, want);
	wm_text_done(&t);
	end(&o);
}

static void test_json(void **state)
{
	static const char want[] =
	    "{\"time_ns\":1700000000000000123,\"pid\":7,\"tid\":8,\"comm\":\"co\\u001bmm\","
	    "\"name\":\"app:ev\",\"ustack\":[4198400,18446744073709551615],\"fields\":{\"i\":-128,"
	    "\"u\":18446744073709551615,\"x\":48879,\"yes\":true,\"no\":false,\"f\":0.1,\"d\":0.1,"
	    "\"p\":0,\"s\":\"q\\\"\\u001b\\ufffd\",\"c\":\"abc\",\"a\":[1,-1],\"q\":[],\"z\":"
	    "\"de00\","
	    "\"e\":{\"value\":5,\"label\":null}}}";
	static const uint64_t stack[] = {0x401000, UINT64_MAX};
	struct wm_text t;
	struct one o;

	fill_all(&o);
	finish(&o);
	o.event.ustack = (const unsigned char *)stack;
	o.event.nr_ustack = 2;
	wm_text_init(&t);
	wm_view_event_json(&t, &o.event);
	assert_string_equal(t.data, want);
	wm_text_done(&t);
	end(&o);
}

static void test_json_numbers(void **state)
{
	struct wm_text t;
	json_t *j, *f;
	struct one o;

	begin(&o, "n:f8;i:f8;m:f8;l:i8;e:f8", NULL, 0, "is %d");
	real(&o, NAN);
	real(&o, INFINITY);
	real(&o, -INFINITY);
	number(&o, 1ull << 63, 8);
	real(&o, 1e22);
	finish(&o);
	wm_text_init(&t);
	wm_view_event_json(&t, &o.event);
	j = json_loadb(t.data, t.bytes, 0, NULL);
	assert_non_null(j);
	f = json_object_get(j, "fields");
	assert_string_equal(json_string_value(json_object_get(f, "n")), "NaN");
	assert_string_equal(json_string_value(json_object_get(f, "i")), "Infinity");
	assert_string_equal(json_string_value(json_object_get(f, "m")), "-Infinity");
	assert_true(json_integer_value(json_object_get(f, "l")) == INT64_MIN);
	assert_true(json_number_value(json_object_get(f, "e")) == 1e22);
	assert_string_equal(json_string_value(json_object_get(j, "message")), "is nan");
	json_decref(j);
	wm_text_done(&t);
	end(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_safe),         cmocka_unit_test(test_any_bytes),
	    cmocka_unit_test(test_print_forms),  cmocka_unit_test(test_form_widths),
	    cmocka_unit_test(test_line),         cmocka_unit_test(test_json),
	    cmocka_unit_test(test_json_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
