/* SPDX-License-Identifier: MIT */
/*
 * writer_test.c - tests the lines of all formats for synthetic events. The
 * expected babeltrace lines were copied from babeltrace2 2.0.4's output;
 * print.bats compares whole traces. writer_perf_test.c has those of perf.
 */
#include "view/text/writer_test_kit.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>

#pragma GCC diagnostic ignored "-Wtrigraphs" /* "(+?.?????????) " */

/* Adds a value of every kind. */
static void fill(struct world *w)
{
	struct wm_item *i;

	setup(w);
	field(w, WM_PART_PACKET_CONTEXT, "cpu_id", &u8)->u = 3;
	field(w, WM_PART_CONTEXT, "vtid", &i32)->s = 7;
	field(w, WM_PART_FIELDS, "n", &i32)->s = -12;
	field(w, WM_PART_FIELDS, "x", &x32)->u = 0xbeef;
	field(w, WM_PART_FIELDS, "f", &f32)->f = (double)1.1f;
	field(w, WM_PART_FIELDS, "d", &f64)->f = 1e9;
	set_text(field(w, WM_PART_FIELDS, "s", &text), "it's \"?\" \x1b[2J\n\x01");
	field(w, WM_PART_FIELDS, "e", &color)->u = 0;
	i = field(w, WM_PART_FIELDS, "l", &list);
	inside(w, i, &list.element, 1);
	inside(w, i, &list.element, 200);
	i = field(w, WM_PART_FIELDS, "none", &list);
	field(w, WM_PART_FIELDS, "empty", &nothing);
	i = field(w, WM_PART_FIELDS, "o", &maybe);
	w->event.cpu = 3;
	w->event.pid = 42;
	w->event.tid = 43;
}

static void test_babeltrace(void **unused)
{
	struct world w;

	fill(&w);
	expect(
	    &w, WM_VIEW_BABELTRACE, 2,
	    "[22:13:20.000000001] (+?.?????????) app:query: { cpu_id = 3 }, { vtid = 7 }, { n = "
	    "-12, x = 0xBEEF, f = 1.1, d = 1e+09, s = \"it\\'s \\\"\\?\\\" \\e[2J\\n\\x01\", e = ( "
	    "\"RED\", \"WARM\" : container = 0 ), l = [ [0] = 1, [1] = 200 ], none = [ ], empty = "
	    "{ "
	    "}, o = <none> }\n"
	    "[22:13:21.500000124] (+1.500000123) app:query: { cpu_id = 3 }, { vtid = 7 }, { n = "
	    "-12, x = 0xBEEF, f = 1.1, d = 1e+09, s = \"it\\'s \\\"\\?\\\" \\e[2J\\n\\x01\", e = ( "
	    "\"RED\", \"WARM\" : container = 0 ), l = [ [0] = 1, [1] = 200 ], none = [ ], empty = "
	    "{ "
	    "}, o = <none> }\n");
	done(&w);
}

static void test_babeltrace_numbers(void **unused)
{
	struct world w;
	struct wm_item *i;

	setup(&w);
	field(&w, WM_PART_FIELDS, "a", &sx8)->s = -1;
	field(&w, WM_PART_FIELDS, "b", &so8)->s = -1;
	field(&w, WM_PART_FIELDS, "c", &b4)->u = 5;
	field(&w, WM_PART_FIELDS, "d", &color)->u = 9;
	field(&w, WM_PART_FIELDS, "e", &f64)->f = -0.0;
	field(&w, WM_PART_FIELDS, "f", &f64)->f = 123456;
	field(&w, WM_PART_FIELDS, "g", &f64)->f = 1234567;
	field(&w, WM_PART_FIELDS, "h", &color)->u = 2;
	field(&w, WM_PART_FIELDS, "i", &yes)->u = 1;
	field(&w, WM_PART_FIELDS, "j", &u64)->u = UINT64_MAX;
	i = field(&w, WM_PART_FIELDS, "k", &choice);
	i->u = 0;
	inside(&w, i, &point_members[0], 5);
	w.event.ns = WM_TIME_NONE;
	expect(
	    &w, WM_VIEW_BABELTRACE, 1,
	    "app:query: { a = 0xFF, b = 0777, c = 0b0101, d = ( <unknown> : container = 9 ), e = "
	    "-0, f = 123456, g = 1.23457e+06, h = ( \"BLUE \\\"x\\\"\" : container = 2 ), i = "
	    "true, "
	    "j = 18446744073709551615, k = { 5 } }\n");
	done(&w);
}

/* Only version 2.1 writes several labels in braces and reads bit maps. */
static void test_babeltrace_labels(void **unused)
{
	static const struct wm_type_label flag_labels[] = {{"LOW", 0, 3}, {"HIGH", 6, 7}};
	static const struct wm_type flags = {.kind = WM_TYPE_UNSIGNED,
					     .bits = 8,
					     .look = WM_LOOK_HEX,
					     .is_flags = true,
					     .labels = flag_labels,
					     .nr_labels = NR(flag_labels)};
	struct world w;

	setup(&w);
	field(&w, WM_PART_FIELDS, "a", &color)->u = 0;
	field(&w, WM_PART_FIELDS, "b", &color)->u = 1;
	field(&w, WM_PART_FIELDS, "c", &color)->u = 9;
	field(&w, WM_PART_FIELDS, "d", &flags)->u = 0x42;
	field(&w, WM_PART_FIELDS, "e", &flags)->u = 0x81;
	field(&w, WM_PART_FIELDS, "f", &flags)->u = 0x20;
	w.event.ns = WM_TIME_NONE;
	expect(&w, WM_VIEW_BABELTRACE, 1,
	       "app:query: { a = ( \"RED\", \"WARM\" : container = 0 ), b = ( \"WARM\" : container "
	       "= 1 ), c = ( <unknown> : container = 9 ), d = 0x42 { \"LOW\", \"HIGH\" }, e = 0x81 "
	       "{ \"LOW\", \"HIGH\" }, f = 0x20 }\n");
	w.event.ns = WM_TIME_NONE;
	expect(
	    &w, WM_VIEW_BABELTRACE_21, 1,
	    "app:query: { a = ( { \"RED\", \"WARM\" } : container = 0 ), b = ( \"WARM\" : "
	    "container = 1 ), c = ( <unknown> : container = 9 ), d = 0x42 { \"LOW\", \"HIGH\" }, "
	    "e = 0x81 { \"LOW\", \"HIGH\" }, f = 0x20 }\n");
	done(&w);
}

/* Times before the origin, a clock with a different tick, the text before the name. */
static void test_babeltrace_heads(void **unused)
{
	struct world w;

	setup(&w);
	w.type.name = "";
	w.event.ns = -1500000001;
	expect(&w, WM_VIEW_BABELTRACE, 2,
	       "[-1.500000001] (+?.?????????) <unknown>: \n"
	       "[00:00:00.000000122] (+1.500000123) <unknown>: \n");
	assert_int_equal(wm_trace_add_word(w.trace, "hostname", "box"), 0);
	assert_int_equal(wm_trace_add_word(w.trace, "vpid", "77"), 0);
	w.clock.hz = 3000000000;
	w.clock.offset_ns = 60000000000;
	w.event.clock = 10;
	expect(&w, WM_VIEW_BABELTRACE, 1,
	       "[00:01:00.000000003] (+?.?????????) box:(77) <unknown>: \n");
	w.stream.origin = &(struct wm_trace_origin){
	    .nr_words = 1, .words = &(struct wm_trace_word){"procname", "sh"}};
	expect(&w, WM_VIEW_BABELTRACE, 1,
	       "[00:01:00.000000003] (+?.?????????) box:sh:(77) <unknown>: \n");
	done(&w);
}

static void test_waymark(void **unused)
{
	struct world w;

	fill(&w);
	expect(&w, WM_VIEW_WAYMARK, 1,
	       "[22:13:20.000000001] (+?.?????????) ?:42/43 app:query: { cpu = 3, vtid = 7 } { n = "
	       "-12, x = 0xbeef, f = 1.1, d = 1000000000, s = \"it's \\\"?\\\" \\x1b[2J\\n\\x01\", "
	       "e = "
	       "RED (0), l = [ 1, 200 ], none = [ ], empty = { }, o = none }\n");
	w.type.print = "%d";
	w.type.prints = true;
	w.event.raw_bytes = 5;
	w.event.pid = w.event.tid = w.event.cpu = -1;
	w.type.parts[WM_PART_CONTEXT] = NULL;
	w.clock.is_epoch = false;
	w.event.ns = 1000000005;
	expect(&w, WM_VIEW_WAYMARK, 1,
	       "[1.000000005] (+?.?????????) app:query: a \"form\" of 5 bytes\n");
	w.event.raw_bytes = 0; /* the print form is missing for this event */
	w.type.parts[WM_PART_FIELDS] = NULL;
	expect(&w, WM_VIEW_WAYMARK, 1, "[2.500000128] (+?.?????????) app:query: { }\n");
	done(&w);
}

static const struct wm_reader_ops own_ops = {.name = "test", .close = no_close};

/* Adds a user stack before the fields, and lists, whose lengths are not shown. */
static void fill_own(struct world *w)
{
	struct wm_item *i;

	setup(w);
	w->trace->is_own = true;
	w->trace->ops = &own_ops;
	field(w, WM_PART_PACKET_CONTEXT, "event_count", &u64)->u = 9;
	field(w, WM_PART_PACKET_CONTEXT, "pid", &u64)->u = 42;
	field(w, WM_PART_PACKET_CONTEXT, "level", &u64)->u = 1;
	field(w, WM_PART_CONTEXT, "cpu", &u8)->u = 3;
	field(w, WM_PART_FIELDS, "_ustack_length", &u64)->u = 1;
	i = field(w, WM_PART_FIELDS, "ustack", &list);
	inside(w, i, &list.element, 77);
	/* a member named like a length, but without a list */
	field(w, WM_PART_FIELDS, "_length", &i32)->s = 5;
	field(w, WM_PART_FIELDS, "_q_length", &u64)->u = 0;
	field(w, WM_PART_FIELDS, "q", &list);
	w->event.cpu = 3;
	w->event.pid = 42;
	w->type.nr_contexts = 2;
}

static void test_own(void **unused)
{
	static const char *const some[] = {"q", "pid"};
	struct world w;
	char *got;

	fill_own(&w);
	expect(&w, WM_VIEW_WAYMARK, 1,
	       "[22:13:20.000000001] (+?.?????????) ?:42 app:query: { cpu = 3, level = 1, ustack = "
	       "[ 77 ] } { _length = 5, q = [ ] }\n");
	w.items[2].u = 0;
	w.type.print = "is %d, %s";
	expect(
	    &w, WM_VIEW_JSONL, 1,
	    "{\"time_ns\":80001500000124,\"pid\":42,\"name\":\"app:query\",\"cpu\":3,\"ustack\":["
	    "77],\"fields\":{\"_length\":5,\"q\":[]},\"message\":\"is 5, [ ]\"}\n");
	expect(
	    &w, WM_VIEW_BABELTRACE, 1,
	    "[22:13:23.000000247] (+?.?????????) app:query: { event_count = 9, pid = 42, level = "
	    "0 }, { cpu = 3 }, { _ustack_length = 1, ustack = [ [0] = 77 ], _length = 5, "
	    "_q_length = 0, q = [ ] }\n");
	got = written(&w, WM_VIEW_WAYMARK, 1, some, NR(some));
	assert_string_equal(got, "[22:13:24.500000370] (+?.?????????) ?:42 app:query: { cpu = 3, "
				 "pid = 42 } { q = [ ] }\n");
	free(got);
	done(&w);
}

/* Parts that lines do not show are not requested. */
static void test_unused(void **unused)
{
	static const uint32_t fields = 1u << WM_PART_FIELDS, context = 1u << WM_PART_STREAM_CONTEXT;
	static const struct {
		enum wm_view_format format;
		bool prints;
		uint32_t needs, print_parts;
	} cases[] = {
	    {WM_VIEW_WAYMARK, false, fields | context, 0},
	    {WM_VIEW_WAYMARK, true, context, 0},
	    {WM_VIEW_WAYMARK, true, fields | context, fields},
	    {WM_VIEW_PERF, false, fields | context, 0},
	    {WM_VIEW_PERF, true, 0, 0},
	    {WM_VIEW_PERF, true, fields, fields},
	    {WM_VIEW_JSONL, true, fields | context, 0},
	};
	static const bool none[1];
	struct world w;

	setup(&w);
	field(&w, WM_PART_STREAM_CONTEXT, "a", &u64);
	field(&w, WM_PART_FIELDS, "b", &u64);
	for (uint32_t i = 0; i < NR(cases); i++) {
		struct wm_view_options o = {.format = cases[i].format};
		struct wm_view *v;

		w.type.print = "%d";
		w.type.prints = cases[i].prints;
		w.type.print_parts = cases[i].print_parts;
		v = wm_view_create(&w.trace, 1, &o);
		assert_int_equal(wm_view_unused(v, 0, NULL), (fields | context) & ~cases[i].needs);
		assert_int_equal(wm_view_unused(v, 0, none), fields | context);
		wm_view_destroy(v);
	}
	done(&w);
}

static void test_json(void **unused)
{
	struct world w;
	json_t *document, *array, *one;
	char *got;

	fill(&w);
	field(&w, WM_PART_FIELDS, "nan", &f64)->f = NAN;
	field(&w, WM_PART_FIELDS, "inf", &f64)->f = -INFINITY;
	set_text(field(&w, WM_PART_FIELDS, "bad", &text), "\xff\xc3\xbc\"");
	set_text(field(&w, WM_PART_FIELDS, "raw", &bytes), "\x01\xfe");
	field(&w, WM_PART_FIELDS, "e9", &color)->u = 9;
	w.type.print = "%d";
	w.type.prints = true;
	w.event.raw_bytes = 2;
	expect(
	    &w, WM_VIEW_JSONL, 1,
	    "{\"time_ns\":80000000000001,\"pid\":42,\"tid\":43,\"name\":\"app:query\",\"cpu\":3,"
	    "\"packet\":{\"cpu_id\":3},\"context\":{\"vtid\":7},\"fields\":{\"n\":-12,\"x\":48879,"
	    "\"f\":1.1,\"d\":1000000000,\"s\":\"it's \\\"?\\\" \\u001b[2J\\u000a\\u0001\",\"e\":{"
	    "\"value\":0,\"label\":\"RED\"},\"l\":[1,200],\"none\":[],\"empty\":{},\"o\":null,"
	    "\"nan\":\"NaN\",\"inf\":\"-Infinity\",\"bad\":\"\\ufffd\xc3\xbc\\\"\",\"raw\":"
	    "\"01fe\","
	    "\"e9\":{\"value\":9,\"label\":null}},\"message\":\"a \\\"form\\\" of 2 bytes\"}\n");
	got = written(&w, WM_VIEW_JSON, 3, NULL, 0);
	document = json_loads(got, JSON_REJECT_DUPLICATES, NULL);
	array = json_object_get(document, "events");
	assert_int_equal(json_array_size(array), 3);
	one = json_object_get(json_array_get(array, 2), "time_ns");
	assert_int_equal(json_integer_value(one), 80000000000001 + 3 * 1500000123ll);
	json_decref(document);
	free(got);
	expect(&w, WM_VIEW_JSON, 0,
	       "{\"schema\":\"waymark-print\",\"schema_version\":1,\"events\":[\n]}\n");
	w.event.ns = WM_TIME_NONE;
	got = written(&w, WM_VIEW_JSONL, 1, NULL, 0);
	assert_memory_equal(got, "{\"time_ns\":null,", 16);
	free(got);
	done(&w);
}

static void test_csv(void **unused)
{
	const char *const fields[] = {"s", "l", "vtid", "no such", "n"};
	struct world w;
	char *got;

	fill(&w);
	got = written(&w, WM_VIEW_CSV, 1, fields, NR(fields));
	assert_string_equal(got,
			    "time_ns,name,cpu,pid,tid,comm,s,l,vtid,no such,n\r\n"
			    "80000000000001,app:query,3,42,43,,\"it's \"\"?\"\" \x1b[2J\n\x01\","
			    "\"[1,200]\",7,,-12\r\n");
	free(got);
	w.type.parts[WM_PART_FIELDS] = NULL;
	expect(&w, WM_VIEW_CSV, 1,
	       "time_ns,name,cpu,pid,tid,comm,fields\r\n"
	       "80001500000124,app:query,3,42,43,,\"{\"\"packet\"\":{\"\"cpu_id\"\":3},"
	       "\"\"context\"\":{"
	       "\"\"vtid\"\":7}}\"\r\n");
	done(&w);
}

static void test_fields(void **unused)
{
	const char *const fields[] = {"d", "n", "vtid"};
	struct world w;
	char *got;

	fill(&w);
	got = written(&w, WM_VIEW_WAYMARK, 1, fields, NR(fields));
	assert_string_equal(
	    got, "[22:13:20.000000001] (+?.?????????) ?:42/43 app:query: { cpu = 3, vtid "
		 "= 7 } { n = -12, d = 1000000000 }\n");
	free(got);
	got = written(&w, WM_VIEW_JSONL, 1, fields, 2);
	assert_non_null(strstr(got, "\"fields\":{\"n\":-12,\"d\":1000000000}}"));
	free(got);
	done(&w);
}

/* The joined text is the same however the trace is divided into pages. */
static void test_joints(void **unused)
{
	static const enum wm_view_format all[] = {WM_VIEW_WAYMARK, WM_VIEW_BABELTRACE, WM_VIEW_JSON,
						  WM_VIEW_JSONL, WM_VIEW_CSV};
	struct world w;

	fill(&w);
	for (uint32_t f = 0; f < NR(all); f++) {
		struct wm_view_options o = {all[f], NULL, 0};
		struct wm_view *v = wm_view_create(&w.trace, 1, &o);
		char *whole;
		struct wm_text joined = {0};
		struct wm_view_past past = {0};

		w.event.ns = 5;
		whole = written(&w, all[f], 6, NULL, 0);
		w.event.ns = 5;
		wm_view_begin(v, &joined);
		for (uint32_t k = 0; k < 5; k++) {
			static const uint32_t nr[] = {0, 1, 0, 3, 2};
			struct wm_view_page page;

			wm_view_page_init(&page, true);
			for (uint32_t i = 0; i < nr[k]; i++, w.event.ns += 1500000123) {
				if (k == 4 && i == 1) /* in the middle of a page */
					wm_view_page_join(v, &page, &past);
				wm_view_event_line(v, &page, 0, &w.event);
			}
			wm_view_page_join(v, &page, &past);
			past = page.past;
			wm_text_add(&joined, page.text.data + page.start,
				    page.text.bytes - page.start);
			wm_view_page_done(&page);
		}
		wm_view_end(v, &joined);
		assert_string_equal(joined.data, whole);
		wm_text_done(&joined);
		free(whole);
		wm_view_destroy(v);
	}
	done(&w);
}

static void test_loss(void **unused)
{
	struct world w;
	struct wm_text t = {0};

	setup(&w);
	w.stream.instance = 1;
	wm_view_loss(&t, w.trace, &(struct wm_trace_loss){0, 3, true, 90, 91, ""});
	assert_string_equal(t.data,
			    "WARNING: Tracer discarded 3 packets between [00:00:00.000000090] and "
			    "[00:00:00.000000091] in trace \"\" (no UUID) within stream "
			    "\"trace/stream_0\" (stream class ID: 0, stream ID: 1).\n");
	wm_text_cut(&t, 0);
	wm_view_loss(&t, w.trace,
		     &(struct wm_trace_loss){0, UINT64_MAX, false, INT64_MIN, INT64_MAX, ""});
	assert_string_equal(
	    t.data, "WARNING: Tracer may have discarded events (unknown time range) in trace "
		    "\"\" (no UUID) within stream \"trace/stream_0\" (stream class ID: 0, stream "
		    "ID: 1).\n");
	wm_text_done(&t);
	done(&w);
}

/* Tests strings and lists that are longer than the memory a pen reserves at once. */
static void test_long_values(void **unused)
{
	static const enum wm_view_format all[] = {WM_VIEW_WAYMARK, WM_VIEW_BABELTRACE, WM_VIEW_PERF,
						  WM_VIEW_JSONL, WM_VIEW_CSV};
	const uint32_t nr = 300000;
	struct wm_item *items = calloc(nr + 8, sizeof(*items));
	char *big = malloc(nr);
	struct world w;

	setup(&w);
	memset(big, 'a', nr);
	big[nr - 2] = '\x1b';
	field(&w, WM_PART_FIELDS, "s", &text);
	field(&w, WM_PART_FIELDS, "b", &bytes);
	field(&w, WM_PART_FIELDS, "l", &list);
	memcpy(items, w.items, 3 * sizeof(*items));
	items[0].text = items[1].text = big;
	items[0].count = items[1].count = items[2].count = nr;
	items[2].next = nr + 3;
	for (uint32_t i = 0; i < nr; i++)
		items[3 + i] = (struct wm_item){.member = &list.element, .u = 255, .next = i + 4};
	w.event.parts[WM_PART_FIELDS].end = nr + 3;
	for (uint32_t f = 0; f < NR(all); f++) {
		struct wm_view_options o = {all[f], NULL, 0};
		struct wm_view *v = wm_view_create(&w.trace, 1, &o);
		struct wm_view_page page;

		w.event.items = items;
		w.event.type = &w.type;
		w.event.stream = &w.stream;
		wm_view_page_init(&page, false);
		wm_view_event_line(v, &page, 0, &w.event);
		assert_false(page.text.failed);
		assert_true(page.text.bytes > 7ul * nr);
		assert_int_equal(strlen(page.text.data), page.text.bytes);
		wm_view_page_done(&page);
		wm_view_destroy(v);
	}
	free(items);
	free(big);
	done(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_babeltrace),
	    cmocka_unit_test(test_babeltrace_numbers),
	    cmocka_unit_test(test_babeltrace_labels),
	    cmocka_unit_test(test_babeltrace_heads),
	    cmocka_unit_test(test_waymark),
	    cmocka_unit_test(test_own),
	    cmocka_unit_test(test_unused),
	    cmocka_unit_test(test_json),
	    cmocka_unit_test(test_csv),
	    cmocka_unit_test(test_fields),
	    cmocka_unit_test(test_joints),
	    cmocka_unit_test(test_loss),
	    cmocka_unit_test(test_long_values),
	};

	setenv("TZ", "UTC", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
