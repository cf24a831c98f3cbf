/* SPDX-License-Identifier: MIT */
/*
 * elf_symbols.h - reads the functions and variables named in an ELF file, from .symtab and .dynsym,
 * and finds them by address and by name. The dynamic table is found through PT_DYNAMIC when the
 * file has no section headers.
 */
#ifndef WM_ELF_ELF_SYMBOLS_H
#define WM_ELF_ELF_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#include "elf/elf_file.h"

#define WM_ELF_SYMBOLS_MAX (16u << 20)   /* maximum entries of one table */
#define WM_ELF_STRINGS_MAX (1024u << 20) /* maximum bytes of one string table */

struct wm_elf_symbol {
	const char *name;
	/* `bytes` 0: the size is unknown; the symbol extends to the next one. */
	uint64_t address, bytes;
	uint8_t type, binding; /* STT_*, STB_* */
};

struct wm_elf_symbols {
	struct wm_elf_symbol *symbols; /* the defined symbols, by ascending address */
	size_t nr;
	char *strings[2];
};

/*
 * Reads the symbols. For a file without any table, returns 0 and no symbols. For damaged tables,
 * returns -EBADMSG with diag; a string table must be complete, but entries with a bad name are
 * skipped.
 */
int wm_elf_symbols_read(const struct wm_elf *e, struct wm_elf_symbols *ret_symbols,
			struct wm_diag *diag);
void wm_elf_symbols_done(struct wm_elf_symbols *s);

/* The function that contains an address, or NULL. */
const struct wm_elf_symbol *wm_elf_symbol_at(const struct wm_elf_symbols *s, uint64_t address);

/* Returns a defined symbol with that name, preferably a global one, or NULL. Takes linear time. */
const struct wm_elf_symbol *wm_elf_symbol_named(const struct wm_elf_symbols *s, const char *name);

#endif
