/* SPDX-License-Identifier: MIT */
/*
 * count_by_tasks.h - private to count_by.c and count_by_tasks.c: the threads that are counted.
 */
#ifndef WM_KERNEL_COUNTING_COUNT_BY_TASKS_H
#define WM_KERNEL_COUNTING_COUNT_BY_TASKS_H

#include "kernel/count_by.h"
#include "kernel/counting/bpf.h"

/*
 * Emits code that ends the program with 1 unless the current thread is counted. Uses 4 bytes at
 * `stack`.
 */
void wm_by_threads_emit_check(const struct wm_by_threads *t, struct wm_bpf_code *b, int stack);

/* Runs a program at each hit of a tracepoint until the descriptor is closed. */
int wm_bpf_attach(uint64_t event_id, int program, const char *name, struct wm_diag *diag);

#endif
