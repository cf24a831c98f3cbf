/* SPDX-License-Identifier: MIT */
/*
 * usdt_operand.h - translates a USDT probe's operands, such as "-4@%edi 8@-8(%rbp) 4@$7", to values
 * that the kernel can fetch. The compiler chooses where an operand is, so each place of one probe
 * may have different operands, and the kernel cannot fetch some: vector registers, indexed memory,
 * thread-local variables.
 */
#ifndef WM_KERNEL_PROBES_USDT_OPERAND_H
#define WM_KERNEL_PROBES_USDT_OPERAND_H

#include "elf/elf_symbols.h"
#include "elf/usdt.h"
#include "kernel/probes/probe_args.h"

struct wm_usdt_site {
	const struct wm_elf *elf;
	const struct wm_elf_symbols *symbols; /* the file's symbols, for operands that name one */
	/* The probe's address in memory, and its offset in the file. */
	uint64_t address, offset;
	const char *operands;
};

/*
 * Finds operand `nr`, counted from 0. Returns -ENOENT if there is none; -EOPNOTSUPP with the reason
 * in `diag`: "argument 3 (8f@%xmm0) is in a register ...".
 */
int wm_usdt_operand(const struct wm_usdt_site *site, unsigned nr, struct wm_probe_value *ret,
		    struct wm_diag *diag);

#endif
