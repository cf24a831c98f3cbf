/* SPDX-License-Identifier: MIT */
/*
 * process.h - small questions about other processes, answered by /proc. Their
 * answers may be old by the time they are read.
 */
#ifndef WM_BASE_PROCESS_H
#define WM_BASE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/* The parent's id; 0 when that cannot be read. */
uint32_t wm_process_parent(uint32_t pid);

/* The process a thread belongs to; 0 when that cannot be read. */
uint32_t wm_process_of_thread(uint32_t tid);

/* The id a process or thread has in its own namespace, as it sees itself; 0 when that cannot be
 * read. */
uint32_t wm_process_inner_id(uint32_t tid);

/* Whether one of its threads has that name (at most 15 bytes). */
bool wm_process_has_thread(uint32_t pid, const char *name);

/* Whether the environment it was started with contains that text. */
bool wm_process_environment_has(uint32_t pid, const char *text);

#endif
