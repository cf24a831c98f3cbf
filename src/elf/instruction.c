/* SPDX-License-Identifier: MIT */
/* instruction.c - see instruction.h. */
#include "elf/instruction.h"

#include <errno.h>
#include <stdlib.h>

#if defined(__x86_64__)

#include <Zydis/Zydis.h>

/* Decodes [code, code + bytes) up to offset `until`. */
static int instruction_walk(bool narrow, const uint8_t *code, uint64_t bytes, uint64_t until,
			    uint64_t *ret_begin)
{
	ZydisDecoder decoder;
	ZydisDecodedInstruction instruction;
	uint64_t at = 0;

	if (!ZYAN_SUCCESS(ZydisDecoderInit(
		&decoder, narrow ? ZYDIS_MACHINE_MODE_LEGACY_32 : ZYDIS_MACHINE_MODE_LONG_64,
		narrow ? ZYDIS_STACK_WIDTH_32 : ZYDIS_STACK_WIDTH_64)))
		return -EINVAL;
	while (at < until) {
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, code + at,
								bytes - at, &instruction)))
			return -EILSEQ;
		*ret_begin = at;
		at += instruction.length;
	}
	return at == until;
}

int wm_elf_instruction_begins(const struct wm_elf *e, uint64_t start, uint64_t address,
			      uint64_t *ret_begin)
{
	uint64_t bytes = address - start, whole, offset, begin = 0;
	void *code;
	int err;

	if (address < start || bytes > WM_INSTRUCTION_FUNCTION_MAX)
		return -ERANGE;
	/* The last instruction before the address may extend beyond it. */
	whole = bytes + ZYDIS_MAX_INSTRUCTION_LENGTH;
	while (whole > bytes && wm_elf_offset(e, start, whole, &offset) < 0)
		whole--;
	if (whole == bytes)
		return -ENOENT;
	err = wm_elf_read_new(e, offset, whole, WM_INSTRUCTION_FUNCTION_MAX + 64, &code, NULL);
	if (err < 0)
		return err;
	err = instruction_walk(e->machine == EM_386, code, whole, bytes, &begin);
	free(code);
	if (err == 0)
		*ret_begin = start + begin;
	return err;
}

#else

int wm_elf_instruction_begins(const struct wm_elf *e, uint64_t start, uint64_t address,
			      uint64_t *ret_begin)
{
	(void)e;
	(void)start;
	*ret_begin = address & ~(uint64_t)3;
	return *ret_begin == address;
}

#endif
