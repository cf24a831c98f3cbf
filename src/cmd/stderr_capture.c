/* SPDX-License-Identifier: MIT */
/* stderr_capture.c - see stderr_capture.h. */
#include "cmd/stderr_capture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define KEPT_MAX 4096

int wm_hush_begin(struct wm_hush *h)
{
	int err;

	(void)fflush(stderr);
	h->kept = memfd_create("waymark-words", MFD_CLOEXEC);
	if (h->kept < 0)
		return -errno;
	h->before = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (h->before >= 0 && dup2(h->kept, STDERR_FILENO) >= 0)
		return 0;
	err = -errno;
	if (h->before >= 0)
		(void)close(h->before);
	(void)close(h->kept);
	return err;
}

void wm_hush_end(struct wm_hush *h, struct wm_diag *diag)
{
	static const char name[] = "waymark: ";
	char text[KEPT_MAX + 1], *line = text, *end;
	off_t bytes;
	ssize_t n;

	(void)fflush(stderr);
	bytes = lseek(h->kept, 0, SEEK_END);
	n = pread(h->kept, text, KEPT_MAX, bytes > KEPT_MAX ? bytes - KEPT_MAX : 0);
	(void)dup2(h->before, STDERR_FILENO);
	(void)close(h->before);
	(void)close(h->kept);
	text[n > 0 ? n : 0] = '\0';
	while ((end = strchr(line, '\n')) && end[1])
		line = end + 1;
	if (end)
		*end = '\0';
	if (!strncmp(line, name, sizeof(name) - 1))
		line += sizeof(name) - 1;
	(void)wm_diag_set(diag, 0, NULL, -1, "%s", line);
}
