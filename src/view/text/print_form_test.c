/* SPDX-License-Identifier: MIT */
/* print_form_test.c - fills in print forms with the fields of synthetic events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "view/style.h"
#include "view/text/print_form.h"

#define NR(a) ((uint32_t)(sizeof(a) / sizeof((a)[0])))

static const struct wm_type i32 = {.kind = WM_TYPE_SIGNED, .bits = 32};
static const struct wm_type x64 = {.kind = WM_TYPE_UNSIGNED, .bits = 64, .look = WM_LOOK_HEX};
static const struct wm_type f64 = {.kind = WM_TYPE_FLOAT, .bits = 64};
static const struct wm_type text = {.kind = WM_TYPE_STRING};
static const struct wm_type_label labels[] = {{"minus", -1, -1}, {"two", 2, 2}};
static const struct wm_type labelled = {
    .kind = WM_TYPE_SIGNED, .bits = 32, .is_enum = true, .labels = labels, .nr_labels = NR(labels)};

/* An event with some fields. */
struct one {
	struct wm_member members[8];
	struct wm_item items[8];
	struct wm_type type;
	struct wm_event event;
	struct wm_arena arena;
	struct wm_shapes shapes;
	struct wm_text out;
};

static void begin(struct one *o)
{
	*o = (struct one){.type = {.kind = WM_TYPE_STRUCT}};
	o->type.members = o->members;
	wm_arena_init(&o->arena, 1 << 20);
	wm_shapes_init(&o->shapes, &o->arena, &wm_style_people);
	wm_text_init(&o->out);
}

static struct wm_item *field(struct one *o, const struct wm_type *type)
{
	uint32_t n = o->type.nr_members++;

	o->members[n] = (struct wm_member){"f", type};
	o->items[n] = (struct wm_item){.member = &o->members[n], .next = n + 1};
	return &o->items[n];
}

static void string(struct one *o, const char *s)
{
	struct wm_item *i = field(o, &text);

	i->text = s;
	i->count = (uint32_t)strlen(s);
}

static void fill(struct one *o, const char *form)
{
	o->event.items = o->items;
	o->event.parts[WM_PART_FIELDS] = (struct wm_part_range){0, o->type.nr_members};
	wm_text_char(&o->out, '|');
	wm_view_print_form(&o->out, form, wm_shape_of(&o->shapes, &o->type), &o->event);
}

static void end(struct one *o)
{
	wm_shapes_done(&o->shapes);
	wm_arena_done(&o->arena);
	wm_text_done(&o->out);
}

/* Every form is filled in with the same fields, in this order. */
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
	    {"%s", "-42"},            /* not text: shown in the default form */
	    {"%d %d", "-42 \"str\""}, /* not a number */
	    {"%d %s %s %s %s %s %d",
	     "-42 str 0xdeadbeefcafe 3.14159 two ab %d"}, /* one conversion too many */
	    {"%n %m %q %", "%n %m %q %"},                 /* not conversions */
	    {"%d\n\n", "-42"},
	    {"x\ny\x1b[31m", "x\\ny\\x1b[31m"},
	    {"", ""},
	    {"%c", "\\xd6"},
	};
	for (uint32_t i = 0; i < NR(cases); i++) {
		struct one o;

		begin(&o);
		field(&o, &i32)->s = -42;
		string(&o, "str");
		field(&o, &x64)->u = 0xdeadbeefcafe;
		field(&o, &f64)->f = 3.14159;
		field(&o, &labelled)->s = 2;
		string(&o, "ab");
		fill(&o, cases[i].form);
		if (strcmp(o.out.data + 1, cases[i].want) != 0)
			fail_msg("\"%s\": \"%s\", wanted \"%s\"", cases[i].form, o.out.data + 1,
				 cases[i].want);
		end(&o);
	}
}

static void check_width(int32_t width, const char *want)
{
	struct one o;

	begin(&o);
	field(&o, &i32)->s = width;
	field(&o, &i32)->s = 7;
	fill(&o, "%*d|");
	if (want)
		assert_string_equal(o.out.data + 1, want);
	else
		assert_int_equal(o.out.bytes, 1 + WM_PRINT_WIDTH_MAX + 1);
	end(&o);
}

static void test_form_widths(void **state)
{
	struct one o;

	check_width(5, "    7|");
	check_width(-3, "7  |");
	check_width(INT32_MIN, NULL);
	begin(&o);
	field(&o, &i32)->s = 2;
	string(&o, "abc");
	fill(&o, "%.*s|");
	assert_string_equal(o.out.data + 1, "ab|");
	end(&o);
	begin(&o);
	field(&o, &i32)->s = 7;
	fill(&o, "%99999999d|%99999999.99999999s");
	assert_in_range(o.out.bytes, WM_PRINT_WIDTH_MAX, WM_PRINT_WIDTH_MAX + 64);
	end(&o);
	begin(&o);
	field(&o, &f64)->f = 1e300;
	fill(&o, "%.999f");
	assert_in_range(o.out.bytes, 300, 400);
	end(&o);
}

/* Conversions skip a field that is not shown. */
static bool is_even(const struct wm_member *m, void *members)
{
	return (m - (const struct wm_member *)members) % 2 == 0;
}

static void test_hidden_fields(void **state)
{
	struct one o;

	begin(&o);
	for (int i = 0; i < 4; i++)
		field(&o, &i32)->s = i;
	o.event.items = o.items;
	o.event.parts[WM_PART_FIELDS] = (struct wm_part_range){0, 4};
	wm_view_print_form(&o.out, "%d %d %d",
			   wm_shape_some(&o.shapes, &o.type, is_even, o.members), &o.event);
	assert_string_equal(o.out.data, "0 2 %d");
	end(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_print_forms),
	    cmocka_unit_test(test_form_widths),
	    cmocka_unit_test(test_hidden_fields),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
