/* SPDX-License-Identifier: MIT */
/*
 * dwarf_place.c - the location of a variable according to DWARF: a register,
 * memory at an offset from a register or from the frame, an address, a
 * constant. A probe cannot read expressions that compute more than that. See
 * elf_vars.h.
 */
#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "elf/elf_vars_int.h"

static const char out[] = "it is optimized out there, or has no location";

/* Decodes the "register + offset" of DW_OP_bregN; returns false for other operations. */
static bool based(const Dwarf_Op *op, uint64_t *ret_register, int64_t *ret_offset)
{
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		*ret_register = op->atom - DW_OP_breg0;
		*ret_offset = (int64_t)op->number;
		return true;
	}
	*ret_register = op->number;
	*ret_offset = (int64_t)op->number2;
	return op->atom == DW_OP_bregx;
}

static bool dwarf_place_named(const Dwarf_Op *op, uint64_t *ret_register)
{
	if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31) {
		*ret_register = (uint64_t)(op->atom - DW_OP_reg0);
		return true;
	}
	*ret_register = op->number;
	return op->atom == DW_OP_regx;
}

/* Finds the frame's address (CFA) in the unwind tables, as a register and an offset. */
static bool frame_address(struct wm_elf_vars *v, uint64_t address, uint64_t *ret_register,
			  int64_t *ret_offset)
{
	Dwarf_CFI *const tables[] = {v->eh_cfi, dwarf_getcfi(v->file.dwarf)};
	bool found = false;

	for (size_t i = 0; i < 2 && !found; i++) {
		Dwarf_Frame *frame = NULL;
		Dwarf_Op *ops;
		size_t nr;

		if (!tables[i] || dwarf_cfi_addrframe(tables[i], address, &frame) != 0)
			continue;
		found = dwarf_frame_cfa(frame, &ops, &nr) == 0 && nr == 1 &&
			based(&ops[0], ret_register, ret_offset);
		free(frame);
	}
	return found;
}

/* Finds the base to which DW_OP_fbreg adds its offset. */
static bool frame_base(struct wm_elf_vars *v, Dwarf_Die *function, uint64_t address,
		       uint64_t *ret_register, int64_t *ret_offset)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	size_t nr;

	if (!dwarf_attr_integrate(function, DW_AT_frame_base, &attribute) ||
	    dwarf_getlocation_addr(&attribute, address, &ops, &nr, 1) != 1 || nr != 1)
		return false;
	if (ops[0].atom == DW_OP_call_frame_cfa)
		return frame_address(v, address, ret_register, ret_offset);
	*ret_offset = 0;
	return dwarf_place_named(&ops[0], ret_register) || based(&ops[0], ret_register, ret_offset);
}

static int dwarf_place_memory(struct wm_elf_value *ret, uint64_t number, int64_t offset)
{
	ret->base = WM_ELF_VALUE_REGISTER;
	ret->number = number;
	ret->nr_steps = 1;
	ret->offset[0] = offset;
	return 0;
}

/* Decodes a constant in the expression itself: DW_OP_lit5, DW_OP_const1u and the like. */
static bool dwarf_place_constant(const Dwarf_Op *op, uint64_t *ret)
{
	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31) {
		*ret = op->atom - DW_OP_lit0;
		return true;
	}
	*ret = op->number;
	return op->atom >= DW_OP_const1u && op->atom <= DW_OP_consts;
}

static int by_expression(struct wm_elf_vars *v, const Dwarf_Op *ops, size_t nr, Dwarf_Die *function,
			 uint64_t address, struct wm_elf_value *ret, const char **why)
{
	uint64_t number;
	int64_t offset;

	*why = out;
	if (nr == 2 && ops[1].atom == DW_OP_stack_value && dwarf_place_constant(&ops[0], &number)) {
		ret->base = WM_ELF_VALUE_CONSTANT;
		ret->number = number;
		return 0;
	}
	/*
	 * A pointer variable that was optimized out, except for its target: the register still has
	 * the value.
	 */
	if (nr == 2 && ops[1].atom == DW_OP_stack_value && based(&ops[0], &number, &offset) &&
	    !offset) {
		ret->number = number;
		return 0;
	}
	if (nr != 1)
		return -EOPNOTSUPP;
	if (dwarf_place_named(&ops[0], &number)) {
		ret->number = number;
		return 0;
	}
	if (based(&ops[0], &number, &offset))
		return dwarf_place_memory(ret, number, offset);
	if (ops[0].atom == DW_OP_fbreg && function &&
	    frame_base(v, function, address, &number, &offset))
		return dwarf_place_memory(ret, number, offset + (int64_t)ops[0].number);
	if (ops[0].atom != DW_OP_addr)
		return -EOPNOTSUPP;
	ret->base = WM_ELF_VALUE_ADDRESS;
	ret->number = ops[0].number;
	ret->nr_steps = 1;
	return 0;
}

int wm_dwarf_place(struct wm_elf_vars *v, Dwarf_Die *variable, Dwarf_Die *function,
		   uint64_t address, struct wm_elf_value *ret, const char **why)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;
	Dwarf_Op *ops;
	size_t nr;

	*ret = (struct wm_elf_value){.base = WM_ELF_VALUE_REGISTER};
	*why = out;
	if (dwarf_attr_integrate(variable, DW_AT_const_value, &attribute) &&
	    dwarf_formudata(&attribute, &value) == 0) {
		ret->base = WM_ELF_VALUE_CONSTANT;
		ret->number = value;
		return 0;
	}
	if (!dwarf_attr_integrate(variable, DW_AT_location, &attribute) ||
	    dwarf_getlocation_addr(&attribute, address, &ops, &nr, 1) != 1)
		return -EOPNOTSUPP;
	return by_expression(v, ops, nr, function, address, ret, why);
}
