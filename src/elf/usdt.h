/* SPDX-License-Identifier: MIT */
/*
 * usdt.h - reads the SystemTap-style probes (sys/sdt.h) of a program or library from its
 * .note.stapsdt notes: provider, name, address, semaphore, and the operands as text, "-4@%edi
 * 8@-8(%rbp)". Addresses are those in the file, adjusted by .stapsdt.base when the file was
 * prelinked.
 */
#ifndef WM_ELF_USDT_H
#define WM_ELF_USDT_H

#include <stddef.h>
#include <stdint.h>

#include "elf/elf_file.h"

#define WM_ELF_USDT_MAX (1u << 16) /* maximum probes in one file */

/* One location of a probe; probes at several locations may have the same name. */
struct wm_elf_usdt {
	const char *provider, *name;
	const char *operands;      /* as in the note; "" when there are none */
	uint64_t address, offset;  /* the instruction's, in memory and in the file */
	uint64_t semaphore;        /* address of its 16-bit counter; 0: it has none */
	uint64_t semaphore_offset; /* offset in the file; 0: no semaphore, or not in the file */
};

struct wm_elf_usdts {
	struct wm_elf_usdt *probes; /* sorted by provider, name and address */
	size_t nr;
	/* Number of notes that are truncated or whose address is not in the file. */
	uint32_t nr_bad;
	char *text; /* the block that the strings point into */
};

/*
 * Reads the probes. Returns 0, even when the file has none; -EBADMSG, -EFBIG (with diag) or
 * -ENOMEM.
 */
int wm_elf_usdts_read(const struct wm_elf *e, struct wm_elf_usdts *ret, struct wm_diag *diag);
void wm_elf_usdts_done(struct wm_elf_usdts *u);

/* Number of operands of a probe. */
unsigned wm_elf_usdt_nr_operands(const struct wm_elf_usdt *u);

#endif
