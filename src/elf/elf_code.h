/* SPDX-License-Identifier: MIT */
/*
 * elf_code.h - names for the addresses of code and data, as profilers want
 * them: one name for each address, the one perf chooses. elf_symbols.h has all
 * of them, for who looks for a name.
 *
 * Of the names of one place perf takes the one with a size, then one that is
 * not weak, a global one, the one with fewer underscores in front, the longest,
 * the first. A symbol without a size reaches to the next one. Which is chosen
 * is found when first asked for, so that opening a large file stays quick.
 * Entries of the procedure linkage table are called "function@plt", and only
 * "@plt" when the function is chosen at run time.
 *
 * Addresses are the file's own.
 */
#ifndef WM_ELF_ELF_CODE_H
#define WM_ELF_ELF_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "elf/elf_file.h"

struct wm_code_symbol {
	const char *name;    /* as linked; not clean for a terminal */
	uint64_t start, end; /* end may be start: of no size */
	char *shown;         /* demangled; NULL: not asked for, or as linked */
	uint8_t binding;     /* STB_* */
	bool asked;          /* for `shown` */
	bool chosen;         /* among those of one start */
	uint8_t tag;         /* the adder's */
};

/* Not thread-safe, questions neither: they remember what was chosen. */
struct wm_code {
	struct wm_code_symbol *symbols; /* by start, then as they were added */
	size_t nr, room;
	struct wm_arena names; /* made ones; also for who adds */
	void *tables[4];       /* string tables that names point into */
	uint32_t nr_tables;
	bool raw;          /* names as linked */
	bool static_table; /* there was a .symtab: what it does not name has no name */
};

void wm_code_init(struct wm_code *c, bool raw_names);
void wm_code_done(struct wm_code *c);

/* Adds the functions, variables and labels of .symtab and .dynsym. 0 or as wm_elf_read(). */
int wm_code_add_elf(struct wm_code *c, const struct wm_elf *e, struct wm_diag *diag);

/* Adds the entries of the procedure linkage table; a damaged one has none. 0 or -ENOMEM. */
int wm_code_add_plt(struct wm_code *c, const struct wm_elf *e);

/* Adds one; the name stays the caller's (or is in c->names). 0, -ENOMEM, -EFBIG. */
int wm_code_add(struct wm_code *c, const struct wm_code_symbol *symbol);

/* When all were added and before the first question. */
void wm_code_sort(struct wm_code *c);

/* The symbol with that address, NULL: none. Its name: wm_code_name(). */
const struct wm_code_symbol *wm_code_at(struct wm_code *c, uint64_t address);

const char *wm_code_name(const struct wm_code *c, const struct wm_code_symbol *symbol);

#endif
