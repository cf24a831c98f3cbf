/* SPDX-License-Identifier: MIT */
/*
 * elf_class_test.c - reads the same program as a 64-bit and as a 32-bit file. Both yield the same
 * result on every path to the names, and damaged files of both classes cause no invalid access.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "elf/elf_class_test_kit.h"
#include "elf/elf_code.h"
#include "elf/elf_symbols.h"
#include "elf/instruction.h"
#include "elf/sites.h"
#include "elf/usdt.h"

union image {
	struct kit_image32 narrow;
	struct kit_image64 wide;
};

/* Builds the file of either class. Returns its size, and where .text is in it. */
static size_t build(union image *im, bool narrow, size_t *ret_text)
{
	if (narrow)
		kit_build32(&im->narrow);
	else
		kit_build64(&im->wide);
	*ret_text =
	    narrow ? offsetof(struct kit_image32, text) : offsetof(struct kit_image64, text);
	return narrow ? sizeof(im->narrow) : sizeof(im->wide);
}

static int memory_file(const void *data, size_t bytes)
{
	int fd = memfd_create("elf", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(wm_file_write(fd, data, bytes), 0);
	return fd;
}

static struct wm_elf *open_image(const void *data, size_t bytes)
{
	struct wm_elf *e;

	assert_int_equal(wm_elf_open_fd(memory_file(data, bytes), "image", &e, NULL), 0);
	return e;
}

static void check_names(const struct wm_elf *e, uint64_t text)
{
	struct wm_elf_symbols symbols;

	assert_int_equal(wm_elf_symbols_read(e, &symbols, NULL), 0);
	assert_string_equal(wm_elf_symbol_at(&symbols, text + 31)->name, "work");
	assert_string_equal(wm_elf_symbol_at(&symbols, text + 32)->name, "idle");
	assert_int_equal(wm_elf_symbol_named(&symbols, "idle")->bytes, 32);
	assert_null(wm_elf_symbol_at(&symbols, text + 64));
	wm_elf_symbols_done(&symbols);
}

static void check_code(const struct wm_elf *e, uint64_t text)
{
	struct wm_code code;
	const struct wm_code_symbol *s;

	wm_code_init(&code, false);
	assert_int_equal(wm_code_add_elf(&code, e, NULL), 0);
	assert_int_equal(wm_code_add_plt(&code, e), 0);
	wm_code_sort(&code);
	s = wm_code_at(&code, text + 33);
	assert_non_null(s);
	assert_string_equal(wm_code_name(&code, s), "idle");
	s = wm_code_at(&code, text + 64 + 16); /* after the header of .plt */
	if (e->narrow) {
		assert_non_null(s);
		assert_string_equal(s->name, "puts@plt");
	}
	wm_code_done(&code);
}

static void check_probes(const struct wm_elf *e, uint64_t text)
{
	struct wm_elf_usdts u;

	assert_int_equal(wm_elf_usdts_read(e, &u, NULL), 0);
	assert_int_equal(u.nr, 1);
	assert_int_equal(u.nr_bad, 0);
	assert_string_equal(u.probes[0].provider, "zoo");
	assert_string_equal(u.probes[0].name, "feed");
	assert_string_equal(u.probes[0].operands, "4@%eax");
	assert_int_equal(u.probes[0].address, text + 4);
	wm_elf_usdts_done(&u);
}

static void test_both_are_the_same(void **state)
{
	(void)state;
	for (unsigned narrow = 0; narrow < 2; narrow++) {
		union image im;
		size_t text, bytes = build(&im, narrow, &text);
		struct wm_elf *e = open_image(&im, bytes);
		uint64_t offset, bias;

		assert_int_equal(e->narrow, narrow);
		assert_int_equal(e->nr_sections, KIT_NR_SECTIONS);
		assert_int_equal(e->nr_segments, 3);
		assert_string_equal(e->sections[8].name, ".note.stapsdt");
		assert_int_equal(e->build_id_bytes, 20);
		assert_int_equal(e->build_id[19], 20);
		assert_int_equal(wm_elf_offset(e, KIT_BASE + text, 64, &offset), 0);
		assert_int_equal(offset, text);
		assert_int_equal(wm_elf_bias(e, 0xf7000000, 0, &bias), 0);
		assert_int_equal(bias, 0xf7000000 - KIT_BASE);
		check_names(e, KIT_BASE + text);
		check_code(e, KIT_BASE + text);
		check_probes(e, KIT_BASE + text);
		wm_elf_close(e);
	}
}

/* Without section headers, only the names found through the dynamic segment remain. */
static void test_without_section_headers(void **state)
{
	(void)state;
	for (unsigned narrow = 0; narrow < 2; narrow++) {
		union image im;
		size_t text, bytes = build(&im, narrow, &text);
		struct wm_elf *e;

		if (narrow)
			im.narrow.header.e_shoff = 0;
		else
			im.wide.header.e_shoff = 0;
		e = open_image(&im, bytes);
		assert_int_equal(e->nr_sections, 0);
		check_names(e, KIT_BASE + text);
		wm_elf_close(e);
	}
}

/* Byte 40 is "inc %eax" in 32-bit code, and half an instruction in 64-bit code. */
static void test_instructions_are_of_the_class(void **state)
{
	(void)state;
#if !defined(__x86_64__)
	skip();
#endif
	for (unsigned narrow = 0; narrow < 2; narrow++) {
		union image im;
		size_t text, bytes = build(&im, narrow, &text);
		struct wm_elf *e;
		uint64_t begin;

		((unsigned char *)&im)[text] = 0x40;
		e = open_image(&im, bytes);
		assert_int_equal(
		    wm_elf_instruction_begins(e, KIT_BASE + text, KIT_BASE + text + 1, &begin),
		    narrow);
		wm_elf_close(e);
	}
}

static void refused(const void *data, size_t bytes, int err, const char *sentence)
{
	struct wm_diag diag = {0};
	struct wm_elf *e = NULL;

	assert_int_equal(wm_elf_open_fd(memory_file(data, bytes), "image", &e, &diag), err);
	assert_string_equal(diag.sentence, sentence);
}

static void test_refused(void **state)
{
	struct kit_image32 im;
	struct wm_elf_sites sites;
	struct wm_diag diag = {0};
	struct wm_elf *e;

	(void)state;
	kit_build32(&im);
	refused(&im, 51, -EBADMSG, "the ELF header is truncated");
	refused(&im, 60, -EBADMSG, "the file ends before the data expected here");
	im.header.e_ident[EI_DATA] = ELFDATA2MSB;
	refused(&im, sizeof(im), -ENOEXEC,
		"a big-endian ELF file: only little-endian ones can be traced");
	kit_build32(&im);
	im.header.e_shentsize = sizeof(Elf64_Shdr);
	refused(&im, sizeof(im), -EBADMSG, "section headers do not have 40 bytes each");
	kit_build32(&im);
	im.header.e_phentsize = sizeof(Elf64_Phdr);
	refused(&im, sizeof(im), -EBADMSG, "program headers do not have 32 bytes each");
	kit_build32(&im);
	im.header.e_shoff = UINT32_MAX;
	refused(&im, sizeof(im), -EBADMSG, "the file ends before the data expected here");
	kit_build32(&im);
	im.header.e_shnum = 0;
	im.sections[0].sh_size = UINT32_MAX;
	refused(&im, sizeof(im), -EBADMSG, "too many sections");

	kit_build32(&im);
	memcpy(im.names + 27, "waymark_sites", 14); /* overwrites the names .dynsym and .text */
	e = open_image(&im, sizeof(im));
	assert_int_equal(wm_elf_sites_read(e, &sites, &diag), -ENOEXEC);
	assert_string_equal(
	    diag.sentence,
	    "a 32-bit program with tracepoints: events can be recorded from 64-bit programs only");
	wm_elf_close(e);
}

/* Reads everything in a file; the sanitizers detect invalid accesses. */
static void use(int fd)
{
	struct wm_elf_symbols symbols = {0};
	struct wm_elf_sites sites = {0};
	struct wm_elf_usdts usdts = {0};
	struct wm_code code;
	struct wm_elf *e;
	uint64_t begin;

	if (wm_elf_open_fd(fd, "mutant", &e, NULL) < 0)
		return;
	if (wm_elf_symbols_read(e, &symbols, NULL) == 0)
		(void)wm_elf_symbol_at(&symbols, KIT_BASE);
	(void)wm_elf_sites_read(e, &sites, NULL);
	(void)wm_elf_usdts_read(e, &usdts, NULL);
	(void)wm_elf_instruction_begins(e, KIT_BASE, KIT_BASE + 300, &begin);
	wm_code_init(&code, false);
	(void)wm_code_add_elf(&code, e, NULL);
	(void)wm_code_add_plt(&code, e);
	wm_code_sort(&code);
	(void)wm_code_at(&code, KIT_BASE + 200);
	wm_code_done(&code);
	wm_elf_usdts_done(&usdts);
	wm_elf_sites_done(&sites);
	wm_elf_symbols_done(&symbols);
	wm_elf_close(e);
}

static void test_every_word_and_every_cut(void **state)
{
	static const uint32_t words[] = {0, 1, 0x7fffffff, 0xffffffff, 0x80000000, 0x400000};

	(void)state;
	for (unsigned narrow = 0; narrow < 2; narrow++) {
		union image im;
		size_t text, bytes = build(&im, narrow, &text);

		for (size_t at = 0; at + 4 <= bytes; at += 2)
			for (size_t w = 0; w < sizeof(words) / sizeof(words[0]); w++) {
				(void)build(&im, narrow, &text);
				memcpy((char *)&im + at, &words[w], at % 4 ? 2 : 4);
				use(memory_file(&im, bytes));
			}
		(void)build(&im, narrow, &text);
		for (size_t cut = 0; cut < bytes; cut++)
			use(memory_file(&im, cut));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_both_are_the_same),
	    cmocka_unit_test(test_without_section_headers),
	    cmocka_unit_test(test_instructions_are_of_the_class),
	    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_every_word_and_every_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
