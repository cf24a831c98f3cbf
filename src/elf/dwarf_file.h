/* SPDX-License-Identifier: MIT */
/*
 * dwarf_file.h - the debug information of an ELF file, opened with libdw: its
 * own, or the separate file in /usr/lib/debug/.build-id. libdw maps the file
 * and believes more of it than elf_file.c does: only for when a person asked.
 * Private to room elf.
 */
#ifndef WM_ELF_DWARF_FILE_H
#define WM_ELF_DWARF_FILE_H

#include <elfutils/libdw.h>
#include <stdbool.h>

#include "elf/elf_file.h"

struct wm_dwarf_file {
	int fd;
	Dwarf *dwarf;
	Dwarf_Die last; /* compile unit that answered last */
	bool has_last;
};

/* -ENODATA: there is none. */
int wm_dwarf_file_open(const struct wm_elf *e, struct wm_dwarf_file *ret);
void wm_dwarf_file_close(struct wm_dwarf_file *f);

/* The compile unit an address is in, kept in f->last. False: none. */
bool wm_dwarf_file_unit(struct wm_dwarf_file *f, uint64_t address);

#endif
