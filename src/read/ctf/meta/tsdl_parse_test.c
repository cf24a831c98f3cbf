/* SPDX-License-Identifier: MIT */
/*
 * tsdl_parse_test.c - tests the CTF 1.8 metadata parser: the tree for valid text, the position and
 * reason of errors for invalid text, and that no input crashes it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/suite_test_kit.h"
#include "read/ctf/meta/type.h"

#define NR(a) (sizeof(a) / sizeof((a)[0]))

#define HEAD                                                                                       \
	"/* CTF 1.8 */\n"                                                                          \
	"typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"                 \
	"typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"               \
	"trace { major = 1; minor = 8; byte_order = le;\n"                                         \
	"	packet.header := struct { uint32_t magic; };\n};\n"

/*
 * Metadata like that of LTTng's kernel tracer: aliases of several words, a variant in the event
 * header.
 */
static const char rich[] = HEAD
    "typealias integer { size = 64; align = 8; signed = true; base = hex; } := unsigned long *;\n"
    "typealias integer { size = 27; align = 1; signed = false; map = clock.mono.value; } := t27;\n"
    "typedef uint8_t uuid_t[16];\n"
    "env { hostname = \"h\\x41\\102\"; number = -12; big = 0xffffffff;"
    "\"in quotes\" = 18446744073709551615; turned = -(-(+7)); };\n"
    "clock { name = mono; freq = 2000000000; offset_s = -5; offset = 7; absolute = TRUE; };\n"
    "struct header {\n"
    "	enum : integer { size = 5; align = 1; signed = false; } { compact = 0 ... 30, extended }\n"
    "	id;\n"
    "	variant <id> {\n"
    "		struct { t27 timestamp; } compact;\n"
    "		struct { uint32_t id; } extended;\n"
    "	} v;\n"
    "} align(8);\n"
    "stream { id = 3;\n"
    "	event.header := struct header;\n"
    "	packet.context := struct { uint32_t content_size; uint32_t packet_size; };\n"
    "	event.context := struct { string { encoding = ASCII; } procname; };\n};\n"
    "event { name = \"a:b\"; id = 9; stream_id = 3; loglevel = 4; model.emf.uri = \"http://x\";\n"
    "	/* waymark kind=1 print=\"x\" */\n"
    "	fields := struct {\n"
    "		uint8_t _len, other[2][3];\n"
    "		unsigned long * _p;\n"
    "		uint32_t _seq[_len];\n"
    "		uint8_t by_scope[stream.packet.context.packet_size];\n"
    "		floating_point { exp_dig = 11; mant_dig = 53; byte_order = be; } d;\n"
    "		uuid_t u;\n"
    "		enum e : uint8_t { A, \"B c\" = 5, C, D = 250 ... 255 } _e;\n"
    "	};\n};\n";

static struct wm_ctf_metadata *parse(const char *text)
{
	struct wm_ctf_metadata *m = NULL;
	struct wm_diag diag;

	if (wm_ctf_metadata_parse("m", text, strlen(text), &m, NULL, &diag))
		fail_msg("%u:%u %s", diag.line, diag.column, diag.sentence);
	return m;
}

static const struct wm_ctf_type *member(const struct wm_ctf_type *t, const char *raw)
{
	int at = wm_ctf_member_find(t, raw);

	assert_true(at >= 0);
	return t->members[at].type;
}

static void test_blocks(void **state)
{
	struct wm_ctf_metadata *m = parse(rich);

	assert_string_equal(wm_ctf_env(m, "hostname")->text, "hAB");
	assert_int_equal(wm_ctf_env(m, "number")->number, -12);
	assert_int_equal(wm_ctf_env(m, "big")->number, 0xffffffff);
	assert_string_equal(wm_ctf_env(m, "in quotes")->text, "18446744073709551615");
	assert_int_equal(wm_ctf_env(m, "turned")->number, 7);
	assert_null(wm_ctf_env(m, "none"));
	assert_int_equal(m->nr_clocks, 1);
	assert_int_equal(m->clocks[0].hz, 2000000000);
	assert_int_equal(m->clocks[0].offset_seconds, -5);
	assert_true(m->clocks[0].absolute);
	assert_int_equal(m->nr_streams, 1);
	assert_non_null(wm_ctf_stream_find(m, 3));
	assert_null(wm_ctf_stream_find(m, 0));
	assert_int_equal(m->nr_events, 1);
	assert_string_equal(m->events[0].name, "a:b");
	assert_int_equal(m->events[0].level, 4);
	assert_int_equal(m->events[0].nr_pairs, 1);
	assert_string_equal(m->events[0].pairs[0].key, "model.emf.uri");
	assert_string_equal(m->events[0].note, "kind=1 print=\"x\" ");
	wm_ctf_metadata_destroy(m);
}

static void test_types(void **state)
{
	struct wm_ctf_metadata *m = parse(rich);
	const struct wm_ctf_type *f = m->events[0].fields, *t;

	assert_int_equal(f->nr_members, 8);
	assert_string_equal(f->members[0].name, "len");
	t = member(f, "other");
	assert_int_equal(t->length, 2);
	assert_int_equal(t->element->length, 3);
	assert_string_equal(t->element->element->alias, "uint8_t");
	t = member(f, "_p");
	assert_string_equal(t->alias, "unsigned long *");
	assert_int_equal(t->base, 16);
	assert_true(t->is_signed);
	t = member(f, "_seq");
	assert_int_equal(t->kind, WM_CTF_SEQUENCE);
	assert_string_equal(t->ref.names[0], "_len");
	t = member(f, "d");
	assert_int_equal(t->bits, 64);
	assert_int_equal(t->order, WM_CTF_BIG);
	assert_int_equal(member(f, "u")->length, 16);
	t = member(f, "_e");
	assert_int_equal(t->nr_labels, 4);
	assert_string_equal(t->labels[1].name, "B c");
	assert_int_equal(t->labels[2].range.low, 6);
	assert_int_equal(t->labels[3].range.high, 255);
	t = m->streams[0].event_header;
	assert_int_equal(t->align, 8);
	assert_int_equal(member(t, "id")->bits, 5);
	assert_int_equal(member(t, "v")->kind, WM_CTF_VARIANT);
	assert_string_equal(member(t, "v")->members[0].type->members[0].type->clock, "mono");
	assert_int_equal(member(t, "id")->order, WM_CTF_LITTLE);
	wm_ctf_metadata_destroy(m);
}

/* The role of a field follows from its name and scope. */
static void test_roles(void **state)
{
	struct wm_ctf_metadata *m = parse(rich);
	const struct wm_ctf_type *t = m->streams[0].packet_context;

	assert_int_equal(wm_ctf_member_role(m, WM_CTF_PACKET_CONTEXT, &t->members[0]),
			 WM_CTF_CONTENT_SIZE);
	assert_int_equal(wm_ctf_member_role(m, WM_CTF_EVENT_FIELDS, &t->members[0]),
			 WM_CTF_NO_ROLE);
	wm_ctf_metadata_destroy(m);
}

/* --- what is refused, where and why ------------------------------------------------ */

#define FIELDS(text) HEAD "event { name = x; fields := struct {\n" text "\n}; };\n"

static const struct {
	const char *text;
	uint32_t line, column; /* expected position; 0: not checked */
	const char *why;
} wrong[] = {
    {"", 0, 0, "does not begin"},
    {"/* CTF 1.9 */", 0, 0, "does not begin"},
    {"/* CTF 1.8 */", 0, 0, "no byte_order"},
    {"/* CTF 1.8 */ trace { major = 2; minor = 0; byte_order = le; };", 0, 0, "CTF 2.0"},
    {"/* CTF 1.8 */ trace { byte_order = xx; };", 1, 36, "byte_order is not one of"},
    {"/* CTF 1.8 */ trace { uuid = \"2a6422d0\"; };", 1, 30, "uuid is not a UUID"},
    {"/* CTF 1.8 */ /* open", 1, 15, "comment is not closed"},
    {"/* CTF 1.8 */ env { a = \"b; };", 1, 25, "string is not closed"},
    {"/* CTF 1.8 */ env { a = \"b\\q\"; };", 1, 25, "bad escape"},
    {"/* CTF 1.8 */ env { a = \"b\n\"; };", 1, 25, "newline"},
    {"/* CTF 1.8 */ env { a = 18446744073709551616; };", 1, 25, "more than 64 bits"},
    {"/* CTF 1.8 */ env { a = 12abc; };", 1, 25, "not an integer"},
    {"/* CTF 1.8 */ env { a = 1.5; };", 1, 25, "not an integer"},
    {"/* CTF 1.8 */ env { a = 1 };", 1, 27, "expected ';', not '}'"},
    {"/* CTF 1.8 */ env { a 1; };", 1, 23, "expected '=' or ':='"},
    {"/* CTF 1.8 */ env { a = 1;", 1, 27, "the end of the metadata"},
    {"/* CTF 1.8 */ @", 1, 15, "a stray '@'"},
    {"/* CTF 1.8 */ \x80", 1, 15, "a stray byte 0x80"},
    {"/* CTF 1.8 */ bogus { };", 1, 15, "expected a block, not 'bogus'"},
    {HEAD "clock { freq = 5; };", 0, 0, "clock without a name"},
    {HEAD "clock { name = a; freq = 0; };", 7, 26, "freq is not greater than 0"},
    {HEAD "stream { id = 1; }; stream { id = 1; };", 0, 0, "stream 1 is described twice"},
    {HEAD "event { id = 1; name = a; };\nevent { id = 1; name = b; };", 8, 0, "twice"},
    {HEAD "stream { id = 1; };\nevent { name = a; stream_id = 2; };", 8, 0, "belongs to stream 2"},
    {HEAD "stream { id = 0; }; stream { id = 1; }; event { name = a; };", 7, 0, "which is not"},
    {HEAD "event { fields := uint32_t; };", 0, 0, "is not a structure"},
    {HEAD "event { fields := struct { }; fields := struct { }; };", 0, 0, "is given twice"},
    {FIELDS("none x;"), 8, 1, "no type 'none'"},
    {FIELDS("struct none x;"), 8, 8, "no structure 'none'"},
    {FIELDS("uint8_t trace;"), 8, 9, "expected a name, not 'trace'"},
    {FIELDS("uint8_t a; uint8_t a;"), 9, 0, "two fields are named 'a'"},
    {FIELDS("uint8_t a[-1];"), 8, 11, "expected a name, not '-'"},
    {FIELDS("uint8_t a[999999999];"), 8, 11, "more than 268435456"},
    {FIELDS("uint8_t a[b];"), 8, 11, "'b' is not an earlier field"},
    {FIELDS("uint8_t a[b]; uint8_t b;"), 8, 11, "'b' is not an earlier field"},
    {FIELDS("string b; uint8_t a[b];"), 8, 21, "not an unsigned integer"},
    {FIELDS("integer { size = 8; signed = 1; } b; uint8_t a[b];"), 8, 0, "not an unsigned integer"},
    {FIELDS("uint8_t a[event.fields.b]; uint8_t b;"), 8, 0, "'b' is not an earlier field"},
    {FIELDS("uint8_t t; variant <t> { uint8_t a; } v;"), 8, 21, "not an enumeration"},
    {FIELDS("variant { uint8_t a; } v;"), 8, 0, "has no tag"},
    {FIELDS("variant <> { uint8_t a; } v;"), 8, 10, "expected a name"},
    {FIELDS("integer { size = 0; } x;"), 8, 9, "0 bits; 1 to 64"},
    {FIELDS("integer { size = 65; } x;"), 8, 9, "65 bits; 1 to 64"},
    {FIELDS("integer { size = 8; align = 3; } x;"), 8, 29, "not a power of two"},
    {FIELDS("integer { size = 8; align = 0; } x;"), 8, 29, "not a power of two"},
    {FIELDS("integer { size = 8; base = 7; } x;"), 8, 28, "base is not one of"},
    {FIELDS("integer { size = 8; map = foo; } x;"), 8, 27, "clock.NAME.value"},
    {FIELDS("floating_point { exp_dig = 6; mant_dig = 10; } x;"), 8, 0, "11+53 and 15+113 are"},
    {FIELDS("enum : uint8_t { } x;"), 8, 18, "expected a label"},
    {FIELDS("enum { A } x;"), 8, 0, "no alias 'int'"},
    {FIELDS("enum : struct { } { A } x;"), 8, 0, "is not an integer"},
    {HEAD "struct a { uint8_t x; };\nstruct a { uint8_t x; };", 8, 0, "'a' is declared twice"},
    {HEAD "struct a { struct a x; };", 7, 0, "no structure 'a'"},
    {FIELDS("integer { size = 8; signed = 1; size = 16; } x;"), 8, 0, "'size' is given twice"},
    {FIELDS("integer { size = 8; map = clock.foo.value; } x;"), 8, 0,
     "'foo' refers to a clock that"},
    {FIELDS("enum : uint8_t { A = -(3 } x;"), 8, 0, "expected ')'"},
    {HEAD "trace { };", 7, 0, "a second trace block"},
    {HEAD "stream { id = 0; };\nstream { id = 1; };", 0, 0, "no 'stream_id' to tell which one"},
    {"/* CTF 1.8 */ trace { byte_order = le; packet.header := struct {\n"
     "integer { size = 64; } magic; }; };",
     2, 0, "'magic' is not an unsigned 32-bit number"},
    {"/* CTF 1.8 */ trace { byte_order = le; packet.header := struct { string s;\n"
     "integer { size = 32; } magic; }; };",
     2, 0, "'magic' is not the first field"},
    {"/* CTF 1.8 */ trace { byte_order = le; packet.header := struct {\n"
     "integer { size = 8; align = 32; } uuid[16]; }; };",
     2, 0, "'uuid' is not 16 bytes"},
    {"/* CTF 1.8 */ trace { byte_order = le; packet.header := struct {\n"
     "integer { size = 8; } uuid[63]; }; };",
     2, 0, "'uuid' is not 16 bytes"},
};

/* Labels that match no value: each enumeration has a warning, and keeps the labels with a range. */
static const struct {
	const char *text, *warning;
	uint32_t nr_labels;
	int64_t low, high; /* the last label's */
} beyond[] = {
    {FIELDS("enum : uint8_t { A = 256 } x;"),
     "'A': its range is empty or does not fit in 8 bits, unsigned", 1, 256, 256},
    {FIELDS("enum : uint8_t { A = 255, B, C } x;"), "'B' (and 1 more)", 3, 257, 257},
    {FIELDS("enum : uint8_t { B = 7, A = -1 } x;"), "'A'", 2, -1, -1},
    {FIELDS("enum : uint8_t { A = 18446744073709551611 } x;"), "'A'", 1, -5, -5},
    {FIELDS("enum : uint8_t { A = 1, B = 3 ... 2 } x;"), "'B'", 1, 1, 1},
    {FIELDS("enum : uint8_t { A = 250 ... 300 } x;"), "'A'", 1, 250, 300},
    {FIELDS("enum : integer { size = 8; signed = true; } { A = 128 } x;"), "8 bits, signed", 1, 128,
     128},
    {FIELDS("enum : integer { size = 8; signed = true; } { A = 18446744073709551611, B } x;"),
     "'A': ", 2, -4, -4},
    {FIELDS("enum : integer { size = 64; } { A = 0xffffffffffffffff, B } x;"), "'B'", 2, 0, 0},
    {FIELDS("enum : integer { size = 64; signed = true; } { A = 9223372036854775807, B } x;"),
     "'B'", 2, INT64_MIN, INT64_MIN},
};

static void test_labels_beyond_their_container(void **state)
{
	for (size_t i = 0; i < NR(beyond); i++) {
		struct wm_ctf_metadata *m = NULL;
		const struct wm_ctf_type *t;
		struct wm_diag d;

		if (wm_ctf_metadata_parse("m", beyond[i].text, strlen(beyond[i].text), &m, NULL,
					  &d))
			fail_msg("case %zu: %s", i, d.sentence);
		assert_int_equal(m->nr_warnings, 1);
		assert_non_null(strstr(m->warnings[0].sentence, beyond[i].warning));
		assert_int_equal(m->warnings[0].line, 8);
		t = m->events[0].fields->members[0].type;
		assert_int_equal(t->nr_labels, beyond[i].nr_labels);
		assert_true(t->labels[t->nr_labels - 1].range.low == beyond[i].low);
		assert_true(t->labels[t->nr_labels - 1].range.high == beyond[i].high);
		wm_ctf_metadata_destroy(m);
	}
}

/* Things that the specification does not define, and duplicates. */
static void test_warnings(void **state)
{
	static const struct {
		const char *text, *warning;
		uint32_t line;
	} cases[] = {
	    {HEAD "clock { name = c; frequenzy = 5; };", "'frequenzy' of a block 'clock'", 7},
	    {HEAD "clock { name = c; freq = 5;\nfreq = 6; };", "'freq' is given twice in a", 8},
	    {HEAD "env { a = 1; a = 2; };", "'a' is given twice in a block 'env'", 7},
	    {HEAD "stream { event.haeder := struct { uint8_t x; }; };", "'event.haeder'", 7},
	    {FIELDS("integer { size = 8; sgined = true; } x;"), "unknown attribute 'sgined'", 8},
	    {FIELDS("string { encodign = UTF8; } x;"), "unknown attribute 'encodign'", 8},
	};

	for (size_t i = 0; i < NR(cases); i++) {
		struct wm_ctf_metadata *m = NULL;
		struct wm_diag d;

		if (wm_ctf_metadata_parse("m", cases[i].text, strlen(cases[i].text), &m, NULL, &d))
			fail_msg("case %zu: %s", i, d.sentence);
		assert_int_equal(m->nr_warnings, 1);
		if (!strstr(m->warnings[0].sentence, cases[i].warning) ||
		    m->warnings[0].line != cases[i].line)
			fail_msg("case %zu: %u: %s", i, m->warnings[0].line,
				 m->warnings[0].sentence);
		wm_ctf_metadata_destroy(m);
	}
}

static void test_wrong(void **state)
{
	for (size_t i = 0; i < NR(wrong); i++) {
		struct wm_ctf_metadata *m = NULL;
		struct wm_diag d;
		int err =
		    wm_ctf_metadata_parse("m", wrong[i].text, strlen(wrong[i].text), &m, NULL, &d);

		if (err != -EBADMSG || !strstr(d.sentence, wrong[i].why) ||
		    (wrong[i].line && d.line != wrong[i].line) ||
		    (wrong[i].column && d.column != wrong[i].column))
			fail_msg("case %zu: %d, %u:%u \"%s\"; wanted %u:%u \"%s\"", i, err, d.line,
				 d.column, d.sentence, wrong[i].line, wrong[i].column,
				 wrong[i].why);
		assert_null(m);
	}
}

static void test_nul_in_text(void **state)
{
	static const char text[] = "/* CTF 1.8 */ \0 trace { };";
	struct wm_ctf_metadata *m = NULL;
	struct wm_diag d;

	assert_int_equal(wm_ctf_metadata_parse("m", text, sizeof(text) - 1, &m, NULL, &d),
			 -EBADMSG);
	assert_int_equal(d.offset, 14);
}

/* --- limits -------------------------------------------------------------------------- */

static char *repeat(const char *head, const char *part, size_t count, const char *tail)
{
	size_t n = strlen(part), h = strlen(head);
	char *text = malloc(h + n * count + strlen(tail) + 1);

	assert_non_null(text);
	memcpy(text, head, h);
	for (size_t i = 0; i < count; i++)
		memcpy(text + h + i * n, part, n);
	strcpy(text + h + n * count, tail);
	return text;
}

static void refuse(char *text, const char *why)
{
	struct wm_ctf_metadata *m = NULL;
	struct wm_diag d;
	int err = wm_ctf_metadata_parse("m", text, strlen(text), &m, NULL, &d);

	if (!err || !strstr(d.sentence, why))
		fail_msg("%d \"%s\", wanted \"%s\"", err, d.sentence, why);
	free(text);
}

static void test_limits(void **state)
{
	char name[64], *chain, *at;

	refuse(repeat(HEAD "event { fields := ", "struct { ", 100000, ""), "deep");
	refuse(repeat(HEAD "event { fields := struct { uint8_t a", "[1]", 1000, ";};};"),
	       "dimensions");
	refuse(repeat(HEAD "env { ", "aaaaaaaaaa", 10000, " = 1; };"), "a name of more than");
	chain = malloc(300 * 32);
	at = chain + sprintf(chain, HEAD);
	for (int i = 0; i < 257; i++)
		at += sprintf(at, "clock { name = c%d; };\n", i);
	refuse(chain, "more than 256 clocks");
	refuse(repeat(HEAD "env { a = \"", "aaaaaaaaaa", 100000, "\"; };"),
	       "a string of more than");
	refuse(repeat(HEAD "event { fields := struct { uint8_t a[", "a.", 1000, "a]; }; };"),
	       "a path of more than 64 names");
	/* Types nested through aliases: each is an array of the previous one. */
	chain = malloc(20000);
	at = chain + sprintf(chain, HEAD "typedef uint8_t t0[1];\n");
	for (int i = 1; i < 400; i++)
		at += sprintf(at, "typedef t%d t%d[1];\n", i - 1, i);
	refuse(chain, "deep");
	/* Nested types that amount to 2^40 fields must be refused without visiting each field. */
	chain = malloc(10000);
	at = chain + sprintf(chain, HEAD "struct s0 { uint8_t a; };\n");
	for (int i = 1; i < 40; i++)
		at += sprintf(at, "struct s%d { struct s%d a; struct s%d b; };\n", i, i - 1, i - 1);
	(void)snprintf(name, sizeof(name), "event { fields := struct s39; };");
	strcpy(at, name);
	refuse(chain, "expand to more than");
}

/* --- damage: blocks complete before it are kept --------------------------------------- */

static void test_damage(void **state)
{
	struct wm_ctf_metadata *m = NULL;
	struct wm_diag damage, d;
	char text[sizeof(rich) + 64];

	(void)snprintf(text, sizeof(text), "%sevent { name = \"cut", rich);
	assert_int_equal(wm_ctf_metadata_parse("m", text, strlen(text), &m, &damage, &d), 0);
	assert_non_null(strstr(damage.sentence, "string is not closed"));
	assert_int_equal(m->nr_events, 1);
	wm_ctf_metadata_destroy(m);
	m = parse(rich);
	wm_ctf_metadata_destroy(m);
	assert_int_equal(wm_ctf_metadata_parse("m", rich, 40, &m, &damage, &d), -EBADMSG);
}

/* Truncated text is refused, or accepted with at most as many blocks as the original. */
static void test_cut_anywhere(void **state)
{
	for (size_t n = 0; n < sizeof(rich); n++) {
		/* exact size, so that sanitizers detect reads beyond it */
		char *text = malloc(n ? n : 1);
		struct wm_ctf_metadata *m = NULL;
		struct wm_diag damage, d;

		memcpy(text, rich, n);
		if (!wm_ctf_metadata_parse("m", text, n, &m, &damage, &d)) {
			assert_in_range(m->nr_events, 0, 1);
			wm_ctf_metadata_destroy(m);
		} else {
			assert_true(d.sentence[0] != 0);
		}
		free(text);
	}
}

/* --- metadata packets ---------------------------------------------------------------------- */

static size_t wrap(unsigned char *out, const char *text, size_t bytes, size_t packet)
{
	uint32_t words[8] = {0x75d11d57,          0, 0, 0, 0, 0, (uint32_t)(37 + bytes) * 8,
			     (uint32_t)packet * 8};

	memset(out, 0, packet);
	memcpy(out, words, sizeof(words));
	out[35] = 1;
	out[36] = 8;
	memcpy(out + 37, text, bytes);
	return packet;
}

static void test_packets(void **state)
{
	unsigned char data[8192];
	size_t half = sizeof(rich) / 2, rest = sizeof(rich) - 1 - half, n;
	struct wm_ctf_metadata *m = NULL;
	struct wm_diag d;

	n = wrap(data, rich, half, 4096);
	n += wrap(data + n, rich + half, rest, 4096);
	assert_int_equal(wm_ctf_metadata_parse("m", (char *)data, n, &m, NULL, &d), 0);
	assert_int_equal(m->nr_events, 1);
	wm_ctf_metadata_destroy(m);
	assert_int_equal(wm_ctf_metadata_parse("m", (char *)data, n - 1, &m, NULL, &d), -EBADMSG);
	assert_int_equal(d.offset, 4096);
	data[32] = 1;
	assert_int_equal(wm_ctf_metadata_parse("m", (char *)data, n, &m, NULL, &d), -EBADMSG);
	assert_non_null(strstr(d.sentence, "compressed"));
}

/* --- mutants -------------------------------------------------------------------------------- */

static uint64_t seed = 88172645463325252ull;

static uint32_t roll(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 33) % n;
}

static size_t mutate(char *text, size_t bytes, size_t room)
{
	static const char *const tokens[] = {"{",
					     "}",
					     "[",
					     "]",
					     "<",
					     ">",
					     ";",
					     "struct ",
					     "variant ",
					     "enum ",
					     "0xffffffffffffffff",
					     "\"",
					     "/*",
					     "...",
					     "-",
					     "event.fields.",
					     "typealias ",
					     "integer",
					     "\\",
					     ":="};
	size_t at = bytes ? roll((uint32_t)bytes) : 0, from, n;
	const char *token;

	if (!bytes)
		return 0;
	switch (roll(5)) {
	case 0:
		text[at] = (char)roll(256);
		return bytes;
	case 1: /* remove a piece */
		n = 1 + roll((uint32_t)(bytes - at));
		n = n > 40 ? 1 + n % 40 : n;
		memmove(text + at, text + at + n, bytes - at - n);
		return bytes - n;
	case 2: /* insert a token */
		token = tokens[roll(NR(tokens))];
		n = strlen(token);
		break;
	case 3: /* copy a piece */
		from = roll((uint32_t)bytes);
		n = 1 + roll((uint32_t)(bytes - from));
		n = n > 60 ? 60 : n;
		token = text + from;
		break;
	default: /* cut */
		return roll(8) ? bytes : at + 1;
	}
	if (bytes + n > room)
		return bytes;
	{
		char piece[64];

		memcpy(piece, token, n);
		memmove(text + at + n, text + at, bytes - at);
		memcpy(text + at, piece, n);
	}
	return bytes + n;
}

static void test_mutants(void **state)
{
	char room[sizeof(rich) + 1024];
	uint32_t rounds = kit_rounds(4000, 20000);

	for (uint32_t i = 0; i < rounds; i++) {
		size_t bytes = sizeof(rich) - 1;
		struct wm_ctf_metadata *m = NULL;
		struct wm_diag damage, d;
		char *text;

		memcpy(room, rich, bytes);
		for (uint32_t edits = 1 + roll(8); edits; edits--)
			bytes = mutate(room, bytes, sizeof(room));
		text = malloc(bytes);
		assert_non_null(text);
		memcpy(text, room, bytes);
		if (!wm_ctf_metadata_parse("m", text, bytes, &m, roll(2) ? &damage : NULL, &d))
			wm_ctf_metadata_destroy(m);
		else
			assert_true(d.sentence[0] != 0);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_blocks),
	    cmocka_unit_test(test_types),
	    cmocka_unit_test(test_roles),
	    cmocka_unit_test(test_labels_beyond_their_container),
	    cmocka_unit_test(test_warnings),
	    cmocka_unit_test(test_wrong),
	    cmocka_unit_test(test_nul_in_text),
	    cmocka_unit_test(test_limits),
	    cmocka_unit_test(test_damage),
	    cmocka_unit_test(test_cut_anywhere),
	    cmocka_unit_test(test_packets),
	    cmocka_unit_test(test_mutants),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
