/* SPDX-License-Identifier: MIT */
/*
 * dwarf_scope.c - the function at an address, and what a name means there: the scopes around the
 * address in the order in which they are searched. See elf_vars.h.
 */
#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "elf/elf_vars_int.h"

/*
 * The scopes around an address as the code is nested: blocks and inlined calls, their function, its
 * unit. dwarf_getscopes() leaves this order at the first inlined call: there it goes on with what
 * surrounds the inlined function's definition, and the function that has the code is not among its
 * scopes. Sets `ret_scopes` to memory to free() and `ret_function` to the function's index. Returns
 * the number of scopes; 0: no function contains the address.
 */
static int scope_nesting(struct wm_elf_vars *v, uint64_t address, Dwarf_Die **ret_scopes,
			 int *ret_function)
{
	Dwarf_Die *innermost = NULL, *scopes = NULL;
	int nr = 0;

	if (!wm_dwarf_file_unit(&v->file, address))
		return 0;
	if (dwarf_getscopes(&v->file.last, address, &innermost) > 0)
		nr = dwarf_getscopes_die(&innermost[0], &scopes);
	free(innermost);
	for (int i = 0; i < nr; i++) {
		Dwarf_Addr low;

		if (dwarf_tag(&scopes[i]) != DW_TAG_subprogram ||
		    dwarf_haspc(&scopes[i], address) != 1 || dwarf_entrypc(&scopes[i], &low) != 0)
			continue;
		*ret_scopes = scopes;
		*ret_function = i;
		return nr;
	}
	free(scopes);
	return 0;
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

/*
 * Lists the scopes in the order in which they are searched: when the user named the function, its
 * own without those of functions inlined into it; then all, as the language nests them. Sets
 * `ret_scopes` to memory to free(). Returns their number, or 0.
 */
static int scope_order(struct wm_elf_vars *v, uint64_t address, enum wm_elf_scope scope,
		       Dwarf_Die **ret_scopes)
{
	Dwarf_Die *own = NULL, *all = NULL, *grown;
	int at = -1, begin = 0, nr = 0, nr_own = 0;

	if (scope == WM_ELF_SCOPE_FUNCTION && scope_nesting(v, address, &own, &at)) {
		begin = at;
		while (begin > 0 && dwarf_tag(&own[begin - 1]) != DW_TAG_inlined_subroutine)
			begin--;
		nr_own = at + 1 - begin;
	}
	if (wm_dwarf_file_unit(&v->file, address))
		nr = dwarf_getscopes(&v->file.last, address, &all);
	nr = nr > 0 ? nr : 0;
	grown = nr + nr_own ? calloc((size_t)(nr + nr_own), sizeof(*grown)) : NULL;
	if (grown && nr_own)
		memcpy(grown, own + begin, (size_t)nr_own * sizeof(*grown));
	if (grown && nr)
		memcpy(grown + nr_own, all, (size_t)nr * sizeof(*grown));
	free(own);
	free(all);
	*ret_scopes = grown;
	return grown ? nr + nr_own : 0;
}

int wm_dwarf_variable(struct wm_elf_vars *v, uint64_t address, enum wm_elf_scope scope,
		      const char *name, Dwarf_Die *ret, struct wm_diag *diag)
{
	Dwarf_Die *scopes;
	int nr, err = 0;

	if (!wm_dwarf_file_unit(&v->file, address))
		return wm_diag_set(diag, -ENOENT, NULL, -1,
				   "'%.60s': no debug information for this address", name);
	nr = scope_order(v, address, scope, &scopes);
	if (!nr || dwarf_getscopevar(scopes, nr, name, 0, NULL, 0, 0, ret) < 0)
		err = scope_lacks(scopes, nr, name, diag);
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

int wm_elf_vars_each(struct wm_elf_vars *v, uint64_t address, enum wm_elf_scope scope,
		     int (*fn)(const struct wm_elf_variable *variable, void *data), void *data)
{
	Dwarf_Die *scopes, child;
	struct wm_text type;
	int nr = scope_order(v, address, scope, &scopes), err = nr ? 0 : -ENOENT;

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
