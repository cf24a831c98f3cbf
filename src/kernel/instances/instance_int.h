/* SPDX-License-Identifier: MIT */
/* instance_int.h - shared by the files of instance.h, and by nobody else. */
#ifndef WM_KERNEL_INSTANCES_INSTANCE_INT_H
#define WM_KERNEL_INSTANCES_INSTANCE_INT_H

#include "kernel/instance.h"

struct wm_instance {
	int dirfd;  /* of the instance: locked as long as we live */
	int parent; /* the folder "instances" */
	char name[128];
	uint32_t nr_cpus, page_bytes;
	uint64_t cpu_bytes; /* of each ring */
	int *fds;           /* by CPU */
	bool functions;     /* the function tracer is on: it has a choice of tasks of its own */
	bool graph;         /* it is that of graphs */
	bool top;           /* the system's own buffer: `dirfd` is the tracefs */
	int journal;        /* then: of the folder `name`, locked as long as we live */
};

#define WM_INSTANCE_WAKE_PERCENT "12" /* of a ring, when wm_instance_fd() becomes readable */

/* Without anything open. 0 or -ENOMEM. */
int wm_instance_allocate(struct wm_instance **ret);
/* What of so many bytes (0: the default) a ring gets to begin with. */
uint64_t wm_instance_cpu_bytes(const struct wm_instance *i, uint64_t bytes);
int wm_instance_set_clock(struct wm_instance *i, enum wm_clock_kind kind, struct wm_diag *diag);
/* The folder "instances", locked, so that nobody sweeps what is not locked yet. */
int wm_instance_open_parent(const struct wm_tracefs *t, struct wm_diag *diag);
uint32_t wm_instance_sweep_in(int parent); /* locked */

/* Whether the name is of a folder that notes how the system's own buffer was found. */
bool wm_instance_is_top(const char *name);
/* Gives it back as that name says. False: not all of it, somebody reads it. */
bool wm_instance_top_restore(int parent, const char *name);
void wm_instance_give_top_back(struct wm_instance *i);

int wm_instance_put(const struct wm_instance *i, const char *name, const char *text);
int wm_instance_put_number(const struct wm_instance *i, const char *name, uint64_t number);
/* The number a small file begins with; 0 when it does not. */
uint64_t wm_instance_get_number(const struct wm_instance *i, const char *name);
/*
 * Removes all triggers of all events: histograms that refer to each other
 * keep an instance from being removed. Costly, so only when it was.
 */
void wm_instance_clear_triggers(const struct wm_instance *i);

int wm_instance_append(const struct wm_instance *i, const char *name, const char *text);
bool wm_instance_has(const struct wm_instance *i, const char *name);

int wm_instance_open_rings(struct wm_instance *i, struct wm_diag *diag);

/*
 * What error_log says of the last thing that was put, and the column of it
 * (from 1; 0: none) counted from where `text` begins in the command. Empties
 * the log of the instance before: wm_instance_forget_errors().
 */
void wm_instance_forget_errors(const struct wm_instance *i);
uint32_t wm_instance_last_error(const struct wm_instance *i, char *buf, size_t bytes);

#endif
