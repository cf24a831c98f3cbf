/* SPDX-License-Identifier: MIT */
/* growing_file.c - the files of a growing trace; see growing_int.h. */
#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "read/ctf/growing_int.h"
#include "trace/trace_layout.h"

#define FREE_BYTES 16384u /* freeing less is not worth a system call */
#define PAGE_BYTES 4096u
#define IDX        ".idx"

static struct wm_growing_file *growing_file_find(const struct wm_growing *g, const char *name,
						 size_t bytes)
{
	for (uint32_t i = 0; i < g->nr_files; i++)
		if (strlen(g->files[i].name) == bytes && !memcmp(g->files[i].name, name, bytes))
			return &g->files[i];
	return NULL;
}

static int growing_file_add(struct wm_growing *g, const char *name, size_t bytes)
{
	struct wm_growing_file *more = realloc(g->files, (g->nr_files + 1) * sizeof(*more));

	if (!more)
		return -ENOMEM;
	g->files = more;
	more[g->nr_files] = (struct wm_growing_file){.name = strndup(name, bytes)};
	if (!more[g->nr_files].name)
		return -ENOMEM;
	more[g->nr_files].part.name = more[g->nr_files].name;
	g->nr_files++;
	return 0;
}

/* Returns the end offset of the last packet in the index. */
static uint64_t growing_file_end_of(int dirfd, const char *index, uint64_t otherwise)
{
	struct wm_index_entry entry;
	int fd = openat(dirfd, index, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	uint64_t nr = 0, end = otherwise;

	if (fd < 0)
		return end;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) &&
	    st.st_size > (off_t)sizeof(struct wm_index_header))
		nr = ((uint64_t)st.st_size - sizeof(struct wm_index_header)) / sizeof(entry);
	if (nr &&
	    pread(fd, &entry, sizeof(entry),
		  (off_t)(sizeof(struct wm_index_header) + (nr - 1) * sizeof(entry))) ==
		(ssize_t)sizeof(entry) &&
	    __builtin_add_overflow(be64toh(entry.offset), be64toh(entry.packet_size) / 8, &end))
		end = otherwise;
	close(fd);
	return end;
}

/*
 * Adds the stream file NAME for index/NAME.idx. Streams are found through their indexes, because
 * the trace's folder also holds other files.
 */
static int look_at_index(struct wm_growing *g, int dirfd, const char *index)
{
	size_t bytes = strlen(index);
	struct wm_growing_file *f;
	int err;

	if (bytes <= strlen(IDX) || index[0] == '.' || strcmp(index + bytes - strlen(IDX), IDX))
		return 0;
	bytes -= strlen(IDX);
	f = growing_file_find(g, index, bytes);
	if (!f) {
		err = g->nr_files < WM_CTF_NAMES_MAX ? growing_file_add(g, index, bytes) : -E2BIG;
		if (err)
			return err;
		f = &g->files[g->nr_files - 1];
	}
	f->part.end = growing_file_end_of(dirfd, index, f->part.end);
	return 0;
}

int wm_growing_files_list(struct wm_growing *g)
{
	int fd = openat(g->dirfd, "index", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	int err = 0;

	if (!dir) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	while (!err && (entry = readdir(dir)))
		err = look_at_index(g, fd, entry->d_name);
	closedir(dir);
	return err;
}

void wm_growing_files_done(struct wm_growing *g)
{
	while (g->nr_files)
		free(g->files[--g->nr_files].name);
	free(g->files);
	g->files = NULL;
}

/*
 * Frees the bytes from *from to `to` by punching a hole. Returns their number; 0 also when the file
 * system does not support holes.
 */
static uint64_t punch(struct wm_growing *g, const char *name, uint64_t *from, uint64_t to)
{
	uint64_t bytes;
	int fd, err;

	to &= ~(uint64_t)(PAGE_BYTES - 1);
	if (to < *from + FREE_BYTES)
		return 0;
	fd = openat(g->dirfd, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return 0;
	bytes = to - *from;
	err = fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)*from, (off_t)bytes);
	close(fd);
	if (err)
		return 0;
	*from = to;
	return bytes;
}

uint64_t wm_growing_file_free(struct wm_growing *g, struct wm_growing_file *f)
{
	char index[300];
	uint64_t freed = punch(g, f->name, &f->free_to, f->done);
	struct stat st;

	if (f->done < f->part.end ||
	    snprintf(index, sizeof(index), "index/%s%s", f->name, IDX) >= (int)sizeof(index) ||
	    fstatat(g->dirfd, index, &st, AT_SYMLINK_NOFOLLOW))
		return freed;
	/* Keep the last entry: growing_file_end_of() reads the end of the file from it. */
	if (st.st_size > (off_t)sizeof(struct wm_index_entry))
		freed += punch(g, index, &f->index_free_to,
			       (uint64_t)st.st_size - sizeof(struct wm_index_entry));
	return freed;
}
