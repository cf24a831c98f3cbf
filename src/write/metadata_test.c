/* SPDX-License-Identifier: MIT */
/*
 * metadata_test.c - metadata with hostile names and every type: TSDL as read by babeltrace2, CTF 2
 * by its structure (babeltrace2 2.0 does not read it), clock arithmetic.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <waymark/abi.h>

#include "event/context.h"
#include "write/writer_int.h"
#include "write/writer_test_kit.h"

static void test_clock_offset(void **state)
{
	static const struct {
		uint64_t hz, start, realtime_ns;
		int64_t seconds;
		int64_t cycles;
	} cases[] = {
	    {1000000000, 1000, 1700000000000001000, 1700000000, 0},
	    {1000000000, 0, 1700000000123456789, 1700000000, 123456789},
	    /* A fast counter that has run for years. */
	    {3000000000, 300000000ull * 3000000000ull, 1700000000500000000, 1400000000, 1500000000},
	    /* A board whose wall clock is in 1970, 5 s after boot. */
	    {1000, 5000, 2000000000, -3, 0},
	    {1000, 5001, 2000000000, -4, 999},
	    {(uint64_t)1 << 40, 0, UINT64_MAX, 18446744073, 780160251199},
	};
	struct wm_described_trace t = {0};
	int64_t seconds, cycles;
	size_t i;

	for (i = 0; i < NR(cases); i++) {
		t.clock_hz = cases[i].hz;
		t.clock_start = cases[i].start;
		t.start_realtime_ns = cases[i].realtime_ns;
		wm_describe_clock_offset(&t, &seconds, &cycles);
		assert_int_equal(seconds, cases[i].seconds);
		assert_int_equal(cycles, cases[i].cycles);
	}
}

/* CTF 2 demands cycles from 0 to below the frequency. */
static void test_json_clock_offset(void **state)
{
	static const struct {
		uint64_t hz;
		int64_t seconds, cycles;
		const char *text;
	} cases[] = {
	    {1000, 7, 999, "\"seconds\":7,\"cycles\":999}"},
	    {1000, 7, 1000, "\"seconds\":8,\"cycles\":0}"},
	    {1000000000, 0, 1700000000123456789, "\"seconds\":1700000000,\"cycles\":123456789}"},
	    {1000, 7, -1, "\"seconds\":6,\"cycles\":999}"},
	    {1000, 7, -1000, "\"seconds\":6,\"cycles\":0}"},
	    {UINT64_MAX, 7, -2, "\"seconds\":6,\"cycles\":18446744073709551613}"},
	};

	for (size_t i = 0; i < NR(cases); i++) {
		struct wm_meta_clock c = {.id = "c",
					  .name = "c",
					  .hz = cases[i].hz,
					  .seconds = cases[i].seconds,
					  .cycles = cases[i].cycles};
		struct wm_meta_trace trace = {.nr_clocks = 1, .clocks = &c};
		struct wm_text t;

		wm_text_init(&t);
		wm_meta_formats[WM_META_JSON].trace(&t, &trace);
		if (!strstr(t.data, cases[i].text))
			fail_msg("case %zu: %s", i, t.data);
		wm_text_done(&t);
	}
}

/* --- hostile names ---------------------------------------------------------- */

static const struct wm_label hostile_labels[] = {
    {0, "a\"b\\"}, {1, "*/ }; \n"}, {1, ""}, {-1, "int"}, {300, "\xff"}, {0, "a\"b\\"},
};

static const struct wm_field hostile_fields[] = {
    {.name = "int", .scalar = WM_SCALAR_SIGNED, .bytes = 4},
    {.name = "int", .scalar = WM_SCALAR_SIGNED, .bytes = 4},
    {.name = "a b", .scalar = WM_SCALAR_SIGNED, .bytes = 4},
    {.name = "a_b", .scalar = WM_SCALAR_SIGNED, .bytes = 4},
    {.name = "", .scalar = WM_SCALAR_SIGNED, .bytes = 4},
    {.name = "\xc3\xa9; } \"", .scalar = WM_SCALAR_SIGNED, .bytes = 4},
    {.name = "_q_length", .scalar = WM_SCALAR_SIGNED, .bytes = 4},
    {.name = "q", .shape = WM_SHAPE_SEQUENCE, .scalar = WM_SCALAR_SIGNED, .bytes = 4},
    {.name = "_ustack_length", .scalar = WM_SCALAR_SIGNED, .bytes = 4},
    {.name = "e",
     .scalar = WM_SCALAR_UNSIGNED,
     .bytes = 1,
     .nr_labels = NR(hostile_labels),
     .labels = hostile_labels},
    {.name = "\xff", .scalar = WM_SCALAR_BOOL, .bytes = 1},
};

static const struct wm_class hostile = {
    .provider = "a:b",
    .name = "x\"; };\n event { /* \xff\t*/ \\",
    .print = "*/ }; env { x = 1; }; /* \" \x01",
    .file = "a*/b",
    .level = WAYMARK_DEBUG,
    .nr_fields = NR(hostile_fields),
    .fields = hostile_fields,
    .payload_bytes = -1,
};

/* Writes a trace byte by byte, without the writer. */
static void write_hostile_trace(enum wm_meta_language language, struct wm_text *t)
{
	struct wm_described_trace trace = {.clock_hz = 1000000000,
					   .hostname = "h\"*/\xff",
					   .created = "now",
					   .command = "x \\ \"y\" \n*/"};

	wm_text_init(t);
	wm_describe_trace(t, language, &trace);
	wm_describe_stream(t, language, 1, WM_STREAM_KIND_USER);
	wm_describe_event(t, language, 1, 7, WM_CONTEXT_ALL, &hostile);
	assert_false(t->failed);
}

static void write_file(const char *name, struct wm_text *t)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", kit_dir, name);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(t->data, 1, t->bytes, file), t->bytes);
	assert_int_equal(fclose(file), 0);
	wm_text_done(t);
}

static void test_hostile_tsdl(void **state)
{
	struct wm_packet_frame frame = {.magic = WM_PACKET_MAGIC, .stream_id = 1};
	struct wm_text t, data;
	uint32_t i;
	char *out;

	write_hostile_trace(WM_META_TSDL, &t);
	assert_int_equal(mkdir(kit_dir, 0700), 0);
	write_file("metadata", &t);
	wm_text_init(&data);
	frame.content_size = frame.packet_size = 8 * (WM_FRAME_BYTES_USER + 8 + 4 + 4 + 9 * 4 + 2);
	wm_text_add(&data, &frame, sizeof(frame));
	for (i = 0; i < 8 + 4 + 4 + 9 * 4 + 2; i++)
		wm_text_char(&data, i == 0 ? 7 : i == 52 ? (char)255 : i == 53);
	write_file("s", &data);
	if (!kit_has_babeltrace())
		skip();
	out = kit_babeltrace("", NULL);
	assert_string_equal(
	    out, "[0.000000000] a_b:x\"; };\n event { /* \xff\t*/ \\: { event_count = 0, "
		 "pid = 0, vpid = 0, tid = 0, level = 0 }, { cpu = 0 }, { _ustack_length = 0, "
		 "ustack = [ ], int = 0, int_1 = 0, a_b = 0, a_b_3 = 0, _4 = 0, _______ = 0, "
		 "_q_length = 0, _q_7_length = 0, q_7 = [ ], _ustack_length_8 = 0, e = ( "
		 "\"int\" : container = 255 ), _ = 1 }\n");
	free(out);
}

/* --- CTF 2 ------------------------------------------------------------------ */

/* The fragments of a JSON text sequence. */
static json_t *fragments(const char *text, size_t bytes)
{
	json_t *all = json_array(), *one;
	const char *at = text, *end;
	json_error_t error;

	while (at < text + bytes) {
		assert_int_equal(*at++, 0x1e);
		end = memchr(at, '\n', (size_t)(text + bytes - at));
		assert_non_null(end);
		one = json_loadb(at, (size_t)(end - at), JSON_REJECT_DUPLICATES, &error);
		if (!one)
			fail_msg("%s in: %.*s", error.text, (int)(end - at), at);
		json_array_append_new(all, one);
		at = end + 1;
	}
	return all;
}

static const char *type_of(json_t *object)
{
	return json_string_value(json_object_get(object, "type"));
}

/* Every alias used by a structure was declared, and every length precedes its array. */
static void check_structure(json_t *structure, json_t *aliases, const char *origin)
{
	json_t *member, *class, *seen = json_object(), *location, *element;
	const char *name;
	size_t i;

	assert_string_equal(type_of(structure), "structure");
	json_array_foreach(json_object_get(structure, "member-classes"), i, member)
	{
		name = json_string_value(json_object_get(member, "name"));
		assert_non_null(name);
		assert_null(json_object_get(seen, name));
		class = json_object_get(member, "field-class");
		element = json_object_get(class, "element-field-class");
		if (json_is_string(class))
			assert_non_null(json_object_get(aliases, json_string_value(class)));
		else
			assert_non_null(type_of(class));
		if (json_is_string(element))
			assert_non_null(json_object_get(aliases, json_string_value(element)));
		location = json_object_get(class, "length-field-location");
		if (location) {
			json_t *path = json_object_get(location, "path");

			assert_string_equal(json_string_value(json_object_get(location, "origin")),
					    origin);
			assert_int_equal(json_array_size(path), 1);
			assert_non_null(
			    json_object_get(seen, json_string_value(json_array_get(path, 0))));
		}
		json_object_set_new(seen, name, json_true());
	}
	json_decref(seen);
}

static void check_role(json_t *structure, const char *name, const char *role, int bits)
{
	json_t *member, *class;
	size_t i;

	json_array_foreach(json_object_get(structure, "member-classes"), i, member)
	{
		if (strcmp(json_string_value(json_object_get(member, "name")), name))
			continue;
		class = json_object_get(member, "field-class");
		assert_string_equal(
		    json_string_value(json_array_get(json_object_get(class, "roles"), 0)), role);
		assert_int_equal(json_integer_value(json_object_get(class, "length")), bits);
		return;
	}
	fail_msg("no member %s", name);
}

static void check_fragments(json_t *all)
{
	static const char *const order[] = {"preamble",          "field-class-alias",
					    "trace-class",       "clock-class",
					    "data-stream-class", "event-record-class"};
	json_t *f, *aliases = json_object(), *streams = json_object();
	size_t i, at = 0;
	char id[32];

	json_array_foreach(all, i, f)
	{
		while (at < NR(order) && strcmp(order[at], type_of(f)))
			/* the first four once, then streams and events in turn */
			at = at == 5 ? 4 : at + 1;
		assert_true(at < NR(order));
		snprintf(id, sizeof(id), "%lld", json_integer_value(json_object_get(f, "id")));
		switch (at) {
		case 1:
			json_object_set(aliases, json_string_value(json_object_get(f, "name")), f);
			break;
		case 2:
			check_structure(json_object_get(f, "packet-header-field-class"), aliases,
					"packet-header");
			break;
		case 4:
			check_structure(json_object_get(f, "packet-context-field-class"), aliases,
					"packet-context");
			check_structure(json_object_get(f, "event-record-header-field-class"),
					aliases, "event-record-header");
			json_object_set(streams, id, f);
			break;
		case 5:
			snprintf(id, sizeof(id), "%lld",
				 json_integer_value(json_object_get(f, "data-stream-class-id")));
			assert_non_null(json_object_get(streams, id));
			check_structure(json_object_get(f, "payload-field-class"), aliases,
					"event-record-payload");
			if (json_object_get(f, "specific-context-field-class"))
				check_structure(json_object_get(f, "specific-context-field-class"),
						aliases, "event-record-specific-context");
			break;
		}
	}
	json_decref(aliases);
	json_decref(streams);
}

static json_t *find(json_t *all, const char *type, const char *key, json_t *value)
{
	json_t *f, *found = NULL;
	size_t i;

	json_array_foreach(all, i, f)
	{
		if (!strcmp(type_of(f), type) &&
		    (!key || json_equal(json_object_get(f, key), value)))
			found = f;
	}
	json_decref(value);
	assert_non_null(found);
	return found;
}

static void test_ctf2(void **state)
{
	static const int64_t values[] = {4, 2, -1, 0, 0};
	struct wm_trace_writer *w = kit_create(WM_TRACE_CTF2);
	struct wm_producer *p = kit_producer(w, 3);
	json_t *all, *f, *s;
	size_t bytes;
	char *text, *dumped;

	w->limits.lanes = 1;
	assert_int_equal(wm_producer_event(p, 7, WM_CONTEXT_ALL,
					   kit_class("all",
						     "n:i4;s:s;c:c#;arr:a#i4;seq:qu2;blob:z;"
						     "e:ei1{bad#,good#};none:c#",
						     values, NR(values))),
			 0);
	assert_int_equal(kit_event(p, 1, 0, "plain", ""), 0);
	assert_int_equal(kit_send_plain(p, 1, 1, 2000, 3000), 0);
	assert_int_equal(kit_send_plain(p, 1, 2, 2500, 2500), 0); /* mixed */
	assert_int_equal(wm_writer_close(w), 0);
	text = kit_slurp(kit_dir, "metadata", &bytes);
	all = fragments(text, bytes);
	free(text);
	check_fragments(all);

	f = json_array_get(all, 0);
	assert_int_equal(json_integer_value(json_object_get(f, "version")), 2);
	assert_int_equal(json_array_size(json_object_get(f, "uuid")), 16);
	f = json_object_get(find(all, "trace-class", NULL, NULL), "packet-header-field-class");
	check_role(f, "magic", "packet-magic-number", 32);
	check_role(f, "uuid", "metadata-stream-uuid", 16);
	check_role(f, "stream_id", "data-stream-class-id", 32);
	check_role(f, "stream_instance_id", "data-stream-id", 64);
	f = find(all, "clock-class", NULL, NULL);
	assert_int_equal(json_integer_value(json_object_get(f, "frequency")), 1000000000);
	assert_int_equal(json_integer_value(
			     json_object_get(json_object_get(f, "offset-from-origin"), "seconds")),
			 1700000000);
	f = find(all, "data-stream-class", "id", json_integer(1));
	assert_null(json_object_get(f, "event-record-common-context-field-class"));
	s = json_object_get(f, "packet-context-field-class");
	check_role(s, "timestamp_begin", "default-clock-timestamp", 64);
	check_role(s, "timestamp_end", "packet-end-default-clock-timestamp", 64);
	check_role(s, "content_size", "packet-content-length", 64);
	check_role(s, "packet_size", "packet-total-length", 64);
	check_role(s, "packet_seq_num", "packet-sequence-number", 64);
	check_role(s, "events_discarded", "discarded-event-record-counter-snapshot", 64);
	assert_int_equal(json_array_size(json_object_get(s, "member-classes")), 11);
	s = json_object_get(f, "event-record-header-field-class");
	assert_int_equal(json_integer_value(json_object_get(s, "minimum-alignment")), 64);
	check_role(s, "id", "event-record-class-id", 16);
	check_role(s, "timestamp", "default-clock-timestamp", 48);
	f = find(all, "data-stream-class", "id", json_integer(2));
	assert_non_null(json_object_get(f, "event-record-common-context-field-class"));
	assert_int_equal(json_array_size(json_object_get(
			     json_object_get(f, "packet-context-field-class"), "member-classes")),
			 7);

	f = find(all, "event-record-class", "name", json_string("app:all"));
	dumped = json_dumps(json_object_get(f, "payload-field-class"), JSON_COMPACT);
	assert_string_equal(
	    dumped,
	    "{\"type\":\"structure\",\"member-classes\":["
	    "{\"name\":\"n\",\"field-class\":\"wm_i4\"},"
	    "{\"name\":\"s\",\"field-class\":{\"type\":\"null-terminated-string\"}},"
	    "{\"name\":\"c\",\"field-class\":{\"type\":\"static-length-string\",\"length\":4}},"
	    "{\"name\":\"arr\",\"field-class\":{\"type\":\"static-length-array\",\"length\":2,"
	    "\"element-field-class\":\"wm_i4\"}},"
	    "{\"name\":\"_seq_length\",\"field-class\":\"wm_u4\"},"
	    "{\"name\":\"seq\",\"field-class\":{\"type\":\"dynamic-length-array\","
	    "\"element-field-class\":\"wm_u2\",\"length-field-location\":{\"origin\":"
	    "\"event-record-payload\",\"path\":[\"_seq_length\"]}}},"
	    "{\"name\":\"_blob_length\",\"field-class\":\"wm_u4\"},"
	    "{\"name\":\"blob\",\"field-class\":{\"type\":\"dynamic-length-blob\","
	    "\"length-field-location\":{\"origin\":\"event-record-payload\",\"path\":"
	    "[\"_blob_length\"]}}},"
	    "{\"name\":\"e\",\"field-class\":{\"type\":\"fixed-length-signed-integer\","
	    "\"length\":8,\"byte-order\":\"little-endian\",\"alignment\":8,\"mappings\":"
	    "{\"bad\":[[-1,-1]],\"good\":[[0,0]]},\"attributes\":{\"waymark\":{\"type\":"
	    "\"wm_i1\"}}}},{\"name\":\"none\",\"field-class\":{\"type\":\"static-length-string\","
	    "\"length\":0}}]}");
	free(dumped);
	s = json_object_get(f, "specific-context-field-class");
	assert_int_equal(json_array_size(json_object_get(s, "member-classes")), 3);
	json_decref(all);
}

static void test_hostile_ctf2(void **state)
{
	struct wm_text t;
	json_t *all, *f;

	write_hostile_trace(WM_META_JSON, &t);
	all = fragments(t.data, t.bytes);
	check_fragments(all);
	f = find(all, "event-record-class", "id", json_integer(7));
	assert_string_equal(json_string_value(json_object_get(f, "name")),
			    "a_b:x\"; };\n event { /* \xef\xbf\xbd\t*/ \\");
	f = json_object_get(json_object_get(f, "attributes"), "waymark");
	assert_string_equal(json_string_value(json_object_get(f, "print")), hostile.print);
	assert_int_equal(json_integer_value(json_object_get(f, "log-level")), 7);
	json_decref(all);
	wm_text_done(&t);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, kit_setup, kit_teardown)
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_clock_offset),
	    cmocka_unit_test(test_json_clock_offset),
	    TEST(test_hostile_tsdl),
	    TEST(test_ctf2),
	    cmocka_unit_test(test_hostile_ctf2),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
