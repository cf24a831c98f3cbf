/* SPDX-License-Identifier: MIT */
/*
 * running.h - what is so already when a recording begins, as the records the
 * kernel would have written had it been watched from the start: the names of
 * threads, the code they have mapped, the kernel and its modules. And the
 * kernel's symbols. Reads /proc and /sys; what ends meanwhile is left out.
 */
#ifndef WM_KERNEL_RUNNING_H
#define WM_KERNEL_RUNNING_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "kdata/perf_record.h"

/* Lines as in /proc/kallsyms, with addresses. */
struct wm_kernel_symbols {
	char *text; /* malloc'ed */
	size_t bytes;
	uint64_t begin, end; /* of the kernel's own code; 0: not told */
};

/* 0; -EACCES: the addresses are hidden from us (kernel.kptr_restrict); -errno. */
int wm_kernel_symbols_read(struct wm_kernel_symbols *ret);
void wm_kernel_symbols_done(struct wm_kernel_symbols *s);

typedef void wm_running_fn(const struct wm_perf_record *r, void *data);

/* The kernel and its modules, as mappings of process -1, with their build-ids. */
void wm_running_tell_kernel(const struct wm_kernel_symbols *s, wm_running_fn *fn, void *data);

/*
 * The processes these threads belong to; `nr` 0: every process. Each once,
 * with the names of all its threads and its executable mappings.
 */
void wm_running_tell(const pid_t *tids, size_t nr, wm_running_fn *fn, void *data);

#endif
