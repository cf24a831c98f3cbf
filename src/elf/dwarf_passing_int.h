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
	uint64_t bytes;                 /* its size when in memory, rounded up to a multiple of 8 */
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

/* The rules by which a function receives its arguments, according to its language. */
enum wm_dwarf_convention wm_dwarf_convention_of(Dwarf_Die *function);

/* How a parameter or a return value is passed; `known` is false when this is not certain. */
struct wm_dwarf_passing wm_dwarf_passing_of(enum wm_dwarf_convention convention, Dwarf_Die *value);

/* Whether values of a type are passed by address, as for C++ types with constructors. */
bool wm_dwarf_by_reference(Dwarf_Die *type);

#endif
