/* SPDX-License-Identifier: MIT */
/*
 * task_names.h - which process a thread of the kernel's events belongs to and
 * what it is called, asked once for each thread and told to the trace.
 */
#ifndef WM_COLLECT_TASK_NAMES_H
#define WM_COLLECT_TASK_NAMES_H

#include "kernel/instance.h"
#include "write/trace_writer.h"

struct wm_task_names;

struct wm_task_names *wm_task_names_create(struct wm_trace_writer *w); /* NULL: no memory */
void wm_task_names_destroy(struct wm_task_names *n);                   /* accepts NULL */

/* A record of that thread was met. */
void wm_task_names_ask(struct wm_task_names *n, uint32_t tid, uint64_t clock);

#define WM_TASK_IDS (1u << 22) /* the kernel has no more */

struct wm_task_names {
	struct wm_trace_writer *writer;
	uint64_t *met;    /* a bit for each tid */
	uint32_t *missed; /* threads that were gone already */
	uint64_t *missed_at;
	uint32_t nr_missed, room_missed;
};

static inline void wm_task_names_meet(struct wm_task_names *n, uint32_t tid, uint64_t clock)
{
	if (tid < WM_TASK_IDS && !(n->met[tid / 64] >> (tid % 64) & 1))
		wm_task_names_ask(n, tid, clock);
}

/*
 * What /proc says of a thread now: its process and its name, cut or filled
 * with zeros. -ENOENT: it has ended.
 */
#define WM_TASK_COMM_BYTES 64u
int wm_task_look(uint32_t tid, uint32_t *ret_pid, char comm[WM_TASK_COMM_BYTES]);

/* The kernel's own list of names, free() it, NULL: none; and whether it has one. */
char *wm_task_saved_read(const struct wm_instance *i);
bool wm_task_saved(const char *list, uint32_t tid, char comm[WM_TASK_COMM_BYTES]);

/* What /proc no longer knew, the kernel's list may. */
void wm_task_names_finish(struct wm_task_names *n, const struct wm_instance *i);

#endif
