/* SPDX-License-Identifier: MIT */
/*
 * CTF 2 bit fields in every combination of byte order and bit order, of every length and at every
 * offset within a byte, compared with a decoder that takes one bit at a time.
 *
 * The byte order decides where the bits of a field are: from the least significant bit of each byte
 * on (little-endian), or from the most significant (big-endian). The bit order decides what they
 * mean: with "first-to-last", the first bit is the least significant one of the value.
 */
#include "read/ctf/decode_test_kit.h"

#define LENGTHS   64u
#define ALL_BITS  (LENGTHS * (LENGTHS + 1) / 2)
#define HEAD_BITS 8u
#define NR_BYTES  ((HEAD_BITS + ALL_BITS) / 8)

enum order { LITTLE, BIG };

static unsigned bit_at(const unsigned char *data, uint32_t at, enum order bytes)
{
	return data[at / 8] >> (bytes == BIG ? 7 - at % 8 : at % 8) & 1;
}

static uint64_t value_at(const unsigned char *data, uint32_t at, uint32_t bits, enum order bytes,
			 bool first_to_last)
{
	uint64_t v = 0;

	for (uint32_t i = 0; i < bits; i++)
		v |= (uint64_t)bit_at(data, at + i, bytes) << (first_to_last ? i : bits - 1 - i);
	return v;
}

static void class_of(struct wm_text *t, const char *kind, uint32_t bits, enum order bytes,
		     const char *bit_order)
{
	wm_text_f(t,
		  "{\"type\":\"fixed-length-%s\",\"length\":%u,\"byte-order\":\"%s-endian\","
		  "\"bit-order\":\"%s\"}",
		  kind, bits, bytes == BIG ? "big" : "little", bit_order);
}

static void bit_order_member(struct wm_text *t, const char *name, uint32_t i)
{
	wm_text_f(t, "%s{\"name\":\"%s%u\",\"field-class\":", i ? "," : "", name, i);
}

static const char *order_name(bool first_to_last)
{
	return first_to_last ? "first-to-last" : "last-to-first";
}

/*
 * One event with fields of 1 to 64 bits, after an optional, whose presence makes the offset of the
 * first field unknown to the compiler. Every other field has the other bit order.
 */
static void numbers(enum order bytes, bool first, bool is_signed, const unsigned char *data,
		    struct wm_text *metadata, struct wm_text *wanted)
{
	uint32_t at = HEAD_BITS;

	class_of(metadata, "boolean", HEAD_BITS, bytes, order_name(true));
	wm_text_str(wanted, "h0=0 o=()");
	wm_text_f(metadata,
		  "},{\"name\":\"o\",\"field-class\":{\"type\":\"optional\",\"selector-field-"
		  "location\":{\"path\":[\"h0\"]},\"field-class\":" UINT8 "}}");
	for (uint32_t bits = 1; bits <= LENGTHS; at += bits, bits++) {
		bool first_to_last = first == (bits % 2);
		uint64_t v = value_at(data, at, bits, bytes, first_to_last);

		bit_order_member(metadata, "n", bits);
		class_of(metadata, is_signed ? "signed-integer" : "unsigned-integer", bits, bytes,
			 order_name(first_to_last));
		wm_text_char(metadata, '}');
		wm_text_f(wanted, " n%u=", bits);
		if (is_signed)
			wm_text_i64(wanted, (int64_t)(v << (64 - bits)) >> (64 - bits));
		else
			wm_text_u64(wanted, v);
	}
	wm_text_char(wanted, '\n');
	wm_text_char(wanted, 0);
}

static void check(enum order bytes, bool first, bool is_signed)
{
	unsigned char data[NR_BYTES];
	struct wm_text metadata, wanted, got;
	struct folder f;

	for (uint32_t i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(0x35 * i * i + 0x47 * i + 0x12);
	data[0] = 0; /* the boolean */
	wm_text_init(&metadata);
	wm_text_init(&wanted);
	wm_text_str(&metadata, "\x1e{\"type\":\"preamble\",\"version\":2}\x1e{\"type\":"
			       "\"data-stream-class\"}\x1e{\"type\":\"event-record-class\","
			       "\"payload-field-class\":{\"type\":\"structure\","
			       "\"member-classes\":[");
	bit_order_member(&metadata, "h", 0);
	numbers(bytes, first, is_signed, data, &metadata, &wanted);
	wm_text_str(&metadata, "]}}");
	wm_text_char(&metadata, 0);
	folder_init(&f, metadata.data, data, sizeof(data));
	read_all(f.path, NULL, &got);
	assert_string_equal(got.data, wanted.data);
	folder_done(&f);
	wm_text_done(&metadata);
	wm_text_done(&wanted);
	wm_text_done(&got);
}

static void test_numbers_of_every_length(void **state)
{
	for (int i = 0; i < 8; i++)
		check(i & 1 ? BIG : LITTLE, i & 2, i & 4);
}

/* Floats of 32, 64 and 128 bits with the value 1.5, all bits in the opposite order. */
static const struct decode_case cases[] = {
    {CTF2(M("a", INT2("floating-point-number", 32, "little", ",\"bit-order\":\"last-to-first\""))),
     BYTES(0xfc, 0x03, 0, 0), "a=1.5\n"},
    {CTF2(M("a", INT2("floating-point-number", 32, "big", ",\"bit-order\":\"first-to-last\""))),
     BYTES(0, 0, 0x03, 0xfc), "a=1.5\n"},
    {CTF2(M("a", INT2("floating-point-number", 64, "little", ",\"bit-order\":\"last-to-first\""))),
     BYTES(0xfc, 0x1f, 0, 0, 0, 0, 0, 0), "a=1.5\n"},
    {CTF2(M("a", INT2("floating-point-number", 128, "big", ",\"bit-order\":\"first-to-last\""))),
     BYTES(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x01, 0xff, 0xfc), "a=1.5\n"},
    /* Only a change of byte order affects where the next bit is. */
    {CTF2(M("a", INT2("unsigned-integer", 4, "little", ",\"bit-order\":\"last-to-first\"")) "," M(
	 "b", INT2("unsigned-integer", 4, "little", ""))),
     BYTES(0x13), "a=12 b=1\n"},
    {CTF2(M("a", INT2("unsigned-integer", 4, "little", ",\"bit-order\":\"last-to-first\"")) "," M(
	 "b", INT2("unsigned-integer", 4, "big", ",\"bit-order\":\"last-to-first\""))),
     BYTES(0x13),
     "stream+0: an event: 'b' has a different byte order from the preceding bits of its "
     "byte\n"},
};

static void test_floats_and_changes(void **state)
{
	decode_cases(cases, sizeof(cases) / sizeof(*cases));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_numbers_of_every_length),
	    cmocka_unit_test(test_floats_and_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
