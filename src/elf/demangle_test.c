/* SPDX-License-Identifier: MIT */
/*
 * Tests C++ and Rust names in perf's form, and a name whose demangled form would fill the memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "elf/demangle.h"

static const struct {
	const char *name, *shown; /* NULL: unchanged */
} cases[] = {
    {"_Z3runi", "run"},
    {"_ZN3app6WorkerIlE4fillEi", "app::Worker<long>::fill"},
    {"_ZNSt6vectorIiSaIiEE9push_backEOi", "std::vector<int, std::allocator<int> >::push_back"},
    {"_Znwm@@GLIBCXX_3.4", "operator new"},
    {"_ZTV1A", "vtable for A"},
    {"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad"},
    {"_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar"},
    {"main", NULL},
    {"_Z", NULL},
    {"_R", NULL},
    {"__libc_start_main", NULL},
    {"", NULL},
};

static void test_names_are_shown_as_perf_does(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *shown = wm_demangle(cases[i].name);

		if (cases[i].shown)
			assert_string_equal(shown ? shown : "none", cases[i].shown);
		else
			assert_null(shown);
		free(shown);
	}
}

/*
 * f<pair<int, int>, pair<pair<..>, pair<.., ...>: each part is twice as long as
 *                                         the one before.
 */
static void test_a_meaning_without_end_is_given_up(void **state)
{
	struct wm_text name;

	wm_text_init(&name);
	wm_text_str(&name, "_Z1fISt4pairIiiE");
	for (int i = 0; i < 34; i++) {
		char of[8];

		snprintf(of, sizeof(of), "S%c_", i < 10 ? '0' + i : 'A' + i - 10);
		wm_text_f(&name, "S_I%s%sE", of, of);
	}
	wm_text_str(&name, "Evv");
	assert_false(name.failed);
	assert_null(wm_demangle(name.data));
	wm_text_cut(&name, 2);
	for (uint32_t i = 0; i < 2 * WM_DEMANGLE_NAME_MAX; i++)
		wm_text_char(&name, 'P');
	assert_null(wm_demangle(name.data));
	wm_text_done(&name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_names_are_shown_as_perf_does),
	    cmocka_unit_test(test_a_meaning_without_end_is_given_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
