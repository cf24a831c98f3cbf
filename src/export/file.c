/* SPDX-License-Identifier: MIT */
/*
 * file.c - see file.h. The lock on "OUT.part" distinguishes a conversion in progress from the
 * remains of a killed one: the kernel drops the lock when the process ends.
 */
#include "export/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

#define PART_TRIES 8 /* another process may publish the file between our open() and flock() */

/* --- names ------------------------------------------------------------------------------ */

/* Turns "x/" into "x", because names of pieces are formed by appending to the path. */
static char *without_slashes(const char *path)
{
	char *copy = strdup(path);

	for (size_t n = copy ? strlen(copy) : 0; n > 1 && copy[n - 1] == '/'; n--)
		copy[n - 1] = '\0';
	return copy;
}

static int export_file_make_names(const char *path, char **ret_path, char **ret_part)
{
	*ret_path = without_slashes(path);
	if (!*ret_path || asprintf(ret_part, "%s.part", *ret_path) < 0) {
		*ret_part = NULL;
		return -ENOMEM;
	}
	return 0;
}

char *wm_export_piece_path(const char *path, uint32_t n)
{
	const char *name = strrchr(path, '/'), *dot;
	char *made;

	name = name ? name + 1 : path;
	dot = strrchr(name, '.');
	if (!dot || dot == name)
		dot = path + strlen(path);
	if (asprintf(&made, "%.*s.%u%s", (int)(dot - path), path, n, dot) < 0)
		return NULL;
	return made;
}

int wm_export_file_refuse(const char *path, bool force, struct wm_diag *diag)
{
	struct stat st;

	if (lstat(path, &st))
		return 0;
	if (S_ISDIR(st.st_mode))
		return wm_diag_set(diag, -EEXIST, path, -1,
				   "already exists; remove it, or choose another name");
	if (!force)
		return wm_diag_set(diag, -EEXIST, path, -1, "already exists; --force replaces it");
	if (!stat(path, &st) && !S_ISREG(st.st_mode)) /* follows links, such as /dev/stdout */
		return wm_diag_set(diag, -EEXIST, path, -1,
				   "not a regular file; choose another name");
	return 0;
}

/* --- the file being written --------------------------------------------------------------- */

static bool export_file_is_same(int fd, const char *path)
{
	struct stat a, b;

	return !fstat(fd, &a) && !lstat(path, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/*
 * Opens and locks the part, and checks that it has not been renamed in the meantime. Returns a
 * descriptor or -errno.
 */
static int export_file_open_part(const char *part)
{
	for (int i = 0; i < PART_TRIES; i++) {
		int fd = open(part, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
		int err = fd < 0 ? -errno : 0;

		if (err)
			return err;
		if (flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
			err = -EBUSY;
		if (!err && export_file_is_same(fd, part))
			return fd;
		(void)close(fd);
		if (err)
			return err;
	}
	return -EBUSY;
}

int wm_export_file_create(struct wm_export_file *f, const char *path, bool force,
			  struct wm_diag *diag)
{
	int err;

	*f = (struct wm_export_file){.fd = -1, .force = force};
	wm_text_init(&f->buffer);
	err = wm_export_file_refuse(path, force, diag);
	if (!err)
		err = export_file_make_names(path, &f->path, &f->part);
	if (err)
		return err;
	f->fd = export_file_open_part(f->part);
	if (f->fd == -EBUSY)
		return wm_diag_set(
		    diag, -EBUSY, path, -1,
		    "another conversion is writing it; wait, or choose another name");
	if (f->fd < 0)
		return wm_diag_set(diag, f->fd, path, -1, "%s", strerror(-f->fd));
	if (ftruncate(f->fd, 0))
		return -errno;
	return wm_text_reserve(&f->buffer, 2 * WM_EXPORT_BUFFER_BYTES) ? 0 : -ENOMEM;
}

static void export_file_write_buffer(struct wm_export_file *f)
{
	if (f->buffer.failed && !f->err)
		f->err = -ENOMEM;
	if (!f->err && f->buffer.bytes)
		f->err = wm_file_write(f->fd, f->buffer.data, f->buffer.bytes);
	wm_text_cut(&f->buffer, 0);
}

void wm_export_file_added(struct wm_export_file *f, size_t before)
{
	f->bytes += f->buffer.bytes - before;
	if (f->buffer.bytes >= WM_EXPORT_BUFFER_BYTES || f->buffer.failed)
		export_file_write_buffer(f);
}

void wm_export_file_write(struct wm_export_file *f, const void *data, size_t bytes)
{
	size_t before = f->buffer.bytes;

	wm_text_add(&f->buffer, data, bytes);
	wm_export_file_added(f, before);
}

void wm_export_file_patch(struct wm_export_file *f, uint64_t at, const void *data, size_t bytes)
{
	const char *p = data;

	export_file_write_buffer(f);
	while (bytes && !f->err) {
		ssize_t n = pwrite(f->fd, p, bytes, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			f->err = n ? -errno : -EIO;
			break;
		}
		p += n;
		at += (uint64_t)n;
		bytes -= (size_t)n;
	}
}

int wm_export_file_flush(struct wm_export_file *f)
{
	export_file_write_buffer(f);
	if (!f->err && fsync(f->fd) && errno != EINVAL)
		f->err = -errno;
	return f->err;
}

/*
 * Uses RENAME_NOREPLACE where the file system supports it; otherwise checks first, which is racy.
 */
static int rename_new(const char *from, const char *to)
{
	if (!renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (!faccessat(AT_FDCWD, to, F_OK, AT_SYMLINK_NOFOLLOW))
		return -EEXIST;
	return rename(from, to) ? -errno : 0;
}

int wm_export_file_publish(struct wm_export_file *f, struct wm_diag *diag)
{
	int err = wm_export_file_flush(f);

	if (!err && f->force)
		err = rename(f->part, f->path) ? -errno : 0;
	else if (!err)
		err = rename_new(f->part, f->path);
	if (err == -EEXIST)
		return wm_diag_set(diag, err, f->path, -1,
				   "another process created it meanwhile; --force replaces it");
	if (err)
		return wm_diag_set(diag, err, f->path, -1, "%s", strerror(-err));
	free(f->part);
	f->part = NULL;
	return 0;
}

void wm_export_file_done(struct wm_export_file *f)
{
	if (!f->path)
		return;
	if (f->fd >= 0) {
		if (f->part)
			(void)unlink(f->part);
		(void)close(f->fd);
	}
	free(f->path);
	free(f->part);
	wm_text_done(&f->buffer);
	*f = (struct wm_export_file){.fd = -1};
}
