/* SPDX-License-Identifier: MIT */
/*
 * dwarf_place.c - the location of a variable according to DWARF: a register, memory at an offset
 * from a register or the frame, an address, a constant. A probe cannot read more complex
 * expressions. See elf_vars.h.
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

static const char not_stored[] =
    "the function has not stored it yet at this address: probe its first "
    "instruction for parameters, or a line of its body";

/*
 * The address where the function's body begins: its frame is set up and its parameters are stored.
 * clang marks that row of the line table; in gcc's it is the second.
 */
static uint64_t place_body_of(struct wm_elf_vars *v, Dwarf_Die *function, uint64_t entry)
{
	uint64_t marked = UINT64_MAX, second = UINT64_MAX;
	Dwarf_Lines *rows;
	size_t nr;

	if (!wm_dwarf_file_unit(&v->file, entry) ||
	    dwarf_getsrclines(&v->file.last, &rows, &nr) != 0)
		return entry;
	for (size_t i = 0; i < nr; i++) {
		Dwarf_Line *row = dwarf_onesrcline(rows, i);
		bool begins = false, end = false;
		Dwarf_Addr at;

		if (dwarf_lineaddr(row, &at) != 0 || at < entry || dwarf_haspc(function, at) != 1 ||
		    dwarf_lineendsequence(row, &end) != 0 || end)
			continue;
		if (dwarf_lineprologueend(row, &begins) == 0 && begins && at < marked)
			marked = at;
		if (at > entry && at < second)
			second = at;
	}
	return marked != UINT64_MAX ? marked : second != UINT64_MAX ? second : entry;
}

/* Whether the frame at an address is where it is in the function's body. */
static bool is_same_frame(struct wm_elf_vars *v, uint64_t body, uint64_t address)
{
	uint64_t one = 0, other = 0;
	int64_t one_offset = 0, other_offset = 0;

	return address == body || !frame_address(v, body, &one, &one_offset) ||
	       (frame_address(v, address, &other, &other_offset) && one == other &&
		one_offset == other_offset);
}

/*
 * Finds the base to which DW_OP_fbreg adds its offset. `ret_is_cfa`: it is the frame's address,
 * above which is what the caller has stored; the unwind tables give it for every address.
 */
static bool frame_base(struct wm_elf_vars *v, Dwarf_Die *function, uint64_t address,
		       uint64_t *ret_register, int64_t *ret_offset, bool *ret_is_cfa)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	size_t nr;

	*ret_is_cfa = false;
	if (!dwarf_attr_integrate(function, DW_AT_frame_base, &attribute) ||
	    dwarf_getlocation_addr(&attribute, address, &ops, &nr, 1) != 1 || nr != 1)
		return false;
	*ret_is_cfa = ops[0].atom == DW_OP_call_frame_cfa;
	if (*ret_is_cfa)
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

/*
 * Whether an offset from the body's frame base register points above the frame, to what the caller
 * has stored; if so, finds that place at any address.
 */
static bool is_above_frame(struct wm_elf_vars *v, uint64_t body, uint64_t address, uint64_t number,
			   int64_t offset, struct wm_elf_value *ret)
{
	uint64_t at_body, here;
	int64_t body_offset, here_offset;

	if (!frame_address(v, body, &at_body, &body_offset) || at_body != number ||
	    offset < body_offset || !frame_address(v, address, &here, &here_offset))
		return false;
	return dwarf_place_memory(ret, here, here_offset + offset - body_offset) == 0;
}

/*
 * Finds memory at an offset from the frame's base. When the location is the same for the whole
 * function (`always`), it may not hold at the beginning and end, where the frame is set up and torn
 * down.
 */
static int by_frame(struct wm_elf_vars *v, Dwarf_Die *function, uint64_t address, int64_t at,
		    bool always, struct wm_elf_value *ret, const char **why)
{
	Dwarf_Addr entry;
	uint64_t number, body;
	int64_t offset;
	bool is_cfa;

	if (!function || !frame_base(v, function, address, &number, &offset, &is_cfa))
		return -EOPNOTSUPP;
	if (always && !(is_cfa && at >= 0) && dwarf_entrypc(function, &entry) == 0) {
		body = place_body_of(v, function, entry);
		if (!is_cfa && is_above_frame(v, body, address, number, offset + at, ret))
			return 0;
		*why = not_stored;
		if (address >= entry && address < body)
			return -EAGAIN;
		*why = "the function's frame is not set up at this address";
		if (!is_cfa && !is_same_frame(v, body, address))
			return -EAGAIN;
	}
	return dwarf_place_memory(ret, number, offset + at);
}

static bool has_pieces(const Dwarf_Op *ops, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (ops[i].atom == DW_OP_piece || ops[i].atom == DW_OP_bit_piece)
			return true;
	return false;
}

/* Whether a location is one expression for all addresses, not a list by address. */
static bool is_always(Dwarf_Attribute *location)
{
	switch (dwarf_whatform(location)) {
	case DW_FORM_exprloc:
	case DW_FORM_block:
	case DW_FORM_block1:
	case DW_FORM_block2:
	case DW_FORM_block4:
		return true;
	default:
		return false;
	}
}

static int by_address(Dwarf_Attribute *location, const Dwarf_Op *op, struct wm_elf_value *ret)
{
	Dwarf_Attribute indexed;
	Dwarf_Addr address = op->number;

	if (op->atom != DW_OP_addr && (dwarf_getlocation_attr(location, op, &indexed) != 0 ||
				       dwarf_formaddr(&indexed, &address) != 0))
		return -EOPNOTSUPP;
	ret->base = WM_ELF_VALUE_ADDRESS;
	ret->number = address;
	ret->nr_steps = 1;
	return 0;
}

static int by_expression(struct wm_elf_vars *v, Dwarf_Attribute *location, const Dwarf_Op *ops,
			 size_t nr, Dwarf_Die *function, uint64_t address, struct wm_elf_value *ret,
			 const char **why)
{
	bool always = is_always(location);
	uint64_t number;
	int64_t offset;

	*why = has_pieces(ops, nr) ? "it is in several pieces, of which a probe reads one" : out;
	if (nr == 2 && ops[1].atom == DW_OP_stack_value && dwarf_place_constant(&ops[0], &number)) {
		ret->base = WM_ELF_VALUE_CONSTANT;
		ret->number = number;
		return 0;
	}
	/*
	 * A pointer variable that was optimized out, except for its target: the register still
	 * holds the value.
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
	if (ops[0].atom == DW_OP_fbreg)
		return by_frame(v, function, address, (int64_t)ops[0].number, always, ret, why);
	if (ops[0].atom == DW_OP_addr || ops[0].atom == DW_OP_addrx ||
	    ops[0].atom == DW_OP_GNU_addr_index)
		return by_address(location, &ops[0], ret);
	return -EOPNOTSUPP;
}

/*
 * gcc emits locations with empty ranges, which are valid just before the instruction at their
 * address, where a probe is, and no longer after it.
 */
static bool location_before(Dwarf_Attribute *location, uint64_t address, Dwarf_Op **ret_ops,
			    size_t *ret_nr)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_getlocations(location, at, &base, &start, &end, ret_ops, ret_nr)) > 0)
		if (start == address && end == address)
			return true;
	return false;
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
	    (dwarf_getlocation_addr(&attribute, address, &ops, &nr, 1) != 1 &&
	     !location_before(&attribute, address, &ops, &nr)))
		return -EOPNOTSUPP;
	return by_expression(v, &attribute, ops, nr, function, address, ret, why);
}
