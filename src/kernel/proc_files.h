/* SPDX-License-Identifier: MIT */
/*
 * proc_files.h - reads /proc's counter files repeatedly: keeps descriptors open, and a buffer that
 * grows to the longest file. kdata/proc_text.h parses the files.
 */
#ifndef WM_KERNEL_PROC_FILES_H
#define WM_KERNEL_PROC_FILES_H

#include <sys/types.h>

#include "kdata/proc_text.h"

/* limit; the longest file is /proc/stat on a machine with many CPUs. */
#define WM_PROC_TEXT_MAX ((size_t)16 << 20)

/* The text last read. Initialise with zeros. */
struct wm_proc_text {
	char *data;
	size_t bytes, room;
};
void wm_proc_text_done(struct wm_proc_text *t);

/*
 * Opens an event's file, for the whole system (pid 0) or for a process. Returns a descriptor or
 * -errno.
 */
int wm_proc_open(const struct wm_proc_event *e, pid_t pid);

/*
 * Reads the whole file from its beginning. Returns 0, or -errno: -ESRCH if the process has exited;
 * -EACCES if this process may not read it; -EFBIG.
 */
int wm_proc_read(int fd, struct wm_proc_text *t);

/*
 * Creates an event's plan from the current contents of its file; for a per-process event, from this
 * process's file. Returns -ENOENT with an error message if this kernel has no such file.
 */
int wm_proc_learn(const struct wm_proc_event *e, struct wm_kproc_plan **ret, struct wm_diag *diag);

#endif
