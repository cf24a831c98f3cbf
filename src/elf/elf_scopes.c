/* SPDX-License-Identifier: MIT */
/*
 * elf_scopes.c - see elf_scopes_int.h. The unit's tree of DIEs is walked once. Most DIEs are types;
 * the walk enters only types that may contain functions.
 */
#include "base/array.h"
#include "elf/elf_scopes_int.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "elf/demangle.h"

#define DEPTH_MAX  256u
#define SCOPES_MAX (1u << 24) /* maximum scopes per unit, and maximum ranges */

struct walking {
	struct wm_scopes *scopes;
	Dwarf_Files *files;
	size_t nr_files;
};

static int add_range(struct wm_scopes *s, uint64_t low, uint64_t high, uint32_t scope)
{
	if (s->nr_ranges == SCOPES_MAX ||
	    WM_ARRAY_GROW(s->ranges, s->room_ranges, s->nr_ranges + 1u))
		return -ENOMEM;
	s->ranges[s->nr_ranges++] = (struct wm_scope_range){low, high, scope, WM_SCOPE_NONE};
	return 0;
}

static uint64_t scopes_number_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	return dwarf_attr(die, name, &attribute) && dwarf_formudata(&attribute, &value) == 0 ? value
											     : 0;
}

/*
 * Adds a scope for a DIE; *ret is WM_SCOPE_NONE when the DIE has no addresses. Returns 0 or
 * -ENOMEM.
 */
static int add_scope(struct walking *w, Dwarf_Die *die, bool is_inlined, uint32_t parent,
		     uint32_t *ret)
{
	struct wm_scopes *s = w->scopes;
	struct wm_scope *scope;
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;
	uint64_t file;
	int err = 0;

	*ret = WM_SCOPE_NONE;
	while (!err && (at = dwarf_ranges(die, at, &base, &low, &high)) > 0) {
		if (low >= high)
			continue;
		*ret = s->nr_scopes;
		err = add_range(s, low, high, s->nr_scopes);
	}
	if (err || *ret == WM_SCOPE_NONE)
		return err;
	if (s->nr_scopes == SCOPES_MAX ||
	    WM_ARRAY_GROW(s->scopes, s->room_scopes, s->nr_scopes + 1u))
		return -ENOMEM;
	scope = &s->scopes[s->nr_scopes++];
	*scope = (struct wm_scope){.die = dwarf_dieoffset(die),
				   .parent = is_inlined ? parent : WM_SCOPE_NONE};
	if (!is_inlined)
		return 0;
	scope->call_line = (uint32_t)scopes_number_of(die, DW_AT_call_line);
	file = scopes_number_of(die, DW_AT_call_file);
	if (w->files && file < w->nr_files)
		scope->call_file = dwarf_filesrc(w->files, file, NULL, NULL);
	return 0;
}

/* Whether the walk enters DIEs with this tag, because they may contain functions. */
static bool is_entered(int tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_common_block:
		return true;
	default:
		return false;
	}
}

static int scopes_walk(struct walking *w, Dwarf_Die *parent, uint32_t scope, unsigned depth)
{
	Dwarf_Die die;
	int err = 0;

	if (depth >= DEPTH_MAX || dwarf_child(parent, &die) != 0)
		return 0;
	do {
		int tag = dwarf_tag(&die);
		uint32_t inner = scope;

		if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine) {
			err = add_scope(w, &die, tag == DW_TAG_inlined_subroutine, scope, &inner);
			if (!err && inner == WM_SCOPE_NONE && tag == DW_TAG_inlined_subroutine)
				continue; /* it was optimized away, with everything inside */
			if (!err && dwarf_haschildren(&die))
				err = scopes_walk(w, &die, inner, depth + 1);
		} else if (is_entered(tag) && dwarf_haschildren(&die)) {
			err = scopes_walk(w, &die, scope, depth + 1);
		}
	} while (!err && dwarf_siblingof(&die, &die) == 0);
	return err;
}

static int scopes_by_low(const void *a, const void *b)
{
	const struct wm_scope_range *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	if (x->high != y->high)
		return x->high > y->high ? -1 : 1;
	return x->scope < y->scope ? -1 : x->scope > y->scope; /* outer scopes have lower indices */
}

int wm_scopes_read(struct wm_scopes *s, Dwarf_Die *unit)
{
	struct walking w = {.scopes = s};
	uint32_t outer = WM_SCOPE_NONE;
	int err;

	if (dwarf_getsrcfiles(unit, &w.files, &w.nr_files) != 0)
		w.files = NULL;
	err = scopes_walk(&w, unit, WM_SCOPE_NONE, 0);
	if (err || !s->nr_ranges)
		return err;
	qsort(s->ranges, s->nr_ranges, sizeof(*s->ranges), scopes_by_low);
	for (uint32_t i = 0; i < s->nr_ranges; i++) {
		while (outer != WM_SCOPE_NONE && s->ranges[outer].high <= s->ranges[i].low)
			outer = s->ranges[outer].outer;
		s->ranges[i].outer = outer;
		outer = i;
	}
	return 0;
}

void wm_scopes_done(struct wm_scopes *s)
{
	for (uint32_t i = 0; i < s->nr_scopes; i++)
		free(s->scopes[i].name);
	free(s->scopes);
	free(s->ranges);
	*s = (struct wm_scopes){0};
}

uint32_t wm_scopes_find(const struct wm_scopes *s, uint64_t address)
{
	uint32_t low, i;

	low = WM_SEARCH(0, s->nr_ranges, k, s->ranges[k].low <= address);
	for (i = low - 1; low && i != WM_SCOPE_NONE; i = s->ranges[i].outer)
		if (address < s->ranges[i].high)
			return s->ranges[i].scope;
	return WM_SCOPE_NONE;
}

const char *wm_scope_name(struct wm_scope *s, Dwarf *dwarf)
{
	Dwarf_Attribute attribute;
	Dwarf_Die die;

	if (!s->named && dwarf_offdie(dwarf, s->die, &die)) {
		if (dwarf_attr_integrate(&die, DW_AT_linkage_name, &attribute) ||
		    dwarf_attr_integrate(&die, DW_AT_MIPS_linkage_name, &attribute))
			s->linked = dwarf_formstring(&attribute);
		if (!s->linked)
			s->linked = dwarf_diename(&die);
		s->name = s->linked ? wm_demangle(s->linked) : NULL;
	}
	s->named = true;
	return s->name ? s->name : s->linked;
}
