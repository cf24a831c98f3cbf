/* SPDX-License-Identifier: MIT */
/* dwarf_passing_int.h - how values are passed to a function; for dwarf_call.c only. */
#ifndef WM_ELF_DWARF_PASSING_INT_H
#define WM_ELF_DWARF_PASSING_INT_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

/* How a value of a given type is passed. */
struct wm_dwarf_passing {
	unsigned nr_integer, nr_vector; /* number of pieces in general and vector registers */
	uint64_t bytes;                 /* its size, in units of 8 bytes, when it is in memory */
	unsigned align;                 /* its alignment there: 8 or 16 */
	bool in_memory;                 /* it is always passed in memory */
	bool by_reference;              /* the caller passes its address */
	bool known;
};

enum wm_dwarf_convention {
	WM_DWARF_CALLS_UNKNOWN,
	WM_DWARF_CALLS_C,
	WM_DWARF_CALLS_RUST,
};

/* The rules by which a function takes its arguments, by its language. */
enum wm_dwarf_convention wm_dwarf_convention_of(Dwarf_Die *function);

/* How a parameter, or what a function returns, is passed; `known` is false when it is not certain.
 */
struct wm_dwarf_passing wm_dwarf_passing_of(enum wm_dwarf_convention convention, Dwarf_Die *value);

/* Whether the caller passes the address of values of a type, as of C++ types with constructors. */
bool wm_dwarf_by_reference(Dwarf_Die *type);

#endif
