/* SPDX-License-Identifier: MIT */
/*
 * Tests the lines of places in a program compiled here, with embedded and with separate debug
 * information.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elf/elf_symbols.h"
#include "symbol/lines.h"

static const char source[] = "static inline __attribute__((always_inline)) int inner(int x)\n"
			     "{\n"
			     "	int y = 0;\n"
			     "	for (int i = 0; i < x; i++)\n"
			     "		y += *(volatile int *)&x;\n"
			     "	return y;\n"
			     "}\n"
			     "int outer(int x)\n"
			     "{\n"
			     "	return inner(x) + 1;\n"
			     "}\n";

static char folder[] = "/tmp/waymark-lines-XXXXXX";

static int make_files(void **state)
{
	char command[1024];
	FILE *f;

	if (!mkdtemp(folder))
		return -1;
	snprintf(command, sizeof(command), "%s/lib.c", folder);
	f = fopen(command, "we");
	if (!f || fputs(source, f) < 0 || fclose(f))
		return -1;
	snprintf(
	    command, sizeof(command),
	    "cd %s && gcc -O1 -g -shared -fPIC -Wl,--build-id -o whole.so lib.c && "
	    "cp whole.so lib.so && objcopy --only-keep-debug lib.so lib.debug && "
	    "strip lib.so && cp lib.so bare.so && objcopy --add-gnu-debuglink=lib.debug lib.so",
	    folder);
	return system(command);
}

static int remove_files(void **state)
{
	char command[256];

	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

struct asking {
	struct wm_modules *modules;
	struct wm_symbols *symbols;
	struct wm_lines *lines;
};

static void begin(struct asking *a)
{
	a->modules = wm_modules_create();
	a->symbols = wm_symbols_create(NULL);
	a->lines = wm_lines_create(a->symbols);
	assert_non_null(a->lines);
}

static void end(struct asking *a)
{
	wm_lines_destroy(a->lines);
	wm_symbols_destroy(a->symbols);
	wm_modules_destroy(a->modules);
}

static struct wm_module *module(struct asking *a, const char *name, const struct wm_elf *build)
{
	char path[256];
	struct wm_module_key k = {.kind = WM_MODULE_FILE, .path = path};

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	k.path_bytes = strlen(path);
	if (build) {
		k.build_id = build->build_id;
		k.build_id_bytes = build->build_id_bytes;
	}
	return wm_modules_get(a->modules, &k);
}

/*
 * Checks that all addresses of outer() have outer() as their last frame, and that some have inner()
 * as an inlined frame.
 */
static void check(struct asking *a, struct wm_module *m, uint64_t start, uint64_t bytes)
{
	unsigned nr_inlined = 0;

	for (uint64_t at = start; at < start + bytes; at++) {
		const struct wm_place place = {.module = m, .address = at};
		const struct wm_line_frames *f = wm_lines_find(a->lines, &place);

		assert_non_null(f);
		assert_ptr_equal(wm_lines_find(a->lines, &place), f);
		assert_in_range(f->nr, 1, 2);
		assert_string_equal(f->frames[f->nr - 1].function, "outer");
		assert_in_range(f->frames[f->nr - 1].line, 9, 11);
		assert_non_null(strstr(f->frames[0].file, "lib.c"));
		if (f->nr == 1)
			continue;
		nr_inlined++;
		assert_string_equal(f->frames[0].function, "inner");
		assert_in_range(f->frames[0].line, 1, 7);
		assert_int_equal(f->frames[1].line, 10);
	}
	assert_true(nr_inlined > 0);
}

static void test_lines_and_what_is_inlined(void **state)
{
	const struct wm_elf_symbol *outer;
	struct wm_elf_symbols all;
	struct wm_place place;
	struct wm_elf *e;
	struct asking a;
	char path[256];

	snprintf(path, sizeof(path), "%s/whole.so", folder);
	assert_int_equal(wm_elf_open(path, &e, NULL), 0);
	assert_int_equal(wm_elf_symbols_read(e, &all, NULL), 0);
	outer = wm_elf_symbol_named(&all, "outer");
	assert_non_null(outer);
	begin(&a);
	check(&a, module(&a, "whole.so", NULL), outer->address, outer->bytes);
	check(&a, module(&a, "lib.so", NULL), outer->address, outer->bytes);
	check(&a, module(&a, "lib.so", e), outer->address, outer->bytes);
	/* found by its build-id */
	check(&a, module(&a, "gone.so", e), outer->address, outer->bytes);
	place = (struct wm_place){.module = module(&a, "bare.so", NULL), .address = outer->address};
	assert_null(wm_lines_find(a.lines, &place));
	place.module = module(&a, "lib.so", NULL);
	place.address = UINT64_MAX - 7;
	assert_null(wm_lines_find(a.lines, &place));
	end(&a);
	wm_elf_symbols_done(&all);
	wm_elf_close(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_lines_and_what_is_inlined),
	};

	return cmocka_run_group_tests(tests, make_files, remove_files);
}
