/* SPDX-License-Identifier: MIT */
/*
 * CTF 2: roles of options and optional values, and field locations that go through variants or back
 * to an enclosing structure.
 */
#include "read/ctf/decode_test_kit.h"

#define STRUCT(members) "{\"type\":\"structure\",\"member-classes\":[" members "]}"
#define PREAMBLE        "\x1e{\"type\":\"preamble\",\"version\":2}"
#define EVENT(id, members)                                                                         \
	"\x1e{\"type\":\"event-record-class\",\"id\":" #id                                         \
	",\"payload-field-class\":" STRUCT(members) "}"
#define ID(bits)     INT2("unsigned-integer", bits, "little", ",\"roles\":[\"event-record-class-id\"]")
#define BOOLEAN      INT2("boolean", 8, "little", "")
#define UINT16       INT2("unsigned-integer", 16, "little", "")
#define PATH(key, p) "\"" key "-field-location\":{\"path\":[" p "]}"
#define FROM(key, p)                                                                               \
	"\"" key "-field-location\":{\"origin\":\"event-record-payload\",\"path\":[" p "]}"
#define VARIANT(location, options) "{\"type\":\"variant\"," location ",\"options\":[" options "]}"
#define OPTION(range, class)       "{\"selector-field-ranges\":[[" range "]],\"field-class\":" class "}"
#define OPTIONAL(location, class)  "{\"type\":\"optional\"," location ",\"field-class\":" class "}"
#define RANGED(p)                  PATH("selector", p) ",\"selector-field-ranges\":[[1,9]]"
#define FROM2(p)                   FROM("selector", p) ",\"selector-field-ranges\":[[1,9]]"
#define LIST(location)                                                                             \
	"{\"type\":\"dynamic-length-array\"," location ",\"element-field-class\":" UINT8 "}"

/* A stream class whose event header has these members, and events 0, 3 and 300. */
#define HEADER(members)                                                                            \
	PREAMBLE                                                                                   \
	"\x1e{\"type\":\"data-stream-class\",\"event-record-header-field-class\":" STRUCT(         \
	    members) "}" EVENT(0, M("a", UINT8)) EVENT(3, M("b", UINT8)) EVENT(300, M("c", UINT8))

static const struct decode_case cases[] = {
    /* The id itself is an option of a variant. */
    {HEADER(M("s", UINT8) "," M(
	 "id", VARIANT(PATH("selector", "\"s\""), OPTION("0,0", ID(8)) "," OPTION("1,1", ID(16))))),
     BYTES(0, 3, 7, 1, 0x2c, 1, 8, 0, 0, 9), "b=7\nc=8\na=9\n"},
    /* The id is optional: when absent it is 0, whatever the previous event was. */
    {HEADER(M("s", BOOLEAN) "," M("id", OPTIONAL(PATH("selector", "\"s\""), ID(8)))),
     BYTES(1, 3, 7, 0, 8, 1, 3, 9), "b=7\na=8\nb=9\n"},
    /* The id is the last element of an array. */
    {HEADER(M("ids",
	      "{\"type\":\"static-length-array\",\"length\":2,\"element-field-class\":" ID(8) "}")),
     BYTES(0, 3, 7, 3, 0, 8), "b=7\na=8\n"},
    /* A length in the chosen option of a variant, with a different size in each option. */
    {CTF2(M("s", UINT8) "," M(
	 "v", VARIANT(PATH("selector", "\"s\""),
		      OPTION("0,0", STRUCT(M("n", UINT8))) "," OPTION(
			  "1,1", STRUCT(M("x", UINT8) "," M(
				     "n", UINT16))))) "," M("l",
							    LIST(FROM("length", "\"v\",\"n\"")))),
     BYTES(0, 2, 8, 9, 1, 0xff, 1, 0, 7),
     "s=0 v=0:(=(n=2)) l=(8 9)\n"
     "s=1 v=1:(=(x=255 n=1)) l=(7)\n"},
    /* The options themselves are the numbers. */
    {CTF2(M("s", UINT8) "," M(
	 "v", VARIANT(PATH("selector", "\"s\""),
		      OPTION("0,0", UINT8) "," OPTION(
			  "1,1", UINT16))) "," M("l", LIST(PATH("length", "\"v\"")))),
     BYTES(0, 1, 8, 1, 2, 0, 6, 7), "s=0 v=0:(=1) l=(8)\ns=1 v=1:(=2) l=(6 7)\n"},
    /*
     * Each option uses its number itself, and they are merged into one slot; the number of the
     * other list keeps its own.
     */
    {CTF2(M("s", UINT8) "," M("k", UINT8) "," M(
	 "v",
	 VARIANT(
	     PATH("selector", "\"s\""),
	     OPTION("0,0", STRUCT(M("n", UINT8) "," M("a", LIST(PATH("length", "\"n\""))))) "," OPTION(
		 "1,1",
		 STRUCT(M("n", UINT16) "," M(
		     "b", LIST(PATH("length",
				    "\"n\""))))))) "," M("l",
							 LIST(FROM(
							     "length",
							     "\"v\",\"n\""))) ","
									      "" M("m",
										   LIST(PATH(
										       "length",
										       "\"k\"")))),
     BYTES(1, 1, 2, 0, 4, 5, 6, 7, 8, 0, 2, 1, 4, 5, 6, 7),
     "s=1 k=1 v=1:(=(n=2 b=(4 5))) l=(6 7) m=(8)\ns=0 k=2 v=0:(=(n=1 a=(4))) l=(5) m=(6 7)\n"},
    /* An option without the length field is refused, and so is one of other signedness. */
    {CTF2(M("s", UINT8) "," M(
	 "v", VARIANT(PATH("selector", "\"s\""),
		      OPTION("0,0", STRUCT(M("n", UINT8))) "," OPTION(
			  "1,1", STRUCT(M("x", UINT8))))) "," M("l", LIST(FROM("length",
									       "\"v\",\"n\"")))),
     BYTES(0), "refused: 'n' (a length or tag) does not refer to an earlier integer field"},
    {CTF2(M("s", UINT8) "," M(
	 "v", VARIANT(PATH("selector", "\"s\""),
		      OPTION("0,0", UINT8) "," OPTION(
			  "1,1", INT2("signed-integer", 8, "little",
				      "")))) "," M("w", VARIANT(PATH("selector", "\"v\""),
								OPTION("0,9", UINT8)))),
     BYTES(0), "refused: 'v' (a length or tag) does not refer to an earlier integer field"},
    /* A length in an optional, whose value may be missing only when no length is needed. */
    {CTF2(M("s", UINT8) "," M("o", OPTIONAL(RANGED("\"s\""), STRUCT(M("n", UINT8)))) "," M(
	 "l", OPTIONAL(RANGED("\"s\""), LIST(FROM("length", "\"o\",\"n\""))))),
     BYTES(1, 2, 8, 9, 0, 1, 1, 7),
     "s=1 o=((n=2)) l=((8 9))\ns=0 o=() l=()\ns=1 o=((n=1)) l=((7))\n"},
    {CTF2(M("s", UINT8) "," M("o", OPTIONAL(RANGED("\"s\""), UINT8)) "," M(
	 "l", LIST(PATH("length", "\"o\"")))),
     BYTES(1, 2, 8, 9, 0, 5),
     "s=1 o=(2) l=(8 9)\nstream+4: an event: 'o' has no value, but another field needs one\n"},
    /* Optionals in each other; the tag of a variant. */
    {CTF2(M("s", UINT8) "," M("t", UINT8) "," M(
	 "o",
	 OPTIONAL(
	     RANGED("\"s\""),
	     STRUCT(M("p",
		      OPTIONAL(FROM2("\"t\""),
			       STRUCT(M("n", UINT8))))))) "," M("v",
								VARIANT(
								    FROM("selector",
									 "\"o\",\"p\",\"n\""),
								    OPTION("0,0", UINT8) "," OPTION(
									"1,1", UINT16)))),
     BYTES(1, 1, 1, 2, 0, 1, 1, 0, 9, 1, 0, 0),
     "s=1 t=1 o=((p=((n=1)))) v=1:(=2)\ns=1 t=1 o=((p=((n=0)))) v=0:(=9)\n"
     "stream+9: an event: 'p' has no value, but another field needs one\n"},
    /* In an option of a variant, another option may have been chosen. */
    {CTF2(M("s", UINT8) "," M(
	 "v", VARIANT(PATH("selector", "\"s\""),
		      OPTION("0,0", OPTIONAL(RANGED("\"s\""), UINT8)) "," OPTION(
			  "1,1", UINT8))) "," M("l", LIST(PATH("length", "\"v\"")))),
     BYTES(0), "refused: 'v' (a length or tag) does not refer to an earlier integer field"},
    /* Nulls after names, and the structures they lead back to. */
    {CTF2(M("n", UINT8) "," M("a", STRUCT(M("b", STRUCT(M("x", UINT8))))) "," M(
	 "l", LIST(FROM("length", "\"a\",\"b\",null,null,\"n\"")))),
     BYTES(1, 5, 7), "n=1 a=(b=(x=5)) l=(7)\n"},
    {CTF2(M("n", UINT8) "," M(
	 "a", STRUCT(M("x", UINT8) "," M("l", LIST(PATH("length", "\"x\",null,"
								  "null,\"n\"")))))),
     BYTES(2, 5, 7, 8), "n=2 a=(x=5 l=(7 8))\n"},
    {CTF2(M("n", UINT8) "," M("l", LIST(PATH("length", "\"n\",null")))), BYTES(1),
     "refused: length-field-location is not a field location"},
    {CTF2(M("n", UINT8) "," M("l", LIST(FROM("length", "null,\"n\"")))), BYTES(1),
     "refused: 'n' is not an earlier field"},
    {CTF2(M("n", UINT8) "," M("l", LIST(PATH("length", "null,null,\"n\"")))), BYTES(1),
     "refused: 'n' is not an earlier field"},
};

static void test_fields(void **state)
{
	decode_cases(cases, sizeof(cases) / sizeof(*cases));
}

/*
 * Two events whose own slots have the same number: merging slots in one must not change the other.
 */
static void test_slots_of_events(void **state)
{
#define USES_VARIANT                                                                               \
	M("s", UINT8)                                                                              \
	"," M(                                                                                     \
	    "v",                                                                                   \
	    VARIANT(                                                                               \
		PATH("selector", "\"s\""),                                                         \
		OPTION("0,0",                                                                      \
		       STRUCT(M("n", UINT8) "," M(                                                 \
			   "a",                                                                    \
			   LIST(PATH(                                                              \
			       "length",                                                           \
			       "\"n\""))))) "," OPTION("1,1",                                      \
						       STRUCT(M("n", UINT8) "," M(                 \
							   "b",                                    \
							   LIST(PATH(                              \
							       "length",                           \
							       "\"n\""))))))) "," M("l",           \
										    LIST(FROM(     \
											"length",  \
											"\"v\","   \
											"\"n\"")))
	static const char metadata[] = PREAMBLE
	    "\x1e{\"type\":\"data-stream-class\",\"event-record-header-field-"
	    "class\":" STRUCT(M("id", ID(8)) "," M("h", UINT8)) "}" EVENT(
		0, M("p", UINT8) "," M("q", UINT8) "," M("r", LIST(PATH("length", "\"p\""))) "," M(
		       "t", LIST(PATH("length", "\"q\""))) "," M("u", LIST("\"length-field-"
									   "location\":{"
									   "\"origin\":\"event-"
									   "record-header\","
									   "\"path\":[\"h\"]}")))
		EVENT(1, USES_VARIANT);
	static const unsigned char data[] = {0, 1, 2, 0, 4, 5, 6, 1, 9, 1,
					     1, 7, 8, 0, 0, 0, 2, 5, 6};
	struct wm_text t;
	struct folder f;

	folder_init(&f, metadata, data, sizeof(data));
	read_all(f.path, NULL, &t);
	assert_string_equal(t.data, "p=2 q=0 r=(4 5) t=() u=(6)\n"
				    "s=1 v=1:(=(n=1 b=(7))) l=(8)\n"
				    "p=0 q=2 r=() t=(5 6) u=()\n");
	wm_text_done(&t);
	folder_done(&f);
}

/* In CTF 2 the metadata's UUID is not the trace's. */
static void test_uuids(void **state)
{
	static const char metadata[] =
	    "\x1e{\"type\":\"preamble\",\"version\":2,\"uuid\":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,"
	    "15,"
	    "16]}\x1e{\"type\":\"trace-class\"%s}\x1e{\"type\":\"data-stream-class\"}" EVENT(
		0, M("a", UINT8));
	static const char *const uids[] = {"", ",\"uid\":\"mine\""};

	for (size_t i = 0; i < 2; i++) {
		struct wm_diag diag = {.offset = -1};
		struct wm_trace *t;
		struct folder f;
		char text[1024];

		(void)snprintf(text, sizeof(text), metadata, uids[i]);
		folder_init(&f, text, "a", 1);
		assert_int_equal(wm_read_open(f.path, &t, &diag), 0);
		assert_string_equal(t->streams[0]->origin->uuid,
				    "01020304-0506-0708-090a-0b0c0d0e0f10");
		if (i)
			assert_string_equal(t->streams[0]->origin->shown_uuid, "mine");
		else
			assert_null(t->streams[0]->origin->shown_uuid);
		wm_trace_close(t);
		folder_done(&f);
	}
}

/* 256 nested structures, and a name of 5000 letters. */
static void test_deep_and_long(void **state)
{
	struct wm_text t, got, name;
	struct folder f;

	wm_text_init(&t);
	wm_text_init(&name);
	for (int i = 0; i < 5000; i++)
		wm_text_char(&name, 'n');
	wm_text_char(&name, 0);
	wm_text_f(&t, HEAD("le") U8 "typealias u8 := %s; event { fields := struct { ", name.data);
	for (int i = 0; i < 256; i++)
		wm_text_str(&t, "struct { ");
	wm_text_f(&t, "%s x;", name.data);
	for (int i = 0; i < 256; i++)
		wm_text_str(&t, "} s;");
	wm_text_str(&t, " }; };");
	wm_text_char(&t, 0);
	folder_init(&f, t.data, "a", 1);
	read_all(f.path, NULL, &got);
	assert_non_null(strstr(got.data, "s=(s=(s=(x=97)))"));
	wm_text_done(&t);
	wm_text_done(&got);
	wm_text_done(&name);
	folder_done(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_fields),
	    cmocka_unit_test(test_slots_of_events),
	    cmocka_unit_test(test_uuids),
	    cmocka_unit_test(test_deep_and_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
