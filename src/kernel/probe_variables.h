/* SPDX-License-Identifier: MIT */
/*
 * probe_variables.h - the parameters and variables that a probe can name at its place, from the
 * program's debug information or the kernel's type information.
 */
#ifndef WM_KERNEL_PROBE_VARIABLES_H
#define WM_KERNEL_PROBE_VARIABLES_H

#include <stdbool.h>

#include "base/diag.h"
#include "kernel/event_def.h"

/* The strings are valid during the call. */
struct wm_probe_variable {
	const char *name; /* "$retval": the function's return value */
	const char *type; /* as in the source, such as "const char *" */
	bool is_parameter;
	/* A structure: its members may have names and types that a probe can fetch. */
	bool has_members;
	const char *refused; /* a message: why a probe cannot fetch it here; NULL: it can */
};

/* Keeps the last call's file open. Not thread-safe. */
struct wm_probe_variables;

/* Returns 0 or -ENOMEM. */
int wm_probe_variables_open(struct wm_probe_variables **ret);
void wm_probe_variables_close(struct wm_probe_variables *p); /* accepts NULL */

/*
 * Calls fn with each parameter and variable at the place of a uprobe, uretprobe, kprobe or
 * kretprobe, in the order in which names are looked up. Returns 0; what fn returned, if not 0;
 * -EINVAL for other events; or, with an error message, -ENODATA if the file has no debug
 * information, -ENOENT if it has none about this place, or an error from reading the file.
 */
int wm_probe_variables_each(struct wm_probe_variables *p, const struct wm_event_def *def,
			    int (*fn)(const struct wm_probe_variable *variable, void *data),
			    void *data, struct wm_diag *diag);

#endif
