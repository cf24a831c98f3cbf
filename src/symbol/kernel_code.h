/* SPDX-License-Identifier: MIT */
/*
 * kernel_code.h - the machine code of kernel functions: from memory (/proc/kcore) if the recorded
 * kernel is the running one; otherwise from a vmlinux of that build, wherever debug information is
 * installed.
 */
#ifndef WM_SYMBOL_KERNEL_CODE_H
#define WM_SYMBOL_KERNEL_CODE_H

#include "symbol/symbols.h"

#define WM_KERNEL_CODE_MAX (1u << 20) /* maximum bytes per function */

struct wm_kernel_code {
	uint16_t machine;     /* machine type, EM_* */
	unsigned char *bytes; /* the caller frees it */
	size_t nr_bytes;
};

/*
 * Reads the code of a function in a KERNEL or KMODULE module. Returns 0, -ENOMEM, or another -errno
 * with a `diag` that says what is missing and how to get it.
 */
int wm_symbols_kernel_code(const struct wm_module *m, const struct wm_symbol *s,
			   const struct wm_module_places *places, struct wm_kernel_code *ret,
			   struct wm_diag *diag);

/*
 * Reads from the memory of a running kernel, described by the files `kallsyms` and `kcore`. The
 * function must have the same name there, and its address must have moved by the same distance as
 * the whole kernel.
 */
int wm_symbols_kernel_code_live(const struct wm_module *m, const struct wm_symbol *s,
				const char *kallsyms, const char *kcore, struct wm_kernel_code *ret,
				struct wm_diag *diag);

#endif
