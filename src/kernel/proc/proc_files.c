/* SPDX-License-Identifier: MIT */
/* proc_files.c - see proc_files.h. */
#include "kernel/proc_files.h"
#include "base/array.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROOM_FIRST ((size_t)16 << 10)

void wm_proc_text_done(struct wm_proc_text *t)
{
	free(t->data);
	*t = (struct wm_proc_text){0};
}

int wm_proc_open(const struct wm_proc_event *e, pid_t pid)
{
	char path[64];
	int fd;

	if (pid)
		(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, e->file);
	else
		(void)snprintf(path, sizeof(path), "/proc/%s", e->file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int proc_files_grow(struct wm_proc_text *t)
{
	if (t->room > WM_PROC_TEXT_MAX / 2)
		return -EFBIG;
	return WM_ARRAY_GROW(t->data, t->room, t->room ? t->room + 1 : ROOM_FIRST);
}

/*
 * Reads the whole file: the kernel returns it in pieces of about a page, and a read of 0 bytes
 * marks the end.
 */
int wm_proc_read(int fd, struct wm_proc_text *t)
{
	t->bytes = 0;
	for (;;) {
		ssize_t n;
		int err = t->bytes == t->room ? proc_files_grow(t) : 0;

		if (err)
			return err;
		n = pread(fd, t->data + t->bytes, t->room - t->bytes, (off_t)t->bytes);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return 0;
		t->bytes += (size_t)n;
	}
}

static void proc_machine_read(struct wm_proc_machine *ret)
{
	long hz = sysconf(_SC_CLK_TCK), page = sysconf(_SC_PAGESIZE);

	*ret = (struct wm_proc_machine){.ticks_hz = hz > 0 ? (uint64_t)hz : 100,
					.page_bytes = page > 0 ? (uint64_t)page : 4096};
}

int wm_proc_learn(const struct wm_proc_event *e, struct wm_kproc_plan **ret, struct wm_diag *diag)
{
	int fd = wm_proc_open(e, e->of_task ? getpid() : 0), err = fd < 0 ? fd : 0;
	struct wm_proc_machine machine;
	struct wm_proc_text t = {0};

	proc_machine_read(&machine);
	if (!err)
		err = wm_proc_read(fd, &t);
	if (err)
		err = wm_diag_set(
		    diag, err, NULL, -1, "cannot record proc:%s: cannot read /proc/%s%s: %s",
		    e->name, e->of_task ? "PID/" : "", e->file,
		    err == -ENOENT || err == -EOPNOTSUPP ? "this kernel was built without it"
							 : strerror(-err));
	else
		err = wm_kproc_plan_create(e, &machine, t.data, t.bytes, ret, diag);
	wm_proc_text_done(&t);
	if (fd >= 0)
		close(fd);
	return err;
}
