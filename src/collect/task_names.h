/* SPDX-License-Identifier: MIT */
/*
 * task_names.h - finds the process and name of each thread that the kernel's events mention, once
 * per thread, and writes them to the trace.
 */
#ifndef WM_COLLECT_TASK_NAMES_H
#define WM_COLLECT_TASK_NAMES_H

#include "kernel/instance.h"
#include "write/trace_writer.h"

struct wm_task_names;

/* Returns NULL when out of memory. */
struct wm_task_names *wm_task_names_create(struct wm_trace_writer *w);
void wm_task_names_destroy(struct wm_task_names *n); /* accepts NULL */

/* Call it for each record that mentions this thread. */
void wm_task_names_ask(struct wm_task_names *n, uint32_t tid, uint64_t clock);

#define WM_TASK_IDS (1u << 22) /* the kernel's limit on thread ids */

struct wm_task_names {
	struct wm_trace_writer *writer;
	uint64_t *met;    /* one bit per tid */
	uint32_t *missed; /* threads that had already exited */
	uint64_t *missed_at;
	uint32_t nr_missed, room_missed;
};

static inline void wm_task_names_meet(struct wm_task_names *n, uint32_t tid, uint64_t clock)
{
	if (tid < WM_TASK_IDS && !(n->met[tid / 64] >> (tid % 64) & 1))
		wm_task_names_ask(n, tid, clock);
}

/*
 * Reads a thread's process and name from /proc. The name is truncated or zero-padded. Returns
 * -ENOENT if the thread has exited.
 */
#define WM_TASK_COMM_BYTES 64u
int wm_task_look(uint32_t tid, uint32_t *ret_pid, char comm[WM_TASK_COMM_BYTES]);

/*
 * Reads the kernel's list of names (saved_cmdlines), which the caller frees; returns NULL if it
 * cannot be read.
 */
char *wm_task_saved_read(const struct wm_instance *i);
/* Finds a thread's name in this list. */
bool wm_task_saved(const char *list, uint32_t tid, char comm[WM_TASK_COMM_BYTES]);

/* Looks up the threads that had already exited in the kernel's list. */
void wm_task_names_finish(struct wm_task_names *n, const struct wm_instance *i);

#endif
