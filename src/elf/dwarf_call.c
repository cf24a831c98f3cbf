/* SPDX-License-Identifier: MIT */
/*
 * dwarf_call.c - where arguments are at the first instruction of a function, by
 * the calling convention (x86-64 and i386 System V; on aarch64 integers in
 * registers only). At that instruction the convention is more reliable than the
 * debug information: without optimization compilers describe where an argument
 * will be once the function has stored it. See elf_vars.h.
 */
#include <dwarf.h>
#include <errno.h>

#include "elf/elf_vars_int.h"

#if defined(__x86_64__)
static const uint8_t registers[] = {5, 4, 1, 2, 8, 9}; /* di si dx cx r8 r9 */
#define STACK_REGISTER 7
#define STACK_FIRST    8 /* offset of the first argument on the stack, above the return address */
#else
static const uint8_t registers[] = {0, 1, 2, 3, 4, 5, 6, 7};
#define STACK_REGISTER 31
#define STACK_FIRST    0
#endif
#define NR_REGISTERS sizeof(registers)
#define NR_VECTORS   8u
#define PIECES_MAX   2u /* pieces of 8 bytes of a value passed in registers */
#define NESTING_MAX  16u

/* How a value of a given type is passed. */
struct passing {
	unsigned nr_integer, nr_vector; /* number of pieces in general and vector registers */
	uint64_t stack_bytes;           /* size, if it is passed in memory instead */
	bool by_reference;              /* the caller passes its address */
	bool known;
};

/* Marks the pieces that contain anything but floating-point numbers. */
static void mark_integers(Dwarf_Die *type, uint64_t at, bool *integers, unsigned depth)
{
	Dwarf_Die member, inner;
	Dwarf_Word offset, encoding = 0;
	Dwarf_Attribute attribute;
	int tag = dwarf_tag(type);

	if (tag == DW_TAG_base_type && dwarf_attr(type, DW_AT_encoding, &attribute))
		(void)dwarf_formudata(&attribute, &encoding);
	if (tag != DW_TAG_structure_type && tag != DW_TAG_class_type && tag != DW_TAG_union_type) {
		if (encoding != DW_ATE_float && at / 8 < PIECES_MAX)
			integers[at / 8] = true;
		return;
	}
	if (depth > NESTING_MAX || dwarf_child(type, &member) != 0)
		return;
	do {
		offset = 0;
		if (dwarf_tag(&member) != DW_TAG_member && dwarf_tag(&member) != DW_TAG_inheritance)
			continue;
		if (dwarf_attr(&member, DW_AT_data_member_location, &attribute))
			(void)dwarf_formudata(&attribute, &offset);
		if (wm_dwarf_bare_type(&member, &inner))
			mark_integers(&inner, at + offset, integers, depth + 1);
	} while (dwarf_siblingof(&member, &member) == 0);
}

static bool passed_by_reference(Dwarf_Die *type)
{
	Dwarf_Attribute attribute;
	Dwarf_Word how = 0;

	return dwarf_attr(type, DW_AT_calling_convention, &attribute) &&
	       dwarf_formudata(&attribute, &how) == 0 && how == DW_CC_pass_by_reference;
}

static struct passing passing_of(Dwarf_Die *parameter)
{
	struct passing p = {.known = true};
	bool integers[PIECES_MAX] = {false, false};
	Dwarf_Die type;
	Dwarf_Word bytes = 8;
	unsigned pieces;

	if (!wm_dwarf_bare_type(parameter, &type))
		return (struct passing){0};
	if (passed_by_reference(&type))
		return (struct passing){.nr_integer = 1, .by_reference = true, .known = true};
	if (dwarf_tag(&type) == DW_TAG_reference_type ||
	    dwarf_tag(&type) == DW_TAG_rvalue_reference_type ||
	    dwarf_tag(&type) == DW_TAG_pointer_type)
		bytes = 8;
	else if (dwarf_aggregate_size(&type, &bytes) != 0)
		return (struct passing){0};
	if (bytes > 8 * PIECES_MAX) {
		p.stack_bytes = (bytes + 7) & ~(Dwarf_Word)7;
		return p;
	}
	pieces = (unsigned)((bytes + 7) / 8);
	mark_integers(&type, 0, integers, 0);
	for (unsigned i = 0; i < pieces; i++) {
		p.nr_integer += integers[i];
		p.nr_vector += !integers[i];
	}
	/* long double has 16 bytes and is passed in memory; no other base type of two pieces is. */
	if (dwarf_tag(&type) == DW_TAG_base_type && bytes > 8)
		p = (struct passing){.stack_bytes = 16, .known = !integers[0]};
	return p;
}

/*
 * Number of hidden arguments: a large structure is returned at an address that the caller passes as
 * first argument.
 */
static unsigned hidden_arguments(Dwarf_Die *function)
{
	Dwarf_Die type;
	Dwarf_Word bytes = 0;
	int tag;

	if (!wm_dwarf_bare_type(function, &type))
		return 0;
	tag = dwarf_tag(&type);
	if (tag != DW_TAG_structure_type && tag != DW_TAG_class_type && tag != DW_TAG_union_type)
		return 0;
	return passed_by_reference(&type) ||
	       (dwarf_aggregate_size(&type, &bytes) == 0 && bytes > 8 * PIECES_MAX);
}

static int dwarf_call_answer(const struct passing *p, unsigned integers, unsigned vectors,
			     uint64_t stack, struct wm_elf_value *ret, const char **why)
{
	bool fits = !p->stack_bytes && integers + p->nr_integer <= NR_REGISTERS &&
		    vectors + p->nr_vector <= NR_VECTORS;

	*ret = (struct wm_elf_value){.base = WM_ELF_VALUE_REGISTER};
	if (!fits) {
		ret->number = STACK_REGISTER;
		ret->nr_steps = 1;
		ret->offset[0] = (int64_t)(STACK_FIRST + stack);
		return 0;
	}
	*why = "it is passed in a vector register, which the kernel cannot read";
	if (p->nr_vector)
		return -EOPNOTSUPP;
	*why = "it is a structure passed in registers, piece by piece";
	if (p->nr_integer > 1)
		return -EOPNOTSUPP;
	ret->number = registers[integers];
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

/* Number of bytes that the parameter takes on the stack; 0: not known. */
static uint64_t narrow_bytes(Dwarf_Die *parameter, bool *ret_by_reference)
{
	Dwarf_Word bytes = 4;
	Dwarf_Die type;

	if (!wm_dwarf_bare_type(parameter, &type))
		return 0;
	*ret_by_reference = passed_by_reference(&type);
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
	unsigned integers = hidden_arguments(function), vectors = 0;
	uint64_t stack = 0;
	Dwarf_Die child;

	*why = "it is not known how it is passed";
	if (wm_dwarf_address_bytes(function) == 4)
		return narrow_argument(function, parameter, ret, why);
	if (dwarf_child(function, &child) != 0)
		return -EOPNOTSUPP;
	do {
		struct passing p;

		if (dwarf_tag(&child) != DW_TAG_formal_parameter)
			continue;
		p = passing_of(&child);
		if (!p.known)
			return -EOPNOTSUPP;
		if (dwarf_dieoffset(&child) == dwarf_dieoffset(parameter))
			return dwarf_call_answer(&p, integers, vectors, stack, ret, why);
		if (!p.stack_bytes && integers + p.nr_integer <= NR_REGISTERS &&
		    vectors + p.nr_vector <= NR_VECTORS) {
			integers += p.nr_integer;
			vectors += p.nr_vector;
		} else {
			stack += p.stack_bytes ? p.stack_bytes : 8 * (p.nr_integer + p.nr_vector);
		}
	} while (dwarf_siblingof(&child, &child) == 0);
	return -EOPNOTSUPP;
}
