/* SPDX-License-Identifier: MIT */
/* disassemble_int.h - private to room elf: the disassembler of each architecture. */
#ifndef WM_ELF_DISASSEMBLE_INT_H
#define WM_ELF_DISASSEMBLE_INT_H

#include "elf/disassemble.h"

/* What wm_disassemble() is asked for. */
struct wm_disassembling {
	const unsigned char *code;
	size_t bytes;
	uint64_t address;
	int (*fn)(const struct wm_disassembled *i, void *data);
	void *data;
};

/* Passes on a byte that does not begin an instruction. 0 or fn's error. */
int wm_disassemble_byte(const struct wm_disassembling *d, size_t at);

/* Disassembles code of x86; `narrow`: of 32 bits. 0 or fn's error. */
int wm_disassemble_x86(const struct wm_disassembling *d, bool narrow);

#endif
