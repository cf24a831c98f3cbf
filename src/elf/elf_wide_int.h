/* SPDX-License-Identifier: MIT */
/*
 * elf_wide_int.h - reads the tables of an ELF file of either class and converts them to the 64-bit
 * form. Only this code deals with the difference between the classes. Private to room elf.
 */
#ifndef WM_ELF_ELF_WIDE_INT_H
#define WM_ELF_ELF_WIDE_INT_H

#include "elf/elf_file.h"

/* The kind of a table entry, and the struct to which it is converted. */
enum wm_elf_entry {
	WM_ELF_PHDR, /* Elf64_Phdr */
	WM_ELF_SHDR, /* Elf64_Shdr */
	WM_ELF_SYM,  /* Elf64_Sym */
	WM_ELF_DYN,  /* Elf64_Dyn */
	WM_ELF_REL,  /* Elf64_Rela, without an addend */
	WM_ELF_RELA, /* Elf64_Rela */
};

/* Size of an entry in the file. */
size_t wm_elf_entry_bytes(const struct wm_elf *e, enum wm_elf_entry kind);

/*
 * Reads `nr` entries into new memory; free() it. Like wm_elf_read_new(), returns -EBADMSG with diag
 * when the file does not contain all of them.
 */
int wm_elf_read_entries(const struct wm_elf *e, enum wm_elf_entry kind, uint64_t offset,
			uint64_t nr, void **ret_entries, struct wm_diag *diag);

/* Converts the header of a 32-bit file. */
void wm_elf_widen_header(const Elf32_Ehdr *from, Elf64_Ehdr *to);

#endif
