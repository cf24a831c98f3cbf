/* SPDX-License-Identifier: MIT */
/*
 * disassemble.c - see disassemble.h. Capstone disassembles everything except x86 code. It is loaded
 * when first needed: it supports many machines, with tables of 80,000 pointers that the loader must
 * relocate, so linking it would delay the start of every command by a millisecond.
 */
#include <capstone/capstone.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "elf/disassemble_int.h"

#define TEXT_(x) #x
#define TEXT(x)  TEXT_(x)
#define LIBRARY  "libcapstone.so." TEXT(CS_API_MAJOR)

/* Capstone's functions, with their own names and types. */
struct capstone {
	__typeof__(&cs_open) open;
	__typeof__(&cs_option) option;
	__typeof__(&cs_malloc) malloc;
	__typeof__(&cs_disasm_iter) disasm_iter;
	__typeof__(&cs_insn_group) insn_group;
	__typeof__(&cs_free) free;
	__typeof__(&cs_close) close;
};

/*
 * Loads the library, which stays loaded, so further calls cost nothing. Returns false if it is not
 * installed.
 */
static bool disassemble_load(struct capstone *cs)
{
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	const struct {
		const char *name;
		void *to;
	} table[] = {
	    {"cs_open", &cs->open},
	    {"cs_option", &cs->option},
	    {"cs_malloc", &cs->malloc},
	    {"cs_disasm_iter", &cs->disasm_iter},
	    {"cs_insn_group", &cs->insn_group},
	    {"cs_free", &cs->free},
	    {"cs_close", &cs->close},
	};

	for (size_t i = 0; library && i < sizeof(table) / sizeof(table[0]); i++) {
		void *function = dlsym(library, table[i].name);

		if (!function)
			return false;
		memcpy(table[i].to, &function, sizeof(function));
	}
	return library != NULL;
}

/* State of disassemble_walk(), which takes one instruction at a time. */
struct walker {
	struct capstone cs;
	cs_arch arch;
	csh handle;
	cs_insn *insn;
};

/* Chooses Capstone's architecture and mode; returns false for an unsupported machine. */
static bool disassemble_choose(uint16_t machine, cs_arch *arch, cs_mode *mode)
{
	static const struct {
		uint16_t machine;
		cs_arch arch;
		cs_mode mode;
	} table[] = {
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

/* Finds the target of a direct jump or call. */
static bool target_of(const struct walker *w, uint64_t *ret)
{
	const cs_detail *d = w->insn->detail;

	if (!w->cs.insn_group(w->handle, w->insn, CS_GRP_JUMP) &&
	    !w->cs.insn_group(w->handle, w->insn, CS_GRP_CALL) &&
	    !w->cs.insn_group(w->handle, w->insn, CS_GRP_BRANCH_RELATIVE))
		return false;
	for (int k = 0; w->arch == CS_ARCH_ARM64 && k < d->arm64.op_count; k++)
		if (d->arm64.operands[k].type == ARM64_OP_IMM) {
			*ret = (uint64_t)d->arm64.operands[k].imm;
			return true;
		}
	return false;
}

int wm_disassemble_byte(const struct wm_disassembling *d, size_t at)
{
	char text[8];
	struct wm_disassembled out = {
	    .address = d->address + at, .bytes = 1, .name = ".byte", .operands = text};

	(void)snprintf(text, sizeof(text), "0x%02x", d->code[at]);
	return d->fn(&out, d->data);
}

static int disassemble_walk(const struct walker *w, const struct wm_disassembling *d)
{
	const unsigned char *code = d->code;
	uint64_t address = d->address;
	size_t bytes = d->bytes;
	int err = 0;

	while (bytes && !err) {
		struct wm_disassembled out = {0};

		if (!w->cs.disasm_iter(w->handle, &code, &bytes, &address, w->insn)) {
			err = wm_disassemble_byte(d, (size_t)(code - d->code));
			code++;
			address++;
			bytes--;
			continue;
		}
		out.address = w->insn->address;
		out.bytes = w->insn->size;
		out.name = w->insn->mnemonic;
		out.operands = w->insn->op_str;
		out.has_target = target_of(w, &out.target);
		err = d->fn(&out, d->data);
	}
	return err;
}

static int disassemble_others(const struct wm_disassembling *d, uint16_t machine)
{
	struct walker w = {0};
	cs_mode mode;
	int err = -ENOMEM;

	if (!disassemble_choose(machine, &w.arch, &mode))
		return -ENOTSUP;
	if (!disassemble_load(&w.cs))
		return -ELIBACC;
	if (w.cs.open(w.arch, mode, &w.handle) != CS_ERR_OK)
		return -ENOTSUP;
	(void)w.cs.option(w.handle, CS_OPT_DETAIL, CS_OPT_ON);
	w.insn = w.cs.malloc(w.handle);
	if (w.insn) {
		err = disassemble_walk(&w, d);
		w.cs.free(w.insn, 1);
	}
	(void)w.cs.close(&w.handle);
	return err;
}

int wm_disassemble(uint16_t machine, const unsigned char *code, size_t bytes, uint64_t address,
		   int (*fn)(const struct wm_disassembled *i, void *data), void *data)
{
	const struct wm_disassembling d = {code, bytes, address, fn, data};

	if (machine == EM_X86_64 || machine == EM_386)
		return wm_disassemble_x86(&d, machine == EM_386);
	return disassemble_others(&d, machine);
}
