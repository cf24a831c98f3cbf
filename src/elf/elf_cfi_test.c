/* SPDX-License-Identifier: MIT */
/*
 * Steps from functions of both machines to their callers, at each of their
 * instructions, over a stack that is laid out here as the tables must say.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elf/elf_cfi.h"
#include "elf/elf_symbols.h"

static char folder[] = "/tmp/waymark-cfi-XXXXXX";

/* Keeps values in registers over calls, so that it has to save some. */
static const char source[] = "long other(long);\n"
			     "long keeps(long a, long b, long c)\n"
			     "{\n"
			     "	long r = other(a);\n"
			     "	r += other(b) * c;\n"
			     "	return r + other(a + b) * c;\n"
			     "}\n";

static int make_folder(void **state)
{
	char path[256];
	FILE *f;

	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/f.c", folder);
	f = fopen(path, "we");
	return !f || fputs(source, f) < 0 || fclose(f);
}

static int remove_folder(void **state)
{
	char command[256];

	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

static bool build(const char *compiler, char path[256])
{
	char command[512];

	snprintf(command, sizeof(command),
		 "cd %s && %s -O2 -g0 -fomit-frame-pointer -fno-stack-protector -nostdlib "
		 "-fasynchronous-unwind-tables -shared -fPIC -o %s.so f.c 2>/dev/null",
		 folder, compiler, compiler);
	snprintf(path, 256, "%s/%s.so", folder, compiler);
	return system(command) == 0;
}

/* Words of memory that hold their own address, so that a value says where it was. */
static bool own_address(void *data, uint64_t address, uint64_t *ret)
{
	*ret = address;
	return true;
}

struct seen {
	unsigned nr_steps;
	uint64_t least_cfa, most_cfa; /* behind the stack pointer of the function */
	bool saved_pc;
};

#define SP 0x100000ull

/* Each address of keeps(): the caller's stack is above, its pc where it was put. */
static void walk(struct wm_elf_cfi *c, const struct wm_elf_symbol *f, unsigned sp, unsigned pc,
		 unsigned link, struct seen *seen)
{
	*seen = (struct seen){.least_cfa = UINT64_MAX};
	for (uint64_t at = 0; at < f->bytes; at++) {
		struct wm_registers regs = {.known = (1ull << WM_REGS_MAX) - 1};
		bool exact;

		for (unsigned i = 0; i < WM_REGS_MAX; i++)
			regs.value[i] = 0x7000 + i;
		regs.value[sp] = SP;
		regs.value[pc] = f->address + at;
		assert_int_equal(
		    wm_elf_cfi_step(c, f->address + at, &regs, own_address, NULL, &exact),
		    WM_CFI_STEPPED);
		assert_false(exact);
		assert_in_range(regs.value[sp], SP, SP + 256);
		if (regs.value[sp] - SP < seen->least_cfa)
			seen->least_cfa = regs.value[sp] - SP;
		if (regs.value[sp] - SP > seen->most_cfa)
			seen->most_cfa = regs.value[sp] - SP;
		/* Either on the stack, below where the caller's begins, or in the link register. */
		if (regs.value[pc] != 0x7000 + link) {
			assert_in_range(regs.value[pc], SP, regs.value[sp] - 8);
			seen->saved_pc = true;
		}
		seen->nr_steps++;
	}
}

static void check(const char *compiler, unsigned sp, unsigned pc, unsigned link, struct seen *seen)
{
	struct wm_elf_symbols all;
	struct wm_registers regs = {0};
	struct wm_elf_cfi *c;
	struct wm_elf *e;
	char path[256];
	bool exact;

	if (!build(compiler, path)) {
		print_message("no %s\n", compiler);
		skip();
	}
	assert_int_equal(wm_elf_open(path, &e, NULL), 0);
	assert_int_equal(wm_elf_symbols_read(e, &all, NULL), 0);
	assert_int_equal(wm_elf_cfi_open(e, NULL, &c), 0);
	walk(c, wm_elf_symbol_named(&all, "keeps"), sp, pc, link, seen);
	assert_true(seen->nr_steps > 20);
	assert_true(seen->saved_pc);
	/* Nothing is known: neither where, nor of what. */
	assert_int_equal(wm_elf_cfi_step(c, wm_elf_symbol_named(&all, "keeps")->address, &regs,
					 own_address, NULL, &exact),
			 WM_CFI_NOT_KNOWN);
	assert_int_equal(wm_elf_cfi_step(c, UINT64_MAX - 3, &regs, own_address, NULL, &exact),
			 WM_CFI_NO_TABLE);
	wm_elf_cfi_close(c);
	wm_elf_symbols_done(&all);
	wm_elf_close(e);
}

static void test_x86(void **state)
{
	struct seen seen;

	check("x86_64-linux-gnu-gcc", WM_REG_X86_RSP, WM_REG_X86_RIP, 99, &seen);
	assert_int_equal(seen.least_cfa, 8); /* as called: the return address alone */
	assert_true(seen.most_cfa >= 8 + 3 * 8);
}

static void test_aarch64(void **state)
{
	struct seen seen;

	check("aarch64-linux-gnu-gcc", WM_REG_AARCH64_SP, WM_REG_AARCH64_PC, WM_REG_AARCH64_LR,
	      &seen);
	assert_int_equal(seen.least_cfa, 0); /* as called: it is in the link register */
	assert_true(seen.most_cfa >= 2 * 8 + 3 * 8);
}

static void test_a_file_without_a_table(void **state)
{
	struct wm_elf_cfi *c;
	struct wm_elf *e;
	char path[256], command[600];

	if (!build("x86_64-linux-gnu-gcc", path))
		skip();
	snprintf(command, sizeof(command),
		 "objcopy -R .eh_frame -R .eh_frame_hdr %s %s.bare 2>/dev/null", path, path);
	assert_int_equal(system(command), 0);
	strcat(path, ".bare");
	assert_int_equal(wm_elf_open(path, &e, NULL), 0);
	assert_int_equal(wm_elf_cfi_open(e, NULL, &c), -ENODATA);
	assert_int_equal(wm_elf_cfi_open(NULL, NULL, &c), -ENODATA);
	wm_elf_close(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_x86),
	    cmocka_unit_test(test_aarch64),
	    cmocka_unit_test(test_a_file_without_a_table),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
