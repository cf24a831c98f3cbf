/* SPDX-License-Identifier: MIT */
/* instance_int.h - shared by the files that implement instance.h, and private to them. */
#ifndef WM_KERNEL_INSTANCES_INSTANCE_INT_H
#define WM_KERNEL_INSTANCES_INSTANCE_INT_H

#include "kernel/instance.h"

struct wm_instance {
	int dirfd;  /* the instance's folder; locked until this process ends */
	int parent; /* descriptor for the folder "instances" */
	char name[128];
	uint32_t nr_cpus, page_bytes;
	uint64_t cpu_bytes; /* size of each ring */
	int *fds;           /* by CPU */
	bool functions;     /* the function tracer, which has its own task list, is on */
	bool graph;         /* the tracer is function_graph */
	bool top;           /* this is the system's own buffer: `dirfd` is tracefs itself */
	int journal;        /* the folder `name` if `top`; locked until this process ends */
};

#define WM_INSTANCE_WAKE_PERCENT                                                                   \
	"12" /* percentage to which a ring must be full before wm_instance_fd() becomes readable   \
	      */

/* Allocates an instance with no open files. Returns 0 or -ENOMEM. */
int wm_instance_allocate(struct wm_instance **ret);
/* The initial size of one ring when all rings together get `bytes` (0: the default). */
uint64_t wm_instance_cpu_bytes(const struct wm_instance *i, uint64_t bytes);
/*
 * Opens the folder "instances" and locks it, so that no other process sweeps a new instance before
 * it is locked.
 */
int wm_instance_open_parent(const struct wm_tracefs *t, struct wm_diag *diag);
uint32_t wm_instance_sweep_in(int parent); /* the caller holds the lock on `parent` */

/*
 * Whether this is the name of a folder that records the previous state of the system's own buffer.
 */
bool wm_instance_is_top(const char *name);
/*
 * Restores the state that the name records. Returns false if not everything could be restored
 * because the buffer has a reader.
 */
bool wm_instance_top_restore(int parent, const char *name);
void wm_instance_give_top_back(struct wm_instance *i);

int wm_instance_put(const struct wm_instance *i, const char *name, const char *text);
int wm_instance_put_number(const struct wm_instance *i, const char *name, uint64_t number);
/* Reads the number at the beginning of a small file; returns 0 if there is none. */
uint64_t wm_instance_get_number(const struct wm_instance *i, const char *name);
/*
 * Removes all triggers from all events: histograms that refer to each other prevent the removal of
 * an instance. This is slow, so it is done only when the removal fails.
 */
void wm_instance_clear_triggers(const struct wm_instance *i);

int wm_instance_append(const struct wm_instance *i, const char *name, const char *text);
bool wm_instance_has(const struct wm_instance *i, const char *name);

int wm_instance_open_rings(struct wm_instance *i, struct wm_diag *diag);

/*
 * Reads the last error in error_log, and its column (from 1; 0: none) counted from the start of the
 * text within the command. Call wm_instance_forget_errors(), which empties the log, before issuing
 * the command.
 */
void wm_instance_forget_errors(const struct wm_instance *i);
uint32_t wm_instance_last_error(const struct wm_instance *i, char *buf, size_t bytes);

#endif
