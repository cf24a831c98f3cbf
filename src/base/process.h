/* SPDX-License-Identifier: MIT */
/*
 * process.h - reads properties of other processes from /proc. A result may be outdated when the
 * function returns.
 */
#ifndef WM_BASE_PROCESS_H
#define WM_BASE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/* The parent's process id; 0 when it cannot be read. */
uint32_t wm_process_parent(uint32_t pid);

/*
 * The start time, which distinguishes processes with the same id; 0 when it cannot be read. `pid` 0
 * is this process, even where /proc shows the ids of another pid namespace.
 */
uint64_t wm_process_start(uint32_t pid);

/* The process that a thread belongs to; 0 when it cannot be read. */
uint32_t wm_process_of_thread(uint32_t tid);

/* The id of a process or thread in its own pid namespace; 0 when it cannot be read. */
uint32_t wm_process_inner_id(uint32_t tid);

/* Whether a thread of the process has this name (at most 15 bytes). */
bool wm_process_has_thread(uint32_t pid, const char *name);

/*
 * The number of threads that are left after the first one, the leader, has exited; 0 while it runs,
 * when the process has ended, or when this cannot be read. `ret_status` is set when it is above 0:
 * to the leader's exit status, in the form of wait(2).
 */
uint32_t wm_process_left_threads(uint32_t pid, int *ret_status);

/* Whether the process's initial environment contains this string. */
bool wm_process_environment_has(uint32_t pid, const char *text);

#endif
