/* SPDX-License-Identifier: MIT */
/*
 * usdt_operand.h - translates the operands of a USDT probe, such as "-4@%edi 8@-8(%rbp) 4@$7", to
 * values that the kernel can fetch. The compiler chooses an operand's location, so each place of
 * one probe may have different ones, and the kernel cannot fetch some: vector registers, indexed
 * memory, thread-local variables.
 */
#ifndef WM_KERNEL_PROBES_USDT_OPERAND_H
#define WM_KERNEL_PROBES_USDT_OPERAND_H

#include "elf/elf_symbols.h"
#include "elf/usdt.h"
#include "kernel/probes/probe_args.h"

struct wm_usdt_site {
	const struct wm_elf *elf;
	const struct wm_elf_symbols *symbols; /* symbols of the file, for operands that name one */
	/* Address of the probe in memory, and its offset in the file. */
	uint64_t address, offset;
	const char *operands;
};

/*
 * Finds operand `nr`, counted from 0. -ENOENT: no such operand; -EOPNOTSUPP with the reason in
 * `diag`: "argument 3 (8f@%xmm0) is in a register ...".
 */
int wm_usdt_operand(const struct wm_usdt_site *site, unsigned nr, struct wm_probe_value *ret,
		    struct wm_diag *diag);

#endif
