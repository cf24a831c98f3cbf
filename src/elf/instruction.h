/* SPDX-License-Identifier: MIT */
/*
 * instruction.h - finds where instructions begin, by decoding a function from its first instruction
 * (with Zydis on x86-64; elsewhere all instructions have the same size). Compilers put no data
 * between instructions, so the decoded instructions are the ones that run.
 */
#ifndef WM_ELF_INSTRUCTION_H
#define WM_ELF_INSTRUCTION_H

#include <stdint.h>

#include "elf/elf_file.h"

#define WM_INSTRUCTION_FUNCTION_MAX (16u << 20) /* maximum size of a function to decode */

/*
 * Whether an instruction begins at an address, in the function that begins at `start`. Returns 1; 0
 * when the address is inside the instruction that begins at *ret_begin; or a negative errno when
 * this cannot be determined.
 */
int wm_elf_instruction_begins(const struct wm_elf *e, uint64_t start, uint64_t address,
			      uint64_t *ret_begin);

#endif
