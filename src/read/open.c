/* SPDX-License-Identifier: MIT */
/* open.c - the table of formats, and the choice of a format for a path; see open.h. */
#include "read/open.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "read/ctf.h"
#include "read/ftrace/ftrace.h"
#include "read/perfdata.h"
#include "read/tracedat.h"

#define HEAD_BYTES 4096u

/* A trace is read by the first format whose probe() accepts the path. */
static const struct wm_reader_ops *const formats[] = {
    &wm_perfdata_ops,
    &wm_tracedat_ops,
    &wm_ctf_ops,
    &wm_ftrace_ops, /* last: its probe is the least strict */
    NULL,
};

/* Reads the first bytes of a file; a folder has none. Returns their number or -errno. */
static ssize_t read_open_head(const char *path, unsigned char *head, bool *ret_is_folder)
{
	struct stat st;
	ssize_t got;
	int fd;

	if (stat(path, &st))
		return -errno;
	*ret_is_folder = S_ISDIR(st.st_mode);
	if (*ret_is_folder)
		return 0;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	got = pread(fd, head, HEAD_BYTES, 0);
	if (got < 0)
		got = -errno;
	close(fd);
	return got;
}

static const struct wm_reader_ops *recognise(const char *path, struct wm_diag *diag, int *ret_err)
{
	unsigned char head[HEAD_BYTES];
	bool is_folder;
	ssize_t got = read_open_head(path, head, &is_folder);

	if (got < 0) {
		*ret_err = wm_diag_set(diag, (int)got, path, -1, "cannot be read: %s",
				       strerror((int)-got));
		return NULL;
	}
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (formats[i] && formats[i]->probe(path, is_folder, head, (size_t)got))
			return formats[i];
	*ret_err = wm_diag_set(
	    diag, -EBADMSG, path, 0,
	    is_folder ? "no trace in this folder: neither it nor a folder below it has a file "
			"'metadata'"
	    : got     ? "not a trace of a known format"
		      : "an empty file: its writer was stopped before the first byte");
	return NULL;
}

/*
 * Completes an error message, which always names a file and an offset: the trace's path and 0
 * unless the format set them.
 */
static int read_open_refuse(struct wm_trace *t, const char *path, int err, struct wm_diag *diag)
{
	if (diag && !diag->sentence[0])
		(void)wm_diag_set(diag, err, path, 0, "cannot be read: %s", strerror(-err));
	if (diag && (!diag->where || !diag->where[0] || !strcmp(diag->where, t->path)))
		diag->where = path;
	if (diag && diag->offset < 0)
		diag->offset = 0;
	if (diag && diag->where != path)
		wm_diag_keep(diag); /* copies the names, which are freed with the trace */
	wm_trace_close(t);
	return err;
}

int wm_read_open(const char *path, struct wm_trace **ret, struct wm_diag *diag)
{
	const struct wm_reader_ops *ops;
	struct wm_trace *t;
	int err = 0;

	ops = recognise(path, diag, &err);
	if (!ops)
		return err;
	t = wm_trace_create(path);
	if (!t)
		return wm_diag_set(diag, -ENOMEM, path, -1, "out of memory");
	t->ops = ops;
	if (diag)
		*diag = (struct wm_diag){.offset = -1};
	err = ops->open(t, path, diag);
	if (err)
		return read_open_refuse(t, path, err, diag);
	*ret = t;
	return 0;
}
