/* SPDX-License-Identifier: MIT */
/*
 * elf_wide.h - tables of an ELF file in one form, that of 64-bit files, whatever
 * the file's own class: here alone it is known how the two differ. Private to
 * room elf.
 */
#ifndef WM_ELF_ELF_WIDE_H
#define WM_ELF_ELF_WIDE_H

#include "elf/elf_file.h"

/* An entry of a table, and what it becomes. */
enum wm_elf_entry {
	WM_ELF_PHDR, /* Elf64_Phdr */
	WM_ELF_SHDR, /* Elf64_Shdr */
	WM_ELF_SYM,  /* Elf64_Sym */
	WM_ELF_DYN,  /* Elf64_Dyn */
	WM_ELF_REL,  /* Elf64_Rela, without an addend */
	WM_ELF_RELA, /* Elf64_Rela */
};

/* Bytes of one in the file. */
size_t wm_elf_entry_bytes(const struct wm_elf *e, enum wm_elf_entry kind);

/*
 * Reads `nr` of them into fresh memory; free() it. As wm_elf_read_new(): what
 * is not all in the file is -EBADMSG with diag.
 */
int wm_elf_read_entries(const struct wm_elf *e, enum wm_elf_entry kind, uint64_t offset,
			uint64_t nr, void **ret_entries, struct wm_diag *diag);

/* The header of a 32-bit file. */
void wm_elf_widen_header(const Elf32_Ehdr *from, Elf64_Ehdr *to);

#endif
