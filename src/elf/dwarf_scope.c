/* SPDX-License-Identifier: MIT */
/*
 * dwarf_scope.c - the function at an address, and what a name means there: the scopes around the
 * address, in search order. See elf_vars.h.
 */
#include <dwarf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "elf/elf_vars_int.h"

#define NESTING_MAX 64u /* maximum nesting of blocks and inlined calls */

struct function_search {
	uint64_t address;
	Dwarf_Die found;
	bool is_found;
};

static int scope_on_function(Dwarf_Die *function, void *data)
{
	struct function_search *s = data;
	Dwarf_Addr low;

	if (dwarf_haspc(function, s->address) != 1 || dwarf_entrypc(function, &low) != 0)
		return DWARF_CB_OK;
	s->found = *function;
	s->is_found = true;
	return DWARF_CB_ABORT;
}

/* Finds the child that is a scope with code at the address. */
static bool scope_inner(Dwarf_Die *of, uint64_t address, Dwarf_Die *ret)
{
	Dwarf_Die child;

	if (dwarf_child(of, &child) != 0)
		return false;
	do {
		switch (dwarf_tag(&child)) {
		case DW_TAG_lexical_block:
		case DW_TAG_inlined_subroutine:
		case DW_TAG_try_block:
		case DW_TAG_catch_block:
			if (dwarf_haspc(&child, address) != 1)
				break;
			*ret = child;
			return true;
		default:
			break;
		}
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

/*
 * dwarf_getscopes() is not enough: it finds nothing in namespaces, and at the first inlined call it
 * continues with what surrounds the inlined function's definition, omitting the function that
 * contains the code.
 */
int wm_dwarf_nesting(Dwarf_Die *unit, uint64_t address, Dwarf_Die **ret_scopes, int *ret_function)
{
	struct function_search s = {.address = address};
	Dwarf_Die chain[NESTING_MAX], *outer = NULL, *scopes;
	int nr = 1, nr_outer;

	(void)dwarf_getfuncs(unit, scope_on_function, &s, 0);
	if (!s.is_found)
		return 0;
	chain[0] = s.found;
	while (nr < (int)NESTING_MAX && scope_inner(&chain[nr - 1], address, &chain[nr]))
		nr++;
	nr_outer = dwarf_getscopes_die(&s.found, &outer);
	nr_outer = nr_outer > 1 ? nr_outer - 1 : 0; /* the first is the function itself */
	scopes = calloc((size_t)(nr + nr_outer), sizeof(*scopes));
	for (int i = 0; scopes && i < nr; i++)
		scopes[i] = chain[nr - 1 - i];
	for (int i = 0; scopes && i < nr_outer; i++)
		scopes[nr + i] = outer[1 + i];
	free(outer);
	if (!scopes)
		return 0;
	*ret_scopes = scopes;
	*ret_function = nr - 1;
	return nr + nr_outer;
}

static int scope_nesting(struct wm_elf_vars *v, uint64_t address, Dwarf_Die **ret_scopes,
			 int *ret_function)
{
	return wm_dwarf_file_unit(&v->file, address)
		   ? wm_dwarf_nesting(&v->file.last, address, ret_scopes, ret_function)
		   : 0;
}

bool wm_dwarf_function_at(struct wm_elf_vars *v, uint64_t address, Dwarf_Die *ret)
{
	Dwarf_Die *scopes;
	int at;

	if (!scope_nesting(v, address, &scopes, &at))
		return false;
	*ret = scopes[at];
	free(scopes);
	return true;
}

static void scope_offer_names(Dwarf_Die *scope, struct wm_nearest *near)
{
	Dwarf_Die child;

	if (dwarf_child(scope, &child) != 0)
		return;
	do {
		int tag = dwarf_tag(&child);
		const char *name = dwarf_diename(&child);

		if (name && (tag == DW_TAG_formal_parameter || tag == DW_TAG_variable))
			wm_nearest_offer(near, name);
	} while (dwarf_siblingof(&child, &child) == 0);
}

/* The place of the call that a copy replaces, such as "main.c:12"; "?" if it is not known. */
static void scope_call_text(Dwarf_Die *copy, char *buf, size_t size)
{
	Dwarf_Attribute attribute;
	Dwarf_Files *files;
	Dwarf_Word file = 0, line = 0;
	Dwarf_Die unit;
	const char *path = NULL, *base;
	size_t nr;

	if (dwarf_attr(copy, DW_AT_call_line, &attribute))
		(void)dwarf_formudata(&attribute, &line);
	if (dwarf_attr(copy, DW_AT_call_file, &attribute) &&
	    dwarf_formudata(&attribute, &file) == 0 && dwarf_diecu(copy, &unit, NULL, NULL) &&
	    dwarf_getsrcfiles(&unit, &files, &nr) == 0 && file < nr)
		path = dwarf_filesrc(files, file, NULL, NULL);
	base = path ? strrchr(path, '/') : NULL;
	(void)snprintf(buf, size, "%.60s:%" PRIu64,
		       base   ? base + 1
		       : path ? path
			      : "?",
		       (uint64_t)line);
}

/* Whether the function of which this is a copy has a parameter or variable of that name. */
static bool scope_declares(Dwarf_Die *copy, const char *name)
{
	Dwarf_Attribute attribute;
	Dwarf_Die origin, found;

	return dwarf_tag(copy) == DW_TAG_inlined_subroutine &&
	       dwarf_attr(copy, DW_AT_abstract_origin, &attribute) &&
	       dwarf_formref_die(&attribute, &origin) &&
	       dwarf_getscopevar(&origin, 1, name, 0, NULL, 0, 0, &found) >= 0;
}

/*
 * A compiler omits a parameter from an inlined copy that does not need it. Returns -EOPNOTSUPP with
 * the reason if that is the case, else 0.
 */
static int scope_omits(Dwarf_Die *scopes, int nr, const char *name, struct wm_diag *diag)
{
	char call[96];

	for (int i = 0; i < nr; i++) {
		if (!scope_declares(&scopes[i], name))
			continue;
		scope_call_text(&scopes[i], call, sizeof(call));
		return wm_diag_set(diag, -EOPNOTSUPP, NULL, -1,
				   "the inlined copy at %s has no location for '%.60s', which the "
				   "compiler has optimized out there",
				   call, name);
	}
	return 0;
}

static int scope_lacks(Dwarf_Die *scopes, int nr, const char *name, struct wm_diag *diag)
{
	struct wm_nearest near;
	char hint[120];

	wm_nearest_init(&near, name);
	for (int i = 0; i < nr; i++)
		scope_offer_names(&scopes[i], &near);
	wm_nearest_sentence(&near, "", hint, sizeof(hint));
	return wm_diag_set(diag, -ENOENT, NULL, -1,
			   "no parameter or variable '%.60s' at this address; %s", name,
			   *hint ? hint : "arg1 is the first argument, %di a register");
}

bool wm_dwarf_is_named(Dwarf_Die *function, const char *name)
{
	Dwarf_Attribute attribute;
	const char *known = dwarf_diename(function), *linked = NULL;

	if (known && !strcmp(known, name))
		return true;
	if (dwarf_attr_integrate(function, DW_AT_linkage_name, &attribute))
		linked = dwarf_formstring(&attribute);
	return linked && !strcmp(linked, name);
}

/*
 * The function or inlined copy in which a name is looked up first: its index among the nested
 * scopes.
 */
static int scope_first(const struct wm_elf_where *where, Dwarf_Die *nested, int function)
{
	for (int i = 0; i < function; i++) {
		if (dwarf_tag(&nested[i]) != DW_TAG_inlined_subroutine ||
		    where->scope == WM_ELF_SCOPE_FUNCTION)
			continue;
		if (where->scope == WM_ELF_SCOPE_INNERMOST ||
		    wm_dwarf_is_named(&nested[i], where->copy_of))
			return i;
	}
	return function;
}

bool wm_dwarf_copy_at(struct wm_elf_vars *v, const struct wm_elf_where *where, Dwarf_Die *ret)
{
	Dwarf_Die *nested;
	int function, at;

	if (!scope_nesting(v, where->address, &nested, &function))
		return false;
	at = scope_first(where, nested, function);
	*ret = nested[at];
	free(nested);
	return at != function;
}

/* Appends a function or copy and its blocks around the address. */
static int scope_append(Dwarf_Die *nested, int function, Dwarf_Die *to)
{
	int begin = function, nr = 0;

	while (begin > 0 && dwarf_tag(&nested[begin - 1]) != DW_TAG_inlined_subroutine)
		begin--;
	while (begin <= function)
		to[nr++] = nested[begin++];
	return nr;
}

/*
 * Lists the scopes in search order: those of the function that the user named or, for a line, of
 * the innermost function; those of the innermost function; those that surround functions. Sets
 * `ret_scopes` to memory to free(). Returns their number, or 0.
 */
static int scope_order(struct wm_elf_vars *v, const struct wm_elf_where *where,
		       Dwarf_Die **ret_scopes)
{
	const struct wm_elf_where innermost = {.scope = WM_ELF_SCOPE_INNERMOST};
	int function, first, inner, nr = scope_nesting(v, where->address, ret_scopes, &function),
				    to = 0;
	Dwarf_Die *all = *ret_scopes, *scopes;

	if (!nr)
		return 0;
	first = scope_first(where, all, function);
	inner = scope_first(&innermost, all, function);
	scopes = calloc((size_t)nr * 2, sizeof(*scopes));
	if (scopes) {
		to = scope_append(all, first, scopes);
		if (inner != first)
			to += scope_append(all, inner, scopes + to);
		for (int i = function + 1; i < nr; i++)
			scopes[to++] = all[i];
	}
	free(all);
	*ret_scopes = scopes;
	return to;
}

int wm_dwarf_variable(struct wm_elf_vars *v, const struct wm_elf_where *where, const char *name,
		      Dwarf_Die *ret, struct wm_diag *diag)
{
	Dwarf_Die *scopes = NULL;
	int nr, err = 0;

	if (!wm_dwarf_file_unit(&v->file, where->address))
		return wm_diag_set(diag, -ENOENT, NULL, -1,
				   "'%.60s': no debug information for this address", name);
	nr = scope_order(v, where, &scopes);
	if (!nr || dwarf_getscopevar(scopes, nr, name, 0, NULL, 0, 0, ret) < 0) {
		err = scope_omits(scopes, nr, name, diag);
		if (!err)
			err = scope_lacks(scopes, nr, name, diag);
	}
	free(scopes);
	return err;
}

/* ---- all variables ---------------------------------------------------------------------- */

/* Whether a scope before this one, or an earlier child of it, has a variable of that name. */
static bool scope_shadows(Dwarf_Die *scopes, int nr, Dwarf_Die *child)
{
	Dwarf_Die first;

	return dwarf_getscopevar(scopes, nr, dwarf_diename(child), 0, NULL, 0, 0, &first) >= 0 &&
	       dwarf_dieoffset(&first) != dwarf_dieoffset(child);
}

static bool scope_is_repeated(const Dwarf_Die *scopes, int i)
{
	for (int k = 0; k < i; k++)
		if (scopes[k].addr == scopes[i].addr)
			return true;
	return false;
}

static int scope_give(Dwarf_Die *child, struct wm_text *type,
		      int (*fn)(const struct wm_elf_variable *variable, void *data), void *data)
{
	Dwarf_Die bare;
	struct wm_elf_variable variable = {
	    .name = dwarf_diename(child),
	    .is_parameter = dwarf_tag(child) == DW_TAG_formal_parameter,
	    .has_members = wm_dwarf_bare_type(child, &bare) && wm_dwarf_has_members(&bare)};

	wm_text_cut(type, 0);
	wm_dwarf_type_text(child, type);
	if (type->failed)
		return -ENOMEM;
	variable.type = type->data;
	return fn(&variable, data);
}

int wm_elf_vars_each(struct wm_elf_vars *v, const struct wm_elf_where *where,
		     int (*fn)(const struct wm_elf_variable *variable, void *data), void *data)
{
	Dwarf_Die *scopes = NULL, child;
	struct wm_text type;
	int nr = scope_order(v, where, &scopes), err = nr ? 0 : -ENOENT;

	wm_text_init(&type);
	for (int i = 0; i < nr && !err; i++) {
		int tag = dwarf_tag(&scopes[i]);

		if (tag == DW_TAG_compile_unit || tag == DW_TAG_partial_unit ||
		    tag == DW_TAG_namespace || scope_is_repeated(scopes, i) ||
		    dwarf_child(&scopes[i], &child) != 0)
			continue;
		do {
			tag = dwarf_tag(&child);
			if ((tag == DW_TAG_formal_parameter || tag == DW_TAG_variable) &&
			    dwarf_diename(&child) && !scope_shadows(scopes, nr, &child))
				err = scope_give(&child, &type, fn, data);
		} while (!err && dwarf_siblingof(&child, &child) == 0);
	}
	wm_text_done(&type);
	free(scopes);
	return err;
}
