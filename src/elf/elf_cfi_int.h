/* SPDX-License-Identifier: MIT */
/* elf_cfi_int.h - rows of unwind tables: elf_cfi.c finds them, elf_cfi_step.c applies them. */
#ifndef WM_ELF_ELF_CFI_INT_H
#define WM_ELF_ELF_CFI_INT_H

#include <elfutils/libdw.h>

#include "elf/elf_cfi.h"

enum wm_rule_kind {
	WM_RULE_SAVED,            /* the value is in memory at CFA + offset */
	WM_RULE_VALUE,            /* the value is CFA + offset */
	WM_RULE_REGISTER,         /* the value is in register `offset` */
	WM_RULE_UNDEFINED,        /* not recoverable */
	WM_RULE_EXPRESSION,       /* the value is in memory at the expression's result */
	WM_RULE_VALUE_EXPRESSION, /* the value is the expression's result */
};

struct wm_cfi_rule {
	uint8_t reg, kind; /* enum wm_rule_kind */
	uint16_t nr_ops;
	int32_t offset; /* the offset, or the index of the first operation */
};

/* Registers without a rule keep their values. */
struct wm_cfi_row {
	struct wm_cfi_rule cfa; /* VALUE: register `reg` + offset; or VALUE_EXPRESSION */
	uint8_t pc;             /* the column of the return address */
	bool is_signal;
	uint8_t nr_rules;
	struct wm_cfi_rule rules[WM_REGS_MAX];
};

/*
 * Properties of the machine, which rows do not contain: which registers sp and pc are, and how wide
 * registers are.
 */
struct wm_cfi_machine {
	uint16_t elf; /* EM_... */
	uint8_t sp, pc;
	bool is_narrow;       /* registers and words are 32 bits wide */
	uint8_t nr_saved;     /* registers that a function preserves for its caller */
	uint8_t nr_all;       /* total number of registers, which are numbered from 0 */
	const uint8_t *saved; /* array of nr_saved registers */
};

enum wm_cfi_step wm_cfi_row_step(const struct wm_cfi_row *row, const Dwarf_Op *ops,
				 const struct wm_cfi_machine *machine, struct wm_registers *regs,
				 wm_cfi_memory *memory, void *data);

#endif
