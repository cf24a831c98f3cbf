/* SPDX-License-Identifier: MIT */
/*
 * proc_tasks.h - the list of processes whose counters are read: given processes and those they
 * fork, or all. The list is refreshed from /proc before each reading; a child is recognised by its
 * parent's pid, so a child whose parent has ended before the next reading is not found.
 */
#ifndef WM_KERNEL_PROC_TASKS_H
#define WM_KERNEL_PROC_TASKS_H

#include <stdbool.h>

#include "kernel/proc_files.h"

#define WM_PROC_TASK_FILES 4u   /* one for each per-process event, and one for its name */
#define WM_PROC_FDS_MAX    512u /* limit for files kept open; others are opened for each reading */
#define WM_PROC_COMM_BYTES 16u

struct wm_proc_task {
	pid_t pid;
	bool followed;
	int fds[WM_PROC_TASK_FILES]; /* -1: not open */
	char comm[WM_PROC_COMM_BYTES];
};

struct wm_proc_tasks {
	struct wm_proc_task *tasks; /* ordered by pid; includes processes that are not followed */
	size_t nr, room;
	bool everything;
	pid_t ours[2]; /* never followed */
	unsigned nr_fds;
	struct wm_proc_text text;
};

/* `ours` are two processes that are never followed, not even with `everything`. */
void wm_proc_tasks_init(struct wm_proc_tasks *t, bool everything, const pid_t ours[2]);
void wm_proc_tasks_done(struct wm_proc_tasks *t);

/* Follows this process and the processes that it forks from now on. Returns 0 or -ENOMEM. */
int wm_proc_tasks_follow(struct wm_proc_tasks *t, pid_t pid);

/* Follows new children and removes processes that have ended. Returns 0 or -errno. */
int wm_proc_tasks_refresh(struct wm_proc_tasks *t);

/*
 * Reads one of the process's files and keeps it open in slot `slot` < WM_PROC_TASK_FILES - 1.
 * Errors as for wm_proc_read(), and -ENOENT if the process has ended.
 */
int wm_proc_task_read(struct wm_proc_tasks *t, struct wm_proc_task *task,
		      const struct wm_proc_event *e, unsigned slot, struct wm_proc_text *text);

/* Whether the name has changed since the last call; task->comm has the current one. */
bool wm_proc_task_renamed(struct wm_proc_tasks *t, struct wm_proc_task *task);

#endif
