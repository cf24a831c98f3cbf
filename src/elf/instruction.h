/* SPDX-License-Identifier: MIT */
/*
 * instruction.h - where instructions begin, by decoding a function from its
 * first one (Zydis, on x86-64; elsewhere they have one size). Code that
 * compilers make holds no data, so what is decoded is what runs.
 */
#ifndef WM_ELF_INSTRUCTION_H
#define WM_ELF_INSTRUCTION_H

#include <stdint.h>

#include "elf/elf_file.h"

#define WM_INSTRUCTION_FUNCTION_MAX (16u << 20) /* bytes of a function that is decoded */

/*
 * Whether an instruction begins at an address of a function that begins at
 * `start`: 1; 0 when the address is within the one that begins at *ret_begin;
 * negative when it cannot be told.
 */
int wm_elf_instruction_begins(const struct wm_elf *e, uint64_t start, uint64_t address,
			      uint64_t *ret_begin);

#endif
