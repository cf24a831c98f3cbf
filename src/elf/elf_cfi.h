/* SPDX-License-Identifier: MIT */
/*
 * elf_cfi.h - applies unwind tables (.eh_frame or .debug_frame, read by libdw): computes the
 * registers of a function's caller from the registers in the function. An address is looked up
 * once; equal rows are stored once. Supports x86-64, i386 and aarch64.
 *
 * Addresses are those in the file. Not thread-safe.
 */
#ifndef WM_ELF_ELF_CFI_H
#define WM_ELF_ELF_CFI_H

#include <stdbool.h>
#include <stdint.h>

#include "elf/elf_file.h"

/* Number of registers in DWARF's numbering, up to the program counter. */
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
#define WM_CFI_OPS_MAX    128u /* maximum operations in one expression */

struct wm_registers {
	uint64_t value[WM_REGS_MAX];
	uint64_t known; /* one bit for each register whose value is known */
};

/*
 * Reads a word from the stopped program's memory: four bytes for i386, else eight. Returns false
 * when it is not known.
 */
typedef bool wm_cfi_memory(void *data, uint64_t address, uint64_t *ret);

enum wm_cfi_step {
	WM_CFI_STEPPED,   /* success: the registers are now the caller's */
	WM_CFI_OUTERMOST, /* there is no caller, according to the table */
	WM_CFI_NO_TABLE,  /* no table covers this address */
	WM_CFI_NO_MEMORY, /* the step needs memory that was not recorded */
	WM_CFI_NOT_KNOWN, /* the step needs an unknown register or operation */
};

struct wm_elf_cfi;

/*
 * Opens the image's table or, if it has none, that of `debug` (may be NULL). Returns 0, -ENODATA
 * (no table) or -ENOMEM.
 */
int wm_elf_cfi_open(const struct wm_elf *image, const struct wm_elf *debug,
		    struct wm_elf_cfi **ret);
void wm_elf_cfi_close(struct wm_elf_cfi *c); /* accepts NULL */

/* The machine (EM_*) whose registers the rows describe. */
uint16_t wm_elf_cfi_machine(const struct wm_elf_cfi *c);

/*
 * Steps from a function to its caller. `address` is the address of an instruction in the function
 * (for a caller: just below the return address). *ret_exact is set when the new pc is the next
 * instruction to run, as after a signal; otherwise, the pc follows a call.
 */
enum wm_cfi_step wm_elf_cfi_step(struct wm_elf_cfi *c, uint64_t address, struct wm_registers *regs,
				 wm_cfi_memory *memory, void *data, bool *ret_exact);

#endif
