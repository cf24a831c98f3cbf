/* SPDX-License-Identifier: MIT */
/*
 * usdt.h - the SystemTap-style probes of a program or library (sys/sdt.h), read
 * from its notes in .note.stapsdt: provider, name, address, semaphore, and the
 * operands as text, "-4@%edi 8@-8(%rbp)". Addresses are those in the file,
 * adjusted by .stapsdt.base when the file was prelinked.
 */
#ifndef WM_ELF_USDT_H
#define WM_ELF_USDT_H

#include <stddef.h>
#include <stdint.h>

#include "elf/elf_file.h"

#define WM_ELF_USDT_MAX (1u << 16) /* probes of one file */

/* One location; a probe of one name may have many. */
struct wm_elf_usdt {
	const char *provider, *name;
	const char *operands;      /* unchanged from the note; "" none */
	uint64_t address, offset;  /* of the instruction, in memory and in the file */
	uint64_t semaphore;        /* address of its 16-bit counter; 0: it has none */
	uint64_t semaphore_offset; /* in the file; 0: none, or not in the file */
};

struct wm_elf_usdts {
	struct wm_elf_usdt *probes; /* by provider, name and address */
	size_t nr;
	uint32_t nr_bad; /* notes without an address in the file, or cut short */
	char *text;      /* the block that the strings point into */
};

/* 0, also when the file has no probes. -EBADMSG, -EFBIG (with diag), -ENOMEM. */
int wm_elf_usdts_read(const struct wm_elf *e, struct wm_elf_usdts *ret, struct wm_diag *diag);
void wm_elf_usdts_done(struct wm_elf_usdts *u);

/* Number of operands of a probe. */
unsigned wm_elf_usdt_nr_operands(const struct wm_elf_usdt *u);

#endif
