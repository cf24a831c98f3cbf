/* SPDX-License-Identifier: MIT */
/* Sampled registers: 32-bit or 64-bit programs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trace/user_regs.h"

#define ALL 0xff0fffull /* registers sampled on x86: ax ... ss, r8 ... r15 */

static bool narrow(uint64_t mask, unsigned at, uint64_t cs, uint32_t nr)
{
	struct wm_item values[33] = {0};

	for (unsigned i = 0; i < 33; i++)
		values[i].u = i == at ? cs : 0x1234;
	return wm_user_regs_narrow(mask, values, nr);
}

static void test_the_code_segment_tells(void **state)
{
	assert_true(narrow(ALL, 10, 0x23, 20));
	assert_false(narrow(ALL, 10, 0x33, 20));
	assert_false(narrow(ALL, 10, 0xe033, 20));
	assert_true(narrow(0xffff, 10, 0x73, 16)); /* sampled by a 32-bit kernel */
	assert_true(narrow(0x580, 2, 0x23, 3));
	assert_false(narrow(0x580, 2, 0x33, 3));
}

static void test_without_it_they_are_of_64_bits(void **state)
{
	assert_false(narrow(ALL & ~0x400ull, 10, 0x23, 19));
	assert_false(narrow(ALL, 10, 0, 20));
	assert_false(narrow(ALL, 10, 0x23, 10)); /* fewer values than bits in the mask */
	assert_false(narrow((1ull << 33) - 1, 10, 0x23, 33));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_the_code_segment_tells),
	    cmocka_unit_test(test_without_it_they_are_of_64_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
