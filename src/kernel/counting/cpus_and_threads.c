/* SPDX-License-Identifier: MIT */
/*
 * cpus_and_threads.c - lists the CPUs that are online and a process's threads. See counters.h.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "kernel/counters.h"

#define ONLINE       "/sys/devices/system/cpu/online"
#define ONLINE_BYTES 65536u
#define CPUS_MAX     8192
#define THREADS_MAX  (1u << 20)

/* Appends a value to an array of ints. */
static int cpus_push(int **array, size_t *nr, int value)
{
	size_t room = WM_ARRAY_ROOM_OF(*array, *nr);

	if (WM_ARRAY_GROW(*array, room, *nr + 1))
		return -ENOMEM;
	(*array)[(*nr)++] = value;
	return 0;
}

/* Parses "3" or "0-3" at *text, and moves *text past it. */
static int parse_range(const char **text, int **cpus, size_t *nr)
{
	char *end;
	long first, last;
	int err = 0;

	if (!isdigit((unsigned char)**text))
		return -EINVAL;
	first = last = strtol(*text, &end, 10);
	if (*end == '-' && isdigit((unsigned char)end[1]))
		last = strtol(end + 1, &end, 10);
	if (first > last || last >= CPUS_MAX || *nr > CPUS_MAX)
		return -EINVAL;
	for (; first <= last && !err; first++)
		err = cpus_push(cpus, nr, (int)first);
	*text = end;
	return err;
}

int wm_cpus_parse(const char *text, int **ret_cpus, size_t *ret_nr)
{
	int *cpus = NULL, err;
	size_t nr = 0;

	do {
		err = parse_range(&text, &cpus, &nr);
	} while (!err && *text == ',' && *++text);
	if (!err && *text && *text != '\n')
		err = -EINVAL;
	if (err < 0) {
		free(cpus);
		return err;
	}
	*ret_cpus = cpus;
	*ret_nr = nr;
	return 0;
}

int wm_cpus_online(int **ret_cpus, size_t *ret_nr)
{
	size_t bytes;
	char *text;
	int err = wm_file_read(AT_FDCWD, ONLINE, ONLINE_BYTES, &text, &bytes);

	if (err < 0)
		return err;
	err = wm_cpus_parse(text, ret_cpus, ret_nr);
	free(text);
	return err;
}

int wm_threads_of(pid_t pid, pid_t **ret_tids, size_t *ret_nr)
{
	char path[64];
	DIR *dir;
	struct dirent *entry;
	pid_t *tids = NULL;
	size_t nr = 0;
	int err = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? -ESRCH : -errno;
	while (!err && nr < THREADS_MAX && (entry = readdir(dir))) {
		if (isdigit((unsigned char)*entry->d_name))
			err = cpus_push(&tids, &nr, atoi(entry->d_name));
	}
	(void)closedir(dir);
	if (!err && !nr)
		err = -ESRCH;
	if (err < 0) {
		free(tids);
		return err;
	}
	*ret_tids = tids;
	*ret_nr = nr;
	return 0;
}
