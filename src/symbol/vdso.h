/* SPDX-License-Identifier: MIT */
/*
 * vdso.h - the code that this machine's kernel maps into all processes, as a
 * file: there is none of it on disk.
 */
#ifndef WM_SYMBOL_VDSO_H
#define WM_SYMBOL_VDSO_H

#include "elf/elf_file.h"

/* That of this process. 0 or -errno. */
int wm_vdso_open(struct wm_elf **ret);

/*
 * That of programs of 32 bits, which this one, of 64, has to ask for: a child
 * does, as it costs one's own. -ENOENT: there is none, or no way to ask.
 */
int wm_vdso_open_narrow(struct wm_elf **ret);

#endif
