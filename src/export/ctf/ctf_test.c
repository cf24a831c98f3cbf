/* SPDX-License-Identifier: MIT */
/*
 * Tests those parts of the CTF exporter that need no trace: conversion of times to ticks and back,
 * and names. test/convert_formats.bats converts whole traces.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "export/ctf/ctf_int.h"

/*
 * Checks that the first and last tick for `ns` convert back to `ns`, and that their outer
 * neighbours do not.
 */
static void check_ticks(const struct wm_trace_clock *c, uint64_t ticks)
{
	int64_t ns = wm_ctf_ns(c, ticks);
	uint64_t first = wm_cx_ticks(c, ns, false), last = wm_cx_ticks(c, ns, true);

	assert_true(first <= ticks && ticks <= last);
	assert_true(wm_ctf_ns(c, first) == ns);
	assert_true(wm_ctf_ns(c, last) == ns);
	assert_true(!first || wm_ctf_ns(c, first - 1) < ns);
	assert_true(wm_ctf_ns(c, last + 1) > ns);
}

static void ticks_are_found_again(void **state)
{
	static const uint64_t rates[] = {1, 32768, 1000000, 999999937, 1000000000, 2596150469};
	static const int64_t offsets[] = {0, 1700000000123456789, -5000000001};

	for (size_t r = 0; r < sizeof(rates) / sizeof(rates[0]); r++)
		for (size_t o = 0; o < 3; o++) {
			struct wm_trace_clock c = {.hz = rates[r], .offset_ns = offsets[o]};

			for (uint64_t ticks = 1; ticks < UINT64_C(1) << 32; ticks = ticks * 3 + 1)
				check_ticks(&c, ticks);
		}
}

static const struct wm_type number = {.kind = WM_TYPE_UNSIGNED, .bits = 32};
static const struct wm_type list = {.kind = WM_TYPE_LIST, .element = {NULL, &number}};
static const struct wm_member members[] = {
    {"a b", &number}, {"a_b", &number}, {"_list_length", &number}, {"list", &list}, {"", &number},
};
static const struct wm_type part = {.kind = WM_TYPE_STRUCT, .nr_members = 5, .members = members};

static void expect_names(enum wm_meta_language language, const char *const *names,
			 const char *count)
{
	struct wm_arena arena;
	struct wm_cx_build b = {.arena = &arena, .language = language};
	struct wm_meta_field *n;

	wm_arena_init(&arena, 1 << 20);
	assert_int_equal(wm_cx_build(&b, WM_CTF_EVENT_FIELDS, &part, &n), 0);
	for (uint32_t i = 0; i < 5; i++)
		assert_string_equal(n->parts[i].name, names[i]);
	assert_string_equal(n->parts[3].count, count);
	assert_null(n->parts[2].count);
	wm_arena_done(&arena);
}

static void names_are_unlike_and_fit_the_language(void **state)
{
	static const char *const tsdl[] = {"_a_b", "_a_b_1", "__list_length", "_list", "_"};
	static const char *const json[] = {"a b", "a_b", "_list_length", "list", ""};

	expect_names(WM_META_TSDL, tsdl, "__list_length_3");
	expect_names(WM_META_JSON, json, "_list_length_3");
}

/* A number of n bits takes whole bytes; missing items become zeros. */
static void items_become_bytes(void **state)
{
	const struct wm_item items[] = {
	    {.member = &members[0], .u = 0x11223344, .next = 1},
	    {.member = &members[1], .u = 5, .next = 2},
	    {.member = &members[2], .u = 2, .next = 3},
	    {.member = &members[3], .count = 2, .next = 6},
	    {.member = &list.element, .u = 7, .next = 5},
	    {.member = &list.element, .u = 8, .next = 6},
	};
	static const unsigned char wanted[] = {0x44, 0x33, 0x22, 0x11, 5, 0, 0, 0, 2, 0,
					       0,    0,    2,    0,    0, 0, 7, 0, 0, 0,
					       8,    0,    0,    0,    0, 0, 0, 0};
	struct wm_arena arena;
	struct wm_cx_build b = {.arena = &arena, .language = WM_META_TSDL};
	struct wm_meta_field *n;
	struct wm_text out;

	wm_arena_init(&arena, 1 << 20);
	wm_text_init(&out);
	assert_int_equal(wm_cx_build(&b, WM_CTF_EVENT_FIELDS, &part, &n), 0);
	wm_cx_encode(&out, n, items, (struct wm_part_range){0, 6});
	assert_false(out.failed);
	assert_int_equal(out.bytes, sizeof(wanted));
	assert_memory_equal(out.data, wanted, sizeof(wanted));
	wm_text_done(&out);
	wm_arena_done(&arena);
}

/*
 * An event that is too large is omitted and counted; the events before and after it are complete.
 */
static void an_event_too_large_is_left_out(void **state)
{
	const struct wm_type text = {.kind = WM_TYPE_STRING};
	const struct wm_member member = {.name = "s", .type = &text};
	const struct wm_type string_part = {
	    .kind = WM_TYPE_STRUCT, .members = &member, .nr_members = 1};
	struct wm_item item = {.member = &member, .text = "ab", .count = 2, .next = 1};
	const struct wm_event e = {.items = &item, .parts[WM_PART_FIELDS] = {0, 1}};
	struct wm_export x = {.nr_reasons = 0};
	struct wm_cx cx = {.x = &x, .packet_bytes = 4096};
	struct wm_cx_class class = {.id_bytes = 2};
	struct wm_cx_event event = {.id = 7};
	struct wm_cx_stream s = {.class = &class};
	struct wm_cx_build b = {.arena = &cx.arena, .language = WM_META_TSDL};

	wm_arena_init(&cx.arena, 1 << 20);
	assert_int_equal(
	    wm_cx_build(&b, WM_CTF_EVENT_FIELDS, &string_part, &event.parts[WM_PART_FIELDS]), 0);
	assert_int_equal(wm_cx_stream_event(&cx, &s, &event, &e), 0);
	item.count = WM_CX_EVENT_MAX + 1u;
	assert_int_equal(wm_cx_stream_event(&cx, &s, &event, &e), 0);
	item.count = 1;
	assert_int_equal(wm_cx_stream_event(&cx, &s, &event, &e), 0);
	assert_int_equal(s.nr_events, 2);
	assert_int_equal(s.body.bytes, 9);
	assert_memory_equal(s.body.data, "\7\0ab\0\7\0a", 9);
	assert_int_equal(x.nr_reasons, 1);
	assert_int_equal(x.reasons[0].nr, 1);
	wm_cx_stream_done(&s);
	wm_arena_done(&cx.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(ticks_are_found_again),
	    cmocka_unit_test(names_are_unlike_and_fit_the_language),
	    cmocka_unit_test(items_become_bytes),
	    cmocka_unit_test(an_event_too_large_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
