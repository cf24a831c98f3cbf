/* SPDX-License-Identifier: MIT */
/*
 * sites.h - reads the sites of a program or library from its ELF file, without running it: section
 * "waymark_sites" and the descriptions that it points to (see <waymark/abi.h>). Descriptions are
 * returned as bytes; event/class.h parses them.
 */
#ifndef WM_ELF_SITES_H
#define WM_ELF_SITES_H

#include <stddef.h>
#include <stdint.h>

#include "elf/elf_file.h"

#define WM_SITES_SECTION  "waymark_sites"
#define WM_SITES_MAX      (1u << 20) /* maximum sites in one file */
#define WM_SITES_DESC_MAX (1u << 20) /* maximum bytes of one description */

/* Addresses are those in the file; see wm_elf_bias(). */
struct wm_elf_site {
	uint64_t insn;        /* the patched instruction; 0: a load+test site */
	uint64_t target;      /* where the instruction jumps when enabled; 0: a load+test site */
	uint64_t insn_offset; /* offset of the instruction in the file */
	uint32_t event;       /* index in events[] */
};

/* One event in the file: a description and its run-time state. */
struct wm_elf_event {
	uint64_t desc_address;
	uint64_t state_address; /* struct waymark_event_state */
	const unsigned char *desc;
	uint32_t desc_bytes;
	uint32_t nr_sites;
};

struct wm_elf_sites {
	struct wm_elf_site *sites;   /* in the order of the table */
	struct wm_elf_event *events; /* sorted by address of the description */
	uint32_t nr_sites, nr_events;
	uint32_t nr_bad; /* number of entries with invalid pointers; diag describes the first */
	unsigned char *descs;
};

/*
 * Reads the sites. Returns 0, even when the file has no such section (no sites) or individual
 * entries are bad. -ENODATA: the section headers were stripped, so the sites are not known;
 * -EBADMSG: the table itself is damaged; diag states the reason. -ENOEXEC: object files (.o), which
 * are not linked yet, and 32-bit programs, for which there is no runtime.
 */
int wm_elf_sites_read(const struct wm_elf *e, struct wm_elf_sites *ret_sites, struct wm_diag *diag);
void wm_elf_sites_done(struct wm_elf_sites *s);

#endif
