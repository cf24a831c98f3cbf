/* SPDX-License-Identifier: MIT */
/* disassemble.c - see disassemble.h. */
#include "elf/disassemble.h"

#include <capstone/capstone.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>

/* False: a machine we do not know. */
static bool choose(uint16_t machine, cs_arch *arch, cs_mode *mode)
{
	static const struct {
		uint16_t machine;
		cs_arch arch;
		cs_mode mode;
	} table[] = {
	    {EM_X86_64, CS_ARCH_X86, CS_MODE_64},
	    {EM_386, CS_ARCH_X86, CS_MODE_32},
	    {EM_AARCH64, CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN},
	    {EM_ARM, CS_ARCH_ARM, CS_MODE_ARM},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (table[i].machine == machine) {
			*arch = table[i].arch;
			*mode = table[i].mode;
			return true;
		}
	return false;
}

/* Where a direct jump or call goes. */
static bool target_of(csh handle, const cs_insn *i, cs_arch arch, uint64_t *ret)
{
	const cs_detail *d = i->detail;

	if (!cs_insn_group(handle, i, CS_GRP_JUMP) && !cs_insn_group(handle, i, CS_GRP_CALL) &&
	    !cs_insn_group(handle, i, CS_GRP_BRANCH_RELATIVE))
		return false;
	if (arch == CS_ARCH_X86 && d->x86.op_count == 1 && d->x86.operands[0].type == X86_OP_IMM) {
		*ret = (uint64_t)d->x86.operands[0].imm;
		return true;
	}
	for (int k = 0; arch == CS_ARCH_ARM64 && k < d->arm64.op_count; k++)
		if (d->arm64.operands[k].type == ARM64_OP_IMM) {
			*ret = (uint64_t)d->arm64.operands[k].imm;
			return true;
		}
	return false;
}

/* A byte that begins no instruction. */
static int put_byte(const unsigned char **code, size_t *bytes, uint64_t *address,
		    int (*fn)(const struct wm_disassembled *i, void *data), void *data)
{
	char text[8];
	struct wm_disassembled d = {
	    .address = *address, .bytes = 1, .name = ".byte", .operands = text};

	(void)snprintf(text, sizeof(text), "0x%02x", **code);
	++*code;
	--*bytes;
	++*address;
	return fn(&d, data);
}

static int walk(csh handle, cs_insn *i, cs_arch arch, const unsigned char *code, size_t bytes,
		uint64_t address, int (*fn)(const struct wm_disassembled *i, void *data),
		void *data)
{
	int err = 0;

	while (bytes && !err) {
		struct wm_disassembled d = {0};

		if (!cs_disasm_iter(handle, &code, &bytes, &address, i)) {
			err = put_byte(&code, &bytes, &address, fn, data);
			continue;
		}
		d.address = i->address;
		d.bytes = i->size;
		d.name = i->mnemonic;
		d.operands = i->op_str;
		d.has_target = target_of(handle, i, arch, &d.target);
		err = fn(&d, data);
	}
	return err;
}

int wm_disassemble(uint16_t machine, const unsigned char *code, size_t bytes, uint64_t address,
		   int (*fn)(const struct wm_disassembled *i, void *data), void *data)
{
	cs_arch arch;
	cs_mode mode;
	csh handle;
	cs_insn *i;
	int err = -ENOMEM;

	if (!choose(machine, &arch, &mode) || cs_open(arch, mode, &handle) != CS_ERR_OK)
		return -ENOTSUP;
	(void)cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
	if (arch == CS_ARCH_X86)
		(void)cs_option(handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
	i = cs_malloc(handle);
	if (i)
		err = walk(handle, i, arch, code, bytes, address, fn, data);
	cs_free(i, i ? 1 : 0);
	(void)cs_close(&handle);
	return err;
}
