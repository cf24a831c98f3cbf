/* SPDX-License-Identifier: MIT */
/*
 * kernel_code_test.c - reads the code of a kernel that was rebooted and moved, from files like
 * /proc/kcore.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "symbol/kernel_code.h"

#define TEXT  0xffffffff81000000ull /* the kernel's address now */
#define MOVED 0x200000ull           /* how much higher it was when recorded */

static const unsigned char code[16] = {0x55, 0x48, 0x89, 0xe5, 0x5d, 0xc3, 0xcc, 0xcc,
				       0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc};

static const char kallsyms[] = "ffffffff81000000 T _text\n"
			       "ffffffff81000100 T first\n"
			       "ffffffff81000200 t work\n"
			       "ffffffff81000210 T behind\n"
			       "ffffffffc0000000 t of_module\t[m]\n"
			       "ffffffffc0000010 t last\t[m]\n";

struct world {
	char folder[64], names[80], core[80];
	struct wm_kernel_mark mark;
	struct wm_module module;
	struct wm_symbol symbol;
	struct wm_kernel_code code;
	struct wm_diag diag;
};

static void write_to(const char *path, const void *data, size_t bytes)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(wm_file_write(fd, data, bytes), 0);
	(void)close(fd);
}

/*
 * Writes a file like /proc/kcore: a core file without sections, whose segments are the kernel's
 * memory.
 */
static void write_core(const struct world *w, uint64_t file_bytes, size_t cut)
{
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr segment;
		unsigned char text[0x400];
	} core = {.header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			     .e_type = ET_CORE,
			     .e_machine = EM_X86_64,
			     .e_version = EV_CURRENT,
			     .e_phoff = sizeof(Elf64_Ehdr),
			     .e_ehsize = sizeof(Elf64_Ehdr),
			     .e_phentsize = sizeof(Elf64_Phdr),
			     .e_phnum = 1},
		  .segment = {.p_type = PT_LOAD,
			      .p_vaddr = TEXT,
			      .p_offset = offsetof(__typeof__(core), text),
			      .p_filesz = file_bytes,
			      .p_memsz = file_bytes}};

	memcpy(core.text + 0x200, code, sizeof(code));
	write_to(w->core, &core, sizeof(core) - cut);
}

static int make_world(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	strcpy(w->folder, "/tmp/waymark-kernel-code-XXXXXX");
	assert_non_null(mkdtemp(w->folder));
	(void)snprintf(w->names, sizeof(w->names), "%s/kallsyms", w->folder);
	(void)snprintf(w->core, sizeof(w->core), "%s/kcore", w->folder);
	write_to(w->names, kallsyms, sizeof(kallsyms) - 1);
	write_core(w, 0x400, 0);
	w->mark = (struct wm_kernel_mark){TEXT + MOVED, "_text"};
	w->module = (struct wm_module){.path = "[kernel.kallsyms]",
				       .name = "[kernel.kallsyms]",
				       .kind = WM_MODULE_KERNEL,
				       .kernel = &w->mark};
	w->symbol = (struct wm_symbol){"work", TEXT + MOVED + 0x200, TEXT + MOVED + 0x210};
	*state = w;
	return 0;
}

static int drop_world(void **state)
{
	struct world *w = *state;

	(void)unlink(w->names);
	(void)unlink(w->core);
	(void)rmdir(w->folder);
	free(w->code.bytes);
	free(w);
	return 0;
}

static int ask(struct world *w)
{
	return wm_symbols_kernel_code_live(&w->module, &w->symbol, w->names, w->core, &w->code,
					   &w->diag);
}

static void a_kernel_that_moved_is_read_where_it_is(void **state)
{
	struct world *w = *state;

	assert_int_equal(ask(w), 0);
	assert_int_equal(w->code.machine, EM_X86_64);
	assert_int_equal(w->code.nr_bytes, 6); /* the rest is padding */
	assert_memory_equal(w->code.bytes, code, 6);
}

static void what_lies_elsewhere_is_not_taken(void **state)
{
	struct world *w = *state;

	w->mark.address += 0x1000; /* as if moved by another distance */
	assert_int_equal(ask(w), -ENOENT);
	assert_non_null(strstr(w->diag.sentence, "another address"));
	w->mark.address -= 0x1000;
	w->symbol.name = "first"; /* another symbol is at the address */
	assert_int_equal(ask(w), -ENOENT);
	w->symbol = (struct wm_symbol){"of_module", 0xffffffffc0000000 + MOVED, 0};
	w->module.kind = WM_MODULE_KMODULE; /* modules do not move by the kernel's distance */
	assert_int_equal(ask(w), -ENOENT);
	assert_null(w->code.bytes);
}

static void memory_that_is_not_told_is_said(void **state)
{
	struct world *w = *state;

	write_core(w, 0x204, 0); /* the memory ends inside the function */
	assert_int_equal(ask(w), -ENOENT);
	assert_non_null(strstr(w->diag.sentence, "does not contain it"));
	write_core(w, UINT64_MAX, 0x300); /* the header claims more bytes than the file has */
	assert_int_not_equal(ask(w), 0);
	write_core(w, 0x400, sizeof(Elf64_Phdr) + 0x400);
	assert_int_not_equal(ask(w), 0);
	(void)unlink(w->core);
	assert_int_equal(ask(w), -ENOENT);
	assert_non_null(strstr(w->diag.sentence, "No such file"));
	write_core(w, 0x400, 0);
	w->symbol.end = w->symbol.start; /* size 0 */
	assert_int_equal(ask(w), -EFBIG);
	w->symbol.end = w->symbol.start + 0x210 - 0x200;
	write_to(w->names, "0000000000000000 T _text\n0000000000000000 t work\n", 49);
	assert_int_not_equal(ask(w), 0);
	assert_non_null(strstr(w->diag.sentence, "kptr_restrict"));
	assert_null(w->code.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_world, drop_world)
	    TEST(a_kernel_that_moved_is_read_where_it_is),
	    TEST(what_lies_elsewhere_is_not_taken),
	    TEST(memory_that_is_not_told_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
