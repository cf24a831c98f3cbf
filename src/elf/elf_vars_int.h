/* SPDX-License-Identifier: MIT */
/* elf_vars_int.h - shared by the files behind elf_vars.h, and by nobody else. */
#ifndef WM_ELF_ELF_VARS_INT_H
#define WM_ELF_ELF_VARS_INT_H

#include "elf/dwarf_file.h"
#include "elf/elf_vars.h"

struct wm_elf_vars {
	const struct wm_elf *elf;
	struct wm_dwarf_file file;
	Elf *image;        /* of the program itself: it has the unwind tables */
	Dwarf_CFI *eh_cfi; /* of the image; the other is the debug file's */
};

/* The type without typedef, const and the like. False: there is none (void). */
bool wm_dwarf_bare_type(Dwarf_Die *of, Dwarf_Die *ret);

/* Bytes of an address in the code a description is of: 4 or 8. */
unsigned wm_dwarf_address_bytes(Dwarf_Die *of);

/* The function, not inlined, that an address is in. */
bool wm_dwarf_function(struct wm_elf_vars *v, uint64_t address, Dwarf_Die *ret);

/* Where a variable is at an address; nothing of its type. -EOPNOTSUPP: nowhere, `why` says so. */
int wm_dwarf_place(struct wm_elf_vars *v, Dwarf_Die *variable, Dwarf_Die *function,
		   uint64_t address, struct wm_elf_value *ret, const char **why);

/* Where a parameter is when its function is entered, by the calling convention. Likewise. */
int wm_dwarf_argument(Dwarf_Die *function, Dwarf_Die *parameter, struct wm_elf_value *ret,
		      const char **why);

#endif
