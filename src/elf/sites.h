/* SPDX-License-Identifier: MIT */
/*
 * sites.h - the sites of a program or library, read from its ELF file without
 * running it: section "waymark_sites" and the descriptions it points at (see
 * <waymark/abi.h>). Descriptions are passed on as bytes; event/class.h parses
 * them.
 */
#ifndef WM_ELF_SITES_H
#define WM_ELF_SITES_H

#include <stddef.h>
#include <stdint.h>

#include "elf/elf_file.h"

#define WM_SITES_SECTION  "waymark_sites"
#define WM_SITES_MAX      (1u << 20) /* sites of one file */
#define WM_SITES_DESC_MAX (1u << 20) /* bytes of one description */

/* Addresses are those in the file; see wm_elf_bias(). */
struct wm_elf_site {
	uint64_t insn;        /* the patched instruction; 0: a load+test site */
	uint64_t target;      /* where it jumps when on; 0: a load+test site */
	uint64_t insn_offset; /* of the instruction in the file */
	uint32_t event;       /* index in events[] */
};

/* One event of the file: a description and its run-time state. */
struct wm_elf_event {
	uint64_t desc_address;
	uint64_t state_address; /* struct waymark_event_state */
	const unsigned char *desc;
	uint32_t desc_bytes;
	uint32_t nr_sites;
};

struct wm_elf_sites {
	struct wm_elf_site *sites;   /* in the order of the table */
	struct wm_elf_event *events; /* by ascending address of the description */
	uint32_t nr_sites, nr_events;
	uint32_t nr_bad; /* entries with invalid pointers; diag describes the first */
	unsigned char *descs;
};

/*
 * Returns 0, also when the file has no such section (no sites) and when single
 * entries are bad. -ENODATA: not known, because the section headers were
 * stripped; -EBADMSG: the table itself is damaged; diag states the reason.
 * -ENOEXEC: object files (.o), which are not linked yet, and 32-bit programs,
 * for which there is no runtime.
 */
int wm_elf_sites_read(const struct wm_elf *e, struct wm_elf_sites *ret_sites, struct wm_diag *diag);
void wm_elf_sites_done(struct wm_elf_sites *s);

#endif
