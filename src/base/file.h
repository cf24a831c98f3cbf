/* SPDX-License-Identifier: MIT */
/*
 * file.h - reads whole files up to a limit, writes them, and replaces them atomically. Everything
 * retries EINTR; descriptors are O_CLOEXEC.
 */
#ifndef WM_BASE_FILE_H
#define WM_BASE_FILE_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Writes all bytes at the descriptor's position. Returns 0 or -errno; after an error, an unknown
 * part has been written. -EIO when write(2) returns 0.
 */
int wm_file_write(int fd, const void *data, size_t bytes);

/*
 * Reads from the descriptor's position to its end into new memory and appends a NUL that is not
 * counted; free() it. Works for /proc, pipes and files that grow. Returns -EFBIG when the file has
 * more than `limit` bytes.
 */
int wm_file_read_fd(int fd, size_t limit, char **ret_data, size_t *ret_bytes);

/* Like wm_file_read_fd(), by name; `dirfd` is as in openat(2), AT_FDCWD for an ordinary path. */
int wm_file_read(int dirfd, const char *name, size_t limit, char **ret_data, size_t *ret_bytes);

/*
 * Replaces the contents of `name` (no slash): writes ".NAME.new" beside it and renames it. A reader
 * that opens `name` sees either all the old or all the new contents, even if this process dies; no
 * other process may write to the folder. Not synced to the disk. On failure the old file remains
 * and ".NAME.new" is removed.
 */
int wm_file_replace(int dirfd, const char *name, mode_t mode, const void *data, size_t bytes);

/*
 * Creates an empty unnamed file, open for reading and writing, in $TMPDIR or else /var/tmp. Returns
 * the descriptor or -errno.
 */
int wm_file_temporary(void);

#endif
