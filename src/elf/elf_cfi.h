/* SPDX-License-Identifier: MIT */
/*
 * elf_cfi.h - unwind tables: how to get from the registers in a function to
 * those of its caller, from .eh_frame (or .debug_frame), read by libdw. An
 * address is looked up once; equal answers are kept once. x86-64, i386 and
 * aarch64.
 *
 * Addresses are the file's own. Not thread safe.
 */
#ifndef WM_ELF_ELF_CFI_H
#define WM_ELF_ELF_CFI_H

#include <stdbool.h>
#include <stdint.h>

#include "elf/elf_file.h"

/* DWARF's numbers of registers, up to the program counter. */
#define WM_REGS_MAX       33u
#define WM_REG_X86_RBP    6u
#define WM_REG_X86_RSP    7u
#define WM_REG_X86_RIP    16u
#define WM_REG_I386_ESP   4u
#define WM_REG_I386_EBP   5u
#define WM_REG_I386_EIP   8u
#define WM_REG_AARCH64_FP 29u
#define WM_REG_AARCH64_LR 30u
#define WM_REG_AARCH64_SP 31u
#define WM_REG_AARCH64_PC 32u
#define WM_CFI_STEPS_MAX  256u /* operations that an expression may take */
#define WM_CFI_OPS_MAX    128u /* of one expression */

struct wm_registers {
	uint64_t value[WM_REGS_MAX];
	uint64_t known; /* a bit each */
};

/* A word of the stopped program's memory, of i386 four bytes, else eight; false: it is not known.
 */
typedef bool wm_cfi_memory(void *data, uint64_t address, uint64_t *ret);

enum wm_cfi_step {
	WM_CFI_STEPPED,   /* the registers are the caller's */
	WM_CFI_OUTERMOST, /* there is no caller: the table says so */
	WM_CFI_NO_TABLE,  /* none for this address */
	WM_CFI_NO_MEMORY, /* what it needs was not recorded */
	WM_CFI_NOT_KNOWN, /* a register it needs is not known, or an operation */
};

struct wm_elf_cfi;

/* The image's own table, else one in `debug` (may be NULL). -ENODATA: none; -ENOMEM. */
int wm_elf_cfi_open(const struct wm_elf *image, const struct wm_elf *debug,
		    struct wm_elf_cfi **ret);
void wm_elf_cfi_close(struct wm_elf_cfi *c); /* accepts NULL */

/* EM_...: whose registers its rows are of. */
uint16_t wm_elf_cfi_machine(const struct wm_elf_cfi *c);

/*
 * Steps from a function to its caller: `address` is of an instruction of it
 * (of a caller: before the return address). *ret_exact: the new pc is an
 * instruction to come, as it is behind a signal, not one behind a call.
 */
enum wm_cfi_step wm_elf_cfi_step(struct wm_elf_cfi *c, uint64_t address, struct wm_registers *regs,
				 wm_cfi_memory *memory, void *data, bool *ret_exact);

#endif
