/* SPDX-License-Identifier: MIT */
/*
 * vdso_int.h - the vdso, the code that the kernel maps into every process, as an ELF file. It does
 * not exist on disk.
 */
#ifndef WM_SYMBOL_VDSO_INT_H
#define WM_SYMBOL_VDSO_INT_H

#include "elf/elf_file.h"

/* Opens this process's vdso. Returns 0 or -errno. */
int wm_vdso_open(struct wm_elf **ret);

/*
 * Opens the vdso of 32-bit programs, for a 64-bit caller. A child process maps
 * it, because it replaces the process's own vdso. -ENOENT: the kernel has
 * none, or cannot map it.
 */
int wm_vdso_open_narrow(struct wm_elf **ret);

#endif
