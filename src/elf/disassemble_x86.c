/* SPDX-License-Identifier: MIT */
/*
 * disassemble_x86.c - disassembles x86 code with Zydis, which knows the newest instructions, such
 * as AVX-512 in libc's string functions.
 */
#include <Zydis/Zydis.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "elf/disassemble_att_int.h"
#include "elf/disassemble_int.h"

#define TEXT_BYTES 256u
#define NAME_BYTES 64u

/*
 * Returns the operands in "rep stosb (%rdi)": the words before the instruction's name, to which
 * Zydis may add a letter, are `ret_prefixes` bytes.
 */
static const char *operands_of(const char *text, const char *name, int *ret_prefixes)
{
	const char *at = strstr(text, name);

	*ret_prefixes = at ? (int)(at - text) : 0;
	at = at ? strchr(at, ' ') : NULL;
	return at ? at + 1 : "";
}

/* Finds the target of a direct jump or call. */
static bool x86_target_of(const ZydisDecodedInstruction *i, const ZydisDecodedOperand *operands,
			  uint64_t address, uint64_t *ret)
{
	return i->operand_count_visible && operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
	       operands[0].imm.is_relative &&
	       ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(i, &operands[0], address, ret));
}

struct texts {
	char name[NAME_BYTES], operands[TEXT_BYTES];
};

/* Splits an instruction's text and spells it as objdump does. */
static void x86_texts(const ZydisDecodedInstruction *i, const ZydisDecodedOperand *operands,
		      const char *text, struct texts *ret)
{
	const char *name = ZydisMnemonicGetString(i->mnemonic), *rest;
	bool is_jump = i->mnemonic == ZYDIS_MNEMONIC_CALL || i->mnemonic == ZYDIS_MNEMONIC_JMP;
	char spelt[NAME_BYTES];
	int prefixes;

	rest = operands_of(text, name, &prefixes);
	wm_disassemble_att_name(i, operands, spelt, sizeof(spelt));
	(void)snprintf(ret->name, sizeof(ret->name), "%.*s%.20s", prefixes < 40 ? prefixes : 0,
		       text, spelt);
	(void)snprintf(ret->operands, sizeof(ret->operands), "%s%.250s",
		       is_jump && operands[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE ? "*" : "",
		       rest);
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
	struct texts texts;
	char text[TEXT_BYTES];
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
		x86_texts(&i, operands, text, &texts);
		out.name = texts.name;
		out.operands = texts.operands;
		out.has_target = x86_target_of(&i, operands, out.address, &out.target);
		err = d->fn(&out, d->data);
	}
	return err;
}
