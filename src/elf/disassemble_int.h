/* SPDX-License-Identifier: MIT */
/* disassemble_int.h - private to room elf: each architecture's disassembler. */
#ifndef WM_ELF_DISASSEMBLE_INT_H
#define WM_ELF_DISASSEMBLE_INT_H

#include "elf/disassemble.h"

/* The arguments of wm_disassemble(). */
struct wm_disassembling {
	const unsigned char *code;
	size_t bytes;
	uint64_t address;
	int (*fn)(const struct wm_disassembled *i, void *data);
	void *data;
};

/* Passes on a byte that does not begin an instruction. Returns 0 or fn's error. */
int wm_disassemble_byte(const struct wm_disassembling *d, size_t at);

/* Disassembles x86 code; `narrow`: 32-bit. Returns 0 or fn's error. */
int wm_disassemble_x86(const struct wm_disassembling *d, bool narrow);

#endif
