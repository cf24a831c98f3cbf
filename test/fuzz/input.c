/* SPDX-License-Identifier: MIT */
/* input.c - see input.h. */
#include "input.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

#define FILE_MAX (256u << 20)

static bool looks_like_text(const unsigned char *data, size_t bytes)
{
	size_t printable = 0, seen = bytes < 512 ? bytes : 512;

	for (size_t i = 0; i < seen; i++)
		printable += isprint(data[i]) || isspace(data[i]);
	return seen && printable * 10 >= seen * 9;
}

static int add_file(struct fuzz_input *in, const char *path, const char *name)
{
	struct fuzz_file *more = realloc(in->files, (in->nr_files + 1) * sizeof(*more)), *f;
	char *data;
	int err;

	if (!more)
		return -ENOMEM;
	in->files = more;
	f = &more[in->nr_files];
	*f = (struct fuzz_file){.name = strdup(name)};
	err = f->name ? wm_file_read(AT_FDCWD, path, FILE_MAX, &data, &f->bytes) : -ENOMEM;
	if (err) {
		free(f->name);
		return err;
	}
	f->data = (unsigned char *)data;
	f->is_text = looks_like_text(f->data, f->bytes);
	in->nr_files++;
	in->bytes += f->bytes;
	return 0;
}

static struct fuzz_input *walked; /* nftw(3) has no argument for user data */

static int walk(const char *path, const struct stat *st, int type, struct FTW *at)
{
	return type == FTW_F && S_ISREG(st->st_mode)
		   ? add_file(walked, path, path + strlen(walked->path) + 1)
		   : 0;
}

static int by_name(const void *a, const void *b)
{
	const struct fuzz_file *x = a, *y = b;

	return strcmp(x->name, y->name);
}

int fuzz_input_load(struct fuzz_input *in, const char *path)
{
	struct stat st;
	int err;

	*in = (struct fuzz_input){.path = strdup(path)};
	if (!in->path || stat(path, &st))
		return in->path ? -errno : -ENOMEM;
	in->is_folder = S_ISDIR(st.st_mode);
	if (!in->is_folder)
		return add_file(in, path, "");
	walked = in;
	err = nftw(path, walk, 16, FTW_PHYS);
	qsort(in->files, in->nr_files, sizeof(*in->files), by_name);
	return err;
}

void fuzz_input_done(struct fuzz_input *in)
{
	for (size_t i = 0; i < in->nr_files; i++) {
		free(in->files[i].name);
		free(in->files[i].data);
	}
	free(in->files);
	free(in->path);
}

static void path_of(const struct fuzz_input *in, const char *path, size_t i, char *ret)
{
	(void)snprintf(ret, PATH_MAX, "%s%s%s", path, in->is_folder ? "/" : "", in->files[i].name);
}

/* Creates the folders that lead to `name`, below its first `from` bytes. */
static int make_folders(char *name, size_t from)
{
	for (char *slash = strchr(name + from, '/'); slash; slash = strchr(slash + 1, '/')) {
		int err;

		*slash = 0;
		err = mkdir(name, 0700) && errno != EEXIST ? -errno : 0;
		*slash = '/';
		if (err)
			return err;
	}
	return 0;
}

static int write_file(const char *name, const void *data, size_t bytes)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), err;

	if (fd < 0)
		return -errno;
	err = wm_file_write(fd, data, bytes);
	close(fd);
	return err;
}

int fuzz_input_write(const struct fuzz_input *in, const char *path, size_t which,
		     const struct fuzz_bytes *changed)
{
	char name[PATH_MAX];
	int err = 0;

	for (size_t i = 0; !err && i < in->nr_files; i++) {
		const struct fuzz_file *f = &in->files[i];

		path_of(in, path, i, name);
		err = in->is_folder ? make_folders(name, strlen(path)) : 0;
		if (!err)
			err = write_file(name, i == which ? changed->data : f->data,
					 i == which ? changed->bytes : f->bytes);
	}
	return err;
}

void fuzz_input_remove(const struct fuzz_input *in, const char *path)
{
	char name[PATH_MAX];

	for (size_t i = 0; i < in->nr_files; i++) {
		path_of(in, path, i, name);
		(void)unlink(name);
		for (char *slash = strrchr(name, '/');
		     in->is_folder && slash && (size_t)(slash - name) >= strlen(path);
		     slash = strrchr(name, '/')) {
			*slash = 0;
			(void)rmdir(name); /* succeeds when the last file was removed */
		}
	}
}
