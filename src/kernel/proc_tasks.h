/* SPDX-License-Identifier: MIT */
/*
 * proc_tasks.h - the processes whose counters are read: those that were named
 * and what they fork, or all there are. Who is there is asked of /proc before
 * each reading; a child is known by its parent's number, so one whose parent
 * has ended before the next reading is not found.
 */
#ifndef WM_KERNEL_PROC_TASKS_H
#define WM_KERNEL_PROC_TASKS_H

#include <stdbool.h>

#include "kernel/proc_files.h"

#define WM_PROC_TASK_FILES 4u   /* events of a process, and its name */
#define WM_PROC_FDS_MAX    512u /* kept open; the files of others are opened each time */
#define WM_PROC_COMM_BYTES 16u

struct wm_proc_task {
	pid_t pid;
	bool followed;
	int fds[WM_PROC_TASK_FILES]; /* -1: not open */
	char comm[WM_PROC_COMM_BYTES];
};

struct wm_proc_tasks {
	struct wm_proc_task *tasks; /* in order of pid; those not followed, too */
	size_t nr, room;
	bool everything;
	pid_t ours[2]; /* not followed, whatever is */
	unsigned nr_fds;
	struct wm_proc_text text;
};

/* `ours`: two processes that are left out of everything. */
void wm_proc_tasks_init(struct wm_proc_tasks *t, bool everything, const pid_t ours[2]);
void wm_proc_tasks_done(struct wm_proc_tasks *t);

/* This process, and what it forks from now on. 0 or -ENOMEM. */
int wm_proc_tasks_follow(struct wm_proc_tasks *t, pid_t pid);

/* Looks who is there: new children are followed, who ended is forgotten. 0 or -errno. */
int wm_proc_tasks_refresh(struct wm_proc_tasks *t);

/*
 * Reads one of its files, kept under `slot` < WM_PROC_TASK_FILES - 1. As
 * wm_proc_read(); -ENOENT: it is gone, too.
 */
int wm_proc_task_read(struct wm_proc_tasks *t, struct wm_proc_task *task,
		      const struct wm_proc_event *e, unsigned slot, struct wm_proc_text *text);

/* Whether it has another name than when this was asked last; task->comm has it. */
bool wm_proc_task_renamed(struct wm_proc_tasks *t, struct wm_proc_task *task);

#endif
