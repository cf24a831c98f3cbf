/* SPDX-License-Identifier: MIT */
/*
 * vdso_int.h - the code that this machine's kernel maps into all processes, as an
 * ELF file: it does not exist on disk.
 */
#ifndef WM_SYMBOL_VDSO_INT_H
#define WM_SYMBOL_VDSO_INT_H

#include "elf/elf_file.h"

/* Opens this process's vdso. 0 or -errno. */
int wm_vdso_open(struct wm_elf **ret);

/*
 * Opens the vdso of 32-bit programs, for a 64-bit caller. The mapping replaces
 * the caller's own vdso, so a child requests it. -ENOENT: the kernel has none,
 * or no way to request it.
 */
int wm_vdso_open_narrow(struct wm_elf **ret);

#endif
