/* SPDX-License-Identifier: MIT */
/* Tests disassemble.h: the instructions of the C library are where objdump finds them. */
#include <dlfcn.h>
#include <elf.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "elf/disassemble.h"
#include "elf/elf_file.h"

#define BLOCK_MAX (1u << 20) /* maximum instructions between two symbols */

/* The addresses of instructions that objdump lists for one symbol. */
struct block {
	uint64_t *addresses;
	uint32_t nr, at;
};

static int compare(const struct wm_disassembled *i, void *data)
{
	struct block *b = data;

	if (b->at == b->nr || b->addresses[b->at] != i->address)
		fail_msg("%s at %" PRIx64 ", objdump's is at %" PRIx64, i->name, i->address,
			 b->at < b->nr ? b->addresses[b->at] : 0);
	b->at++;
	return 0;
}

/* Compares the instructions in [first of the block, end). */
static void check_block(struct wm_elf *e, struct block *b, uint64_t end)
{
	uint64_t start = b->addresses[0], offset;
	void *code;

	assert_int_equal(wm_elf_offset(e, start, end - start, &offset), 0);
	assert_int_equal(wm_elf_read_new(e, offset, end - start, 1u << 24, &code, NULL), 0);
	b->at = 0;
	assert_int_equal(wm_disassemble(e->machine, code, end - start, start, compare, b), 0);
	assert_int_equal(b->at, b->nr);
	free(code);
}

/* Reads "   27f00:\tpush %rbp". */
static bool is_instruction(const char *line, uint64_t *ret_address)
{
	char tab = 0;

	return line[0] == ' ' && sscanf(line, "%" SCNx64 ":%c", ret_address, &tab) == 2 &&
	       tab == '\t';
}

static uint32_t check_all(struct wm_elf *e, FILE *objdump)
{
	struct block b = {.addresses = malloc(BLOCK_MAX * sizeof(uint64_t))};
	uint32_t nr_blocks = 0;
	char line[512];

	assert_non_null(b.addresses);
	while (fgets(line, sizeof(line), objdump)) {
		uint64_t address;

		if (is_instruction(line, &address) && b.nr < BLOCK_MAX) {
			b.addresses[b.nr++] = address;
		} else if (strstr(line, ">:\n") || line[0] == 'D') {
			/*
			 * The last instruction before a symbol may extend to it, so the symbol is
			 * its end.
			 */
			if (b.nr && strstr(line, ">:\n") && ++nr_blocks)
				check_block(e, &b, strtoull(line, NULL, 16));
			b.nr = 0;
		}
	}
	free(b.addresses);
	return nr_blocks;
}

static void test_libc(void **state)
{
	struct wm_elf *e;
	char command[512];
	Dl_info info;
	FILE *objdump;
	uint32_t nr;

#ifndef __x86_64__
	skip();
#endif
	assert_true(dladdr(dlsym(RTLD_NEXT, "malloc"), &info));
	if (system("command -v objdump >/dev/null"))
		skip();
	assert_int_equal(wm_elf_open(info.dli_fname, &e, NULL), 0);
	(void)snprintf(command, sizeof(command), "objdump -d --no-show-raw-insn -j .text -z '%s'",
		       info.dli_fname);
	objdump = popen(command, "r");
	assert_non_null(objdump);
	nr = check_all(e, objdump);
	assert_int_equal(pclose(objdump), 0);
	assert_true(nr > 1000);
	wm_elf_close(e);
}

static int keep(const struct wm_disassembled *i, void *data)
{
	*(struct wm_disassembled *)data = *i;
	(void)snprintf((char *)data + sizeof(*i), 64, "%s|%s", i->name, i->operands);
	return 0;
}

/* One instruction each; names and operands are split after prefixes. */
static void test_texts(void **state)
{
	static const struct {
		unsigned char code[8];
		unsigned bytes;
		const char *text;
		uint64_t target;
	} cases[] = {
	    {{0xc3}, 1, "ret|", 0},
	    {{0xe8, 0x0b, 0, 0, 0}, 5, "call|0x1010", 0x1010},
	    {{0x75, 0xfe}, 2, "jne|0x1000", 0x1000},
	    {{0xff, 0x10}, 2, "call|*(%rax)", 0},
	    {{0xff, 0xe0}, 2, "jmp|*%rax", 0},
	    {{0x0f, 0x9d, 0xc0}, 3, "setge|%al", 0},
	    {{0x0f, 0x9d, 0x07}, 3, "setge|(%rdi)", 0},
	    {{0x0f, 0x92, 0xc0}, 3, "setb|%al", 0},
	    {{0x48, 0x0f, 0x4f, 0x08}, 4, "cmovg|(%rax), %rcx", 0},
	    {{0x48, 0xff, 0x07}, 3, "incq|(%rdi)", 0},
	    {{0xd3, 0x27}, 2, "shll|%cl, (%rdi)", 0},
	    {{0xc6, 0x07, 0x01}, 3, "movb|$0x1, (%rdi)", 0},
	    {{0x0f, 0xb6, 0x07}, 3, "movzbl|(%rdi), %eax", 0},
	    {{0x48, 0x63, 0xc7}, 3, "movslq|%edi, %rax", 0},
	    {{0x48, 0x98}, 2, "cltq|", 0},
	    {{0xd9, 0x07}, 2, "flds|(%rdi)", 0},
	    {{0xf2, 0x0f, 0x10, 0x07}, 4, "movsd|(%rdi), %xmm0", 0},
	    {{0xf3, 0x48, 0xab}, 3, "rep stosq|", 0},
	    {{0xf0, 0x0f, 0xb1, 0x17}, 4, "lock cmpxchg|%edx, (%rdi)", 0},
	    {{0x06}, 1, ".byte|0x06", 0},
	    {{0x62, 0xf1, 0xfe, 0x48, 0x6f, 0x01}, 6, "vmovdqu64|(%rcx), %zmm0", 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct {
			struct wm_disassembled d;
			char text[64];
		} got = {.text = ""};

		assert_int_equal(
		    wm_disassemble(EM_X86_64, cases[i].code, cases[i].bytes, 0x1000, keep, &got),
		    0);
		if (strcmp(got.text, cases[i].text))
			fail_msg("'%s' instead of '%s'", got.text, cases[i].text);
		assert_int_equal(got.d.bytes, cases[i].bytes);
		assert_int_equal(got.d.has_target ? got.d.target : 0, cases[i].target);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_texts),
	    cmocka_unit_test(test_libc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
