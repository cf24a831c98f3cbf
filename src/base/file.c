/* SPDX-License-Identifier: MIT */
/* file.c - reads and writes whole files, see file.h. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"

#define FIRST_READ_BYTES 4096u

int wm_file_write(int fd, const void *data, size_t bytes)
{
	const char *p = data;

	while (bytes) {
		ssize_t n = write(fd, p, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -EIO;
		p += n;
		bytes -= (size_t)n;
	}
	return 0;
}

/*
 * The initial size of the buffer: the file's size plus one byte, so that read() finds the end of
 * the file without growing the buffer.
 */
static size_t first_room(int fd, size_t limit)
{
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size < (off_t)FIRST_READ_BYTES)
		return FIRST_READ_BYTES;
	return ((uint64_t)st.st_size > limit ? limit : (size_t)st.st_size) + 2;
}

int wm_file_read_fd(int fd, size_t limit, char **ret_data, size_t *ret_bytes)
{
	size_t room, used = 0;
	char *data;
	int err = -ENOMEM;

	if (limit > SSIZE_MAX / 2)
		limit = SSIZE_MAX / 2;
	room = first_room(fd, limit);
	data = malloc(room);
	if (!data)
		return -ENOMEM;
	for (;;) {
		ssize_t n = read(fd, data + used, room - used - 1);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			err = -errno;
			goto fail;
		}
		if (n == 0)
			break;
		used += (size_t)n;
		if (used > limit) {
			err = -EFBIG;
			goto fail;
		}
		if (used < room - 1)
			continue;
		if (WM_ARRAY_GROW(data, room, room + 1))
			goto fail;
	}
	data[used] = '\0';
	*ret_data = data;
	*ret_bytes = used;
	return 0;
fail:
	free(data);
	return err;
}

int wm_file_read(int dirfd, const char *name, size_t limit, char **ret_data, size_t *ret_bytes)
{
	int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC);
	int err;

	if (fd < 0)
		return -errno;
	err = wm_file_read_fd(fd, limit, ret_data, ret_bytes);
	close(fd);
	return err;
}

static int write_new(int dirfd, const char *temporary, mode_t mode, const void *data, size_t bytes)
{
	int fd =
	    openat(dirfd, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, mode);
	int err;

	if (fd < 0)
		return -errno;
	err = wm_file_write(fd, data, bytes);
	if (close(fd) && !err)
		err = -errno; /* some file systems report a full disk only here */
	return err;
}

int wm_file_replace(int dirfd, const char *name, mode_t mode, const void *data, size_t bytes)
{
	char temporary[NAME_MAX + 1];
	int n, err;

	if (!*name || strchr(name, '/'))
		return -EINVAL;
	n = snprintf(temporary, sizeof(temporary), ".%s.new", name);
	if (n < 0 || (size_t)n >= sizeof(temporary))
		return -ENAMETOOLONG;
	err = write_new(dirfd, temporary, mode, data, bytes);
	if (!err && renameat(dirfd, temporary, dirfd, name))
		err = -errno;
	if (err)
		(void)unlinkat(dirfd, temporary, 0); /* the file may not exist */
	return err;
}

int wm_file_temporary(void)
{
	const char *folder = getenv("TMPDIR");
	char name[4096];
	int fd;

	if (!folder || !*folder)
		folder = "/var/tmp";
	fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	if (snprintf(name, sizeof(name), "%s/waymark-XXXXXX", folder) >= (int)sizeof(name))
		return -ENAMETOOLONG;
	fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	unlink(name);
	return fd;
}
