/* SPDX-License-Identifier: MIT */
/*
 * tracefs.h - finds the kernel's tracing file system, reports why it cannot be read, and reads its
 * list of events, their ids and format files. Reads only; does not change the machine's tracing
 * state.
 *
 * Uses base/file.h rather than libtracefs: that library finds its folder once for the whole process
 * and mounts one when there is none, cannot be given a descriptor, and does not report why a file
 * could not be read.
 *
 * Not thread-safe: one object belongs to one thread.
 */
#ifndef WM_KERNEL_TRACEFS_H
#define WM_KERNEL_TRACEFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

/* Limit for a system or event name, including its NUL. */
#define WM_TRACEFS_NAME_MAX   128u
#define WM_TRACEFS_FORMAT_MAX (1u << 20)  /* limit for a format file */
#define WM_TRACEFS_LIST_MAX   (64u << 20) /* limit for the list of events */

struct wm_tracefs_event {
	const char *system, *name;
};

struct wm_tracefs {
	int dirfd;
	bool private_mount; /* not mounted in any folder, so accessible only through dirfd */
	char path[256];     /* the mount point, for messages */
	/* Filled by wm_tracefs_load(); sorted by system and name. */
	struct wm_tracefs_event *events;
	size_t nr_events;
	char *text; /* memory that holds the names */
};

/*
 * Finds a tracefs that can be read: mounted at the usual place, mounted elsewhere
 * (/proc/self/mounts), or under debugfs. If there is none and the process is permitted to, opens
 * one that is not mounted anywhere and disappears with the descriptor. Fails with an error message
 * that has the hint: -EACCES (there is one, but this process may not read it), -ENOENT (none is
 * mounted, and this process may not open one), -EOPNOTSUPP (the kernel has no tracefs).
 */
int wm_tracefs_open(struct wm_tracefs **ret, struct wm_diag *diag);
void wm_tracefs_close(struct wm_tracefs *t); /* accepts NULL */

/* Reads the list of events; later calls do nothing. */
int wm_tracefs_load(struct wm_tracefs *t, struct wm_diag *diag);

/*
 * Reads the event's number in perf_event_open(2) and in the ring buffer; it is valid until the
 * machine is restarted or the probe is removed. Returns -ENOENT if there is no such event; -EACCES;
 * -EBADMSG.
 */
int wm_tracefs_event_id(const struct wm_tracefs *t, const char *system, const char *name,
			uint64_t *ret_id, struct wm_diag *diag);

/* Reads events/SYSTEM/NAME/format; free() the text. */
int wm_tracefs_event_format(const struct wm_tracefs *t, const char *system, const char *name,
			    char **ret_text, size_t *ret_bytes, struct wm_diag *diag);

/* Whether the kernel has events of a system, whose name has `bytes` bytes. */
bool wm_tracefs_has_system(const struct wm_tracefs *t, const char *system, size_t bytes);

/* Reads a whole small tracefs file, such as "trace_clock"; free() it. */
int wm_tracefs_read(const struct wm_tracefs *t, const char *name, size_t limit, char **ret_text,
		    size_t *ret_bytes, struct wm_diag *diag);

#endif
