/* SPDX-License-Identifier: MIT */
/*
 * elf_mini.h - the symbols that distributions such as Fedora embed in programs with separate debug
 * files: a small ELF file, compressed with xz, in the section .gnu_debugdata. It contains the
 * functions that .dynsym lacks.
 */
#ifndef WM_ELF_ELF_MINI_H
#define WM_ELF_ELF_MINI_H

#include "elf/elf_file.h"

#define WM_ELF_MINI_MAX (256u << 20) /* maximum size */

/*
 * Opens the embedded file. Returns 0; -ENOENT: there is none; -EBADMSG: it is damaged; or another
 * -errno, with `diag`.
 */
int wm_elf_mini_open(const struct wm_elf *e, struct wm_elf **ret, struct wm_diag *diag);

#endif
