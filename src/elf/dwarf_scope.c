/* SPDX-License-Identifier: MIT */
/*
 * dwarf_scope.c - the function at an address, and what a name means there: the scopes around the
 * address in the order in which they are searched. See elf_vars.h.
 */
#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

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

/* Looks in the scopes of the function itself, without those of functions inlined into it. */
static bool scope_variable_of(struct wm_elf_vars *v, uint64_t address, const char *name,
			      Dwarf_Die *ret)
{
	Dwarf_Die *scopes;
	int at, nr = scope_nesting(v, address, &scopes, &at), begin = at;
	bool found;

	if (!nr)
		return false;
	while (begin > 0 && dwarf_tag(&scopes[begin - 1]) != DW_TAG_inlined_subroutine)
		begin--;
	found = dwarf_getscopevar(scopes + begin, at + 1 - begin, name, 0, NULL, 0, 0, ret) >= 0;
	free(scopes);
	return found;
}

int wm_dwarf_variable(struct wm_elf_vars *v, uint64_t address, enum wm_elf_scope scope,
		      const char *name, Dwarf_Die *ret, struct wm_diag *diag)
{
	Dwarf_Die *scopes = NULL;
	int nr, err = 0;

	if (!wm_dwarf_file_unit(&v->file, address))
		return wm_diag_set(diag, -ENOENT, NULL, -1,
				   "'%.60s': no debug information for this address", name);
	if (scope == WM_ELF_SCOPE_FUNCTION && scope_variable_of(v, address, name, ret))
		return 0;
	nr = dwarf_getscopes(&v->file.last, address, &scopes);
	if (nr <= 0 || dwarf_getscopevar(scopes, nr, name, 0, NULL, 0, 0, ret) < 0)
		err = scope_lacks(scopes, nr, name, diag);
	free(scopes);
	return err;
}
