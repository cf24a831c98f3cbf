/* SPDX-License-Identifier: MIT */
/* index_lttng.c - counts the packets listed in the LTTng index of a stream; see trace.h. */
#include <endian.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "read/ctf/trace.h"
#include "trace/trace_layout.h"

uint64_t wm_ctf_indexed(const char *path)
{
	const char *slash = strrchr(path, '/');
	uint32_t head[4], entry;
	struct stat st;
	int64_t got = 0;
	char *name;
	int fd;

	if (!slash || asprintf(&name, "%.*s/index%s.idx", (int)(slash - path), path, slash) < 0)
		return 0;
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	free(name);
	if (fd < 0)
		return 0;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		got = wm_ctf_pread(fd, head, sizeof(head), 0);
	close(fd);
	entry = be32toh(head[3]);
	if (got != sizeof(head) || be32toh(head[0]) != WM_INDEX_MAGIC || entry < 56 ||
	    entry > WM_CTF_HEAD_FIRST)
		return 0;
	return ((uint64_t)st.st_size - sizeof(head)) / entry;
}
