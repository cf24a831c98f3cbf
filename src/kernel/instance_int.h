/* SPDX-License-Identifier: MIT */
/* instance_int.h - shared by the files of instance.h, and by nobody else. */
#ifndef WM_KERNEL_INSTANCE_INT_H
#define WM_KERNEL_INSTANCE_INT_H

#include "kernel/instance.h"

struct wm_instance {
	int dirfd;  /* of the instance: locked as long as we live */
	int parent; /* the folder "instances" */
	char name[64];
	uint32_t nr_cpus, page_bytes;
	uint64_t cpu_bytes; /* of each ring */
	int *fds;           /* by CPU */
	bool functions;     /* the function tracer is on: it has a choice of tasks of its own */
};

int wm_instance_put(const struct wm_instance *i, const char *name, const char *text);
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
