/* SPDX-License-Identifier: MIT */
/*
 * tracefs.h - the kernel's tracing file system: where it is, whether we may
 * read it and why not, which events it has, their ids and format texts.
 * Reads only; nothing of the machine's tracing state is changed by it.
 *
 * Own code over base/file.h rather than libtracefs: that library finds its
 * folder once for the whole process and mounts one when there is none, cannot
 * be given a descriptor, and tells nobody why a file could not be read.
 *
 * Not thread safe: one object belongs to one thread.
 */
#ifndef WM_KERNEL_TRACEFS_H
#define WM_KERNEL_TRACEFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

#define WM_TRACEFS_NAME_MAX   128u        /* bytes of a system's or event's name, with its NUL */
#define WM_TRACEFS_FORMAT_MAX (1u << 20)  /* bytes of a format text */
#define WM_TRACEFS_LIST_MAX   (64u << 20) /* bytes of the list of events */

struct wm_tracefs_event {
	const char *system, *name;
};

struct wm_tracefs {
	int dirfd;
	bool private_mount; /* mounted nowhere: it is seen through dirfd only */
	char path[256];     /* where it is mounted, for people */
	/* Filled by wm_tracefs_load(); sorted by system and name. */
	struct wm_tracefs_event *events;
	size_t nr_events;
	char *text; /* what the names point into */
};

/*
 * Finds one that can be read: mounted at the usual place, mounted elsewhere
 * (/proc/self/mounts), under debugfs; else, with the privilege, opens one
 * that is mounted nowhere and vanishes with the descriptor. Fails with a
 * sentence that names the cure: -EACCES (there is one, not for us), -ENOENT
 * (none is mounted and we may not open one), -EOPNOTSUPP (the kernel was
 * built without).
 */
int wm_tracefs_open(struct wm_tracefs **ret, struct wm_diag *diag);
void wm_tracefs_close(struct wm_tracefs *t); /* accepts NULL */

/* Reads the list of events; does nothing the second time. */
int wm_tracefs_load(struct wm_tracefs *t, struct wm_diag *diag);

/* After wm_tracefs_load(): NULL when there is no such event. */
const struct wm_tracefs_event *wm_tracefs_find(const struct wm_tracefs *t, const char *system,
					       const char *name);

/*
 * The number perf_event_open and the ring buffer know the event by, valid
 * until the machine is started again (or the probe removed). -ENOENT: no such
 * event here; -EACCES; -EBADMSG.
 */
int wm_tracefs_event_id(const struct wm_tracefs *t, const char *system, const char *name,
			uint64_t *ret_id, struct wm_diag *diag);

/* events/SYSTEM/NAME/format as the kernel writes it; free() it. */
int wm_tracefs_event_format(const struct wm_tracefs *t, const char *system, const char *name,
			    char **ret_text, size_t *ret_bytes, struct wm_diag *diag);

/* Whole small files of it by name, e.g. "trace_clock"; free() it. */
int wm_tracefs_read(const struct wm_tracefs *t, const char *name, size_t limit, char **ret_text,
		    size_t *ret_bytes, struct wm_diag *diag);

#endif
