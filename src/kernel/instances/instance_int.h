/* SPDX-License-Identifier: MIT */
/* instance_int.h - shared by the files of instance.h only. */
#ifndef WM_KERNEL_INSTANCES_INSTANCE_INT_H
#define WM_KERNEL_INSTANCES_INSTANCE_INT_H

#include "kernel/instance.h"

struct wm_instance {
	int dirfd;  /* of the instance; locked until this process ends */
	int parent; /* the folder "instances" */
	char name[128];
	uint32_t nr_cpus, page_bytes;
	uint64_t cpu_bytes; /* of each ring */
	int *fds;           /* by CPU */
	bool functions;     /* the function tracer is on: it has its own list of tasks */
	bool graph;         /* the tracer is function_graph */
	bool top;           /* the system's own buffer: `dirfd` is the tracefs */
	int journal;        /* if `top`: of the folder `name`; locked until this process ends */
};

#define WM_INSTANCE_WAKE_PERCENT                                                                   \
	"12" /* fill level of a ring at which wm_instance_fd() becomes readable */

/* An instance without open files. 0 or -ENOMEM. */
int wm_instance_allocate(struct wm_instance **ret);
/* The initial bytes of one ring when all get `bytes` (0: the default). */
uint64_t wm_instance_cpu_bytes(const struct wm_instance *i, uint64_t bytes);
int wm_instance_set_clock(struct wm_instance *i, enum wm_clock_kind kind, struct wm_diag *diag);
/*
 * The folder "instances", locked, so that no other process sweeps an instance
 * before its lock is taken.
 */
int wm_instance_open_parent(const struct wm_tracefs *t, struct wm_diag *diag);
uint32_t wm_instance_sweep_in(int parent); /* with `parent` locked */

/*
 * Whether the name is that of a folder that records the previous state of the
 * system's own buffer.
 */
bool wm_instance_is_top(const char *name);
/* Restores the state that the name records. False: not all of it, the buffer has a reader. */
bool wm_instance_top_restore(int parent, const char *name);
void wm_instance_give_top_back(struct wm_instance *i);

int wm_instance_put(const struct wm_instance *i, const char *name, const char *text);
int wm_instance_put_number(const struct wm_instance *i, const char *name, uint64_t number);
/* The number at the beginning of a small file; 0 when there is none. */
uint64_t wm_instance_get_number(const struct wm_instance *i, const char *name);
/*
 * Removes all triggers of all events: histograms that refer to each other
 * prevent the removal of an instance. This is slow, so it is done only when the
 * removal fails.
 */
void wm_instance_clear_triggers(const struct wm_instance *i);

int wm_instance_append(const struct wm_instance *i, const char *name, const char *text);
bool wm_instance_has(const struct wm_instance *i, const char *name);

int wm_instance_open_rings(struct wm_instance *i, struct wm_diag *diag);

/*
 * The last error in error_log, and its column (from 1; 0: none) counted from
 * the start of the text within the command. Call wm_instance_forget_errors()
 * before the command: it empties the log.
 */
void wm_instance_forget_errors(const struct wm_instance *i);
uint32_t wm_instance_last_error(const struct wm_instance *i, char *buf, size_t bytes);

#endif
