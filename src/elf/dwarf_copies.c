/* SPDX-License-Identifier: MIT */
/* dwarf_copies.c - where inlined copies of a function begin. See elf_vars.h. */
#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "elf/elf_vars_int.h"

struct copies {
	const char *name;
	uint64_t *addresses;
	size_t nr, room;
	int err;
};

/* Finds the first instruction of a copy, which need not be its lowest. */
static bool copy_entry(Dwarf_Die *copy, uint64_t *ret)
{
	Dwarf_Attribute attribute;
	Dwarf_Addr base, low, high;
	Dwarf_Word offset;

	if (dwarf_ranges(copy, 0, &base, &low, &high) <= 0)
		return false;
	*ret = low;
	if (!dwarf_attr(copy, DW_AT_entry_pc, &attribute) || dwarf_formaddr(&attribute, ret) == 0)
		return true;
	/* Since DWARF 5, it may be an offset from the base of the copy. */
	if (dwarf_formudata(&attribute, &offset) == 0 &&
	    dwarf_haspc(copy, (dwarf_hasattr(copy, DW_AT_low_pc) ? low : base) + offset) == 1)
		*ret = (dwarf_hasattr(copy, DW_AT_low_pc) ? low : base) + offset;
	return true;
}

static int copies_on_copy(Dwarf_Die *copy, void *data)
{
	struct copies *c = data;
	uint64_t address;

	if (!copy_entry(copy, &address))
		return DWARF_CB_OK;
	if (c->nr >= WM_ELF_LINE_MAX || WM_ARRAY_GROW(c->addresses, c->room, c->nr + 1)) {
		c->err = -ENOMEM;
		return DWARF_CB_ABORT;
	}
	c->addresses[c->nr++] = address;
	return DWARF_CB_OK;
}

static int copies_on_function(Dwarf_Die *function, void *data)
{
	struct copies *c = data;

	if (dwarf_func_inline(function) && wm_dwarf_is_named(function, c->name))
		(void)dwarf_func_inline_instances(function, copies_on_copy, c);
	return c->err ? DWARF_CB_ABORT : DWARF_CB_OK;
}

static int copies_by_address(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

int wm_elf_vars_copies(struct wm_elf_vars *v, const char *function, uint64_t **ret_addresses,
		       size_t *ret_nr)
{
	struct copies c = {.name = function};
	Dwarf_Off offset = 0, next;
	size_t header_bytes, nr = 0;

	while (!c.err &&
	       dwarf_nextcu(v->file.dwarf, offset, &next, &header_bytes, NULL, NULL, NULL) == 0) {
		Dwarf_Die unit;

		if (dwarf_offdie(v->file.dwarf, offset + header_bytes, &unit))
			(void)dwarf_getfuncs(&unit, copies_on_function, &c, 0);
		offset = next;
	}
	if (c.err) {
		free(c.addresses);
		return c.err;
	}
	if (c.nr)
		qsort(c.addresses, c.nr, sizeof(*c.addresses), copies_by_address);
	for (size_t i = 0; i < c.nr; i++)
		if (!i || c.addresses[i] != c.addresses[i - 1])
			c.addresses[nr++] = c.addresses[i];
	*ret_addresses = c.addresses;
	*ret_nr = nr;
	return 0;
}
