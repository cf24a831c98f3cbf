/* SPDX-License-Identifier: MIT */
/*
 * live.c - see live.h: creates the folder and sends requests to the recorder. The folder is locked
 * through an open file that command and recorder share, so a folder that is not locked is
 * abandoned.
 */
#include "control/live.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#define PREFIX    "waymark-live-"
#define PATH_MAX_ 200u
#define SWEEP_MAX 256 /* folders examined */
#define YOUNG_S   5   /* a younger folder without a lock may still be being created */

struct wm_live {
	char path[PATH_MAX_];
	int lock_fd;
	uint64_t bytes;
	bool asked, over;
	struct wm_growing *growing; /* NULL before the first batch */
};

/* --- the folder --------------------------------------------------------------------------- */

/* Removes a folder's files and, with `deeper`, those in its subfolders. */
static void empty(int dirfd, const char *name, bool deeper)
{
	int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;

	while (dir && (e = readdir(dir))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		if (unlinkat(fd, e->d_name, 0) && deeper) {
			empty(fd, e->d_name, false);
			(void)unlinkat(fd, e->d_name, AT_REMOVEDIR);
		}
	}
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
}

void wm_live_remove_folder(const char *path)
{
	empty(AT_FDCWD, path, true);
	(void)rmdir(path); /* on failure, the next live recording tries again */
}

/* Whether the folder belongs to this user and is no longer in use. */
static bool is_left(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	bool left;

	if (fd < 0)
		return false;
	left = !fstat(fd, &st) && st.st_uid == geteuid() && time(NULL) - st.st_mtime > YOUNG_S &&
	       !flock(fd, LOCK_EX | LOCK_NB);
	close(fd);
	return left;
}

static void live_sweep(const char *base)
{
	DIR *dir = opendir(base);
	const struct dirent *e;
	char path[PATH_MAX_];

	for (int i = 0; dir && i < SWEEP_MAX && (e = readdir(dir));) {
		if (strncmp(e->d_name, PREFIX, strlen(PREFIX)) != 0 ||
		    snprintf(path, sizeof(path), "%s/%s", base, e->d_name) >= (int)sizeof(path))
			continue;
		i++;
		if (is_left(path))
			wm_live_remove_folder(path);
	}
	if (dir)
		closedir(dir);
}

/* Returns `bytes`, or half of the file system's free space if that is less. */
static uint64_t spare(const char *base, uint64_t bytes)
{
	struct statvfs v;
	uint64_t half;

	if (statvfs(base, &v))
		return bytes;
	half = (uint64_t)v.f_bavail * v.f_frsize / 2;
	return half < bytes ? half : bytes;
}

static int make_in(struct wm_live *l, const char *base)
{
	int n = snprintf(l->path, sizeof(l->path), "%s/" PREFIX "XXXXXX", base);
	int err;

	if (n < 0 || n >= (int)sizeof(l->path))
		return -ENAMETOOLONG;
	live_sweep(base);
	l->bytes = spare(base, l->bytes);
	if (l->bytes < WM_LIVE_BYTES_MIN)
		return -ENOSPC;
	if (!mkdtemp(l->path))
		return -errno;
	l->lock_fd = open(l->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (l->lock_fd >= 0 && !flock(l->lock_fd, LOCK_EX | LOCK_NB))
		return 0;
	err = -errno;
	(void)rmdir(l->path);
	if (l->lock_fd >= 0)
		close(l->lock_fd);
	l->lock_fd = -1;
	return err;
}

int wm_live_create(const char *runtime_dir, uint64_t bytes, struct wm_live **ret,
		   struct wm_diag *diag)
{
	const char *const bases[] = {"/dev/shm", runtime_dir, "/tmp"};
	struct wm_live *l = calloc(1, sizeof(*l));
	const char *last = NULL;
	int err = -ENOENT;

	if (!l)
		return -ENOMEM;
	l->lock_fd = -1;
	for (size_t i = 0; err && i < sizeof(bases) / sizeof(bases[0]); i++) {
		if (!bases[i])
			continue;
		l->bytes = bytes ? bytes : WM_LIVE_BYTES_DEFAULT;
		err = make_in(l, bases[i]);
		last = bases[i];
	}
	if (err) {
		free(l);
		return wm_diag_set(diag, err, NULL, -1,
				   "cannot create a folder for buffered events in /dev/shm or %s: "
				   "%s",
				   last, strerror(-err));
	}
	*ret = l;
	return 0;
}

void wm_live_destroy(struct wm_live *l)
{
	if (!l)
		return;
	wm_growing_close(l->growing);
	wm_live_remove_folder(l->path);
	close(l->lock_fd);
	free(l);
}

void wm_live_options(const struct wm_live *l, struct wm_recording_options *o)
{
	o->dir = l->path;
	o->format = WM_TRACE_CTF1;
	o->live_bytes = l->bytes;
	o->live_lock_fd = l->lock_fd;
}

/* --- batches --------------------------------------------------------------------------------- */

int wm_live_look(struct wm_live *l, struct wm_channel *c)
{
	struct wm_growing_totals t = {0};
	int err;

	if (l->asked)
		return -EALREADY;
	if (l->growing)
		wm_growing_totals(l->growing, &t);
	err = wm_channel_look(c, t.freed);
	l->asked = !err;
	return err;
}

int wm_live_take(struct wm_live *l, const struct wm_report *report, struct wm_diag *diag)
{
	bool first = !l->growing, done = report->kind == WM_REPORT_DONE;
	int err;

	if ((report->kind != WM_REPORT_LOOKED && !done) || l->over)
		return -ENOENT;
	l->asked = false;
	l->over = done;
	if (first) {
		err = wm_growing_open(l->path, true, &l->growing, diag);
		if (err)
			return err;
	}
	err = wm_growing_look(l->growing, done ? WM_GROWING_NOW : report->clock, diag);
	return err < 0 ? err : err || first;
}

struct wm_trace *wm_live_trace(const struct wm_live *l)
{
	return l->growing ? wm_growing_trace(l->growing) : NULL;
}

void wm_live_want(struct wm_live *l, const struct wm_want *want)
{
	wm_growing_want(l->growing, want);
}

int wm_live_next(struct wm_live *l, const struct wm_event **ret)
{
	return l->growing ? wm_growing_next(l->growing, ret) : 0;
}

void wm_live_totals(const struct wm_live *l, struct wm_growing_totals *ret)
{
	*ret = (struct wm_growing_totals){0};
	if (l->growing)
		wm_growing_totals(l->growing, ret);
}
