/* SPDX-License-Identifier: MIT */
/*
 * synthesize.h - describes the state at the start of a recording with synthesised records, like
 * those that the kernel writes when the state changes: thread names, mapped code, the kernel and
 * its modules. Also reads the kernel's symbols. Reads /proc and /sys; tasks that end meanwhile are
 * left out.
 */
#ifndef WM_KERNEL_SYNTHESIZE_H
#define WM_KERNEL_SYNTHESIZE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "kdata/perf_record.h"

/* The address range of the kernel's own code. */
struct wm_kernel_text {
	uint64_t begin, end; /* `end` is 0 when unknown */
};

/*
 * Finds the range quickly. Returns 0; -EACCES if addresses are hidden from this process
 * (kernel.kptr_restrict); or -errno.
 */
int wm_kernel_text_find(struct wm_kernel_text *ret);

/*
 * Reads all symbols, as /proc/kallsyms lines; free() them. Takes about a tenth of a second. Errors
 * as above.
 */
int wm_kernel_symbols_read(char **ret_text, size_t *ret_bytes);

typedef void wm_running_fn(const struct wm_perf_record *r, void *data);

/* Reports the kernel and its modules as mappings of process -1, with their build-ids. */
void wm_running_tell_kernel(const struct wm_kernel_text *k, wm_running_fn *fn, void *data);

/*
 * Reports the processes to which these threads belong; with `nr` 0, every process. Each process is
 * reported once, with the names of all its threads and its executable mappings; with `constants`,
 * also the mappings of files' constants, including unwind tables.
 */
void wm_running_tell(const pid_t *tids, size_t nr, bool constants, wm_running_fn *fn, void *data);

/* Reports only the names of these threads, without their processes' mappings. */
void wm_running_tell_names(const pid_t *tids, size_t nr, wm_running_fn *fn, void *data);

#endif
