/* SPDX-License-Identifier: MIT */
/*
 * Steps from each instruction of functions for all machines to their callers, with a stack that
 * matches the tables.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dwarf.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "elf/elf_cfi_int.h"
#include "elf/elf_symbols.h"

static char folder[] = "/tmp/waymark-cfi-XXXXXX";

/*
 * Source of a function that keeps values in registers across calls, so that it has to save some
 * registers.
 */
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

/* A machine, and the state of its registers at the start of a function. */
struct machine {
	const char *compiler;
	uint16_t elf;
	unsigned sp, pc, word;
	unsigned link; /* register with the return address; 99: it is on the stack */
};

static const struct machine x86 = {"x86_64-linux-gnu-gcc", EM_X86_64, WM_REG_X86_RSP,
				   WM_REG_X86_RIP,         8,         99};
static const struct machine i386 = {
    "x86_64-linux-gnu-gcc -m32", EM_386, WM_REG_I386_ESP, WM_REG_I386_EIP, 4, 99};
static const struct machine aarch64 = {"aarch64-linux-gnu-gcc", EM_AARCH64, WM_REG_AARCH64_SP,
				       WM_REG_AARCH64_PC,       8,          WM_REG_AARCH64_LR};

static bool build(const struct machine *m, char path[256])
{
	char command[600];

	snprintf(path, 256, "%s/%u.so", folder, m->elf);
	snprintf(command, sizeof(command),
		 "cd %s && %s -O2 -g0 -fomit-frame-pointer -fno-stack-protector -nostdlib "
		 "-fasynchronous-unwind-tables -shared -fPIC -o %s f.c 2>/dev/null",
		 folder, m->compiler, path);
	return system(command) == 0;
}

/*
 * Reads memory in which each word contains its own address, so that a value shows where it was
 * read.
 */
static bool own_address(void *data, uint64_t address, uint64_t *ret)
{
	*ret = address;
	return true;
}

struct seen {
	unsigned nr_steps;
	uint64_t least_cfa, most_cfa; /* relative to the function's stack pointer */
	bool saved_pc;
};

#define SP 0x100000ull

/*
 * Steps from each address of keeps(): the caller's stack must be above, and its pc in the expected
 * place.
 */
static void walk(struct wm_elf_cfi *c, const struct wm_elf_symbol *f, const struct machine *m,
		 struct seen *seen)
{
	unsigned sp = m->sp, pc = m->pc;

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
		/*
		 * The return address is on the stack, below the start of the caller's, or in the
		 * link register.
		 */
		if (regs.value[pc] != 0x7000 + m->link) {
			assert_in_range(regs.value[pc], SP, regs.value[sp] - m->word);
			seen->saved_pc = true;
		}
		seen->nr_steps++;
	}
}

static void check(const struct machine *m, struct seen *seen)
{
	struct wm_elf_symbols all;
	struct wm_registers regs = {0};
	struct wm_elf_cfi *c;
	struct wm_elf *e;
	char path[256];
	bool exact;

	if (!build(m, path)) {
		print_message("no %s\n", m->compiler);
		skip();
	}
	assert_int_equal(wm_elf_open(path, &e, NULL), 0);
	assert_int_equal(wm_elf_symbols_read(e, &all, NULL), 0);
	assert_int_equal(wm_elf_cfi_open(e, NULL, &c), 0);
	assert_int_equal(wm_elf_cfi_machine(c), m->elf);
	walk(c, wm_elf_symbol_named(&all, "keeps"), m, seen);
	assert_true(seen->nr_steps > 20);
	assert_true(seen->saved_pc);
	/* A step with no known registers. */
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

	check(&x86, &seen);
	assert_int_equal(seen.least_cfa, 8); /* the stack contains only the return address */
	assert_true(seen.most_cfa >= 8 + 3 * 8);
}

static void test_i386(void **state)
{
	struct seen seen;

	check(&i386, &seen);
	assert_int_equal(seen.least_cfa, 4);
	assert_true(seen.most_cfa >= 4 + 3 * 4);
}

/* Results of a table's expressions: signed numbers, and sums that overflow. */
static void test_numbers_of_32_bits(void **state)
{
	static const struct {
		Dwarf_Op ops[4];
		uint16_t nr;
		uint64_t cfa;
	} cases[] = {
	    {{{.atom = DW_OP_breg0, .number = 0x20}}, 1, 0x10},
	    {{{.atom = DW_OP_breg0}, {.atom = DW_OP_const1u, .number = 4}, {.atom = DW_OP_shra}},
	     3,
	     0xffffffff},
	    {{{.atom = DW_OP_breg0}, {.atom = DW_OP_lit0}, {.atom = DW_OP_lt}}, 3, 1},
	    {{{.atom = DW_OP_breg0}, {.atom = DW_OP_lit16}, {.atom = DW_OP_shr}}, 3, 0xffff},
	    {{{.atom = DW_OP_lit1}, {.atom = DW_OP_neg}}, 2, 0xffffffff},
	};
	const struct wm_cfi_machine narrow = {
	    .elf = EM_386, .sp = WM_REG_I386_ESP, .pc = WM_REG_I386_EIP, .is_narrow = true};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct wm_cfi_row row = {
		    .cfa = {.kind = WM_RULE_VALUE_EXPRESSION, .nr_ops = cases[i].nr},
		    .pc = WM_REG_I386_EIP,
		    .nr_rules = 1,
		    .rules = {{.reg = WM_REG_I386_EIP, .kind = WM_RULE_SAVED, .offset = 0}}};
		struct wm_registers regs = {.value = {0xfffffff0}, .known = 1};

		assert_int_equal(
		    wm_cfi_row_step(&row, cases[i].ops, &narrow, &regs, own_address, NULL),
		    WM_CFI_STEPPED);
		assert_int_equal(regs.value[WM_REG_I386_ESP], cases[i].cfa);
	}
}

static void test_aarch64(void **state)
{
	struct seen seen;

	check(&aarch64, &seen);
	/* At the first instruction, the return address is in the link register. */
	assert_int_equal(seen.least_cfa, 0);
	assert_true(seen.most_cfa >= 2 * 8 + 3 * 8);
}

static uint64_t random64(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Whatever the table contains, numbers stay within 32 bits and the loop ends. */
static void step_everywhere(const char *path, uint64_t *seed)
{
	struct wm_elf_cfi *c;
	struct wm_elf *e;

	assert_int_equal(wm_elf_open(path, &e, NULL), 0);
	if (wm_elf_cfi_open(e, NULL, &c) == 0) {
		const struct wm_elf_section *text = wm_elf_section(e, ".text");

		for (uint64_t at = 0; at < text->bytes; at++) {
			struct wm_registers regs = {.known = random64(seed)};
			bool exact;

			for (unsigned i = 0; i < WM_REGS_MAX; i++)
				regs.value[i] = (uint32_t)random64(seed);
			(void)wm_elf_cfi_step(c, text->address + at, &regs, own_address, NULL,
					      &exact);
			for (unsigned i = 0; i < WM_REGS_MAX; i++)
				assert_true(regs.value[i] <= UINT32_MAX);
		}
		wm_elf_cfi_close(c);
	}
	wm_elf_close(e);
}

static void test_damaged_tables_of_32_bits(void **state)
{
	uint64_t seed = 88172645463325252ull;
	const struct wm_elf_section *frame;
	struct wm_elf *e;
	size_t bytes;
	char path[256], *data;
	int fd;

	if (!build(&i386, path)) {
		print_message("no %s\n", i386.compiler);
		skip();
	}
	assert_int_equal(wm_elf_open(path, &e, NULL), 0);
	frame = wm_elf_section(e, ".eh_frame");
	assert_non_null(frame);
	assert_int_equal(wm_file_read(AT_FDCWD, path, 1u << 20, &data, &bytes), 0);
	strcat(path, ".damaged");
	for (int round = 0; round < 300; round++) {
		char *copy = malloc(bytes);

		assert_non_null(copy);
		memcpy(copy, data, bytes);
		for (int k = 0; k < 1 + round % 8; k++)
			copy[frame->offset + random64(&seed) % frame->bytes] = (char)(seed >> 40);
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		assert_int_equal(wm_file_write(fd, copy, bytes), 0);
		close(fd);
		free(copy);
		step_everywhere(path, &seed);
	}
	free(data);
	wm_elf_close(e);
}

static void test_a_file_without_a_table(void **state)
{
	struct wm_elf_cfi *c;
	struct wm_elf *e;
	char path[256], command[600];

	if (!build(&x86, path))
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
	    cmocka_unit_test(test_i386),
	    cmocka_unit_test(test_numbers_of_32_bits),
	    cmocka_unit_test(test_damaged_tables_of_32_bits),
	    cmocka_unit_test(test_aarch64),
	    cmocka_unit_test(test_a_file_without_a_table),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
