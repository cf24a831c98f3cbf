/* SPDX-License-Identifier: MIT */
/* elf_vars_int.h - shared by, and private to, the files that implement elf_vars.h. */
#ifndef WM_ELF_ELF_VARS_INT_H
#define WM_ELF_ELF_VARS_INT_H

#include "base/text.h"
#include "elf/dwarf_file_int.h"
#include "elf/elf_vars.h"

struct wm_elf_vars {
	const struct wm_elf *elf;
	struct wm_dwarf_file file;
	Elf *image;        /* the program itself, which has the unwind tables */
	Dwarf_CFI *eh_cfi; /* the image's unwind tables; `file` has the debug file's */
};

/* Strips typedef, const and the like from a type. Returns false when there is no type (void). */
bool wm_dwarf_bare_type(Dwarf_Die *of, Dwarf_Die *ret);

/* Whether a bare type is a structure, class or union. */
bool wm_dwarf_has_members(Dwarf_Die *type);

/* Appends the type of a variable as in the source: "const char *", "struct item[4]". */
void wm_dwarf_type_text(Dwarf_Die *of, struct wm_text *to);

/* Size of an address in the code that a DIE describes: 4 or 8. */
unsigned wm_dwarf_address_bytes(Dwarf_Die *of);

/*
 * The scopes around an address, as nested in the code: blocks and inlined calls, their function,
 * its namespaces and unit. Sets `ret_scopes` to memory to free() and `ret_function` to the
 * function's index. Returns the number of scopes; 0: no function in the unit contains the address.
 */
int wm_dwarf_nesting(Dwarf_Die *unit, uint64_t address, Dwarf_Die **ret_scopes, int *ret_function);

/* Finds the function, not an inlined one, that contains an address. */
bool wm_dwarf_function_at(struct wm_elf_vars *v, uint64_t address, Dwarf_Die *ret);

/* Finds the inlined copy of where->copy_of that contains the address. */
bool wm_dwarf_copy_at(struct wm_elf_vars *v, const struct wm_elf_where *where, Dwarf_Die *ret);

/* Finds the variable that a name refers to at an address. -ENOENT with a message: there is none. */
int wm_dwarf_variable(struct wm_elf_vars *v, const struct wm_elf_where *where, const char *name,
		      Dwarf_Die *ret, struct wm_diag *diag);

/*
 * Finds the location of a variable at an address, without its type. -EOPNOTSUPP: it has none;
 * -EAGAIN: its location is in the function's frame, which is not set up at the address, or where
 * the function has not stored it yet; `why` states the reason.
 */
int wm_dwarf_place(struct wm_elf_vars *v, Dwarf_Die *variable, Dwarf_Die *function,
		   uint64_t address, struct wm_elf_value *ret, const char **why);

/*
 * Finds the location of a parameter on entry to its function, according to the calling convention.
 * Errors are as for wm_dwarf_place().
 */
int wm_dwarf_argument(Dwarf_Die *function, Dwarf_Die *parameter, struct wm_elf_value *ret,
		      const char **why);

/* Whether `file`, such as "dir/x.c", is the end of a path, such as "/src/dir/x.c". */
bool wm_dwarf_ends_path(const char *path, const char *file);

/* Whether a function, or the original of an inlined copy, has this source or linker name. */
bool wm_dwarf_is_named(Dwarf_Die *function, const char *name);

/* The row's source file and line, when a statement begins there; returns false for other rows. */
bool wm_dwarf_statement(Dwarf_Line *row, const char **ret_file, uint32_t *ret_line,
			uint64_t *ret_address);

#endif
