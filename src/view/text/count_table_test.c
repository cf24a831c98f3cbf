/* SPDX-License-Identifier: MIT */
/* count_table_test.c - the same rows as text, with separators, and as JSON. */
#include "view/count_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct wm_count_row rows[] = {
    {.event = "sw:task-clock",
     .raw = 1500000,
     .value = 1500000,
     .enabled_ns = 10,
     .running_ns = 10,
     .scale = 1e-6,
     .unit = "ms",
     .spread = -1,
     .elapsed_ns = 3000000,
     .cpus = true},
    {.event = "cpu:cycles",
     .raw = 600000,
     .value = 1200000,
     .enabled_ns = 10,
     .running_ns = 5,
     .spread = 0.0125},
    {.event = "cpu:none", .reason = "no such counter", .spread = -1},
    {.event = "ev\033[1m", .where = "CPU0", .raw = 7, .value = 7, .spread = -1},
};

struct sheet {
	FILE *out;
	char *text;
	size_t bytes;
};

static void open_sheet(struct sheet *s)
{
	s->text = NULL;
	s->out = open_memstream(&s->text, &s->bytes);
	assert_non_null(s->out);
}

static void expect(struct sheet *s, const char *wanted)
{
	assert_int_equal(fclose(s->out), 0);
	assert_string_equal(s->text, wanted);
	free(s->text);
}

static void test_text(void **state)
{
	struct wm_count_layout l = {0};
	struct sheet s;

	(void)state;
	wm_view_count_fit(&l, rows, 3);
	open_sheet(&s);
	wm_view_count_head(s.out, &l);
	wm_view_count_text(s.out, &l, 0, rows, 3);
	expect(&s,
	       "       COUNT  EVENT\n"
	       "     1.50 ms  sw:task-clock  0.50 CPUs used\n"
	       "   1,200,000  cpu:cycles     +- 1.25 %  (scaled: counted 50.0 % of the time)\n");
	l.time = true;
	wm_view_count_fit(&l, rows + 3, 1);
	open_sheet(&s);
	wm_view_count_text(s.out, &l, 1500000000, rows + 3, 1);
	expect(&s, "    1.500000  CPU0             7  ev?[1m\n");
}

static void test_zeros_of_wildcards(void **state)
{
	static const struct wm_count_row zeros[] = {
	    {.event = "syscall:accept", .minor = true, .spread = -1},
	    {.event = "syscall:read", .minor = true, .raw = 3, .value = 3, .spread = -1},
	    {.event = "syscall:one_that_was_named_outright", .spread = -1},
	    {.event = "syscall:a_long_one_that_makes_nothing_wide", .minor = true, .spread = -1},
	    {.event = "syscall:none", .minor = true, .reason = "not there", .spread = -1},
	};
	struct wm_count_layout l = {0};
	struct sheet s;

	(void)state;
	wm_view_count_fit(&l, zeros, 5);
	assert_int_equal(l.event, strlen(zeros[2].event));
	open_sheet(&s);
	wm_view_count_text(s.out, &l, 0, zeros, 5);
	expect(&s, "           3  syscall:read\n"
		   "           0  syscall:one_that_was_named_outright\n"
		   "           0  for each of the 2 other events that match the wildcards\n");
	open_sheet(&s);
	wm_view_count_separated(s.out, ";", false, 0, zeros, 1);
	expect(&s, "0;;syscall:accept;0;100.00\n");
}

static void test_separated(void **state)
{
	struct sheet s;

	(void)state;
	open_sheet(&s);
	wm_view_count_separated(s.out, ";", false, 0, rows, 4);
	expect(&s, "1.50;msec;sw:task-clock;10;100.00\n"
		   "1200000;;cpu:cycles;1.25%;5;50.00\n"
		   "<not counted>;;cpu:none;0;0.00\n"
		   "CPU0;7;;ev?[1m;0;100.00\n");
	open_sheet(&s);
	wm_view_count_separated(s.out, ",", true, 2000000001, rows + 3, 1);
	expect(&s, "2.000000001,CPU0,7,,ev?[1m,0,100.00\n");
}

static void test_json(void **state)
{
	struct wm_json j;
	struct sheet s;

	(void)state;
	open_sheet(&s);
	wm_json_init(&j, s.out, 0);
	wm_json_object(&j, NULL);
	wm_view_count_json(&j, "events", rows + 1, 2);
	wm_json_end(&j);
	expect(&s, "{\"events\":[{\"event\":\"cpu:cycles\",\"value\":1200000,\"scaled\":true,"
		   "\"counted\":600000,\"enabled_ns\":10,\"running_ns\":5,\"spread\":0.0125},"
		   "{\"event\":\"cpu:none\",\"not_counted\":\"no such counter\"}]}\n");
}

static void test_digits(void **state)
{
	char buf[32];

	(void)state;
	assert_string_equal(wm_view_count_digits(0, buf), "0");
	assert_string_equal(wm_view_count_digits(999, buf), "999");
	assert_string_equal(wm_view_count_digits(1000, buf), "1,000");
	assert_string_equal(wm_view_count_digits(UINT64_MAX, buf), "18,446,744,073,709,551,615");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_text),      cmocka_unit_test(test_zeros_of_wildcards),
	    cmocka_unit_test(test_separated), cmocka_unit_test(test_json),
	    cmocka_unit_test(test_digits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
