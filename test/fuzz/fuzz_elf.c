/* SPDX-License-Identifier: MIT */
/* fuzz_elf.c - reads an ELF file of either class: its names, marks, probes, instructions. */
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "elf/elf_code.h"
#include "elf/elf_symbols.h"
#include "elf/instruction.h"
#include "elf/sites.h"
#include "elf/usdt.h"
#include "harness.h"

static void ask(const struct wm_elf *e)
{
	struct wm_code code;
	uint64_t begin;

	wm_code_init(&code, false);
	(void)wm_code_add_elf(&code, e, NULL);
	(void)wm_code_add_plt(&code, e);
	wm_code_sort(&code);
	for (uint32_t i = 0; i < e->nr_segments; i++) {
		uint64_t address = e->segments[i].address;

		(void)wm_code_at(&code, address);
		(void)wm_elf_instruction_begins(e, address, address + 64, &begin);
	}
	wm_code_done(&code);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	int fd = memfd_create("elf", MFD_CLOEXEC);
	struct wm_elf_symbols symbols;
	struct wm_elf_sites sites;
	struct wm_elf_usdts usdts;
	struct wm_elf *e;

	if (fd < 0)
		return 0;
	if (wm_file_write(fd, (const char *)data, bytes) < 0) {
		(void)close(fd);
		return 0;
	}
	if (wm_elf_open_fd(fd, "fuzz", &e, NULL) < 0)
		return 0;
	if (wm_elf_symbols_read(e, &symbols, NULL) == 0)
		wm_elf_symbols_done(&symbols);
	if (wm_elf_sites_read(e, &sites, NULL) == 0)
		wm_elf_sites_done(&sites);
	if (wm_elf_usdts_read(e, &usdts, NULL) == 0)
		wm_elf_usdts_done(&usdts);
	ask(e);
	wm_elf_close(e);
	return 0;
}
