/* SPDX-License-Identifier: MIT */
/*
 * probe_dwarf.h - looks up names in a probe's arguments, using debug information: parameters,
 * variables and parts of them. Returns them in the kernel's syntax.
 */
#ifndef WM_KERNEL_PROBES_PROBE_DWARF_H
#define WM_KERNEL_PROBES_PROBE_DWARF_H

#include "elf/elf_vars.h"
#include "kernel/probes/probe_args.h"

/* A place in a program. */
struct wm_probe_site {
	struct wm_elf_vars *vars;
	uint64_t address, offset; /* address in memory, and offset in the file */
	bool returns;
	bool by_line;        /* given as a source line, not as a function or an address */
	const char *copy_of; /* the function of which an inlined copy begins here; NULL: none */
	bool narrow;         /* i386 code */
};

/* Where names are looked up for a site. */
struct wm_elf_where wm_probe_site_where(const struct wm_probe_site *site);

/*
 * Functions for struct wm_probe_scope; `data` is a struct wm_probe_site. A lookup returns 0, or
 * -ENOENT or -EOPNOTSUPP with an error message; for "$retval" it returns only the type.
 */
int wm_probe_dwarf_named(void *data, const char *name, struct wm_probe_value *ret,
			 struct wm_diag *diag);
int wm_probe_dwarf_each(void *data, int (*fn)(const char *name, void *), void *user);

/*
 * Writes an address in a program's image in the kernel's syntax. The kernel counts "@+N" from where
 * the probe's own segment would begin at file offset 0; data may be in another segment. Returns
 * false if the address is before the first byte of the file.
 */
bool wm_probe_image(uint64_t address, uint64_t site_address, uint64_t site_offset, char *ret,
		    size_t bytes);

#endif
