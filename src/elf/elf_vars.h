/* SPDX-License-Identifier: MIT */
/*
 * elf_vars.h - finds, in DWARF read by libdw, the locations of a program's parameters and variables
 * at a code address, and the addresses of a source line (see dwarf_file_int.h on how much libdw
 * checks files). Not thread-safe.
 *
 *   elf_vars.c      from a name, "p->head.size", to its value and type
 *   dwarf_scope.c   the function at an address, and what a name means there
 *   dwarf_type.c    types as the source writes them
 *   dwarf_place.c   DWARF expressions for a variable's location
 *   dwarf_call.c    where arguments are when a function is entered
 *   dwarf_source.c  the addresses of a source line
 *   dwarf_copies.c  where inlined copies of a function begin
 *   dwarf_lines.c   the lines of a function or source file that contain code
 */
#ifndef WM_ELF_ELF_VARS_H
#define WM_ELF_ELF_VARS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "elf/elf_file.h"

#define WM_ELF_VALUE_DEPTH 8u    /* of "a->b->c" */
#define WM_ELF_LINE_MAX    4096u /* maximum addresses of one source line */

enum wm_elf_value_base {
	WM_ELF_VALUE_REGISTER, /* number: DWARF's register number */
	WM_ELF_VALUE_ADDRESS,  /* number: an address in the file */
	WM_ELF_VALUE_CONSTANT, /* number: the value itself */
};

enum wm_elf_value_kind {
	WM_ELF_VALUE_UNKNOWN,
	WM_ELF_VALUE_UNSIGNED,
	WM_ELF_VALUE_SIGNED,
	WM_ELF_VALUE_FLOAT,
	WM_ELF_VALUE_POINTER,
	WM_ELF_VALUE_TEXT,  /* a pointer to char */
	WM_ELF_VALUE_CHARS, /* an array of char */
};

/*
 * How to read a value: start from the base; each step reads memory at the
 * current value + offset.
 */
struct wm_elf_value {
	enum wm_elf_value_base base;
	uint64_t number;
	unsigned nr_steps;
	int64_t offset[WM_ELF_VALUE_DEPTH];
	enum wm_elf_value_kind kind;
	uint32_t bytes;    /* size of one element, or of the number that contains a bit field */
	uint32_t elements; /* number of elements of an array; 0: not an array */
	/* Position and width of a bit field in `bytes`; nr_bits 0: not a bit field. */
	uint32_t bit_offset, nr_bits;
};

/*
 * What a name means at an address in an inlined function's code: when the user named the function
 * that contains the address, its own parameters and variables come first.
 */
enum wm_elf_scope {
	WM_ELF_SCOPE_INNERMOST, /* the address was looked up by source line */
	WM_ELF_SCOPE_FUNCTION,
	WM_ELF_SCOPE_COPY, /* the address is where an inlined copy of a function begins */
};

/* Where a name is looked up. */
struct wm_elf_where {
	uint64_t address;
	enum wm_elf_scope scope;
	const char *copy_of; /* for WM_ELF_SCOPE_COPY: the function's name */
};

struct wm_elf_vars;

/* Returns 0, -ENODATA (no debug information) or -ENOMEM. The ELF file must outlive the result. */
int wm_elf_vars_open(const struct wm_elf *e, struct wm_elf_vars **ret);
void wm_elf_vars_close(struct wm_elf_vars *v); /* accepts NULL */

/*
 * Finds a parameter or variable, or a part of one ("p->head.size", "table[3]"), at an address.
 * Returns -ENOENT: no such name in scope; -EOPNOTSUPP: it has no location at that address, or is
 * not a single value. Both errors come with a message.
 */
int wm_elf_vars_find(struct wm_elf_vars *v, const struct wm_elf_where *where, const char *path,
		     struct wm_elf_value *ret, struct wm_diag *diag);

/*
 * Finds the type that the function at an address returns. Returns -ENOENT if it is not known, or
 * void.
 */
int wm_elf_vars_returned(struct wm_elf_vars *v, uint64_t address, struct wm_elf_value *ret);

/*
 * Like wm_elf_vars_returned(), but appends the type as in the source: "void" when it returns
 * nothing.
 */
int wm_elf_vars_returned_text(struct wm_elf_vars *v, uint64_t address, struct wm_text *to);

/* Calls fn with the name of each parameter of the function or inlined copy that begins there. */
int wm_elf_vars_parameters(struct wm_elf_vars *v, const struct wm_elf_where *where,
			   int (*fn)(const char *name, void *data), void *data);

/* A parameter or variable; the strings are valid during the call. */
struct wm_elf_variable {
	const char *name;
	const char *type;  /* as in the source, such as "const char *" */
	bool is_parameter; /* belongs to the function, or to one inlined at the address */
	bool has_members;  /* a structure, class or union */
};

/*
 * Calls fn with each parameter and variable in scope at an address, in lookup order; for those with
 * the same name, only with the first. Omits variables that are not declared in a function. Returns
 * 0, -ENOENT when no function contains the address, -ENOMEM, or what fn returned, if not 0.
 */
int wm_elf_vars_each(struct wm_elf_vars *v, const struct wm_elf_where *where,
		     int (*fn)(const struct wm_elf_variable *variable, void *data), void *data);

/*
 * Returns the addresses where a line's statements begin, one for each function, inlined or not,
 * that contains code for the line; free() them. `file` is the end of its path. -ENOENT with a
 * message: no such file (suggests the closest names), or no code for that line.
 */
int wm_elf_vars_line(struct wm_elf_vars *v, const char *file, uint32_t line,
		     uint64_t **ret_addresses, size_t *ret_nr, struct wm_diag *diag);

/*
 * Returns the addresses where inlined copies of a function begin, in ascending order; free() them.
 * `function` is its source or linker name. Returns 0, even when there are none, or -ENOMEM.
 */
int wm_elf_vars_copies(struct wm_elf_vars *v, const char *function, uint64_t **ret_addresses,
		       size_t *ret_nr);

/* The lines of one source file that can be probed; valid during the call. */
struct wm_elf_source {
	const char *file;      /* its path, as the compiler wrote it */
	uint32_t first;        /* line of the function's declaration; 1: a whole file */
	const uint32_t *lines; /* ascending, without duplicates */
	size_t nr_lines;
};

/*
 * Calls fn with the lines of each function with that source or linker name or, if there is none,
 * with those of each source file whose path ends with it. Lines of functions inlined into a
 * function belong to the inlined ones. Returns the number of calls to fn; what fn returned, if less
 * than 0; -ENOENT with a message: there is neither; -ENOMEM.
 */
int wm_elf_vars_lines(struct wm_elf_vars *v, const char *name,
		      int (*fn)(const struct wm_elf_source *source, void *data), void *data,
		      struct wm_diag *diag);

#endif
