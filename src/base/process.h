/* SPDX-License-Identifier: MIT */
/*
 * process.h - properties of other processes, from /proc. They may be outdated when the function
 * returns.
 */
#ifndef WM_BASE_PROCESS_H
#define WM_BASE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/* The parent's id; 0 when it cannot be read. */
uint32_t wm_process_parent(uint32_t pid);

/* The process a thread belongs to; 0 when it cannot be read. */
uint32_t wm_process_of_thread(uint32_t tid);

/* The id of a process or thread in its own pid namespace; 0 when it cannot be read. */
uint32_t wm_process_inner_id(uint32_t tid);

/* Whether one of the process's threads has that name (at most 15 bytes). */
bool wm_process_has_thread(uint32_t pid, const char *name);

/* Whether the environment at the process's start contains that text. */
bool wm_process_environment_has(uint32_t pid, const char *text);

#endif
