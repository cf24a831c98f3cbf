/* SPDX-License-Identifier: MIT */
/*
 * Fields of every kind, decoded by the whole reader: each test writes metadata and bytes to a
 * folder, opens it, and prints the items of each event as name=value. The expected values were
 * derived by hand from the specifications.
 */
#include "read/ctf/decode_test_kit.h"

static const struct decode_case cases[] = {
    /* Numbers in both byte orders in one event. */
    {HEAD("le") FIELDS("integer { size = 16; } a; integer { size = 32; byte_order = be; } b;"
		       "integer { size = 16; signed = true; byte_order = be; } c;"
		       "integer { size = 64; signed = true; } d;"),
     BYTES(1, 2, 1, 2, 3, 4, 0xff, 0xfe, 0xfd, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff),
     "a=513 b=16909060 c=-2 d=-3\n"},
    /* Bit fields fill from the least or from the most significant bit. */
    {HEAD("le") FIELDS("integer { size = 3; } a; integer { size = 7; signed = true; } b;"
		       "integer { size = 6; } c;"),
     BYTES(0xfd, 0xab), "a=5 b=-1 c=42\n"},
    {HEAD("be") FIELDS("integer { size = 3; } a; integer { size = 7; signed = true; } b;"
		       "integer { size = 6; } c;"),
     BYTES(0xbf, 0xea), "a=5 b=-1 c=42\n"},
    /* Fewer trailing bits than the header's alignment are not an event. */
    {HEAD("le") "stream { event.header := struct { integer { size = 8; } id; }; };" FIELDS(
	 "integer { size = 3; } a;"),
     BYTES(0, 5, 0, 6), "a=5\na=6\n"},
    /* A change of byte order is allowed only at a byte boundary. */
    {HEAD("be") FIELDS("integer { size = 4; } a; integer { size = 4; align = 8; byte_order = le; }"
		       "b; integer { size = 4; byte_order = le; } c;"),
     BYTES(0x70, 0x21), "a=7 b=1 c=2\n"},
    {HEAD("be") FIELDS("integer { size = 4; } a; integer { size = 4; byte_order = le; } b;"),
     BYTES(0x70),
     "stream+0: an event: 'b' has a different byte order from the preceding bits of its byte\n"},
    {HEAD("be") FIELDS("u8 z; integer { size = 4; } a;"
		       "integer { size = 4; byte_order = le; } b;"),
     BYTES(0, 0x70), "refused: the byte order changes within a byte, at b"},
    {HEAD("le") FIELDS("enum : integer { size = 16; byte_order = be; } { A = 258 } a;"),
     BYTES(1, 2), "a=258\n"},
    /* Characters are numbers. */
    {HEAD("le")
	 FIELDS("enum : u8 { A = '\\n', B = '\\'' ... '\\x29', C = '\\0' } e[2]; u8 y['\\2'];"),
     BYTES('\n', 0x28, 1, 2), "e=(10 40) y=(1 2)\n"},
    {HEAD("le") FIELDS("u8 y[''];"), BYTES(1), "refused: not a character constant"},
    {HEAD("le") FIELDS("u8 y['\n'];"), BYTES(1), "refused: not a character constant"},
    /* A number that spans nine bytes because one bit precedes it. */
    {HEAD("le") FIELDS("integer { size = 1; } a; integer { size = 64; align = 1; } b;"
		       "integer { size = 7; } c;"),
     BYTES(0x03, 0, 0, 0, 0, 0, 0, 0, 0xfe + 1), "a=1 b=9223372036854775809 c=127\n"},
    {HEAD("be") FIELDS("integer { size = 1; } a; integer { size = 64; align = 1; } b;"
		       "integer { size = 7; } c;"),
     BYTES(0xc0, 0, 0, 0, 0, 0, 0, 0, 0xff), "a=1 b=9223372036854775809 c=127\n"},
    /* An integer of more than 64 bits. */
    {HEAD("le") FIELDS("u8 a; integer { size = 72; } b;"), BYTES(1, 2, 3, 4, 5, 6, 7, 8, 9, 10),
     "a=1 b=02030405060708090a\n"},
    {HEAD("le") "stream { packet.context := struct { integer { size = 128; } packet_size; }; "
		"};" FIELDS("integer { size = 8; } a;"),
     BYTES(1, 2),
     "refused: an integer of 128 bits in the header or context of packets or events: at most 64 "
     "are supported there"},
    {HEAD("le") FIELDS("integer { size = 1; } a; integer { size = 72; align = 1; } b;"),
     BYTES(1, 2, 3, 4, 5, 6, 7, 8, 9, 10),
     "refused: an integer of 72 bits with align = 1: more than 64 bits are supported with an align "
     "of 8 or more"},
    /* Floats. */
    {HEAD("le")
	 FIELDS("floating_point { exp_dig = 8; mant_dig = 24; align = 8; } a;"
		"floating_point { exp_dig = 11; mant_dig = 53; byte_order = be; align = 8; } b;"),
     BYTES(0, 0, 0xc0, 0x3f, 0xc0, 0x04, 0, 0, 0, 0, 0, 0), "a=1.5 b=-2.5\n"},
    {HEAD("le") FIELDS("integer { size = 4; } n; floating_point { exp_dig = 8; mant_dig = 24; } a;"
		       "integer { size = 4; } m;"),
     BYTES(0x02, 0, 0, 0xfc, 0xa3), "n=2 a=1.5 m=10\n"},
    /* 16-bit and 128-bit floats: plain, after four bits, and in lists. */
    {HEAD("le")
	 FIELDS("floating_point { exp_dig = 5; mant_dig = 11; align = 8; } a;"
		"floating_point { exp_dig = 15; mant_dig = 113; byte_order = be; align = 8; } b;"
		"floating_point { exp_dig = 15; mant_dig = 113; align = 8; } c;"
		"floating_point { exp_dig = 5; mant_dig = 11; align = 8; } d[2];"),
     BYTES(0, 0xbe, 0x40, 0, 0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	   0, 0, 0, 0, 0, 0xfe, 0xbf, 1, 0, 0, 0x3c),
     "a=-1.5 b=2.5 c=-0.5 d=(5.96046e-08 1)\n"},
    {HEAD("be")
	 FIELDS("integer { size = 4; } n; floating_point { exp_dig = 5; mant_dig = 11; } a;"
		"floating_point { exp_dig = 15; mant_dig = 113; } b; integer { size = 4; } m;"),
     BYTES(0x23, 0xe0, 0x04, 0, 0x04, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x0a),
     "n=2 a=1.5 b=2.5 m=10\n"},
    {HEAD("le") FIELDS("floating_point { exp_dig = 15; mant_dig = 64; } a;"), BYTES(0),
     "refused: a float of 15 exponent and 64 mantissa bits; 5+11, 8+24, 11+53 and 15+113 are "
     "supported"},
    {CTF2(M("a", INT2("floating-point-number", 16, "big", "")) "," M(
	 "b", INT2("floating-point-number", 128, "little", ""))),
     BYTES(0x3e, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xc0, 0, 0x40), "a=1.5 b=3.5\n"},
    {CTF2(M("a", INT2("floating-point-number", 96, "big", ""))), BYTES(0),
     "refused: a float of 96 bits; 16, 32, 64 and 128 are supported"},
    /* Strings of every kind, and the alignment of the field after them. */
    {HEAD("le") FIELDS("string a; integer { size = 8; encoding = UTF8; } b[4];"
		       "integer { size = 16; align = 16; } c; u8 n;"
		       "integer { size = 8; encoding = ASCII; } d[n];"),
     BYTES('h', 'i', 0, 'a', 'b', 0, 'z', 0xee, 7, 0, 2, 'x', 'y'),
     "a=\"hi\" b=\"ab\" c=7 n=2 d=\"xy\"\n"},
    /* Lists: plain, of bits, of structures, of strings, nested, empty. */
    {HEAD("le") FIELDS("u8 n; integer { size = 16; byte_order = be; } a[n]; u8 b[2];"
		       "integer { size = 4; } c[3]; u8 z; u8 d[z];"),
     BYTES(2, 0, 1, 1, 0, 8, 9, 0x21, 0x03, 0), "n=2 a=(1 256) b=(8 9) c=(1 2 3) z=0 d=()\n"},
    {HEAD("le") FIELDS("u8 n; struct { u8 m; string s[m]; } a[n]; u8 b[2][2]; u8 e;"),
     BYTES(2, 1, 'p', 0, 2, 'q', 0, 0, 1, 2, 3, 4, 5),
     "n=2 a=((m=1 s=(\"p\")) (m=2 s=(\"q\" \"\"))) b=((1 2) (3 4)) e=5\n"},
    {HEAD("le") FIELDS("u8 n; struct { integer { size = 5; } x; integer { size = 8; align = 8; } y;"
		       "} a[n]; integer { size = 3; } b; integer { size = 5; } c;"),
     BYTES(2, 1, 2, 3, 4, 0x0d), "n=2 a=((x=1 y=2) (x=3 y=4)) b=5 c=1\n"},
    /* A structure's alignment applies to the enclosing structure too. */
    {HEAD("le") FIELDS("u8 a; struct { u8 x; } align(32) s; u8 b;"), BYTES(1, 0, 0, 0, 2, 3),
     "a=1 s=(x=2) b=3\n"},
    /*
     * Variants: chosen by label, by the first of two overlapping labels, by a label with an
     * underscore.
     */
    {HEAD("le") FIELDS("enum : u8 { A, B = 3 ... 9, C = 5, _D = 20 } t;"
		       "variant <t> { u8 A; string B; u8 C; integer { size = 16; } _D; } v; u8 e;"),
     BYTES(0, 7, 1, 5, 'o', 0, 2, 20, 1, 1, 3),
     "t=0 v=0:(A=7) e=1\nt=5 v=1:(B=\"o\") e=2\nt=20 v=3:(D=257) e=3\n"},
    {HEAD("le")
	 FIELDS("enum : integer { size = 8; signed = true; } { N = -5 ... -1, P = 0 ... 5 } t;"
		"variant <t> { struct { u8 n; } P; struct { u8 x; u8 y; } N; } v;"),
     BYTES(0xfc, 1, 2, 5, 3), "t=-4 v=1:(N=(x=1 y=2))\nt=5 v=0:(P=(n=3))\n"},
    /* Damage ends the packet at the damaged event. */
    {HEAD("le") FIELDS("u8 a; string s;"), BYTES(1, 'a', 0, 2, 'b'),
     "a=1 s=\"a\"\nstream+3: an event: 's' extends past the packet's content\n"},
    {HEAD("le") FIELDS("enum : u8 { A } t; variant <t> { u8 A; } v;"), BYTES(0, 1, 1, 1),
     "t=0 v=0:(A=1)\nstream+2: an event: 'v' has a tag that chooses none of its options\n"},
    {HEAD("le") FIELDS("integer { size = 32; } n; u8 a[n];"), BYTES(255, 255, 255, 255, 1, 2),
     "stream+0: an event: 'a' is longer than the rest of the packet\n"},
    {HEAD("le") FIELDS("integer { size = 32; } n; struct {} a[n];"), BYTES(0xa0, 0x86, 1, 0, 1, 2),
     "stream+0: an event: 'a' has too many zero-size elements\n"},
    {HEAD("le") FIELDS(""), BYTES(1), "stream+0: an event of zero bits\n"},
    /* Times beyond 64 bits of nanoseconds: reported once per packet, at the first one. */
    {HEAD("le") "clock { name = c; freq = 1000000000; }; stream { event.header := struct { integer "
		"{ size = 64; align = 8; map = clock.c.value; } timestamp; }; };" FIELDS("u8 a;"),
     BYTES(1, 0, 0, 0, 0, 0, 0, 0x7f, 1, 0, 0, 0, 0, 0, 0, 0, 0x80, 2, 0, 0, 0, 0, 0, 0, 0, 0x90,
	   3),
     "a=1\na=2\na=3\nstream+9: an event's time (9223372036854775808 ticks) is centuries from the "
     "clock's origin, beyond the range of 64-bit nanoseconds: such times are shown as "
     "9223372036854775806 "
     "ns\n"},
    /* CTF 2: LEB128 up to the limits of 64 bits, and beyond. */
    {CTF2(M("a", "{\"type\":\"variable-length-unsigned-integer\"}") "," M(
	 "b", "{\"type\":\"variable-length-signed-integer\"}")),
     BYTES(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0x80, 0x80, 0x80, 0x80, 0x80,
	   0x80, 0x80, 0x80, 0x80, 0x7f, 0x05, 0x40),
     "a=18446744073709551615 b=-9223372036854775808\na=5 b=-64\n"},
    {CTF2(M("a", "{\"type\":\"variable-length-unsigned-integer\"}")),
     BYTES(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2),
     "stream+0: an event: 'a' is a number of more than 64 bits\n"},
    /* Optionals selected by a boolean, and by ranges; a boolean is 0 or 1. */
    {CTF2(M("h", INT2("boolean", 8, "little", "")) "," M(
	 "o",
	 "{\"type\":\"optional\"," AT(
	     "selector-field-location",
	     "h") ",\"field-class\":" UINT8
		  "}") "," M("k", INT2("signed-integer", 8, "little",
				       "")) "," M("p",
						  "{\"type\":\"optional\"," AT(
						      "selector-field-location",
						      "k") ",\"selector-field-ranges\":[[-3,-1],[5,"
							   "6]],\"field-class\":" UINT8 "}")),
     BYTES(9, 7, 4, 0, 0xfd, 8), "h=1 o=(7) k=4 p=()\nh=0 o=() k=-3 p=(8)\n"},
    {CTF2(M("k", UINT8) "," M(
	 "v",
	 "{\"type\":\"variant\"," AT("selector-field-location",
				     "k") ",\"options\":[{\"selector-field-ranges\":[[0,1]],"
					  "\"field-class\":" UINT8 "},{\"name\":\"s\","
					  "\"selector-field-ranges\":[[2,2],[9,9]],\"field-class\":"
					  "{\"type\":\"null-terminated-string\"}}]}")),
     BYTES(1, 3, 9, 'x', 0), "k=1 v=0:(=3)\nk=9 v=1:(s=\"x\")\n"},
    /*
     * Blobs and strings with a length; UTF-16 and UTF-32, with a surrogate pair and an unpaired
     * surrogate.
     */
    {CTF2(M("n", UINT8) "," M(
	 "b", "{\"type\":\"dynamic-length-blob\"," AT(
		  "length-field-location",
		  "n") "}") "," M("s", "{\"type\":\"static-length-string\",\"length\":"
				       "3}") "," M("c", "{\"type\":\"static-length-"
							"blob\",\"length\":1}")),
     BYTES(2, 0xca, 0xfe, 'a', 0, 'b', 0x5a), "n=2 b=cafe s=\"a\" c=5a\n"},
    {CTF2(M("a", "{\"type\":\"null-terminated-string\",\"encoding\":\"utf-16le\"}") "," M(
	 "b",
	 "{\"type\":\"static-length-string\",\"encoding\":\"utf-32be\",\"length\":8}") "," M("c",
											     "{\"ty"
											     "pe\":"
											     "\"sta"
											     "tic-"
											     "lengt"
											     "h-"
											     "strin"
											     "g\","
											     "\"enc"
											     "oding"
											     "\":"
											     "\"utf"
											     "-16be"
											     "\","
											     "\"len"
											     "gth\""
											     ":4"
											     "}")),
     BYTES('A', 0, 0x3d, 0xd8, 0x00, 0xde, 0, 0, 0, 0, 0x20, 0xac, 0, 0, 0, 0, 0xd8, 0, 0, 'z'),
     "a=\"A\xf0\x9f\x98\x80\" b=\"\xe2\x82\xac\" c=\"\xef\xbf\xbdz\"\n"},
    /* A list element refers to a length in the enclosing structure. */
    {CTF2(M("l",
	    "{\"type\":\"static-length-array\",\"length\":2,\"element-field-class\":"
	    "{\"type\":\"structure\",\"member-classes\":[" M("n", UINT8) "," M(
		"d",
		"{\"type\":\"dynamic-length-array\",\"length-field-location\":{\"origin\":"
		"\"event-record-payload\",\"path\":[\"l\",\"n\"]},\"element-field-class\":" UINT8
		"}") "]}}")),
     BYTES(1, 8, 2, 9, 10), "l=((n=1 d=(8)) (n=2 d=(9 10)))\n"},
};

static void test_fields(void **state)
{
	decode_cases(cases, sizeof(cases) / sizeof(*cases));
}

static void test_extension_is_refused_by_name(void **state)
{
	static const char metadata[] =
	    "\x1e{\"type\":\"preamble\",\"version\":2,\"extensions\":{\"acme\":{\"zip\":{}}}}";
	struct folder f;
	struct wm_text t;

	folder_init(&f, metadata, "", 0);
	read_all(f.path, NULL, &t);
	wm_text_char(&t, 0);
	assert_non_null(strstr(t.data, "'zip' of 'acme'"));
	wm_text_done(&t);
	folder_done(&f);
}

/* Lengths in two events reuse slots; a length used by both belongs to the stream. */
static void test_slots(void **state)
{
	static const char metadata[] = HEAD("le") U8
	    "stream { event.header := struct { u8 id; u8 n; }; };"
	    "event { id = 0; name = \"a\"; fields := struct { u8 m; u8 x[m];"
	    "  u8 y[stream.event.header.n]; }; };"
	    "event { id = 1; name = \"b\"; fields := struct { u8 k; u8 z[k]; u8 l; u8 w[l]; }; };"
	    "event { id = 2; name = \"c\"; fields := struct { u8 j; u8 v[stream.event.header.n];"
	    "  u8 u[j]; }; };";
	static const unsigned char data[] = {0, 2, 1, 9, 8, 7, 1, 3, 2, 4, 5, 1, 6, 2, 1, 1, 3, 4};
	struct wm_text t;
	struct folder f;

	folder_init(&f, metadata, data, sizeof(data));
	read_all(f.path, NULL, &t);
	assert_string_equal(t.data, "m=1 x=(9) y=(8 7)\nk=2 z=(4 5) l=1 w=(6)\nj=1 v=(3) u=(4)\n");
	wm_text_done(&t);
	folder_done(&f);
}

/* --- windows ------------------------------------------------------------------------------ */

static const char window_metadata[] = HEAD("le") U8
    "stream { event.header := struct { u8 id; } align(64); };"
    "event { id = 0; name = \"e\"; fields := struct { integer { size = 32; } n; u8 a[n];"
    "  string s; }; };";

#define WINDOW_EVENTS 900u
#define LARGE_EVENT   137u /* larger than any window */
#define LARGE_BYTES   700000u

/* Events with lists of increasing length, one of them huge; 8-byte aligned. */
static size_t window_data(unsigned char *data)
{
	size_t at = 0;

	for (uint32_t i = 0; i < WINDOW_EVENTS; i++) {
		uint32_t n = i == LARGE_EVENT ? LARGE_BYTES : i;

		at = (at + 7) & ~(size_t)7;
		data[at++] = 0;
		memcpy(data + at, &n, 4);
		at += 4;
		memset(data + at, (int)(i & 0xff), n);
		at += n;
		at += (size_t)sprintf((char *)data + at, "event %u", i) + 1;
	}
	return at;
}

static uint32_t check_window_batch(const struct wm_batch *b, uint32_t seen)
{
	for (uint32_t i = 0; i < b->nr_events; i++, seen++) {
		const struct wm_event *e = &b->events[i];
		const struct wm_item *n = &e->items[e->parts[WM_PART_FIELDS].at];
		const struct wm_item *list = n + 1, *s = &e->items[list->next];
		char text[32];

		(void)snprintf(text, sizeof(text), "event %u", seen);
		assert_int_equal(n->u, seen == LARGE_EVENT ? LARGE_BYTES : seen);
		assert_int_equal(list->count, n->u);
		if (list->count)
			assert_int_equal(e->items[list->next - 1].u, seen & 0xff);
		assert_int_equal(s->count, strlen(text));
		assert_memory_equal(s->text, text, s->count);
	}
	return seen;
}

static void test_windows(void **state)
{
	unsigned char *data = calloc(1, 4u << 20);
	struct wm_want want = {.nr_open = *state ? 1000 : 0};
	struct wm_packet_reader *r;
	struct wm_batch b = {0};
	struct wm_trace *t;
	struct folder f;
	uint32_t seen = 0;

	assert_non_null(data);
	folder_init(&f, window_metadata, data, window_data(data));
	assert_int_equal(wm_read_open(f.path, &t, NULL), 0);
	assert_int_equal(t->nr_packets, 1);
	r = t->ops->reader_create(t, &want);
	assert_int_equal(t->ops->reader_begin(r, &t->packets[0]), 0);
	while (wm_batch_read(t, r, &b) > 0)
		seen = check_window_batch(&b, seen);
	assert_int_equal(seen, WINDOW_EVENTS);
	assert_int_equal(t->nr_faults, 0);
	wm_batch_done(&b);
	t->ops->reader_destroy(r);
	wm_trace_close(t);
	folder_done(&f);
	free(data);
}

/* A file that shrinks between opening and reading yields the remaining events and a fault. */
static void test_shrinking(void **state)
{
	unsigned char *data = calloc(1, 4u << 20);
	struct wm_packet_reader *r;
	struct wm_batch b = {0};
	struct wm_trace *t;
	struct folder f;
	uint32_t seen = 0;

	assert_non_null(data);
	folder_init(&f, window_metadata, data, window_data(data));
	assert_int_equal(wm_read_open(f.path, &t, NULL), 0);
	put(&f, "stream", data, 1000);
	r = t->ops->reader_create(t, NULL);
	assert_int_equal(t->ops->reader_begin(r, &t->packets[0]), 0);
	while (wm_batch_read(t, r, &b) > 0)
		seen = check_window_batch(&b, seen);
	assert_in_range(seen, 20, 60);
	assert_int_equal(t->nr_faults,
			 1); /* the file ends at the aligned start of the next event */
	assert_int_equal(t->faults[0].offset, 1000);
	assert_non_null(strstr(t->faults[0].reason, "the file shrank"));
	wm_batch_done(&b);
	t->ops->reader_destroy(r);
	wm_trace_close(t);
	folder_done(&f);
	free(data);
}

/* --- clocks, ids, unwanted events ------------------------------------------------------------ */

static const char compact_metadata[] = HEAD("le") U8
    "clock { name = c; freq = 1000; offset_s = 2; offset = 1; };"
    "typealias integer { size = 27; align = 1; map = clock.c.value; } := t27;"
    "typealias integer { size = 64; map = clock.c.value; } := t64;"
    "stream { packet.context := struct { t64 timestamp_begin; u8 cpu_id; };"
    "  event.header := struct { enum : integer { size = 5; } { compact = 0 ... 30, extended = 31 }"
    "    id; variant <id> { struct { t27 timestamp; } compact; struct { integer { size = 32; } id;"
    "    t64 timestamp; } extended; } v; } align(8);"
    "  event.context := struct { integer { size = 32; signed = true; } _vtid; }; };"
    "event { id = 1; name = \"p:one\"; loglevel = 4; fields := struct { u8 a; }; };"
    "event { id = 400; name = \"two\"; fields := struct { u8 b; }; };";

static size_t compact_event(unsigned char *at, uint32_t id, uint64_t time, int32_t tid, uint8_t v)
{
	uint32_t word = (id < 31 ? id : 31) | (uint32_t)time << 5;
	size_t n = id < 31 ? 4 : 13;

	memcpy(at, &word, 4);
	if (id >= 31) {
		at[0] = 31;
		memcpy(at + 1, &id, 4);
		memcpy(at + 5, &time, 8);
	}
	memcpy(at + n, &tid, 4);
	at[n + 4] = v;
	return n + 5;
}

static size_t compact_data(unsigned char *data)
{
	const uint64_t begin = (UINT64_C(5) << 27) - 10;
	size_t at = 9;

	memcpy(data, &begin, 8);
	data[8] = 3;
	at += compact_event(data + at, 1, begin + 2, 77, 1);
	at += compact_event(data + at, 1, begin + 20, -1, 2); /* the 27-bit time wraps */
	at += compact_event(data + at, 400, begin + (UINT64_C(1) << 40), 78, 3);
	return at;
}

/* Decoding the header the quick way (no items wanted) and by its program gives the same result. */
static void test_compact_header(void **state)
{
	const uint64_t begin = (UINT64_C(5) << 27) - 10;
	const uint64_t clocks[] = {begin + 2, begin + 20, begin + (UINT64_C(1) << 40)};
	static const char *const names[] = {"p:one", "p:one", "two"};
	struct wm_want want = {.no_parts = *state ? 1u << WM_PART_HEADER : 0};
	unsigned char data[256];
	struct wm_packet_reader *r;
	struct wm_batch b = {0};
	struct wm_trace *t;
	struct folder f;

	folder_init(&f, compact_metadata, data, compact_data(data));
	assert_int_equal(wm_read_open(f.path, &t, NULL), 0);
	r = t->ops->reader_create(t, &want);
	assert_int_equal(t->ops->reader_begin(r, &t->packets[0]), 0);
	assert_int_equal(wm_batch_read(t, r, &b), 3);
	for (uint32_t i = 0; i < 3; i++) {
		const struct wm_event *e = &b.events[i];

		assert_int_equal(e->clock, clocks[i]);
		assert_int_equal(e->ns, 2001000000 + (int64_t)clocks[i] * 1000000);
		assert_string_equal(e->type->name, names[i]);
		assert_int_equal(e->cpu, 3);
		assert_int_equal(e->tid, i == 0 ? 77 : i == 1 ? -1 : 78);
		assert_int_equal(e->pid, -1);
		assert_int_equal(e->items[e->parts[WM_PART_FIELDS].at].u, i + 1);
		assert_int_equal(e->parts[WM_PART_HEADER].end > e->parts[WM_PART_HEADER].at,
				 !*state);
	}
	assert_string_equal(t->types[0]->provider, "p");
	assert_int_equal(t->types[0]->level, 4);
	assert_int_equal(t->packets[0].begin_ns, 2001000000 + (int64_t)begin * 1000000);
	wm_batch_done(&b);
	t->ops->reader_destroy(r);
	wm_trace_close(t);
	folder_done(&f);
}

static void test_unwanted_types(void **state)
{
	bool types[2] = {false, false};
	struct wm_want want = {.types = types};
	unsigned char data[256];
	struct wm_text t;
	struct folder f;

	folder_init(&f, compact_metadata, data, compact_data(data));
	types[1] = true;
	read_all(f.path, &want, &t);
	assert_string_equal(t.data, "b=3\n");
	wm_text_done(&t);
	folder_done(&f);
}

int main(void)
{
	static int yes = 1;
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_fields),
	    cmocka_unit_test(test_extension_is_refused_by_name),
	    cmocka_unit_test(test_slots),
	    cmocka_unit_test(test_windows),
	    cmocka_unit_test_prestate(test_windows, &yes),
	    cmocka_unit_test(test_shrinking),
	    cmocka_unit_test(test_compact_header),
	    cmocka_unit_test_prestate(test_compact_header, &yes),
	    cmocka_unit_test(test_unwanted_types),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
