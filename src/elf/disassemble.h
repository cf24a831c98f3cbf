/* SPDX-License-Identifier: MIT */
/*
 * disassemble.h - disassembles machine code, x86 with Zydis and other machines with Capstone, in
 * objdump's notation. Bytes that are not an instruction are shown one at a time, so that nothing is
 * skipped.
 */
#ifndef WM_ELF_DISASSEMBLE_H
#define WM_ELF_DISASSEMBLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wm_disassembled {
	uint64_t address;
	uint32_t bytes;
	const char *name, *operands; /* for example "call" and "0x1130"; valid during the call */
	bool has_target;             /* a direct jump or call: `target` is its address */
	uint64_t target;
};

/*
 * Calls fn for each instruction, in ascending order; fn returns 0, or -errno to end the walk.
 * `machine` is EM_*. Returns 0; -ENOTSUP for other machines; -ELIBACC when the Capstone library is
 * needed but not installed; -ENOMEM; or fn's error.
 */
int wm_disassemble(uint16_t machine, const unsigned char *code, size_t bytes, uint64_t address,
		   int (*fn)(const struct wm_disassembled *i, void *data), void *data);

#endif
