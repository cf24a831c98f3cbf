/* SPDX-License-Identifier: MIT */
/*
 * proc_files.h - reads /proc's counter files again and again: descriptors that
 * are kept, and a buffer that grows to what the longest needs. What is in the
 * files is kdata/proc_text.h's.
 */
#ifndef WM_KERNEL_PROC_FILES_H
#define WM_KERNEL_PROC_FILES_H

#include <sys/types.h>

#include "kdata/proc_text.h"

#define WM_PROC_TEXT_MAX ((size_t)16 << 20) /* no file is longer: /proc/stat with many CPUs */

/* What was read last. Zeroed to begin with. */
struct wm_proc_text {
	char *data;
	size_t bytes, room;
};
void wm_proc_text_done(struct wm_proc_text *t);

/* The file of an event, of the machine (pid 0) or of a process. A descriptor or -errno. */
int wm_proc_open(const struct wm_proc_event *e, pid_t pid);

/*
 * The whole file, from its beginning. 0; -errno: -ESRCH, the process is gone;
 * -EACCES, it is not ours to see; -EFBIG.
 */
int wm_proc_read(int fd, struct wm_proc_text *t);

void wm_proc_machine_read(struct wm_proc_machine *ret);

/*
 * The plan of an event, from its file now; of a process's, from our own.
 * -ENOENT: this kernel has no such file, with a sentence.
 */
int wm_proc_learn(const struct wm_proc_event *e, struct wm_proc_plan **ret, struct wm_diag *diag);

#endif
