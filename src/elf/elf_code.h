/* SPDX-License-Identifier: MIT */
/*
 * elf_code.h - names code and data addresses for profilers: one name per address, the one that perf
 * chooses. elf_symbols.h has all names, for searches by name.
 *
 * If an address has several names, perf prefers, in this order, one with a size, a non-weak one, a
 * global one, one with fewer leading underscores, the longest, and the first. A symbol without a
 * size extends to the next one. The choice is made at the first lookup, so that opening a large
 * file stays quick. Entries of the procedure linkage table are called "function@plt", or just
 * "@plt" when the function is chosen at run time.
 *
 * Addresses are those in the file.
 */
#ifndef WM_ELF_ELF_CODE_H
#define WM_ELF_ELF_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "elf/elf_file.h"

struct wm_code_symbol {
	/* Name as in the symbol table; may contain terminal control characters. */
	const char *name;
	uint64_t start, end; /* if equal, the symbol has no size */
	char *shown;         /* demangled name; NULL: not demangled yet, or the same as `name` */
	uint8_t binding;     /* STB_* */
	bool asked;          /* `shown` has been computed */
	bool chosen;         /* the preferred one among those with the same start */
	uint8_t tag;         /* for use by the caller that adds the symbol */
};

/* Not thread-safe: even lookups modify it, because they store the chosen names. */
struct wm_code {
	struct wm_code_symbol *symbols; /* sorted by start, then in the order added */
	size_t nr, room;
	struct wm_arena names; /* generated names; callers that add symbols may use it, too */
	void *tables[4];       /* string tables that `name` members point into */
	uint32_t nr_tables;
	bool raw;          /* names are shown mangled */
	bool static_table; /* the file has a .symtab, so code without a symbol has no name */
};

void wm_code_init(struct wm_code *c, bool raw_names);
void wm_code_done(struct wm_code *c);

/*
 * Adds the functions, variables and labels in .symtab and .dynsym. Returns 0, or an error from
 * wm_elf_read().
 */
int wm_code_add_elf(struct wm_code *c, const struct wm_elf *e, struct wm_diag *diag);

/*
 * Adds the entries of the procedure linkage table. A damaged table yields no entries. Returns 0 or
 * -ENOMEM.
 */
int wm_code_add_plt(struct wm_code *c, const struct wm_elf *e);

/*
 * Adds one symbol, whose name the caller keeps alive (or puts in c->names). Returns 0, -ENOMEM or
 * -EFBIG.
 */
int wm_code_add(struct wm_code *c, const struct wm_code_symbol *symbol);

/* Call after adding the last symbol and before the first lookup. */
void wm_code_sort(struct wm_code *c);

/* The symbol that contains an address, or NULL. wm_code_name() returns its name. */
const struct wm_code_symbol *wm_code_at(struct wm_code *c, uint64_t address);

const char *wm_code_name(const struct wm_code *c, const struct wm_code_symbol *symbol);

#endif
