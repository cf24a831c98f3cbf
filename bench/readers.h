/* SPDX-License-Identifier: MIT */
/* readers.h - finds a shared mapping of this process and the processes that share it, in Linux's
 * /proc. */
#ifndef BENCH_READERS_H
#define BENCH_READERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define BENCH_READERS_MAX 8

struct bench_mapping {
	uintptr_t start, end;
	char id[64]; /* device and inode */
};

/* The first mapping of a file from its beginning whose name contains `name`. */
bool bench_find_mapping(const char *name, struct bench_mapping *ret);

/* The other processes that map it: their number (at most BENCH_READERS_MAX), or -ENOENT, -ESRCH. */
int bench_find_readers(const char *name, pid_t *ret);

#endif
