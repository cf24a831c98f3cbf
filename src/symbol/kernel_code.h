/* SPDX-License-Identifier: MIT */
/*
 * kernel_code.h - the machine code of the kernel's functions: as it lies in
 * memory here (/proc/kcore), when the recorded kernel is the one that runs;
 * else from a vmlinux of that build, where debug information is kept.
 */
#ifndef WM_SYMBOL_KERNEL_CODE_H
#define WM_SYMBOL_KERNEL_CODE_H

#include "symbol/symbols.h"

#define WM_KERNEL_CODE_MAX (1u << 20) /* bytes of one function */

struct wm_kernel_code {
	uint16_t machine;     /* EM_* */
	unsigned char *bytes; /* free() it */
	size_t nr_bytes;
};

/*
 * The code of a function of a module of kind KERNEL or KMODULE. 0, -ENOMEM, or
 * another -errno with `diag` that says what is missing, and the cure.
 */
int wm_kernel_code(const struct wm_module *m, const struct wm_symbol *s,
		   const struct wm_module_places *places, struct wm_kernel_code *ret,
		   struct wm_diag *diag);

/*
 * From the memory of a running kernel: `kallsyms` and `kcore` are the files
 * that tell of it. The function must be there by name, as far from where it was
 * as the whole kernel is.
 */
int wm_kernel_code_live(const struct wm_module *m, const struct wm_symbol *s, const char *kallsyms,
			const char *kcore, struct wm_kernel_code *ret, struct wm_diag *diag);

/* From the kernel as it was linked. */
int wm_kernel_code_linked(const struct wm_module *m, const struct wm_symbol *s,
			  const struct wm_elf *e, struct wm_kernel_code *ret, struct wm_diag *diag);

#endif
