/* SPDX-License-Identifier: MIT */
/* disassemble_att_int.h - names of x86 instructions in objdump's notation. */
#ifndef WM_ELF_DISASSEMBLE_ATT_INT_H
#define WM_ELF_DISASSEMBLE_ATT_INT_H

#include <Zydis/Zydis.h>
#include <stddef.h>

/*
 * Writes the name, without prefixes: Zydis spells conditions and conversions differently, and has
 * its own rules for the letter that gives a memory operand's size.
 */
void wm_disassemble_att_name(const ZydisDecodedInstruction *i, const ZydisDecodedOperand *operands,
			     char *ret, size_t bytes);

#endif
