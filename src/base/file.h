/* SPDX-License-Identifier: MIT */
/*
 * file.h - whole files: write all of it, read all of it up to a limit, replace
 * one atomically. Everything retries EINTR; descriptors are O_CLOEXEC.
 */
#ifndef WM_BASE_FILE_H
#define WM_BASE_FILE_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Writes all bytes at the descriptor's position. 0 or -errno; after an error
 * an unknown part was written. -EIO when the system takes nothing and says no
 * reason.
 */
int wm_file_write(int fd, const void *data, size_t bytes);

/*
 * Reads from the descriptor's position to its end into fresh memory, with a
 * NUL behind that is not counted; free() it. Works for /proc, pipes and files
 * that grow. -EFBIG when there are more than `limit` bytes.
 */
int wm_file_read_fd(int fd, size_t limit, char **ret_data, size_t *ret_bytes);

/* The same by name; `dirfd` as in openat(2), AT_FDCWD for an ordinary path. */
int wm_file_read(int dirfd, const char *name, size_t limit, char **ret_data, size_t *ret_bytes);

/*
 * Makes `name` (no slash) hold these bytes: writes ".NAME.new" beside it and
 * renames. Whoever opens `name` sees the old bytes or the new ones, whole,
 * however we die; the folder must be ours alone. Not synced to the disk. On
 * failure the old file stands and no ".NAME.new" is left.
 */
int wm_file_replace(int dirfd, const char *name, mode_t mode, const void *data, size_t bytes);

/*
 * A file nobody else sees, empty and open for reading and writing, where there
 * is room: in $TMPDIR, else /var/tmp. The descriptor, or -errno.
 */
int wm_file_temporary(void);

#endif
