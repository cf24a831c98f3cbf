/* SPDX-License-Identifier: MIT */
/*
 * kernel_names.h - names the kernel's addresses in print forms (%ps and its relatives) when the
 * trace itself has no symbols. Whoever prints has found them elsewhere.
 */
#ifndef WM_KDATA_KERNEL_NAMES_H
#define WM_KDATA_KERNEL_NAMES_H

#include <stdint.h>

struct wm_kernel_names {
	/*
	 * Returns the name and start of the symbol that contains the address, or NULL. The name
	 * lives until the next call.
	 */
	const char *(*find)(void *own, uint64_t address, uint64_t *ret_start);
	void *own;
};

#endif
