/* SPDX-License-Identifier: MIT */
/*
 * filter_text_test.c - the parts of filters that are translated for the kernel and those that are
 * not: ranges, signs, strings, masks, and filters that are translated in part. Where tracefs can be
 * written, the kernel must accept all of them.
 */
#include "kernel/filters/filter_text.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "event/filter.h"
#include "kernel/event_name.h"
#include "kernel/perf_event.h"

static const char format_text[] =
    "name: ev\nID: 7\nformat:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
    "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
    "\tfield:int rows;\toffset:24;\tsize:4;\tsigned:1;\n"
    "\tfield:u8 small;\toffset:28;\tsize:1;\tsigned:0;\n"
    "\tfield:u64 big;\toffset:32;\tsize:8;\tsigned:0;\n"
    "\tfield:const char * path;\toffset:40;\tsize:8;\tsigned:0;\n"
    "\tfield:__data_loc char[] name;\toffset:48;\tsize:4;\tsigned:0;\n"
    "\tfield:long ids[2];\toffset:56;\tsize:16;\tsigned:1;\n"
    "\nprint fmt: \"%d\", REC->rows\n";

struct world {
	struct wm_arena arena;
	const struct wm_kformat *format;
};

static int set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct wm_kmachine machine;

	wm_arena_init(&w->arena, 1u << 20);
	wm_kmachine_init(&machine, 8, false);
	*state = w;
	return wm_kformat_parse(&w->arena, &machine, "sys", format_text, sizeof(format_text) - 1,
				&w->format, NULL);
}

static int tear_down(void **state)
{
	struct world *w = *state;

	wm_arena_done(&w->arena);
	free(w);
	return 0;
}

/*
 * Translates a filter: returns the text, which the caller frees ("": none), and whether it is the
 * whole filter; or an errno.
 */
static int said(const struct world *w, const char *filter, char **ret_text, bool *ret_whole,
		struct wm_diag *diag)
{
	unsigned char *code, *rest = NULL;
	size_t bytes, rest_bytes;
	struct wm_text text;
	int err;

	assert_int_equal(wm_filter_parse(filter, &code, &bytes, NULL), 0);
	wm_text_init(&text);
	err = wm_kernel_filter_text(code, bytes, w->format, &text, &rest, &rest_bytes, diag);
	*ret_whole = !rest;
	free(rest);
	free(code);
	*ret_text = text.data ? text.data : strdup("");
	return err;
}

static void test_what_is_said(void **state)
{
	static const struct {
		const char *filter, *text;
		bool whole;
	} rows[] = {
	    {"rows > 100", "(rows > 100)", true},
	    {"100 < rows", "(rows > 100)", true},
	    {"-5 >= rows", "(rows <= -5)", true},
	    {"rows", "(rows != 0)", true},
	    {"!rows", "(!(rows != 0))", true},
	    {"rows == -2147483648", "(rows == -2147483648)", true},
	    {"rows == 2147483648", "", false},
	    {"small < 255", "(small < 255)", true},
	    {"small < 256", "", false},
	    {"small > -1", "", false},
	    {"big > -1", "", false},
	    {"big == 18446744073709551615", "(big == 18446744073709551615)", true},
	    {"rows & 4", "(rows & 4)", true},
	    {"(rows & 4) != 0", "(rows & 4)", true},
	    {"(rows & 4) == 0", "(!(rows & 4))", true},
	    {"rows & -4", "", false},
	    {"(rows & 4) == 4", "", false},
	    {"comm == \"dd\"", "(comm == \"dd\")", true},
	    {"comm != \"dd\"", "(comm != \"dd\")", true},
	    {"comm == \"d*\"", "(comm ~ \"d*\")", true},
	    {"comm != \"d*\"", "(!(comm ~ \"d*\"))", true},
	    {"comm == \"d[ab]*\"", "", false},
	    {"comm == \"0123456789abcdef\"", "", false},
	    {"name == \"0123456789abcdef\"", "(name == \"0123456789abcdef\")", true},
	    {"name == \"say \\\"x\\\"\"", "(name == 'say \"x\"')", true},
	    {"path == 0", "", false},
	    {"ids[0] == 1", "", false},
	    {"$tid == 12", "(common_pid == 12)", true},
	    {"$pid == 12", "", false},
	    {"$cpu < 2", "(CPU < 2)", true},
	    {"$comm == \"sh\"", "(COMM == \"sh\")", true},
	    {"$time > 5", "", false},
	    {"rows + 1 > 5", "", false},
	    {"rows == small", "", false},
	    {"rows > 1 && small == 2", "(rows > 1) && (small == 2)", true},
	    {"rows > 1 && rows + 1 > 2 && small == 2", "(rows > 1) && (small == 2)", false},
	    {"rows > 1 || small == 2", "((rows > 1) || (small == 2))", true},
	    {"rows > 1 || rows + 1 > 2", "", false},
	    {"!(rows > 1 && small == 2) && big", "(!((rows > 1) && (small == 2))) && (big != 0)",
	     true},
	    {"rows > 1 && (small == 2 || small == 3 && big == 4)",
	     "(rows > 1) && ((small == 2) || ((small == 3) && (big == 4)))", true},
	};
	struct world *w = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bool whole = !rows[i].whole;
		char *text;

		assert_int_equal(said(w, rows[i].filter, &text, &whole, NULL), 0);
		if (strcmp(text, rows[i].text) || whole != rows[i].whole)
			fail_msg("%s: %s %d", rows[i].filter, text, whole);
		free(text);
	}
}

static void test_missing_fields(void **state)
{
	struct wm_diag diag = {.offset = -1};
	struct world *w = *state;
	bool whole;
	char *text;

	assert_int_equal(said(w, "rows > 1 && columns > 2", &text, &whole, &diag), -ENOENT);
	assert_string_equal(
	    diag.sentence,
	    "sys:ev has no field 'columns'; run 'waymark list --fields' to see its fields");
	assert_int_equal(diag.column, 13);
	free(text);
	assert_int_equal(said(w, "rwos > 1", &text, &whole, &diag), -ENOENT);
	assert_string_equal(diag.sentence, "sys:ev has no field 'rwos'; did you mean 'rows'?");
	free(text);
}

/* Sets translated filters on a real event: the kernel must accept them. */
static void test_the_kernel_takes_it(void **state)
{
	static const char *const filters[] = {
	    "(prev_pid > -1) && (!(next_comm ~ \"kwork*\"))",
	    "((prev_prio < 255) || (prev_state != 0)) && (common_pid == 5) && (CPU < 2)",
	    "(COMM == \"it's\") && (prev_state & 2) && (!(prev_pid != 0))",
	};
	struct wm_event_space space;
	struct wm_event_defs defs;
	struct perf_event_attr attr;
	struct wm_diag diag = {.offset = -1};
	int fd;

	(void)state;
	wm_event_defs_init(&defs);
	assert_int_equal(wm_event_space_open(&space, NULL), 0);
	if (wm_event_name_resolve(&space, "sched:sched_switch", &defs, &diag) != 1) {
		wm_event_space_close(&space);
		print_message("skipped: %s\n", diag.sentence);
		skip();
	}
	wm_event_def_attr(&defs.defs[0], &attr);
	for (size_t i = 0; i <= sizeof(filters) / sizeof(filters[0]); i++) {
		bool last = i == sizeof(filters) / sizeof(filters[0]);

		fd = wm_perf_open(&attr, (struct wm_perf_where){0, -1}, -1, "sched:sched_switch",
				  &diag);
		if (fd < 0)
			break;
		assert_int_equal(wm_perf_filter(fd, last ? "nothing == 1" : filters[i], "x", &diag),
				 last ? -EINVAL : 0);
		(void)close(fd);
	}
	wm_event_defs_done(&defs);
	wm_event_space_close(&space);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_what_is_said),
	    cmocka_unit_test(test_missing_fields),
	    cmocka_unit_test(test_the_kernel_takes_it),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
