/* SPDX-License-Identifier: MIT */
/* folder.c - an output folder; see file.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "export/file.h"

#define FOLDER_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define TRACES_DEPTH 2  /* levels of folders in a converted set of traces, above the traces */
#define DEPTH_MAX    12 /* enough for a tree of traces, each with its files and index/ */

static void remove_entry(int dirfd, const char *name, int depth);

/* Removes everything in a folder. Closes the descriptor. */
static void remove_inside(int fd, int depth)
{
	DIR *dir = fdopendir(fd);
	struct dirent *d;

	if (!dir) {
		(void)close(fd);
		return;
	}
	rewinddir(dir); /* duplicated descriptors share their position */
	while ((d = readdir(dir)))
		if (strcmp(d->d_name, ".") && strcmp(d->d_name, ".."))
			remove_entry(dirfd(dir), d->d_name, depth);
	(void)closedir(dir);
}

static void remove_entry(int dirfd, const char *name, int depth)
{
	int fd;

	if (!unlinkat(dirfd, name, 0) || (errno != EISDIR && errno != EPERM) || depth >= DEPTH_MAX)
		return;
	fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0)
		remove_inside(fd, depth + 1);
	(void)unlinkat(dirfd, name, AT_REMOVEDIR);
}

/* Opens and locks the folder "OUT.part", and removes what a killed conversion left in it. */
static int export_folder_open_part(const char *part)
{
	int fd, err = mkdir(part, 0700) && errno != EEXIST ? -errno : 0;
	struct stat held, there;

	fd = err ? err : open(part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return err ? err : -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
		(void)close(fd);
		return -EBUSY;
	}
	/* The previous holder may have renamed it before it released the lock. */
	if (fstat(fd, &held) || lstat(part, &there) || held.st_dev != there.st_dev ||
	    held.st_ino != there.st_ino) {
		(void)close(fd);
		return -EBUSY;
	}
	remove_inside(fcntl(fd, F_DUPFD_CLOEXEC, 0), 0);
	return fd;
}

/*
 * Returns whether everything in a folder is a CTF trace, so that it may be replaced: it has a file
 * "metadata", or its entries are such folders. Closes the descriptor.
 */
static bool is_trace_folder(int fd, int depth)
{
	DIR *dir = fd >= 0 && faccessat(fd, "metadata", F_OK, AT_SYMLINK_NOFOLLOW) && depth
		       ? fdopendir(fd)
		       : NULL;
	bool is_trace = fd >= 0 && !dir && !faccessat(fd, "metadata", F_OK, AT_SYMLINK_NOFOLLOW);
	const struct dirent *d;

	if (!dir) {
		if (fd >= 0)
			(void)close(fd);
		return is_trace;
	}
	is_trace = true;
	while (is_trace && (d = readdir(dir)))
		if (strcmp(d->d_name, ".") && strcmp(d->d_name, ".."))
			is_trace =
			    is_trace_folder(openat(dirfd(dir), d->d_name, FOLDER_FLAGS), depth - 1);
	(void)closedir(dir);
	return is_trace;
}

/* Refuses to replace what is at the path; -EEXIST with `diag`. */
static int export_folder_refuse(const struct wm_export_folder *f, bool force, struct wm_diag *diag)
{
	struct stat st;

	if (lstat(f->path, &st))
		return 0;
	if (!force)
		return wm_diag_set(diag, -EEXIST, f->asked, -1,
				   "already exists; --force replaces a trace");
	if (!is_trace_folder(open(f->path, FOLDER_FLAGS), TRACES_DEPTH))
		return wm_diag_set(diag, -EEXIST, f->asked, -1,
				   "already exists and is not a trace; remove it, or choose "
				   "another name");
	return 0;
}

int wm_export_folder_create(struct wm_export_folder *f, const char *path, bool force,
			    struct wm_diag *diag)
{
	int err;

	*f = (struct wm_export_folder){
	    .fd = -1, .asked = path, .path = strdup(path), .force = force};
	if (!f->path)
		return -ENOMEM;
	for (size_t n = strlen(f->path); n > 1 && f->path[n - 1] == '/'; n--)
		f->path[n - 1] = '\0';
	err = export_folder_refuse(f, force, diag);
	if (err)
		return err;
	if (asprintf(&f->part, "%s.part", f->path) < 0) {
		f->part = NULL;
		return -ENOMEM;
	}
	f->fd = export_folder_open_part(f->part);
	if (f->fd == -EBUSY)
		return wm_diag_set(
		    diag, -EBUSY, path, -1,
		    "another conversion is writing it; wait, or choose another name");
	if (f->fd < 0)
		return wm_diag_set(diag, f->fd, path, -1, "%s", strerror(-f->fd));
	return 0;
}

static int export_folder_rename(struct wm_export_folder *f, struct wm_diag *diag)
{
	/* A plain rename would replace an empty folder created by another process. */
	int err = renameat2(AT_FDCWD, f->part, AT_FDCWD, f->path, RENAME_NOREPLACE) ? -errno : 0;

	if (err == -EINVAL || err == -ENOSYS)
		err = rename(f->part, f->path) ? -errno : 0;
	if (err)
		return wm_diag_set(diag, err, f->asked, -1, "%s", strerror(-err));
	free(f->part);
	f->part = NULL;
	return 0;
}

/* Exchanges the folder with the existing one, and removes the latter. 0 or -errno. */
static int export_folder_replace(struct wm_export_folder *f, struct wm_diag *diag)
{
	int fd, err = export_folder_refuse(f, true, diag);

	if (err)
		return err;
	if (renameat2(AT_FDCWD, f->part, AT_FDCWD, f->path, RENAME_EXCHANGE))
		return wm_diag_set(diag, -errno, f->asked, -1, "cannot be replaced: %s",
				   strerror(errno));
	fd = open(f->part, FOLDER_FLAGS);
	if (fd >= 0)
		remove_inside(fd, 0);
	(void)rmdir(f->part);
	free(f->part);
	f->part = NULL;
	return 0;
}

int wm_export_folder_publish(struct wm_export_folder *f, struct wm_diag *diag)
{
	struct stat st;

	if (f->force && !lstat(f->path, &st))
		return export_folder_replace(f, diag);
	return export_folder_rename(f, diag);
}

void wm_export_folder_done(struct wm_export_folder *f)
{
	if (!f->path)
		return;
	if (f->fd >= 0 && f->part) {
		remove_inside(f->fd, 0);
		(void)rmdir(f->part);
	} else if (f->fd >= 0) {
		(void)close(f->fd);
	}
	free(f->path);
	free(f->part);
	*f = (struct wm_export_folder){.fd = -1};
}
