/* SPDX-License-Identifier: MIT */
/*
 * synthesize.h - what is so already when a recording begins, as the records the
 * kernel would have written had it been watched from the start: the names of
 * threads, the code they have mapped, the kernel and its modules. And the
 * kernel's symbols. Reads /proc and /sys; what ends meanwhile is left out.
 */
#ifndef WM_KERNEL_SYNTHESIZE_H
#define WM_KERNEL_SYNTHESIZE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "kdata/perf_record.h"

/* Where the kernel's own code is. */
struct wm_kernel_text {
	uint64_t begin, end; /* end 0: not known */
};

/* Quick. 0; -EACCES: addresses are hidden from us (kernel.kptr_restrict); -errno. */
int wm_kernel_text_find(struct wm_kernel_text *ret);

/*
 * All symbols, lines as in /proc/kallsyms; free() them. Takes a tenth of a
 * second. Errors as above.
 */
int wm_kernel_symbols_read(char **ret_text, size_t *ret_bytes);

typedef void wm_running_fn(const struct wm_perf_record *r, void *data);

/* The kernel and its modules, as mappings of process -1, with their build-ids. */
void wm_running_tell_kernel(const struct wm_kernel_text *k, wm_running_fn *fn, void *data);

/*
 * The processes these threads belong to; `nr` 0: every process. Each once,
 * with the names of all its threads and its executable mappings.
 */
void wm_running_tell(const pid_t *tids, size_t nr, wm_running_fn *fn, void *data);

#endif
