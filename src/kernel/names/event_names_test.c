/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/event_names.h"

/* Reads a list into "1:name 1:name 0:name ", with the numbers of groups. */
static int read_list(const char *list, char text[256], struct wm_diag *diag)
{
	struct wm_event_names n;
	size_t at = 0;
	char *name;
	int got;

	text[0] = '\0';
	wm_event_names_begin(&n, list, 0);
	while ((got = wm_event_names_next(&n, &name, diag)) > 0) {
		at += (size_t)snprintf(text + at, 256 - at, "%u:%s ", n.group, name);
		free(name);
	}
	return got;
}

static void lists_with_groups(void **state)
{
	static const struct {
		const char *list, *wanted;
	} cases[] = {
	    {"", ""},
	    {"a", "0:a "},
	    {"a,b", "0:a 0:b "},
	    {"{a}", "1:a "},
	    {"{a,b}", "1:a 1:b "},
	    {"x,{a,b},y,{c,cpu/event=1,umask=2/}", "0:x 1:a 1:b 0:y 2:c 2:cpu/event=1,umask=2/ "},
	    {"{a,,b},,c", "1:a 1:b 0:c "},
	    {"{a,b}:u,c", "1:a:u 1:b:u 0:c "},
	    {"{a,b}:W", "1:a 1:b "},
	    {"{a,b}:uS,{c}:k", "1:a:u 1:b:u 2:c:k "},
	    {"uprobe:/x:f(a,b),{sched:*}", "0:uprobe:/x:f(a,b) 1:sched:* "},
	};
	char text[256];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(read_list(cases[i].list, text, NULL), 0);
		assert_string_equal(text, cases[i].wanted);
	}
}

static void malformed_groups(void **state)
{
	static const struct {
		const char *list, *why;
	} cases[] = {
	    {"{a,b", "not closed"},
	    {"x,{", "not closed"},
	    {"{}", "no events"},
	    {"{,}", "no events"},
	    {"{{a},b}", "cannot contain another"},
	    {"{a}b", "only modifiers"},
	    {"{a}:", "only modifiers"},
	    {"{a}:xyz", "only modifiers"},
	    {"{a}:uuuuuuuuuuuuuuuu", "only modifiers"},
	};
	char text[256];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wm_diag diag = {.offset = -1};

		assert_int_equal(read_list(cases[i].list, text, &diag), -EINVAL);
		assert_non_null(strstr(diag.sentence, cases[i].why));
	}
}

static void stopped_early(void **state)
{
	struct wm_event_names n;
	char *name;

	(void)state;
	wm_event_names_begin(&n, "{a,b},c", 4);
	assert_int_equal(wm_event_names_next(&n, &name, NULL), 1);
	assert_int_equal(n.group, 5);
	free(name);
	wm_event_names_done(&n);
	wm_event_names_done(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(lists_with_groups),
	    cmocka_unit_test(malformed_groups),
	    cmocka_unit_test(stopped_early),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
