/* SPDX-License-Identifier: MIT */
/*
 * remote_runtime.h - access to the runtime inside a running process: finds its control page by
 * symbol, reads and writes its memory through /proc/PID/mem. The process keeps running. All data
 * read is untrusted; all data written affects that process alone.
 */
#ifndef WM_CONTROL_TARGET_REMOTE_RUNTIME_H
#define WM_CONTROL_TARGET_REMOTE_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/diag.h"
#include "base/maps.h"
#include "runtime/agent.h"

struct wm_target {
	pid_t pid;
	int mem; /* /proc/PID/mem; -1: closed */
	struct wm_maps maps;
	uint64_t page;             /* address of the control page */
	struct wm_control control; /* the control page as wm_target_open() read it */
};

/*
 * Finds the runtime in a mapped libwaymark-rt.so, in the executable or, unless `quick`, in any
 * other mapped file. If there are several, uses the first one that has sites. Returns -ENOENT if
 * there is no runtime; -ESRCH if there is no such process; -EACCES or -EPERM if access is not
 * permitted (diag has the hint); -EPROTO if the runtime has another version.
 */
int wm_target_open(pid_t pid, bool quick, struct wm_target *ret, struct wm_diag *diag);
void wm_target_close(struct wm_target *t);

/* Transfer all bytes, or return -EFAULT (or another -errno). */
int wm_target_read(const struct wm_target *t, uint64_t address, void *data, size_t bytes);
int wm_target_write(const struct wm_target *t, uint64_t address, const void *data, size_t bytes);

/*
 * Reads a string of at most size - 1 bytes, NUL-terminated; "" if the address is 0 or not mapped.
 */
void wm_target_string(const struct wm_target *t, uint64_t address, char *buf, size_t size);

/* Rereads all members of the control page before `folder`. */
int wm_target_refresh(struct wm_target *t);

#endif
