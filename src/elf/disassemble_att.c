/* SPDX-License-Identifier: MIT */
/* disassemble_att.c - see disassemble_att_int.h. */
#include "elf/disassemble_att_int.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LENGTH(table) (sizeof(table) / sizeof((table)[0]))

struct pair {
	const char *zydis, *objdump;
};

static const char *objdump_of(const struct pair *table, size_t nr, const char *zydis)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(table[i].zydis, zydis))
			return table[i].objdump;
	return NULL;
}

static bool is_one_of(const char *const *table, size_t nr, const char *name)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(table[i], name))
			return true;
	return false;
}

/* The name after j, set or cmov with another spelling of the condition; NULL: same spelling. */
static const char *condition_of(const char *name, size_t *ret_head)
{
	static const struct pair table[] = {{"z", "e"},   {"nz", "ne"}, {"nb", "ae"},
					    {"nbe", "a"}, {"nl", "ge"}, {"nle", "g"}};
	static const char *const heads[] = {"j", "set", "cmov"};

	for (size_t i = 0; i < LENGTH(heads); i++) {
		*ret_head = strlen(heads[i]);
		if (!strncmp(name, heads[i], *ret_head))
			return objdump_of(table, LENGTH(table), name + *ret_head);
	}
	return NULL;
}

static char letter_of(uint16_t bits)
{
	return bits == 8 ? 'b' : bits == 16 ? 'w' : bits == 32 ? 'l' : 'q';
}

static char float_letter_of(uint16_t bits)
{
	return bits == 32 ? 's' : bits == 64 ? 'l' : 't';
}

/* Returns the memory operand, if no register implies its size; NULL: there is none. */
static const ZydisDecodedOperand *sizeless(const ZydisDecodedInstruction *i,
					   const ZydisDecodedOperand *operands, bool counts_by_cl)
{
	const ZydisDecodedOperand *memory = NULL;

	for (uint8_t k = 0; k < i->operand_count_visible; k++) {
		if (operands[k].type == ZYDIS_OPERAND_TYPE_MEMORY)
			memory = &operands[k];
		else if (operands[k].type == ZYDIS_OPERAND_TYPE_REGISTER && !counts_by_cl)
			return NULL;
	}
	return memory;
}

void wm_disassemble_att_name(const ZydisDecodedInstruction *i, const ZydisDecodedOperand *operands,
			     char *ret, size_t bytes)
{
	static const struct pair renamed[] = {{"cbw", "cbtw"},  {"cwde", "cwtl"}, {"cdqe", "cltq"},
					      {"cwd", "cwtd"},  {"cdq", "cltd"},  {"cqo", "cqto"},
					      {"iretd", "iret"}};
	static const char *const shifts[] = {"shl", "shr", "sar", "rol", "ror", "rcl", "rcr"};
	static const char *const sized[] = {"add", "sub",  "and", "or",   "xor",  "adc",  "sbb",
					    "cmp", "test", "mov", "inc",  "dec",  "neg",  "not",
					    "mul", "div",  "nop", "idiv", "imul", "push", "pop"};
	static const char *const floats[] = {"fld",  "fst",  "fstp",  "fadd",  "fmul", "fsub",
					     "fdiv", "fcom", "fsubr", "fcomp", "fdivr"};
	const char *name = ZydisMnemonicGetString(i->mnemonic), *other;
	bool is_shift = is_one_of(shifts, LENGTH(shifts), name);
	const ZydisDecodedOperand *memory = sizeless(i, operands, is_shift);
	size_t head;

	if ((other = objdump_of(renamed, LENGTH(renamed), name)))
		(void)snprintf(ret, bytes, "%s", other);
	else if ((other = condition_of(name, &head)))
		(void)snprintf(ret, bytes, "%.*s%s", (int)head, name, other);
	else if (!strcmp(name, "movzx") || !strncmp(name, "movsx", 5))
		(void)snprintf(ret, bytes, "%.4s%c%c", name, letter_of(operands[1].size),
			       letter_of(operands[0].size));
	else if (!strcmp(name, "mov") && operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
		 i->raw.imm[0].size == 64)
		(void)snprintf(ret, bytes, "movabs");
	else if (memory && (is_shift || is_one_of(sized, LENGTH(sized), name)))
		(void)snprintf(ret, bytes, "%s%c", name, letter_of(memory->size));
	else if (memory && is_one_of(floats, LENGTH(floats), name))
		(void)snprintf(ret, bytes, "%s%c", name, float_letter_of(memory->size));
	else
		(void)snprintf(ret, bytes, "%s", name);
}
