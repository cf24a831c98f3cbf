/* SPDX-License-Identifier: MIT */
/* dwarf_type.c - writes types as the program's source does. See elf_vars.h. */
#include <dwarf.h>
#include <string.h>

#include "base/text.h"
#include "elf/elf_vars_int.h"

#define DEPTH_MAX 32u /* maximum nesting of types; broken debug information has cycles */

/* Finds a DIE's type without stripping anything from it. */
static bool type_next(Dwarf_Die *of, Dwarf_Die *ret)
{
	Dwarf_Attribute attribute;

	return dwarf_attr_integrate(of, DW_AT_type, &attribute) &&
	       dwarf_formref_die(&attribute, ret);
}

/* The keyword that C requires before a type name; other languages have none. */
static const char *type_keyword(Dwarf_Die *type)
{
	Dwarf_Die unit;
	int language = dwarf_diecu(type, &unit, NULL, NULL) ? dwarf_srclang(&unit) : -1;

	switch (language) {
	case DW_LANG_C:
	case DW_LANG_C89:
	case DW_LANG_C99:
	case DW_LANG_C11:
		break;
	default:
		return "";
	}
	switch (dwarf_tag(type)) {
	case DW_TAG_structure_type:
		return "struct ";
	case DW_TAG_union_type:
		return "union ";
	case DW_TAG_enumeration_type:
		return "enum ";
	default:
		return "";
	}
}

static void type_array(Dwarf_Die *array, struct wm_text *to)
{
	Dwarf_Die child;

	if (dwarf_child(array, &child) != 0)
		return;
	do {
		Dwarf_Attribute attribute;
		Dwarf_Word count;

		if (dwarf_tag(&child) != DW_TAG_subrange_type)
			continue;
		if (dwarf_attr(&child, DW_AT_count, &attribute) &&
		    dwarf_formudata(&attribute, &count) == 0)
			wm_text_f(to, "[%llu]", (unsigned long long)count);
		else if (dwarf_attr(&child, DW_AT_upper_bound, &attribute) &&
			 dwarf_formudata(&attribute, &count) == 0)
			wm_text_f(to, "[%llu]", (unsigned long long)count + 1);
		else
			wm_text_str(to, "[]");
	} while (dwarf_siblingof(&child, &child) == 0);
}

static const char *type_mark(int tag)
{
	switch (tag) {
	case DW_TAG_pointer_type:
		return "*";
	case DW_TAG_reference_type:
		return "&";
	case DW_TAG_rvalue_reference_type:
		return "&&";
	case DW_TAG_const_type:
		return "const";
	case DW_TAG_volatile_type:
		return "volatile";
	case DW_TAG_restrict_type:
		return "restrict";
	case DW_TAG_atomic_type:
		return "_Atomic";
	default:
		return NULL;
	}
}

static bool type_is_reference(int tag)
{
	return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type ||
	       tag == DW_TAG_rvalue_reference_type || tag == DW_TAG_restrict_type;
}

static void type_write(Dwarf_Die *type, unsigned depth, struct wm_text *to);

/* Writes the type that `type` points to or qualifies, or its element type. */
static void type_write_inner(Dwarf_Die *type, unsigned depth, struct wm_text *to)
{
	Dwarf_Die inner;

	if (depth < DEPTH_MAX && type_next(type, &inner))
		type_write(&inner, depth + 1, to);
	else
		wm_text_str(to, "void");
}

/* "struct item *", "const char **"; for a function pointer, the mark goes inside: "int (*)()". */
static void type_write_pointer(Dwarf_Die *type, const char *mark, unsigned depth,
			       struct wm_text *to)
{
	Dwarf_Die inner;

	type_write_inner(type, depth, to);
	if (type_next(type, &inner) && dwarf_tag(&inner) == DW_TAG_subroutine_type)
		return;
	wm_text_f(to, "%s%s", to->bytes && strchr("*&", to->data[to->bytes - 1]) ? "" : " ", mark);
}

/* "const int", but "int * const". */
static void type_write_qualified(Dwarf_Die *type, const char *mark, unsigned depth,
				 struct wm_text *to)
{
	Dwarf_Die inner;
	bool after = type_next(type, &inner) && type_is_reference(dwarf_tag(&inner));

	if (!after)
		wm_text_f(to, "%s ", mark);
	type_write_inner(type, depth, to);
	if (after)
		wm_text_f(to, " %s", mark);
}

static void type_write(Dwarf_Die *type, unsigned depth, struct wm_text *to)
{
	int tag = dwarf_tag(type);
	const char *name = dwarf_diename(type), *mark = type_mark(tag);

	if (name) {
		wm_text_f(to, "%s%s", type_keyword(type), name);
	} else if (mark && type_is_reference(tag)) {
		type_write_pointer(type, mark, depth, to);
	} else if (mark) {
		type_write_qualified(type, mark, depth, to);
	} else if (tag == DW_TAG_subroutine_type) {
		type_write_inner(type, depth, to);
		wm_text_str(to, " (*)()");
	} else if (tag == DW_TAG_array_type) {
		type_write_inner(type, depth, to);
		type_array(type, to);
	} else {
		wm_text_f(to, "%s(unnamed)", type_keyword(type));
	}
}

void wm_dwarf_type_text(Dwarf_Die *of, struct wm_text *to)
{
	Dwarf_Die type;

	if (type_next(of, &type))
		type_write(&type, 0, to);
	else
		wm_text_str(to, "void");
}
