/* SPDX-License-Identifier: MIT */
/*
 * usdt_test.c - reads this program's own probes, which the assembler writes as notes: addresses,
 * operands, a semaphore, and damaged notes.
 */
#include "elf/usdt.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "elf/elf_symbols.h"

/* A note with provider and operands, as sys/sdt.h writes it; `semaphore` is a symbol or 0. */
#define NOTE(provider, name, semaphore, operands)                                                  \
	"990:\tnop\n"                                                                              \
	".pushsection .note.stapsdt,\"\",\"note\"\n"                                               \
	".balign 4\n.4byte 992f-991f,994f-993f,3\n"                                                \
	"991:\t.asciz \"stapsdt\"\n992:\t.balign 4\n"                                              \
	"993:\t.8byte 990b\n.8byte _.stapsdt.base\n.8byte " semaphore "\n"                         \
	".asciz \"" provider "\"\n.asciz \"" name "\"\n.asciz \"" operands "\"\n"                  \
	"994:\t.balign 4\n.popsection\n"

__asm__(".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"
	".weak _.stapsdt.base\n.hidden _.stapsdt.base\n"
	"_.stapsdt.base: .space 1\n.size _.stapsdt.base,1\n.popsection\n"
	".pushsection .probes,\"aw\",\"progbits\"\n"
	".globl test_semaphore\ntest_semaphore: .short 0\n.popsection\n"
	/* A note whose strings do not end inside it. */
	".pushsection .note.stapsdt,\"\",\"note\"\n.balign 4\n"
	".4byte 8,28,3\n.asciz \"stapsdt\"\n.8byte 1,2,3\n.ascii \"cut!\"\n.popsection\n");

__attribute__((noinline, used)) static void probed(void)
{
	__asm__ volatile(NOTE("zoo", "feed", "0", "-4@%edi 8@-8(%rbp)") NOTE(
	    "zoo", "feed", "0", "4@$3 8@%rsi") NOTE("zoo", "close", "test_semaphore", ""));
}

static void test_probes_of_this_program(void **state)
{
	struct wm_elf_symbols symbols;
	const struct wm_elf_symbol *function, *semaphore;
	struct wm_elf_usdts u;
	struct wm_elf *e;
	char nop = 0;

	(void)state;
	probed();
	assert_int_equal(wm_elf_open("/proc/self/exe", &e, NULL), 0);
	assert_int_equal(wm_elf_usdts_read(e, &u, NULL), 0);
	assert_int_equal(wm_elf_symbols_read(e, &symbols, NULL), 0);
	function = wm_elf_symbol_named(&symbols, "probed");
	semaphore = wm_elf_symbol_named(&symbols, "test_semaphore");
	assert_int_equal(u.nr, 3);
	assert_int_equal(u.nr_bad, 1);
	assert_string_equal(u.probes[0].name, "close");
	assert_int_equal(u.probes[0].semaphore, semaphore->address);
	assert_true(u.probes[0].semaphore_offset != 0);
	assert_int_equal(wm_elf_usdt_nr_operands(&u.probes[0]), 0);
	assert_string_equal(u.probes[1].provider, "zoo");
	assert_string_equal(u.probes[1].operands, "-4@%edi 8@-8(%rbp)");
	assert_int_equal(wm_elf_usdt_nr_operands(&u.probes[1]), 2);
	assert_string_equal(u.probes[2].operands, "4@$3 8@%rsi");
	for (size_t i = 0; i < u.nr; i++) {
		assert_ptr_equal(wm_elf_symbol_at(&symbols, u.probes[i].address), function);
		assert_int_equal(wm_elf_read(e, u.probes[i].offset, &nop, 1, NULL), 0);
		assert_int_equal((unsigned char)nop, 0x90);
	}
	wm_elf_symbols_done(&symbols);
	wm_elf_usdts_done(&u);
	wm_elf_close(e);
}

static void test_a_file_without_probes(void **state)
{
	struct wm_elf_usdts u;
	struct wm_elf *e;

	(void)state;
	assert_int_equal(wm_elf_open("/bin/true", &e, NULL), 0);
	assert_int_equal(wm_elf_usdts_read(e, &u, NULL), 0);
	assert_int_equal(u.nr, 0);
	wm_elf_usdts_done(&u);
	wm_elf_close(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#ifdef __x86_64__
	    cmocka_unit_test(test_probes_of_this_program),
#endif
	    cmocka_unit_test(test_a_file_without_probes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
