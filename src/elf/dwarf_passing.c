/* SPDX-License-Identifier: MIT */
/*
 * dwarf_passing.c - how values of a type are passed to a function: in general or vector registers,
 * or in memory. The x86-64 System V ABI for C and similar languages; and what little is certain
 * about Rust's, which is unspecified. See elf_vars.h.
 */
#include <dwarf.h>
#include <string.h>

#include "elf/dwarf_passing_int.h"
#include "elf/elf_vars_int.h"

#define PIECES_MAX   2u /* 8-byte pieces of a value passed in registers */
#define NESTING_MAX  16u
#define ELEMENTS_MAX 64u
#if defined(__x86_64__)
#define KNOWS_PIECES true
#else
/* Other rules than those below: only single numbers and pointers are known. */
#define KNOWS_PIECES false
#endif

/*
 * The classes of a value's 8-byte pieces (System V ABI, 3.2.3). A value larger than the pieces is
 * in memory, as is one with an unaligned member or a long double.
 */
struct classes {
	bool integer[PIECES_MAX], vector[PIECES_MAX];
	bool misaligned, x87, unknown;
	unsigned align;
	unsigned nr_elements; /* limits the work on arrays of arrays */
};

static uint64_t call_number(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value = 0;

	if (dwarf_attr_integrate(die, name, &attribute))
		(void)dwarf_formudata(&attribute, &value);
	return value;
}

static void mark(struct classes *c, bool *pieces, uint64_t at, uint64_t bytes, unsigned align)
{
	c->misaligned |= at % align != 0;
	c->align = align > c->align ? align : c->align;
	for (uint64_t i = at / 8; i < PIECES_MAX && i < (at + bytes + 7) / 8; i++)
		pieces[i] = true;
}

static void classify(Dwarf_Die *type, uint64_t at, struct classes *c, unsigned depth);

static void classify_number(Dwarf_Die *type, uint64_t at, struct classes *c)
{
	int bytes = dwarf_bytesize(type);
	unsigned align = bytes > 0 ? (unsigned)bytes : 1;
	const char *name = dwarf_diename(type);

	if (bytes < 1 || bytes > 32 || align & (align - 1)) {
		c->unknown = true;
		return;
	}
	switch (call_number(type, DW_AT_encoding)) {
	case DW_ATE_complex_float:
		c->x87 |= bytes == 32;
		mark(c, c->vector, at, (uint64_t)bytes, align / 2);
		break;
	case DW_ATE_float:
	case DW_ATE_decimal_float:
		c->x87 |= bytes == 16 && name && strstr(name, "long double");
		/* Other 16-byte numbers take one vector register. */
		mark(c, c->vector, at, bytes == 16 ? 8 : (uint64_t)bytes, align);
		break;
	case DW_ATE_imaginary_float:
		c->unknown = true;
		break;
	default:
		c->unknown |= bytes > 16;
		mark(c, c->integer, at, (uint64_t)bytes, align);
	}
}

static void classify_array(Dwarf_Die *type, uint64_t at, struct classes *c, unsigned depth)
{
	Dwarf_Word bytes, each;
	Dwarf_Die element;

	if (!wm_dwarf_bare_type(type, &element) || dwarf_aggregate_size(type, &bytes) != 0 ||
	    dwarf_aggregate_size(&element, &each) != 0 || !each) {
		c->unknown = true;
	} else if (dwarf_hasattr(type, DW_AT_GNU_vector)) {
		/* Passing longer ones depends on the instructions that the compiler may use. */
		c->unknown |= bytes > 16;
		mark(c, c->vector, at, 8, bytes == 16 ? 16 : 8);
	} else {
		uint64_t nr = bytes < 8 * PIECES_MAX ? bytes / each : 8 * PIECES_MAX / each + 1;

		for (uint64_t i = 0; i < nr && (!i || c->nr_elements++ < ELEMENTS_MAX); i++)
			classify(&element, at + i * each, c, depth);
	}
}

/* The first byte of a member and, for a bit field, the number of bytes that hold its bits. */
static uint64_t call_member(Dwarf_Die *member, Dwarf_Die *type, uint64_t *ret_bits_bytes)
{
	uint64_t at = call_number(member, DW_AT_data_member_location);
	uint64_t bits = call_number(member, DW_AT_bit_size), first = 0;
	int unit = dwarf_bytesize(member) > 0 ? dwarf_bytesize(member) : dwarf_bytesize(type);

	*ret_bits_bytes = 0;
	if (!dwarf_hasattr(member, DW_AT_bit_size))
		return at;
	if (dwarf_hasattr(member, DW_AT_data_bit_offset))
		first = call_number(member, DW_AT_data_bit_offset);
	else if (unit > 0)
		first = 8 * (uint64_t)unit - bits - call_number(member, DW_AT_bit_offset);
	*ret_bits_bytes = (first % 8 + bits + 7) / 8;
	return at + first / 8;
}

static void classify_members(Dwarf_Die *type, uint64_t at, struct classes *c, unsigned depth)
{
	uint64_t align = call_number(type, DW_AT_alignment);
	Dwarf_Die member, inner;

	if (align > c->align && align <= 64)
		c->align = (unsigned)align;
	if (dwarf_child(type, &member) != 0)
		return;
	do {
		uint64_t bits_bytes, offset;
		int tag = dwarf_tag(&member);

		if (tag == DW_TAG_variant_part)
			c->unknown = true;
		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
		    dwarf_hasattr(&member, DW_AT_external) || !wm_dwarf_bare_type(&member, &inner))
			continue;
		offset = call_member(&member, &inner, &bits_bytes);
		if (bits_bytes)
			mark(c, c->integer, at + offset, bits_bytes, 1);
		else
			classify(&inner, at + offset, c, depth + 1);
	} while (dwarf_siblingof(&member, &member) == 0);
}

/* Merges the classes of a value at an offset within the whole into `c`. */
static void classify(Dwarf_Die *type, uint64_t at, struct classes *c, unsigned depth)
{
	Dwarf_Die bare = *type;
	int tag = dwarf_tag(type);

	if (tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
	    tag == DW_TAG_atomic_type) {
		if (!wm_dwarf_bare_type(type, &bare))
			c->unknown = true;
		tag = dwarf_tag(&bare);
	}
	if (depth > NESTING_MAX || c->unknown)
		c->unknown = true;
	else if (tag == DW_TAG_base_type || tag == DW_TAG_enumeration_type)
		classify_number(&bare, at, c);
	else if (tag == DW_TAG_array_type)
		classify_array(&bare, at, c, depth + 1);
	else if (wm_dwarf_has_members(&bare))
		classify_members(&bare, at, c, depth);
	else if (tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type ||
		 tag == DW_TAG_rvalue_reference_type)
		mark(c, c->integer, at, 8, 8);
	else
		c->unknown = true;
}

bool wm_dwarf_by_reference(Dwarf_Die *type)
{
	return call_number(type, DW_AT_calling_convention) == DW_CC_pass_by_reference;
}

static struct wm_dwarf_passing passing_of_c(Dwarf_Die *type)
{
	struct wm_dwarf_passing p = {.align = 8};
	struct classes c = {.align = 1};
	Dwarf_Word bytes = 8;

	if (wm_dwarf_by_reference(type))
		return (struct wm_dwarf_passing){
		    .nr_integer = 1, .align = 8, .by_reference = true, .known = true};
	classify(type, 0, &c, 0);
	if (dwarf_tag(type) != DW_TAG_pointer_type && dwarf_tag(type) != DW_TAG_reference_type &&
	    dwarf_tag(type) != DW_TAG_rvalue_reference_type &&
	    dwarf_aggregate_size(type, &bytes) != 0)
		return p;
	p.known = !c.unknown && c.align <= 16 &&
		  (KNOWS_PIECES || (bytes <= 8 && !wm_dwarf_has_members(type) &&
				    dwarf_tag(type) != DW_TAG_array_type));
	p.align = c.align > 8 ? 16 : 8;
	p.bytes = (bytes + 7) & ~(Dwarf_Word)7;
	p.in_memory = bytes > 8 * PIECES_MAX || c.misaligned || c.x87;
	for (unsigned i = 0; i < PIECES_MAX && !p.in_memory; i++) {
		p.nr_integer += c.integer[i];
		p.nr_vector += c.vector[i] && !c.integer[i];
	}
	return p;
}

/* ---- Rust: single values and pairs of them are passed as in C, one register each ----------- */

static bool is_rust_scalar(Dwarf_Die *type, struct wm_dwarf_passing *p)
{
	struct wm_dwarf_passing one = passing_of_c(type);
	int tag = dwarf_tag(type);

	if (tag != DW_TAG_base_type && tag != DW_TAG_enumeration_type && tag != DW_TAG_pointer_type)
		return false;
	p->nr_integer += one.nr_integer;
	p->nr_vector += one.nr_vector;
	return one.known && !one.in_memory && one.nr_integer + one.nr_vector == 1;
}

/*
 * How other structures are passed is unspecified; a pair is, for example, a slice: an address and a
 * length.
 */
static struct wm_dwarf_passing passing_of_rust(Dwarf_Die *type)
{
	struct wm_dwarf_passing p = {.align = 8, .bytes = 8, .known = true};
	Dwarf_Die member, inner;
	Dwarf_Word bytes;
	unsigned nr = 0;

	if (is_rust_scalar(type, &p))
		return p;
	p = (struct wm_dwarf_passing){.align = 8, .known = true};
	if (dwarf_aggregate_size(type, &bytes) == 0 && !bytes)
		return p;
	if (dwarf_tag(type) != DW_TAG_structure_type || dwarf_child(type, &member) != 0)
		return (struct wm_dwarf_passing){.align = 8};
	do {
		if (dwarf_tag(&member) == DW_TAG_variant_part)
			p.known = false;
		if (dwarf_tag(&member) != DW_TAG_member)
			continue;
		nr++;
		p.known &= wm_dwarf_bare_type(&member, &inner) && is_rust_scalar(&inner, &p);
	} while (dwarf_siblingof(&member, &member) == 0);
	p.known &= nr == 2;
	return p;
}

/* ---- the function ---------------------------------------------------------------------------- */

enum wm_dwarf_convention wm_dwarf_convention_of(Dwarf_Die *function)
{
	static const uint16_t like_c[] = {
	    DW_LANG_C,
	    DW_LANG_C89,
	    DW_LANG_C99,
	    DW_LANG_C11,
	    DW_LANG_C_plus_plus,
	    DW_LANG_C_plus_plus_03,
	    DW_LANG_C_plus_plus_11,
	    DW_LANG_C_plus_plus_14,
	    DW_LANG_ObjC,
	    DW_LANG_ObjC_plus_plus,
	    DW_LANG_Fortran77,
	    DW_LANG_Fortran90,
	    DW_LANG_Fortran95,
	    DW_LANG_Fortran03,
	    DW_LANG_Fortran08,
	    0x2a,
	    0x2b,
	    0x2c, /* C++17, C++20, C17, which older headers do not name */
	};
	Dwarf_Die unit;
	int language = dwarf_diecu(function, &unit, NULL, NULL) ? dwarf_srclang(&unit) : -1;

	if (call_number(function, DW_AT_calling_convention) == DW_CC_nocall)
		return WM_DWARF_CALLS_UNKNOWN;
	if (language == DW_LANG_Rust)
		return WM_DWARF_CALLS_RUST;
	for (size_t i = 0; i < sizeof(like_c) / sizeof(like_c[0]); i++)
		if (language == like_c[i])
			return WM_DWARF_CALLS_C;
	return WM_DWARF_CALLS_UNKNOWN;
}

struct wm_dwarf_passing wm_dwarf_passing_of(enum wm_dwarf_convention convention, Dwarf_Die *value)
{
	Dwarf_Die type;

	if (!wm_dwarf_bare_type(value, &type))
		return (struct wm_dwarf_passing){.align = 8};
	return convention == WM_DWARF_CALLS_RUST ? passing_of_rust(&type) : passing_of_c(&type);
}
