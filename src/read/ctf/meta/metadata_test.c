/* SPDX-License-Identifier: MIT */
/*
 * metadata_test.c - tests CTF 2 metadata: valid, invalid and randomly changed. Also reads the
 * metadata in the public corpus ($WAYMARK_CORPUS): each file must be accepted or refused as its
 * manifest demands, except for those listed below.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "read/ctf/meta/type.h"

#define NR(a)    (sizeof(a) / sizeof((a)[0]))
#define RS       "\x1e"
#define PREAMBLE RS "{\"type\":\"preamble\",\"version\":2}\n"
#define U8                                                                                         \
	"{\"type\":\"fixed-length-unsigned-integer\",\"length\":8,\"byte-order\":\"little-"        \
	"endian\"}"
#define STREAM RS "{\"type\":\"data-stream-class\",\"id\":0}\n"
#define EVENT(members)                                                                             \
	PREAMBLE STREAM RS "{\"type\":\"event-record-class\",\"id\":0,\"payload-field-class\":"    \
			   "{\"type\":\"structure\",\"member-classes\":[" members "]}}\n"
#define MEMBER(name, class) "{\"name\":\"" name "\",\"field-class\":" class "}"
#define NUMBER(sign, more)                                                                         \
	"{\"type\":\"fixed-length-" sign "-integer\",\"length\":8,\"byte-order\":\"little-"        \
	"endian\"," more "}"
#define CLOCK RS "{\"type\":\"clock-class\",\"id\":\"c\",\"frequency\":1}\n"
#define VARIANT(options)                                                                           \
	"{\"type\":\"variant\",\"selector-field-location\":" AT("t") ",\"options\":[" options "]}"
#define OPTION(range) "{\"selector-field-ranges\":[[" range "]],\"field-class\":" U8 "}"
#define AT(name)      "{\"origin\":\"event-record-payload\",\"path\":[\"" name "\"]}"

static const char rich[] = PREAMBLE RS
    "{\"type\":\"field-class-alias\",\"name\":\"byte\",\"field-class\":" U8 "}\n" RS
    "{\"type\":\"trace-class\",\"environment\":{\"a\":\"b\",\"n\":-3},"
    "\"packet-header-field-class\":{\"type\":\"structure\",\"member-classes\":["
    "{\"name\":\"m\",\"field-class\":{\"type\":\"fixed-length-unsigned-integer\",\"length\":"
    "32,"
    "\"byte-order\":\"big-endian\",\"alignment\":8,\"roles\":[\"packet-magic-number\"]}}]}}"
    "\n" RS "{\"type\":\"clock-class\",\"id\":\"c\",\"frequency\":1000,\"origin\":\"unix-epoch\","
    "\"offset-from-origin\":{\"seconds\":-1,\"cycles\":5}}\n" RS
    "{\"type\":\"data-stream-class\",\"id\":4,\"default-clock-class-id\":\"c\"}\n" RS
    "{\"type\":\"event-record-class\",\"id\":2,\"data-stream-class-id\":4,\"name\":\"p:e\","
    "\"attributes\":{\"waymark\":{\"kind\":1,\"log-level\":3,\"print\":\"x %d\"}},"
    "\"payload-field-class\":{\"type\":\"structure\",\"minimum-alignment\":16,\"member-"
    "classes\":[" MEMBER("n", "\"byte\"") "," MEMBER(
	"seq",
	"{\"type\":\"dynamic-length-array\",\"element-field-class\":\"byte\","
	"\"length-field-location\":" AT(
	    "n") "}") "," MEMBER("e",
				 "{\"type\":\"fixed-length-unsigned-integer\","
				 "\"length\":64,"
				 "\"byte-order\":\"little-endian\",\"mappings\":"
				 "{\"top\":[[18446744073709551615,"
				 "18446744073709551615]],\"low\":[[0,5],[7,7]]}"
				 "}") "," MEMBER("opt",
						 "{\"type\":\"optional\","
						 "\"selector-field-ranges\":[[1,255]],"
						 "\"field-class\":\"byte\","
						 "\"selector-field-"
						 "location\":" AT(
						     "n") "}") "," MEMBER("s",
									  "{\"ty"
									  "pe\":"
									  "\"sta"
									  "tic-"
									  "lengt"
									  "h-"
									  "strin"
									  "g\","
									  "\"len"
									  "gth\""
									  ":5}") "," MEMBER("b",
											    "{\"typ"
											    "e\":"
											    "\"dyna"
											    "mic-"
											    "length"
											    "-blob"
											    "\","
											    "\"leng"
											    "th-"
											    "field-"
											    "locati"
											    "on\""
											    ":" AT(
												"n") "}") "," MEMBER("inner",
														     "{\"type\":\"structure\",\"member-classes\":[" MEMBER("v", "{\"type\":\"variable-length-signed-integer\"}") "," MEMBER(
															 "up",
															 "{\"type\":\"dynamic-length-string\",\"length-field-location\":"
															 "{\"path\":[null,\"n\"]}}") "]}") "]}}\n";

static void test_rich(void **state)
{
	struct wm_ctf_metadata *m = NULL;
	const struct wm_ctf_type *f, *e;
	struct wm_diag d;

	if (wm_ctf_metadata_parse("m", rich, sizeof(rich) - 1, &m, NULL, &d))
		fail_msg("line %u, offset %lld: %s", d.line, (long long)d.offset, d.sentence);
	assert_int_equal(m->major, 2);
	assert_string_equal(wm_ctf_env(m, "a")->text, "b");
	assert_int_equal(wm_ctf_env(m, "n")->number, -3);
	assert_int_equal(m->packet_header->members[0].type->role, WM_CTF_MAGIC);
	assert_int_equal(m->packet_header->members[0].type->order, WM_CTF_BIG);
	assert_int_equal(m->clocks[0].offset_seconds, -1);
	assert_string_equal(m->events[0].name, "p:e");
	assert_int_equal(m->events[0].level, 3);
	assert_int_equal(m->events[0].nr_pairs, 3);
	f = m->events[0].fields;
	assert_int_equal(f->align, 16);
	assert_int_equal(f->nr_members, 7);
	assert_string_equal(f->members[0].type->alias, "byte");
	e = f->members[2].type;
	assert_int_equal(e->kind, WM_CTF_ENUM);
	assert_int_equal(e->nr_labels, 3);
	for (uint32_t i = 0; i < e->nr_labels; i++) {
		if (!strcmp(e->labels[i].name, "top"))
			/* the label is 2^64 - 1, which has the same bits as -1 */
			assert_int_equal(e->labels[i].range.low, -1);
	}
	assert_true(f->members[4].type->text);
	assert_true(f->members[5].type->blob);
	assert_int_equal(f->members[6].type->members[0].type->kind, WM_CTF_VARINT);
	wm_ctf_metadata_destroy(m);
}

static const struct {
	const char *text, *why;
	uint32_t line;
} wrong[] = {
    {RS "{\"type\":\"trace-class\"}\n", "the first fragment is not a preamble", 1},
    {RS "{\"type\":\"preamble\",\"version\":3}\n", "not CTF version 2", 1},
    {RS "{\"type\":\"preamble\",\"version\":2,\"extensions\":{\"a\":{}}}\n", "extensions", 1},
    {RS "{\"type\":\"preamble\",\"version\":2,\"uuid\":[1]}\n", "uuid is not 16 bytes", 1},
    {PREAMBLE PREAMBLE, "a second preamble", 2},
    {PREAMBLE RS "{\"type\":\"what\"}\n", "unknown fragment type 'what'", 2},
    {PREAMBLE RS "[1]\n", "not a JSON object", 2},
    {PREAMBLE RS "{\"type\":\n\n\"x\",}\n", "not JSON", 4},
    {PREAMBLE RS "{\"a\":1,\"a\":2}\n", "not JSON: duplicate", 2},
    {PREAMBLE RS "{\"type\":\"clock-class\",\"id\":\"c\"}\n", "without id or frequency", 2},
    {PREAMBLE RS "{\"type\":\"data-stream-class\",\"id\":-1}\n", "'id' is not a number from 0", 2},
    {PREAMBLE STREAM STREAM, "stream 0 is described twice", 0},
    {EVENT(MEMBER("a", "\"none\"")), "no field class alias 'none'", 3},
    {EVENT(MEMBER("a", "{\"type\":\"odd\"}")), "unknown field class type 'odd'", 3},
    {EVENT(MEMBER("a", "7")), "unknown field class type ''", 3},
    {EVENT("{\"name\":\"a\"}"), "no 'field-class'", 3},
    {EVENT(MEMBER("a", U8) "," MEMBER("a", U8)), "two fields are named 'a'", 3},
    {EVENT(MEMBER("a", "{\"type\":\"fixed-length-unsigned-integer\",\"length\":65,"
		       "\"byte-order\":\"little-endian\"}")),
     "65 bits; 1 to 64", 3},
    {EVENT(MEMBER("a", "{\"type\":\"fixed-length-unsigned-integer\",\"length\":8}")),
     "byte-order is neither", 3},
    {EVENT(MEMBER("a", "{\"type\":\"dynamic-length-blob\",\"length-field-location\":" AT("b") "}")),
     "'b' is not an earlier field", 3},
    {EVENT(MEMBER("a", "{\"type\":\"dynamic-length-blob\",\"length-field-location\":{}}")),
     "no 'path'", 3},
    {EVENT(MEMBER("a", "{\"type\":\"static-length-string\",\"length\":1e9}")), "'length' is not",
     3},
    {PREAMBLE RS "{\"type\":\"trace-class\"}\n" RS "{\"type\":\"trace-class\"}\n", "a second trace",
     3},
    {PREAMBLE STREAM RS "{\"type\":\"trace-class\"}\n", "after a data stream class", 3},
    {PREAMBLE CLOCK CLOCK, "clock class 'c' is described twice", 3},
    {PREAMBLE RS "{\"type\":\"clock-class\",\"id\":\"c\",\"frequency\":1,\"origin\":\"x\"}\n",
     "origin is neither", 2},
    {PREAMBLE RS "{\"type\":\"event-record-class\"}\n", "stream class 0, which is not", 2},
    {EVENT(MEMBER("a", NUMBER("unsigned", "\"mappings\":[]"))), "'mappings' is not an object", 3},
    {EVENT(MEMBER("a", NUMBER("unsigned", "\"mappings\":{\"A\":1}"))), "no list of ranges", 3},
    {EVENT(MEMBER("a", NUMBER("unsigned", "\"mappings\":{\"A\":[[5,3]]}"))),
     "range of 'A' is not valid", 3},
    {EVENT(MEMBER("a", NUMBER("unsigned", "\"mappings\":{\"A\":[[-1,3]]}"))),
     "range of 'A' is not valid", 3},
    {EVENT(MEMBER("a", NUMBER("signed", "\"roles\":[\"event-record-class-id\"]"))), "has a role",
     3},
    {EVENT(MEMBER("t", U8) "," MEMBER("a", "{\"type\":\"optional\",\"selector-field-location\":" AT(
					       "t") ",\"field-class\":" U8 "}")),
     "'t' is not a boolean", 3},
    {EVENT(MEMBER("t", U8) "," MEMBER("a", VARIANT(OPTION("0,3") "," OPTION("3,5")))),
     "two options of a variant are chosen by 3", 3},
    {PREAMBLE RS
     "{\"type\":\"trace-class\",\"packet-header-field-class\":{\"type\":\"structure\","
     "\"member-classes\":[" MEMBER("m", "{\"type\":\"variable-length-unsigned-integer\","
					"\"roles\":[\"packet-magic-number\"]}") "]}}\n",
     "'m' is not an unsigned 32-bit number", 0},
};

static void test_wrong(void **state)
{
	for (size_t i = 0; i < NR(wrong); i++) {
		struct wm_ctf_metadata *m = NULL;
		struct wm_diag d;
		int err =
		    wm_ctf_metadata_parse("m", wrong[i].text, strlen(wrong[i].text), &m, NULL, &d);

		if (err != -EBADMSG || !strstr(d.sentence, wrong[i].why) ||
		    (wrong[i].line && d.line != wrong[i].line))
			fail_msg("case %zu: %d, line %u \"%s\"; wanted %u \"%s\"", i, err, d.line,
				 d.sentence, wrong[i].line, wrong[i].why);
	}
}

static void test_depth(void **state)
{
	static const char open[] = "{\"type\":\"static-length-array\",\"length\":1,"
				   "\"element-field-class\":";
	size_t room = 400 * sizeof(open) + 1000, n;
	struct wm_ctf_metadata *m = NULL;
	char *text = calloc(1, room);
	struct wm_diag d;

	n = (size_t)snprintf(text, room, "%s",
			     PREAMBLE RS "{\"type\":\"field-class-alias\",\"name\":\"a\","
					 "\"field-class\":");
	for (int i = 0; i < 400; i++)
		n += (size_t)snprintf(text + n, room - n, "%s", open);
	n += (size_t)snprintf(text + n, room - n, "\"x\"");
	for (int i = 0; i < 401; i++)
		n += (size_t)snprintf(text + n, room - n, "}");
	assert_int_equal(wm_ctf_metadata_parse("m", text, n, &m, NULL, &d), -EBADMSG);
	assert_non_null(strstr(d.sentence, "deep"));
	free(text);
}

static uint64_t seed = 0x9e3779b97f4a7c15ull;

static uint32_t roll(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 33) % n;
}

/* Changes bytes, mostly to others that JSON uses, and truncates the text. */
/* Each number becomes longer when read, so the buffer must be larger than the text. */
static void test_large_numbers(void **state)
{
	struct wm_ctf_metadata *m;
	struct wm_diag diag;
	struct wm_text t;

	wm_text_init(&t);
	wm_text_str(&t, "\x1e{\"type\":\"preamble\",\"version\":2,\"attributes\":[0");
	for (int i = 0; i < 1000; i++)
		wm_text_str(&t, ",10000000000000000000");
	wm_text_str(&t, "]}\n\x1e{\"type\":\"trace-class\"}\n");
	assert_int_equal(wm_ctf_metadata_parse("metadata", t.data, t.bytes, &m, NULL, &diag), 0);
	wm_ctf_metadata_destroy(m);
	wm_text_cut(&t, 0);
	/*
	 * The lowest signed and the highest unsigned number in one fragment, and any number in
	 * attributes.
	 */
	wm_text_str(&t, PREAMBLE RS
		    "{\"type\":\"trace-class\",\"attributes\":{\"a\":[1e999,-1e999,"
		    "-9223372036854775809,99999999999999999999,0.00000000000000000000000000000001,"
		    "12345678901234567890.5,\"-9223372036854775808\",-9223372036854775807]},"
		    "\"environment\":{\"low\":-9223372036854775808,\"high\":18446744073709551615,"
		    "\"max\":9223372036854775807}}\n");
	if (wm_ctf_metadata_parse("metadata", t.data, t.bytes, &m, NULL, &diag))
		fail_msg("%s", diag.sentence);
	assert_true(wm_ctf_env(m, "low")->number == INT64_MIN && !wm_ctf_env(m, "low")->text);
	assert_string_equal(wm_ctf_env(m, "high")->text, "18446744073709551615");
	assert_true(wm_ctf_env(m, "max")->number == INT64_MAX);
	wm_ctf_metadata_destroy(m);
	wm_text_done(&t);
}

static void test_mutants(void **state)
{
	static const char likely[] = "{}[]\",:0123456789-nulltrue\x1e";

	for (int i = 0; i < 10000; i++) {
		size_t bytes = roll(4) ? sizeof(rich) - 1 : roll(sizeof(rich));
		char *text = malloc(bytes ? bytes : 1);
		struct wm_ctf_metadata *m = NULL;
		struct wm_diag damage, d;

		memcpy(text, rich, bytes);
		for (uint32_t edits = roll(6); edits && bytes; edits--)
			text[roll((uint32_t)bytes)] =
			    roll(3) ? likely[roll(sizeof(likely) - 1)] : (char)roll(256);
		if (!wm_ctf_metadata_parse("m", text, bytes, &m, roll(2) ? &damage : NULL, &d))
			wm_ctf_metadata_destroy(m);
		else
			assert_true(d.sentence[0] != 0);
		free(text);
	}
}

/* --- warnings ------------------------------------------------------------------- */

static void test_warnings(void **state)
{
	static const struct {
		const char *text, *warning;
	} cases[] = {
	    {PREAMBLE RS "{\"type\":\"trace-class\",\"envronment\":{}}\n",
	     "unknown property 'envronment' of a trace-class"},
	    {PREAMBLE RS "{\"type\":\"clock-class\",\"id\":\"c\",\"frequency\":10,"
			 "\"offset-from-origin\":{\"cycles\":10}}\n",
	     "a second or more"},
	    {PREAMBLE RS "{\"type\":\"clock-class\",\"id\":\"c\",\"frequency\":10,"
			 "\"offset-from-origin\":{\"cylces\":1}}\n",
	     "'cylces' of an offset-from-origin"},
	    {EVENT(MEMBER("a", NUMBER("unsigned", "\"algnment\":8"))),
	     "'algnment' of a fixed-length-unsigned-integer"},
	    {EVENT(MEMBER("a", NUMBER("unsigned", "\"roles\":[\"magic\"]"))),
	     "unknown role 'magic'"},
	    {EVENT(MEMBER("a", NUMBER("unsigned", "\"roles\":\"x\""))), "'roles' is not an array"},
	    {EVENT("{\"name\":\"a\",\"field-class\":" U8 ",\"x\":1}"), "'x' of a structure member"},
	    {EVENT(MEMBER("a", NUMBER("unsigned", "\"attributes\":{\"x\":1}"))), ""},
	};

	for (size_t i = 0; i < NR(cases); i++) {
		struct wm_ctf_metadata *m = NULL;
		struct wm_diag d;

		if (wm_ctf_metadata_parse("m", cases[i].text, strlen(cases[i].text), &m, NULL, &d))
			fail_msg("case %zu: %s", i, d.sentence);
		assert_int_equal(m->nr_warnings, cases[i].warning[0] ? 1 : 0);
		if (m->nr_warnings && !strstr(m->warnings[0].sentence, cases[i].warning))
			fail_msg("case %zu: %s", i, m->warnings[0].sentence);
		wm_ctf_metadata_destroy(m);
	}
}

/* --- packets -------------------------------------------------------------------- */

static void put32(unsigned char *at, uint32_t v, bool big)
{
	for (int i = 0; i < 4; i++)
		at[i] = (unsigned char)(v >> (big ? 24 - 8 * i : 8 * i));
}

/* Puts text into a CTF 1.8 packet (header 37, as LTTng does) or a CTF2-PMETA-1.0 packet (44). */
static size_t wrap(unsigned char *out, const char *text, size_t bytes, uint32_t header, bool big)
{
	memset(out, 0, header);
	put32(out, 0x75d11d57, big);
	put32(out + 24, (uint32_t)(header + bytes) * 8, big);
	put32(out + 28, (uint32_t)(header + bytes) * 8, big);
	out[35] = 2;
	if (header == 44)
		put32(out + 40, header * 8, big);
	memcpy(out + header, text, bytes);
	return header + bytes;
}

static void test_packets(void **state)
{
	size_t half = sizeof(rich) / 2;
	unsigned char data[sizeof(rich) + 2 * 44];

	for (int i = 0; i < 4; i++) {
		uint32_t header = i & 1 ? 37 : 44;
		struct wm_ctf_metadata *m = NULL;
		struct wm_diag d;
		size_t n = wrap(data, rich, half, header, i & 2);

		n += wrap(data + n, rich + half, sizeof(rich) - 1 - half, header, i & 2);
		if (wm_ctf_metadata_parse("m", (char *)data, n, &m, NULL, &d))
			fail_msg("case %d: %s", i, d.sentence);
		assert_int_equal(m->nr_events, 1);
		wm_ctf_metadata_destroy(m);
	}
}

/* --- the corpus ------------------------------------------------------------------- */

/*
 * Like babeltrace 2.1, waymark reads some traces that the corpus calls invalid; one valid type is
 * too wide.
 */
static const char *const exceptions[] = {
    "fail/enum-type-negative-out-of-range", "fail/enum-type-value-out-of-range",
    "fail/enum-values-too-small",           "fail/integer-base-as-string",
    "fail/integer-encoding-as-string",      "fail/metadata-packetized-endianness-mismatch",
    "fail/variant-string-fields",           "pass/integer-large-size",
};

static bool excepted(const char *path)
{
	for (size_t i = 0; i < NR(exceptions); i++) {
		if (strstr(path, exceptions[i]))
			return true;
	}
	return false;
}

static void check_trace(const char *corpus, const char *path, bool valid, bool metadata_only)
{
	char name[1024], *text = NULL;
	struct wm_ctf_metadata *m = NULL;
	struct wm_diag d;
	size_t bytes;
	int err;

	(void)snprintf(name, sizeof(name), "%s/%s/metadata", corpus, path);
	if (wm_file_read(AT_FDCWD, name, WM_CTF_METADATA_MAX, &text, &bytes))
		return; /* the file is not part of this copy of the corpus */
	err = wm_ctf_metadata_parse("m", text, bytes, &m, NULL, &d);
	if (!err)
		wm_ctf_metadata_destroy(m);
	free(text);
	if (excepted(path))
		return;
	if (valid && err)
		fail_msg("%s: line %u: %s", path, d.line, d.sentence);
	if (!valid && metadata_only && !err)
		fail_msg("%s: should have been refused", path);
}

static void test_corpus(void **state)
{
	const char *corpus = getenv("WAYMARK_CORPUS");
	char name[1024], *list = NULL, *line, *rest;
	size_t bytes;

	if (!corpus) {
		print_message("SKIPPED: WAYMARK_CORPUS is not set\n");
		skip();
	}
	(void)snprintf(name, sizeof(name), "%s/MANIFEST.tsv", corpus);
	assert_int_equal(wm_file_read(AT_FDCWD, name, 64u << 20, &list, &bytes), 0);
	for (line = strtok_r(list, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char path[512], kind[32], size[32], verdict[32];

		if (sscanf(line, "%511s %31s %31s %31s", path, kind, size, verdict) == 4 &&
		    !strncmp(kind, "ctf", 3))
			check_trace(corpus, path, verdict[0] == 'v',
				    strstr(path, "conformance/metadata/fail") != NULL);
	}
	free(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_rich),    cmocka_unit_test(test_wrong),
	    cmocka_unit_test(test_depth),   cmocka_unit_test(test_large_numbers),
	    cmocka_unit_test(test_packets), cmocka_unit_test(test_warnings),
	    cmocka_unit_test(test_mutants), cmocka_unit_test(test_corpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
