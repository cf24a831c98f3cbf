/* SPDX-License-Identifier: MIT */
/*
 * elf_lines_test.c - looks up lines of this program itself; skipped when it was built without debug
 * information.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "elf/elf_lines.h"
#include "elf/elf_symbols.h"

/* Returns an address inside the caller's call of this function. */
__attribute__((noinline)) static uint64_t here(void)
{
	__asm__ volatile("");
	return (uint64_t)(uintptr_t)__builtin_return_address(0) - 1;
}

static uint32_t inner_line;

static inline __attribute__((always_inline)) uint64_t skipped_inner(void)
{
	uint64_t at;

	inner_line = __LINE__ + 1;
	at = here();
	__asm__ volatile("");
	return at;
}

static inline __attribute__((always_inline)) uint64_t skipped_outer(void)
{
	return skipped_inner();
}

__attribute__((noinline)) static uint64_t user(uint32_t *ret_line)
{
	uint64_t at;

	*ret_line = __LINE__ + 1;
	at = skipped_outer();
	__asm__ volatile("");
	return at;
}

/* Computes the loader's bias from a function whose two addresses are known. */
static uint64_t bias(const struct wm_elf *e)
{
	struct wm_elf_symbols symbols;
	const struct wm_elf_symbol *s;
	uint64_t value;

	assert_int_equal(wm_elf_symbols_read(e, &symbols, NULL), 0);
	s = wm_elf_symbol_named(&symbols, "user");
	assert_non_null(s);
	value = (uint64_t)(uintptr_t)&user - s->address;
	wm_elf_symbols_done(&symbols);
	return value;
}

static void test_inlined_code_is_where_it_is_called(void **state)
{
	struct wm_elf_lines *lines;
	const char *file = NULL;
	uint32_t line = 0, wanted;
	uint64_t address = user(&wanted);
	struct wm_elf *e;

	assert_int_equal(wm_elf_open("/proc/self/exe", &e, NULL), 0);
	if (wm_elf_lines_open(e, &lines) < 0) {
		wm_elf_close(e);
		skip();
	}
	address -= bias(e);
	assert_int_equal(wm_elf_lines_find(lines, address, "skipped_", &file, &line), 0);
	assert_non_null(strstr(file, "elf_lines_test.c"));
	assert_int_equal(line, wanted);
	assert_int_equal(wm_elf_lines_find(lines, address, NULL, &file, &line), 0);
	assert_int_equal(line, inner_line);
	assert_int_equal(wm_elf_lines_find(lines, address, "other_", &file, &line), 0);
	assert_int_equal(line, inner_line);
	assert_int_equal(wm_elf_lines_find(lines, 1, NULL, &file, &line), -ENOENT);
	assert_int_equal(wm_elf_lines_find(lines, UINT64_MAX, NULL, &file, &line), -ENOENT);
	wm_elf_lines_close(lines);
	wm_elf_close(e);
}

static void check_frame(const struct wm_elf_frame *f, const char *function, uint32_t line)
{
	assert_string_equal(f->function, function);
	assert_non_null(strstr(f->file, "elf_lines_test.c"));
	if (line)
		assert_int_equal(f->line, line);
	else
		assert_true(f->line > 0);
}

static void test_inlined_functions_are_told_one_by_one(void **state)
{
	struct wm_elf_frame frames[WM_ELF_FRAMES_MAX];
	struct wm_elf_lines *lines;
	uint32_t wanted;
	uint64_t address = user(&wanted);
	struct wm_elf *e;

	assert_int_equal(wm_elf_open("/proc/self/exe", &e, NULL), 0);
	if (wm_elf_lines_open(e, &lines) < 0) {
		wm_elf_close(e);
		skip();
	}
	address -= bias(e);
	assert_int_equal(wm_elf_lines_frames(lines, address, frames), 3);
	check_frame(&frames[0], "skipped_inner", inner_line);
	check_frame(&frames[1], "skipped_outer", 0);
	check_frame(&frames[2], "user", wanted);
	assert_int_equal(wm_elf_lines_frames(lines, 1, frames), -ENOENT);
	assert_int_equal(wm_elf_lines_frames(lines, UINT64_MAX, frames), -ENOENT);
	wm_elf_lines_close(lines);
	wm_elf_close(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_inlined_code_is_where_it_is_called),
	    cmocka_unit_test(test_inlined_functions_are_told_one_by_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
