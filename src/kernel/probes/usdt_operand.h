/* SPDX-License-Identifier: MIT */
/*
 * usdt_operand.h - the operands of a USDT probe, "-4@%edi 8@-8(%rbp) 4@$7", as
 * what the kernel can fetch. An operand is whatever the compiler had at hand,
 * so each place of one probe may have others, and some are beyond the kernel's
 * reach: vector registers, indexed memory, thread-local variables.
 */
#ifndef WM_KERNEL_PROBES_USDT_OPERAND_H
#define WM_KERNEL_PROBES_USDT_OPERAND_H

#include "elf/elf_symbols.h"
#include "elf/usdt.h"
#include "kernel/probes/probe_args.h"

struct wm_usdt_site {
	const struct wm_elf *elf;
	const struct wm_elf_symbols *symbols; /* of the file, for operands that name one */
	uint64_t address, offset;             /* of the probe, in memory and in the file */
	const char *operands;
};

/*
 * The operand of that number (from 0). -ENOENT: there is none; -EOPNOTSUPP
 * with the reason in `diag`: "argument 3 (8f@%xmm0) is in a register ...".
 */
int wm_usdt_operand(const struct wm_usdt_site *site, unsigned nr, struct wm_probe_value *ret,
		    struct wm_diag *diag);

#endif
