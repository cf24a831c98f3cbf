/* SPDX-License-Identifier: MIT */
/* readers.c - see readers.h. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "readers.h"

/*
 * Like bench_find_mapping(), in the maps of another process. With an id, finds a mapping of exactly
 * this file, at any offset.
 */
static bool find_in(const char *maps, const char *name, const char *id, struct bench_mapping *ret)
{
	FILE *f = fopen(maps, "re");
	char line[1024], perms[8], dev[16], path[600];
	unsigned long offset, inode;
	struct bench_mapping m;
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f)) {
		path[0] = '\0';
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %7s %lx %15s %lu %599[^\n]", &m.start,
			   &m.end, perms, &offset, dev, &inode, path) < 6)
			continue;
		snprintf(m.id, sizeof(m.id), "%s:%lu", dev, inode);
		found = id ? !strcmp(m.id, id) : offset == 0 && strstr(path, name);
	}
	if (f)
		fclose(f);
	if (found)
		*ret = m;
	return found;
}

bool bench_find_mapping(const char *name, struct bench_mapping *ret)
{
	return find_in("/proc/self/maps", name, NULL, ret);
}

int bench_find_readers(const char *name, pid_t *ret)
{
	struct bench_mapping m, other;
	struct dirent *e;
	DIR *d;
	int n = 0;

	if (!bench_find_mapping(name, &m))
		return -ENOENT;
	d = opendir("/proc");
	while (d && n < BENCH_READERS_MAX && (e = readdir(d))) {
		char maps[300];
		pid_t pid = (pid_t)atoi(e->d_name);

		snprintf(maps, sizeof(maps), "/proc/%s/maps", e->d_name);
		if (pid > 0 && pid != getpid() && find_in(maps, name, m.id, &other))
			ret[n++] = pid;
	}
	if (d)
		closedir(d);
	return n ? n : -ESRCH;
}
