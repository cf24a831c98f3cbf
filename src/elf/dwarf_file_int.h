/* SPDX-License-Identifier: MIT */
/*
 * dwarf_file_int.h - the debug information of an ELF file, opened with libdw: the file's own, or
 * that in the separate file in /usr/lib/debug/.build-id. libdw maps the file and checks less than
 * elf_file.c, so use it only for files that the user named. Private to room elf.
 */
#ifndef WM_ELF_DWARF_FILE_INT_H
#define WM_ELF_DWARF_FILE_INT_H

#include <elfutils/libdw.h>
#include <stdbool.h>

#include "elf/elf_file.h"

struct wm_dwarf_file {
	int fd;
	Dwarf *dwarf;
	Dwarf_Die last; /* compile unit of the last successful lookup */
	bool has_last;
};

/* Returns -ENODATA if the file has no debug information. */
int wm_dwarf_file_open(const struct wm_elf *e, struct wm_dwarf_file *ret);
void wm_dwarf_file_close(struct wm_dwarf_file *f);

/*
 * Finds the compile unit that contains an address and stores it in f->last. Returns false when
 * there is none.
 */
bool wm_dwarf_file_unit(struct wm_dwarf_file *f, uint64_t address);

#endif
