/* SPDX-License-Identifier: MIT */
/* readers.h - which mapping of this process is shared, and with whom. Linux's /proc. */
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

/* The first mapping of a file from its beginning whose name has `name` in it. */
bool bench_find_mapping(const char *name, struct bench_mapping *ret);

/* The other processes that map it: how many (of BENCH_READERS_MAX), or -ENOENT, -ESRCH. */
int bench_find_readers(const char *name, pid_t *ret);

#endif
