/* SPDX-License-Identifier: MIT */
/* probe_dwarf.c - see probe_dwarf.h. */
#include "kernel/probes/probe_dwarf.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ELEMENTS_MAX 64u /* the kernel's limit for an array's elements */

bool wm_probe_image(uint64_t address, uint64_t site_address, uint64_t site_offset, char *ret,
		    size_t bytes)
{
	uint64_t at = address - site_address + site_offset;

	(void)snprintf(ret, bytes, "@+0x%" PRIx64, at);
	return at >> 63 == 0;
}

/* Writes the base from which the steps through memory start. */
static int probe_dwarf_base_of(const struct wm_probe_site *site, const struct wm_elf_value *v,
			       const char *name, struct wm_probe_value *ret, struct wm_diag *diag)
{
	const char *reg;

	switch (v->base) {
	case WM_ELF_VALUE_CONSTANT:
		(void)snprintf(ret->fetch, sizeof(ret->fetch), "\\%" PRId64, (int64_t)v->number);
		return 0;
	case WM_ELF_VALUE_ADDRESS:
		if (wm_probe_image(v->number + (uint64_t)v->offset[0], site->address, site->offset,
				   ret->fetch, sizeof(ret->fetch)))
			return 0;
		return wm_diag_set(
		    diag, -EOPNOTSUPP, NULL, -1,
		    "'%.80s' is at an address that the kernel cannot reach from this probe", name);
	case WM_ELF_VALUE_REGISTER:
		break;
	}
	reg = v->number < UINT32_MAX ? wm_probe_dwarf_register((unsigned)v->number, site->narrow)
				     : NULL;
	if (!reg)
		return wm_diag_set(diag, -EOPNOTSUPP, NULL, -1,
				   "'%.80s': it is in a vector register, which the kernel cannot "
				   "read",
				   name);
	(void)snprintf(ret->fetch, sizeof(ret->fetch), "%%%s", reg);
	return 0;
}

static void probe_dwarf_put_type(const struct wm_elf_value *v, struct wm_probe_value *ret)
{
	static const char letters[] = {[WM_ELF_VALUE_UNSIGNED] = 'u',
				       [WM_ELF_VALUE_SIGNED] = 's',
				       [WM_ELF_VALUE_POINTER] = 'x',
				       [WM_ELF_VALUE_TEXT] = 'x',
				       [WM_ELF_VALUE_FLOAT] = 'x'};
	uint32_t elements = v->elements < ELEMENTS_MAX ? v->elements : ELEMENTS_MAX;

	ret->points =
	    !v->elements && (v->kind == WM_ELF_VALUE_POINTER || v->kind == WM_ELF_VALUE_TEXT);
	if (v->kind == WM_ELF_VALUE_CHARS || (v->kind == WM_ELF_VALUE_TEXT && !v->elements))
		(void)snprintf(ret->type, sizeof(ret->type), "string");
	else if (v->kind == WM_ELF_VALUE_FLOAT && !v->elements)
		(void)snprintf(ret->type, sizeof(ret->type), v->bytes == 4 ? "float" : "double");
	else if (v->nr_bits)
		(void)snprintf(ret->type, sizeof(ret->type), "%sb%u@%u/%u",
			       v->kind == WM_ELF_VALUE_SIGNED ? "s" : "", v->nr_bits, v->bit_offset,
			       8 * v->bytes);
	else if (v->elements && v->kind == WM_ELF_VALUE_FLOAT)
		(void)snprintf(ret->type, sizeof(ret->type), "%s[%u]",
			       v->bytes == 4 ? "float" : "double", elements);
	else if (v->elements)
		(void)snprintf(ret->type, sizeof(ret->type), "%c%u[%u]", letters[v->kind],
			       8 * v->bytes, elements);
	else
		(void)snprintf(ret->type, sizeof(ret->type), "%c%u", letters[v->kind],
			       8 * v->bytes);
}

static int probe_dwarf_convert(const struct wm_probe_site *site, const struct wm_elf_value *v,
			       const char *name, struct wm_probe_value *ret, struct wm_diag *diag)
{
	int err = probe_dwarf_base_of(site, v, name, ret, diag);

	if (err)
		return err;
	for (unsigned i = v->base == WM_ELF_VALUE_ADDRESS; i < v->nr_steps; i++) {
		char inner[WM_PROBE_FETCH_MAX];

		memcpy(inner, ret->fetch, sizeof(inner));
		(void)snprintf(ret->fetch, sizeof(ret->fetch), "%+" PRId64 "(%.900s)", v->offset[i],
			       inner);
	}
	probe_dwarf_put_type(v, ret);
	return 0;
}

struct wm_elf_where wm_probe_site_where(const struct wm_probe_site *site)
{
	return (struct wm_elf_where){.address = site->address,
				     .scope = site->copy_of   ? WM_ELF_SCOPE_COPY
					      : site->by_line ? WM_ELF_SCOPE_INNERMOST
							      : WM_ELF_SCOPE_FUNCTION,
				     .copy_of = site->copy_of};
}

int wm_probe_dwarf_named(void *data, const char *name, struct wm_probe_value *ret,
			 struct wm_diag *diag)
{
	const struct wm_probe_site *site = data;
	struct wm_elf_where where;
	struct wm_elf_value value;
	int err;

	if (!site->vars)
		return -ENOENT;
	if (*name == '$') {
		if (strcmp(name, "$retval") ||
		    wm_elf_vars_returned(site->vars, site->address, &value))
			return -ENOENT;
		if (value.kind == WM_ELF_VALUE_FLOAT)
			return wm_diag_set(diag, -EOPNOTSUPP, NULL, -1,
					   "it returns a floating-point number in a vector "
					   "register, which the kernel cannot read");
		probe_dwarf_put_type(&value, ret);
		return 0;
	}
	if (site->returns)
		return wm_diag_set(diag, -EOPNOTSUPP, NULL, -1,
				   "'%.80s': only $retval is available at a function's return",
				   name);
	where = wm_probe_site_where(site);
	err = wm_elf_vars_find(site->vars, &where, name, &value, diag);
	return err ? err : probe_dwarf_convert(site, &value, name, ret, diag);
}

int wm_probe_dwarf_each(void *data, int (*fn)(const char *name, void *), void *user)
{
	const struct wm_probe_site *site = data;
	struct wm_elf_where where = wm_probe_site_where(site);

	return site->vars && !site->returns ? wm_elf_vars_parameters(site->vars, &where, fn, user)
					    : -ENOENT;
}
