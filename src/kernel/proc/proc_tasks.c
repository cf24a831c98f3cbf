/* SPDX-License-Identifier: MIT */
/* proc_tasks.c - see proc_tasks.h. */
#include "kernel/proc_tasks.h"
#include "base/array.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/search.h"

#define COMM_SLOT (WM_PROC_TASK_FILES - 1)

static const struct wm_proc_event stat_file = {.name = "", .file = "stat", .of_task = true};
static const struct wm_proc_event comm_file = {.name = "", .file = "comm", .of_task = true};

void wm_proc_tasks_init(struct wm_proc_tasks *t, bool everything, const pid_t ours[2])
{
	*t = (struct wm_proc_tasks){.everything = everything, .ours = {ours[0], ours[1]}};
}

static void proc_tasks_close_files(struct wm_proc_tasks *t, struct wm_proc_task *task)
{
	for (unsigned i = 0; i < WM_PROC_TASK_FILES; i++) {
		if (task->fds[i] < 0)
			continue;
		close(task->fds[i]);
		task->fds[i] = -1;
		t->nr_fds--;
	}
}

void wm_proc_tasks_done(struct wm_proc_tasks *t)
{
	for (size_t i = 0; i < t->nr; i++)
		proc_tasks_close_files(t, &t->tasks[i]);
	free(t->tasks);
	wm_proc_text_done(&t->text);
	*t = (struct wm_proc_tasks){0};
}

/* --- the list --------------------------------------------------------------------------- */

/* The pid's index in the list, or the index at which to insert it. */
static size_t proc_tasks_place_of(const struct wm_proc_tasks *t, pid_t pid)
{
	return WM_SEARCH(0, t->nr, i, t->tasks[i].pid < pid);
}

static struct wm_proc_task *proc_tasks_find(struct wm_proc_tasks *t, pid_t pid)
{
	size_t i = proc_tasks_place_of(t, pid);

	return i < t->nr && t->tasks[i].pid == pid ? &t->tasks[i] : NULL;
}

static struct wm_proc_task *proc_tasks_add(struct wm_proc_tasks *t, pid_t pid)
{
	size_t at = proc_tasks_place_of(t, pid);

	if (WM_ARRAY_GROW(t->tasks, t->room, t->nr + 1))
		return NULL;
	memmove(&t->tasks[at + 1], &t->tasks[at], (t->nr - at) * sizeof(*t->tasks));
	t->nr++;
	t->tasks[at] = (struct wm_proc_task){.pid = pid, .fds = {-1, -1, -1, -1}};
	_Static_assert(WM_PROC_TASK_FILES == 4, "initialise every descriptor above");
	return &t->tasks[at];
}

int wm_proc_tasks_follow(struct wm_proc_tasks *t, pid_t pid)
{
	struct wm_proc_task *task = proc_tasks_find(t, pid);

	if (!task)
		task = proc_tasks_add(t, pid);
	if (!task)
		return -ENOMEM;
	task->followed = true;
	return 0;
}

/* --- refreshing ------------------------------------------------------------------------ */

/* The parent's pid; 0 if it is unknown or the process has ended. */
static pid_t parent_of(struct wm_proc_tasks *t, struct wm_proc_task *task)
{
	const char *end;
	long parent;
	int fd = wm_proc_open(&stat_file, task->pid),
	    err = fd < 0 ? fd : wm_proc_read(fd, &t->text);

	if (fd >= 0)
		close(fd);
	/* the line is "12 (comm) S 7 ..."; comm may contain parentheses */
	end = err || t->text.bytes < 8 ? NULL : memrchr(t->text.data, ')', t->text.bytes);
	if (!end || t->text.data + t->text.bytes - end < 6 || t->text.bytes == t->text.room)
		return 0;
	t->text.data[t->text.bytes] = '\0';
	parent = strtol(end + 4, NULL, 10);
	return parent > 0 ? (pid_t)parent : 0;
}

static bool proc_tasks_is_ours(const struct wm_proc_tasks *t, pid_t pid)
{
	return pid == t->ours[0] || pid == t->ours[1];
}

/*
 * Removes the entries between two processes that are adjacent in /proc: the processes in between
 * have ended.
 */
static void proc_tasks_forget(struct wm_proc_tasks *t, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		proc_tasks_close_files(t, &t->tasks[i]);
	memmove(&t->tasks[from], &t->tasks[to], (t->nr - to) * sizeof(*t->tasks));
	t->nr -= to - from;
}

/*
 * Adds a new process, which is followed if its parent is. Returns 1 if the parent is not in the
 * list yet (pids wrap around): try again at the next refresh.
 */
static int meet(struct wm_proc_tasks *t, size_t at, pid_t pid)
{
	struct wm_proc_task *task = proc_tasks_add(t, pid), *parent;

	if (!task)
		return -ENOMEM;
	parent = t->everything ? task : proc_tasks_find(t, parent_of(t, task));
	if (!parent) {
		proc_tasks_forget(t, at, at + 1);
		return 1;
	}
	task->followed = (t->everything || parent->followed) && !proc_tasks_is_ours(t, pid);
	return 0;
}

/* Merges /proc into the list: both are in pid order. */
int wm_proc_tasks_refresh(struct wm_proc_tasks *t)
{
	DIR *dir = opendir("/proc");
	struct dirent *d;
	size_t at = 0;
	int err = 0;

	if (!dir)
		return -errno;
	while (err >= 0 && (d = readdir(dir))) {
		pid_t pid = isdigit((unsigned char)d->d_name[0]) ? (pid_t)atoi(d->d_name) : 0;
		size_t place;

		if (pid <= 0 || (at && pid <= t->tasks[at - 1].pid))
			continue;
		place = proc_tasks_place_of(t, pid);
		if (place > at)
			proc_tasks_forget(t, at, place);
		err = at < t->nr && t->tasks[at].pid == pid ? 0 : meet(t, at, pid);
		at += err == 0;
	}
	if (err >= 0)
		proc_tasks_forget(t, at, t->nr);
	closedir(dir);
	return err < 0 ? err : 0;
}

/* --- reading -------------------------------------------------------------------------------- */

int wm_proc_task_read(struct wm_proc_tasks *t, struct wm_proc_task *task,
		      const struct wm_proc_event *e, unsigned slot, struct wm_proc_text *text)
{
	int fd = task->fds[slot], err;

	if (fd < 0)
		fd = wm_proc_open(e, task->pid);
	if (fd < 0)
		return fd;
	err = wm_proc_read(fd, text);
	if (task->fds[slot] >= 0)
		return err;
	if (err || t->nr_fds >= WM_PROC_FDS_MAX) {
		close(fd);
		return err;
	}
	task->fds[slot] = fd;
	t->nr_fds++;
	return 0;
}

bool wm_proc_task_renamed(struct wm_proc_tasks *t, struct wm_proc_task *task)
{
	char comm[WM_PROC_COMM_BYTES] = "";
	size_t n;

	if (wm_proc_task_read(t, task, &comm_file, COMM_SLOT, &t->text))
		return false;
	n = t->text.bytes && t->text.data[t->text.bytes - 1] == '\n' ? t->text.bytes - 1
								     : t->text.bytes;
	memcpy(comm, t->text.data, n < sizeof(comm) ? n : sizeof(comm) - 1);
	if (!strcmp(comm, task->comm))
		return false;
	memcpy(task->comm, comm, sizeof(comm));
	return true;
}
