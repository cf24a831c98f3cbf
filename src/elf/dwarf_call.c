/* SPDX-License-Identifier: MIT */
/*
 * dwarf_call.c - where arguments are at a function's first instruction, according to the calling
 * convention (x86-64 and i386 System V; on aarch64, only integers in registers). At that
 * instruction, the convention is more reliable than the debug information: without optimization,
 * compilers describe where an argument will be once the function has stored it. See elf_vars.h.
 */
#include <dwarf.h>
#include <errno.h>

#include "elf/dwarf_passing_int.h"
#include "elf/elf_vars_int.h"

#if defined(__x86_64__)
static const uint8_t registers[] = {5, 4, 1, 2, 8, 9}; /* di si dx cx r8 r9 */
#define STACK_REGISTER     7
#define STACK_FIRST        8 /* offset of the first argument on the stack, above the return address */
#define HIDDEN_IS_ARGUMENT 1u /* the address of a returned structure is the first argument */
#else
static const uint8_t registers[] = {0, 1, 2, 3, 4, 5, 6, 7};
#define STACK_REGISTER     31
#define STACK_FIRST        0
#define HIDDEN_IS_ARGUMENT 0u
#endif
#define NR_REGISTERS sizeof(registers)
#define NR_VECTORS   8u

/*
 * Number of hidden arguments: a structure that does not fit in registers is returned at an address
 * that the caller passes as the first argument. Returns false when it is not known.
 */
static bool hidden_arguments(Dwarf_Die *function, enum wm_dwarf_convention convention,
			     unsigned *ret)
{
	struct wm_dwarf_passing p;
	Dwarf_Die type;

	*ret = 0;
	if (!wm_dwarf_bare_type(function, &type))
		return !dwarf_hasattr_integrate(function, DW_AT_type);
	p = wm_dwarf_passing_of(convention, function);
	if (wm_dwarf_has_members(&type))
		*ret = p.by_reference || p.in_memory ? HIDDEN_IS_ARGUMENT : 0;
	/* A structure that holds a long double is returned in a different kind of register. */
	return p.known && !(*ret && !p.by_reference && p.bytes <= 16 && p.align == 16);
}

/*
 * Whether the function still has the parameters that the source declares: an optimizing compiler
 * may remove or change the parameters of functions whose callers it all knows, and then some have
 * no location.
 */
static bool has_all_parameters(Dwarf_Die *function)
{
	Dwarf_Attribute attribute;
	Dwarf_Die child, origin;
	unsigned nr = 0, nr_declared = 0;

	if (dwarf_child(function, &child) == 0) {
		do {
			if (dwarf_tag(&child) != DW_TAG_formal_parameter)
				continue;
			nr++;
			if (!dwarf_hasattr_integrate(&child, DW_AT_location))
				return false;
		} while (dwarf_siblingof(&child, &child) == 0);
	}
	if (!dwarf_attr(function, DW_AT_abstract_origin, &attribute) ||
	    !dwarf_formref_die(&attribute, &origin) || dwarf_child(&origin, &child) != 0)
		return true;
	do
		nr_declared += dwarf_tag(&child) == DW_TAG_formal_parameter;
	while (dwarf_siblingof(&child, &child) == 0);
	return nr == nr_declared;
}

/* What earlier parameters have used up. */
struct taken {
	unsigned integers, vectors;
	uint64_t stack;
};

static bool call_fits(const struct wm_dwarf_passing *p, const struct taken *t)
{
	return !p->in_memory && t->integers + p->nr_integer <= NR_REGISTERS &&
	       t->vectors + p->nr_vector <= NR_VECTORS;
}

static void call_take(const struct wm_dwarf_passing *p, struct taken *t)
{
	if (call_fits(p, t)) {
		t->integers += p->nr_integer;
		t->vectors += p->nr_vector;
		return;
	}
	t->stack = (t->stack + p->align - 1) / p->align * p->align;
	t->stack += p->by_reference ? 8 : p->bytes;
}

static int dwarf_call_answer(const struct wm_dwarf_passing *p, const struct taken *t,
			     struct wm_elf_value *ret, const char **why)
{
	*ret = (struct wm_elf_value){.base = WM_ELF_VALUE_REGISTER};
	if (!call_fits(p, t)) {
		ret->number = STACK_REGISTER;
		ret->nr_steps = p->by_reference ? 2 : 1;
		ret->offset[0] =
		    (int64_t)(STACK_FIRST + (t->stack + p->align - 1) / p->align * p->align);
		return 0;
	}
	*why = "it is passed in a vector register, which the kernel cannot read";
	if (p->nr_vector)
		return -EOPNOTSUPP;
	*why = "it is a structure passed in registers, piece by piece";
	if (p->nr_integer != 1)
		return -EOPNOTSUPP;
	ret->number = registers[t->integers];
	if (p->by_reference)
		ret->nr_steps = 1;
	return 0;
}

/* ---- i386: all arguments are on the stack, in words of 4 bytes --------------------- */

#define NARROW_STACK_REGISTER 4

/*
 * Whether the function returns a structure; even small ones are returned at an address that the
 * caller passes.
 */
static bool returns_structure(Dwarf_Die *function)
{
	Dwarf_Die type;
	int tag = wm_dwarf_bare_type(function, &type) ? dwarf_tag(&type) : 0;

	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

/* Number of bytes that the parameter occupies on the stack; 0: not known. */
static uint64_t narrow_bytes(Dwarf_Die *parameter, bool *ret_by_reference)
{
	Dwarf_Word bytes = 4;
	Dwarf_Die type;

	if (!wm_dwarf_bare_type(parameter, &type))
		return 0;
	*ret_by_reference = wm_dwarf_by_reference(&type);
	if (*ret_by_reference || dwarf_tag(&type) == DW_TAG_reference_type ||
	    dwarf_tag(&type) == DW_TAG_rvalue_reference_type ||
	    dwarf_tag(&type) == DW_TAG_pointer_type)
		return 4;
	if (dwarf_aggregate_size(&type, &bytes) != 0 || bytes > UINT32_MAX)
		return 0;
	return (bytes + 3) & ~(Dwarf_Word)3;
}

static int narrow_argument(Dwarf_Die *function, Dwarf_Die *parameter, struct wm_elf_value *ret,
			   const char **why)
{
	/* The first argument is above the return address. */
	uint64_t at = returns_structure(function) ? 8 : 4;
	bool by_reference = false;
	Dwarf_Die child;

	if (dwarf_child(function, &child) != 0)
		return -EOPNOTSUPP;
	do {
		uint64_t bytes;

		if (dwarf_tag(&child) != DW_TAG_formal_parameter)
			continue;
		bytes = narrow_bytes(&child, &by_reference);
		if (dwarf_dieoffset(&child) == dwarf_dieoffset(parameter)) {
			*ret = (struct wm_elf_value){.base = WM_ELF_VALUE_REGISTER,
						     .number = NARROW_STACK_REGISTER,
						     .nr_steps = by_reference ? 2 : 1,
						     .offset = {(int64_t)at}};
			return 0;
		}
		at += bytes;
		if (!bytes || at > UINT32_MAX)
			break;
	} while (dwarf_siblingof(&child, &child) == 0);
	return -EOPNOTSUPP;
}

int wm_dwarf_argument(Dwarf_Die *function, Dwarf_Die *parameter, struct wm_elf_value *ret,
		      const char **why)
{
	enum wm_dwarf_convention convention = wm_dwarf_convention_of(function);
	struct taken taken = {0};
	Dwarf_Die child;

	*why = "it is not known how it is passed";
	if (!has_all_parameters(function))
		return -EOPNOTSUPP;
	if (wm_dwarf_address_bytes(function) == 4)
		return narrow_argument(function, parameter, ret, why);
	if (convention == WM_DWARF_CALLS_UNKNOWN ||
	    !hidden_arguments(function, convention, &taken.integers) ||
	    dwarf_child(function, &child) != 0)
		return -EOPNOTSUPP;
	do {
		struct wm_dwarf_passing p;

		if (dwarf_tag(&child) != DW_TAG_formal_parameter)
			continue;
		p = wm_dwarf_passing_of(convention, &child);
		/*
		 * Compilers disagree on the alignment of an __int128 for which no registers are
		 * left.
		 */
		if (!p.known || (!call_fits(&p, &taken) && p.align == 16 && p.nr_integer))
			return -EOPNOTSUPP;
		/* Rust may pass one half of a pair in a register and the other in memory. */
		if (convention == WM_DWARF_CALLS_RUST && !call_fits(&p, &taken) &&
		    p.nr_integer + p.nr_vector > 1)
			return -EOPNOTSUPP;
		if (dwarf_dieoffset(&child) == dwarf_dieoffset(parameter))
			return dwarf_call_answer(&p, &taken, ret, why);
		call_take(&p, &taken);
	} while (dwarf_siblingof(&child, &child) == 0);
	return -EOPNOTSUPP;
}
