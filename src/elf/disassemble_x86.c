/* SPDX-License-Identifier: MIT */
/*
 * disassemble_x86.c - disassembles code of x86 by Zydis, which knows its newest
 * instructions, such as those of AVX-512 in libc's functions for strings.
 */
#include <Zydis/Zydis.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "elf/disassemble_int.h"

#define TEXT_BYTES 256u
#define NAME_BYTES 32u

/* Words before an instruction's name. */
static const char *const prefixes[] = {"lock",  "rep", "repe",     "repne",    "repz",
				       "repnz", "bnd", "xacquire", "xrelease", "notrack"};

/* Cuts "rep stosb (%rdi)" into the name with its prefixes and the operands, which it returns. */
static const char *cut_operands(char *text)
{
	char *space = strchr(text, ' ');

	for (size_t i = 0; space && i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (strlen(prefixes[i]) == (size_t)(space - text) &&
		    !memcmp(prefixes[i], text, (size_t)(space - text))) {
			space += 1 + strcspn(space + 1, " ");
			break;
		}
	if (!space || !*space)
		return "";
	*space = '\0';
	return space + 1;
}

/* Names of conditions that Zydis and objdump spell differently. */
static const struct {
	const char *zydis, *objdump;
} conditions[] = {{"z", "e"}, {"nz", "ne"}, {"nb", "ae"}, {"nbe", "a"}, {"nl", "ge"}, {"nle", "g"}};

static bool rename_condition(const char *head, const char *condition, size_t bytes, char *ret)
{
	for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++)
		if (strlen(conditions[i].zydis) == bytes &&
		    !memcmp(conditions[i].zydis, condition, bytes)) {
			(void)snprintf(ret, NAME_BYTES, "%s%s%s", head, conditions[i].objdump,
				       condition + bytes);
			return true;
		}
	return false;
}

/* Returns the name as objdump spells it: "jne" for "jnz", "cmovgel" for "cmovnll"; uses `room`. */
static const char *objdump_name(const char *name, char *room)
{
	static const char *const heads[] = {"j", "set", "cmov"};
	size_t bytes = strlen(name);

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]) && bytes < NAME_BYTES - 4; i++) {
		size_t head = strlen(heads[i]), rest = bytes - head;

		if (strncmp(name, heads[i], head) != 0 || bytes <= head)
			continue;
		if (rename_condition(heads[i], name + head, rest, room) ||
		    (strchr("bwlq", name[bytes - 1]) &&
		     rename_condition(heads[i], name + head, rest - 1, room)))
			return room;
	}
	return name;
}

/* Finds the target of a direct jump or call. */
static bool x86_target_of(const ZydisDecodedInstruction *i, const ZydisDecodedOperand *operands,
			  uint64_t address, uint64_t *ret)
{
	return i->operand_count_visible && operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
	       operands[0].imm.is_relative &&
	       ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(i, &operands[0], address, ret));
}

static int x86_init(ZydisDecoder *decoder, ZydisFormatter *formatter, bool narrow)
{
	static const struct {
		ZydisFormatterProperty property;
		ZyanUPointer value;
	} properties[] = {
	    {ZYDIS_FORMATTER_PROP_FORCE_RELATIVE_RIPREL, ZYAN_TRUE},
	    {ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE},
	    {ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE, ZYDIS_PADDING_DISABLED},
	    {ZYDIS_FORMATTER_PROP_ADDR_PADDING_RELATIVE, ZYDIS_PADDING_DISABLED},
	    {ZYDIS_FORMATTER_PROP_DISP_PADDING, ZYDIS_PADDING_DISABLED},
	    {ZYDIS_FORMATTER_PROP_IMM_PADDING, ZYDIS_PADDING_DISABLED},
	};

	if (!ZYAN_SUCCESS(ZydisDecoderInit(
		decoder, narrow ? ZYDIS_MACHINE_MODE_LEGACY_32 : ZYDIS_MACHINE_MODE_LONG_64,
		narrow ? ZYDIS_STACK_WIDTH_32 : ZYDIS_STACK_WIDTH_64)) ||
	    !ZYAN_SUCCESS(ZydisFormatterInit(formatter, ZYDIS_FORMATTER_STYLE_ATT)))
		return -ENOTSUP;
	for (size_t i = 0; i < sizeof(properties) / sizeof(properties[0]); i++)
		if (!ZYAN_SUCCESS(ZydisFormatterSetProperty(formatter, properties[i].property,
							    properties[i].value)))
			return -ENOTSUP;
	return 0;
}

int wm_disassemble_x86(const struct wm_disassembling *d, bool narrow)
{
	ZydisDecoder decoder;
	ZydisFormatter formatter;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction i;
	char text[TEXT_BYTES], name[NAME_BYTES];
	int err = 0;

	if (x86_init(&decoder, &formatter, narrow))
		return -ENOTSUP;
	for (size_t at = 0; at < d->bytes && !err; at += i.length) {
		struct wm_disassembled out = {.address = d->address + at};

		if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, d->code + at, d->bytes - at, &i,
							 operands)) ||
		    !ZYAN_SUCCESS(ZydisFormatterFormatInstruction(
			&formatter, &i, operands, i.operand_count_visible, text, sizeof(text),
			out.address, NULL))) {
			i.length = 1;
			err = wm_disassemble_byte(d, at);
			continue;
		}
		out.bytes = i.length;
		out.operands = cut_operands(text);
		out.name = objdump_name(text, name);
		out.has_target = x86_target_of(&i, operands, out.address, &out.target);
		err = d->fn(&out, d->data);
	}
	return err;
}
